"""Trials run side by side: the same results for any number of workers."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from sklearn import config_context, get_config

from weigh import errors
from weigh.model.parallel import available_cores

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
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
    workers = _worker_count(n_jobs)
    found: list[Result] = []
    with capture_warnings() as told:

        def heard(job: Job) -> Result:
            with record_thread_warnings(told):
                return work(job)

        with closing(_iterate_results(heard, jobs, workers, alone)) as results:
            for result in results:
                found.append(result)
                if progress is not None:
                    progress(len(found), len(jobs))
    _warn_once_per_type(told)
    return found


def _worker_count(n_jobs: Any) -> int:
    try:
        number = 1 if n_jobs is None else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0 or isinstance(n_jobs, bool):
        must = "a number of workers, -1 for all cores or None"
        raise errors.ParameterError(f"n_jobs must be {must}, got {n_jobs!r}.")
    # As scikit-learn counts: -1 is all cores, -2 all but one.
    return number if number > 0 else max(1, available_cores() + 1 + number)


def _iterate_results(
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


def _warn_once_per_type(told: Sequence[Warning]) -> None:
    for message in {type(each): each for each in reversed(told)}.values():
        warnings.warn(message, stacklevel=4)


class _WarningOverride:
    """The one state of warnings that all threads share, as it was before any trial began.

    Python has one list of filters and one way to show warnings for the whole process. Trials that run at
    the same time and put back what each of them found would leave the filters of another behind, so the
    first to begin sets them, and the last to end puts them back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_captures = 0
        self._saved_filters = warnings.catch_warnings()
        self._original_showwarning: Any = warnings.showwarning
        self.thread_state = threading.local()

    def install(self) -> None:
        with self._lock:
            self._n_captures += 1
            if self._n_captures > 1:
                return
            self._original_showwarning, self._saved_filters = warnings.showwarning, warnings.catch_warnings()
            self._saved_filters.__enter__()
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", errors.WeighWarning)
            warnings.simplefilter("always", errors.NotOptimal)
            warnings.showwarning = self._record_or_show

    def remove(self) -> None:
        with self._lock:
            self._n_captures -= 1
            if not self._n_captures:
                self._saved_filters.__exit__(None, None, None)

    def _record_or_show(self, message: Any, category: Any, *where: Any, **more: Any) -> None:
        told = getattr(self.thread_state, "told", None)
        if told is None:
            self._original_showwarning(message, category, *where, **more)
        else:
            told.append(message)


_override = _WarningOverride()


@contextmanager
def capture_warnings() -> Iterator[list[Warning]]:
    """Begin trials: what `listening` hears until the end goes into the list."""
    _override.install()
    try:
        yield []
    finally:
        _override.remove()


@contextmanager
def record_thread_warnings(told: list[Warning]) -> Iterator[None]:
    """Keep the warnings of this thread."""
    before = getattr(_override.thread_state, "told", None)
    _override.thread_state.told = told
    try:
        yield
    finally:
        _override.thread_state.told = before
