"""Run jobs in parallel threads, with results and warnings that do not depend on the number of workers."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.model.parallel import available_cores

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
    n_sequential: int = 0,
) -> list[Result]:
    """Return the result of every job, in order.

    The first `n_sequential` jobs run one at a time before the others start, so that they can be timed.
    `progress` is called with the number of finished jobs and the total.

    Warnings of this library about the data are suppressed, because subsets of the rows may be small and look
    unusual. Convergence warnings and those of other libraries are issued once per type.
    """
    workers = _worker_count(n_jobs)
    results: list[Result] = []
    with capture_warnings() as captured:

        def work_and_record(job: Job) -> Result:
            with record_thread_warnings(captured):
                return work(job)

        with closing(_iterate_results(work_and_record, jobs, workers, n_sequential)) as iterator:
            for result in iterator:
                results.append(result)
                if progress is not None:
                    progress(len(results), len(jobs))
    _warn_once_per_type(captured)
    return results


def _worker_count(n_jobs: Any) -> int:
    try:
        number = 1 if n_jobs is None else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0 or isinstance(n_jobs, bool):
        must = "a number of workers, -1 for all cores or None"
        raise errors.ParameterError(f"n_jobs must be {must}, got {n_jobs!r}.")
    # As in scikit-learn: -1 is all cores, -2 all but one.
    return number if number > 0 else max(1, available_cores() + 1 + number)


def _iterate_results(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, n_sequential: int
) -> Generator[Result, None, None]:
    """Yield results in order. Closing the generator waits for running jobs and cancels the others."""
    if workers == 1:
        n_sequential = len(jobs)
    yield from map(work, jobs[:n_sequential])
    if n_sequential >= len(jobs):
        return
    from sklearn import config_context, get_config  # not needed to capture warnings

    settings = get_config()

    def work_with_caller_config(job: Job) -> Result:
        # scikit-learn's configuration is thread-local.
        with config_context(**settings):
            return work(job)

    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(work_with_caller_config, job) for job in jobs[n_sequential:]]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _warn_once_per_type(captured: Sequence[Warning]) -> None:
    for warning in {type(each): each for each in reversed(captured)}.values():
        warn(warning)


class _WarningOverride:
    """The warning filters and `showwarning` hook that all captures share.

    Python has one list of filters and one `showwarning` per process. If concurrent captures each saved and
    restored them, one could restore the override of another. Therefore the first capture installs the
    override and the last one removes it.
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

    def _record_or_show(self, message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
        captured = getattr(self.thread_state, "captured", None)
        if captured is None:
            self._original_showwarning(message, category, *args, **kwargs)
        else:
            captured.append(message)


_override = _WarningOverride()


@contextmanager
def capture_warnings() -> Iterator[list[Warning]]:
    """Yield a list for the warnings that `record_thread_warnings` blocks collect, in any thread."""
    _override.install()
    try:
        yield []
    finally:
        _override.remove()


@contextmanager
def record_thread_warnings(captured: list[Warning]) -> Iterator[None]:
    """Append the warnings that this thread raises in the block to `captured`."""
    previous = getattr(_override.thread_state, "captured", None)
    _override.thread_state.captured = captured
    try:
        yield
    finally:
        _override.thread_state.captured = previous
