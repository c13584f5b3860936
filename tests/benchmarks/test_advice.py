"""The truth of the drawn data is what the tables on advice compare with."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.quality.advice import (
    MACRO_MEASURES,
    draw_confusion,
    draw_dependent,
    draw_independent,
    estimate_noise,
    macro_truth,
    warns,
)

from weigh.judge.metrics.confusion_matrix import macro_measures


def test_macro_averages_of_many_rows_approach_the_truth() -> None:
    rng = np.random.default_rng(0)
    shares, confusion = np.array([0.7, 0.2, 0.1]), rng.dirichlet(np.ones(3), 3) * 0.3 + 0.7 * np.eye(3)
    drawn = draw_confusion(rng, 1_000_000, shares, confusion)
    found = {m.name: m.value for m in macro_measures(drawn, drawn.shares(0.95), 0)}
    assert [found[name] for name in MACRO_MEASURES] == pytest.approx(
        list(macro_truth(shares, confusion).values()), abs=0.01
    )


def test_copies_cause_a_warning_and_independent_columns_none() -> None:
    rng = np.random.default_rng(0)
    assert warns(draw_dependent(rng, 300, "flags", 0))
    assert warns(draw_dependent(rng, 300, "numbers", 1))
    assert not warns(draw_independent(rng, 300, 5, "5 levels"))


def test_the_planted_share_of_wrong_labels_is_returned() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 3)) + 4 * np.eye(3)[y]
    planted, estimate = estimate_noise(X, y, 0.1, rng)
    assert 0.05 < planted < 0.15
    assert estimate == pytest.approx(planted, abs=0.03)
