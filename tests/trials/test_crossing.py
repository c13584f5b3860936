"""Crossings are crossing where they are, and only if they are significant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weigh
from weigh.judge.metrics.learning_curve_laws import fit_power_law
from weigh.judge.metrics.paired_tests import FoldCorrection
from weigh.trials.crossing import Crossing, CurveLosses, find_crossing

SIZES = [10, 20, 40, 80, 160, 320, 640, 1280]
N = np.array(SIZES, np.float64)
CORRECTION = FoldCorrection(10, 0.25, 0.95)


def curve_losses(name: str, losses: np.ndarray, sigma: float, seed: int) -> CurveLosses:
    noise = sigma * np.random.default_rng(seed).standard_normal((10, len(N)))
    return CurveLosses(name, losses + noise, fit_power_law(SIZES, losses + noise, CORRECTION))


def find(first: np.ndarray, second: np.ndarray, sigma: float = 1e-3, seed: int = 0) -> Crossing:
    one, other = (
        curve_losses("quick", first, sigma, 2 * seed),
        curve_losses("slow", second, sigma, 2 * seed + 1),
    )
    return find_crossing(one, other, SIZES, CORRECTION)


def test_a_crossing_between_two_sizes_is_exact_in_log_n() -> None:
    crossing = find(np.full(8, 0.2), 0.2 + 0.1 * (np.log(100) - np.log(N)), sigma=1e-12)
    assert (crossing.kind, crossing.small, crossing.large) == ("measured", "quick", "slow")
    assert crossing.rows == pytest.approx(100)
    assert crossing.share == 1.0


def test_a_measured_crossing_is_within_its_interval() -> None:
    n_covered = 0
    for seed in range(20):
        crossing = find(0.2 + 0.5 / N, 0.1 + 2.0 * N**-0.5, sigma=0.01, seed=seed)
        true = 392.0  # where 0.2 + 0.5/n meets 0.1 + 2/√n
        assert (crossing.kind, crossing.small, crossing.large) == ("measured", "quick", "slow")
        n_covered += crossing.low <= true <= crossing.high
    assert n_covered >= 19


def test_the_order_of_the_learners_does_not_matter() -> None:
    one = curve_losses("quick", 0.2 + 0.5 / N, 0.01, 1)
    other = curve_losses("slow", 0.1 + 2.0 * N**-0.5, 0.01, 2)
    there, back = find_crossing(one, other, SIZES, CORRECTION), find_crossing(other, one, SIZES, CORRECTION)
    assert (there.small, there.large) == (back.small, back.large)
    # The draws of the difference have the opposite sign, so the limits agree up to Monte Carlo error.
    assert there.rows == pytest.approx(back.rows)
    assert there.low == pytest.approx(back.low, rel=0.1)


def test_a_crossing_beyond_the_sizes_is_extrapolated_by_the_laws() -> None:
    crossing = find(0.2 + 0.5 / N, 0.1 + 5.0 * N**-0.5, sigma=1e-3)
    assert (crossing.kind, crossing.small, crossing.large) == ("extrapolated", "quick", "slow")
    assert crossing.low <= 2490 <= crossing.high  # where 0.2 + 0.5/n meets 0.1 + 5/√n
    assert str(crossing).startswith("slow is predicted to overtake quick at about 2,")


def test_without_a_crossing_the_better_learner_is_named() -> None:
    crossing = find(0.1 + 0.5 / N, 0.2 + 0.5 / N)
    assert (crossing.kind, crossing.large) == ("none", "quick")
    assert math.isnan(crossing.rows)
    assert crossing.to_dict()["rows"] is None
    assert (
        str(crossing) == "quick is significantly better than slow at the largest size; no crossing was found."
    )


def test_noise_makes_no_crossing() -> None:
    crossing = find(np.full(8, 0.2), np.full(8, 0.2), sigma=0.02)
    assert (crossing.kind, crossing.large) == ("none", None)
    assert str(crossing) == "quick and slow: no significant difference at the largest size."


def test_a_crossing_that_is_not_significant_is_marked() -> None:
    crossing = find(np.full(8, 0.2), np.where(N < 50, 0.203, 0.15), sigma=0.01)
    assert (crossing.kind, crossing.small, crossing.large) == ("unsure", "quick", "slow")
    assert str(crossing).endswith(", but not significantly.")


def redundant_flags(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return conditionally independent flags, except for one that is repeated four times with noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    sign = (2 * y - 1)[:, None]
    flags = rng.random((n, 60)) < 0.5 + 0.1 * sign
    copied = (rng.random((n, 1)) < 0.5 + 0.2 * sign) ^ (rng.random((n, 4)) < 0.1)
    return np.hstack([flags, copied]), y


def test_logistic_regression_overtakes_naive_bayes_if_columns_are_redundant() -> None:
    curve = weigh.learning_curve(
        ["naive-bayes", "logistic"], *redundant_flags(8000), sizes=[50, 100, 200, 400, 6400]
    )
    crossing = curve.crossings[0]
    assert (crossing.kind, crossing.small, crossing.large) == ("measured", "naive-bayes", "logistic")
    assert 400 <= crossing.low <= crossing.rows <= crossing.high <= 6400
    assert curve["naive-bayes"].diagnosis.rival == "logistic"


def test_the_losses_that_the_laws_predict_are_observed() -> None:
    sizes = [50, 100, 200, 400, 800, 1600]
    curve = weigh.learning_curve(["naive-bayes", "logistic"], *redundant_flags(2000), sizes=sizes)
    (rows, labels), fresh = redundant_flags(6400, 1), redundant_flags(20_000, 2)
    for name, learner in [("naive-bayes", weigh.NaiveBayes()), ("logistic", weigh.LogisticRegression())]:
        expected = curve[name].at(6400)
        assert expected.low <= 1 - learner.fit(rows, labels).score(*fresh) <= expected.high
