"""Parallel jobs restore the warning filters however they end."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import config_context, get_config

from weigh import errors
from weigh.trials.parallel import run_jobs


def state() -> tuple[Any, ...]:
    shown = getattr(warnings, "_showwarnmsg_impl")  # noqa: B009
    return warnings.filters, list(warnings.filters), warnings.showwarning, shown


def noisy(job: int) -> int:
    """Change the warning filters for a while, as scikit-learn does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time.sleep(0.005)
    return job


def failing(job: int) -> int:
    if job == 4:
        raise ValueError("boom")
    return noisy(job)


def stopped(done: int, total: int) -> None:
    if done == 3:
        raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 4, np.int64(2)])
def test_warning_filters_are_restored_after_success_error_and_interruption(n_jobs: int) -> None:
    before = state()
    assert run_jobs(noisy, range(12), n_jobs) == list(range(12))
    with pytest.raises(ValueError, match="boom"):
        run_jobs(failing, range(12), n_jobs)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(noisy, range(12), n_jobs, stopped)
    assert all(now is then or now == then for now, then in zip(state(), before, strict=True))
    assert warnings.filters is before[0]


def test_warning_filters_are_restored_after_concurrent_runs() -> None:
    before = state()
    threads = [threading.Thread(target=run_jobs, args=(noisy, range(6 * k), 1)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
        time.sleep(0.008)
    for thread in threads:
        thread.join()
    assert warnings.filters is before[0]
    assert state()[1:] == before[1:]


def test_no_job_starts_after_one_has_failed() -> None:
    running: list[int] = []

    def work(job: int) -> None:
        if job == 0:
            raise ValueError("boom")
        time.sleep(0.02)
        running.append(job)

    with pytest.raises(ValueError, match="boom"):
        run_jobs(work, range(50), 3)
    seen = len(running)
    time.sleep(0.05)
    assert len(running) == seen < 10


def test_warnings_are_issued_once_per_type_and_data_warnings_are_suppressed() -> None:
    def work(job: int) -> None:
        warnings.warn(f"odd {job}", UserWarning, stacklevel=1)
        warnings.warn(errors.NotOptimal("stopped early"), stacklevel=1)
        warnings.warn(errors.UnfilledTable("few rows"), stacklevel=1)

    for n_jobs in (1, 2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run_jobs(work, range(4), n_jobs)
        assert sorted(each.category.__name__ for each in caught) == ["NotOptimal", "UserWarning"]


def test_scikit_learns_configuration_applies_in_every_thread() -> None:
    with config_context(assume_finite=True):
        assert all(run_jobs(lambda _: get_config()["assume_finite"], range(6), 3))
