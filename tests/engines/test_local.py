"""The local engine: threads, progress and errors."""

from __future__ import annotations

import numpy as np
import pytest

from weigh import errors
from weigh.engines import run
from weigh.learn import BayesTask
from weigh.source import rows


def source(n: int = 60_000):
    rng = np.random.default_rng(0)
    return rows({"a": rng.normal(size=n), "b": rng.integers(0, 5, n), "y": rng.integers(0, 3, n)}, "y")


def test_progress_counts_every_row_once():
    counts: list[int] = []
    data = source()
    run(BayesTask.for_source(data), data, threads=2, progress=counts.append)
    assert sum(counts) == 60_000


def test_fewer_than_one_thread_is_an_error():
    data = source(10)
    with pytest.raises(errors.ParameterError, match="fit: threads must be at least 1, got 0"):
        run(BayesTask.for_source(data), data, threads=0)


def test_an_error_in_one_thread_stops_all():
    data = rows({"a": np.arange(300_000.0), "y": [0, 1] * 149_999 + [None, 1]}, "y")
    with pytest.raises(errors.LabelError, match="The label is missing in 1 of"):
        run(BayesTask.for_source(data), data, threads=2)
