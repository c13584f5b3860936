"""Trials run side by side: the same results for any number of workers."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

from sklearn import config_context, get_config

from weigh import errors
from weigh.model.pipeline import cores
from weigh.trials.hearing import hearing, listening

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
    workers = _workers(n_jobs)
    found: list[Result] = []
    with hearing() as told:

        def heard(job: Job) -> Result:
            with listening(told):
                return work(job)

        with closing(_results(heard, jobs, workers, alone)) as results:
            for result in results:
                found.append(result)
                if progress is not None:
                    progress(len(found), len(jobs))
    _tell_once(told)
    return found


def _workers(n_jobs: Any) -> int:
    try:
        number = 1 if n_jobs is None else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0 or isinstance(n_jobs, bool):
        must = "a number of workers, -1 for all cores or None"
        raise errors.ParameterError(f"n_jobs must be {must}, got {n_jobs!r}.")
    # As scikit-learn counts: -1 is all cores, -2 all but one.
    return number if number > 0 else max(1, cores() + 1 + number)


def _results(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, alone: int
) -> Generator[Result, None, None]:
    """Yield results; whoever stops early waits for the trials that have begun, and no others begin."""
    if workers == 1:
        alone = len(jobs)
    yield from map(work, jobs[:alone])
    if alone >= len(jobs):
        return
    settings = get_config()

    def configured(job: Job) -> Result:
        # scikit-learn keeps its settings per thread, and those of the caller hold for all trials.
        with config_context(**settings):
            return work(job)

    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(configured, job) for job in jobs[alone:]]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _tell_once(told: Sequence[Warning]) -> None:
    for message in {type(each): each for each in reversed(told)}.values():
        warnings.warn(message, stacklevel=4)
