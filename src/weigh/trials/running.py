"""Trials run side by side: the same results for any number of workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed

from weigh import errors

Job = TypeVar("Job")
Result = TypeVar("Result")


def run(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
    alone: int = 0,
) -> list[Result]:
    """Return the result of every job, in their order; `progress` hears how many of all are done.

    So many jobs run `alone`, one at a time before the others, so that their times can be trusted.

    Parts of the rows are not what somebody wants to be warned of: they may be few, and look odd. That a
    solver stopped early, or what other libraries warn of, is told once.
    """
    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        must = "a number of workers, -1 for all cores or None"
        raise errors.ParameterError(f"n_jobs must be {must}, got {n_jobs!r}.")
    found: list[Result] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", errors.WeighWarning)
        warnings.simplefilter("always", errors.NotOptimal)
        for result in _results(work, jobs, n_jobs, alone):
            found.append(result)
            if progress is not None:
                progress(len(found), len(jobs))
    _tell_once(told)
    return found


def _results(
    work: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int | None, alone: int
) -> Iterator[Result]:
    try:
        yield from map(work, jobs[:alone])
        # Workers begin as soon as they are asked, so not before the lone ones are done.
        workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from workers(delayed(work)(job) for job in jobs[alone:])
    except errors.WeighError:
        raise
    except ValueError as cause:
        raise errors.DataError(f"A learner of another library refused the rows: {cause}") from cause


def _tell_once(told: Iterable[Any]) -> None:
    first = {each.category: each.message for each in reversed(list(told))}
    for message in first.values():
        warnings.warn(message, stacklevel=4)
