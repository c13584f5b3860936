"""Where one learner overtakes another is found where it is, and not where chance may have made it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weigh
from weigh.trials.crossing import Crossing, CurveLosses, find_crossing
from weigh.trials.power_law import fit_power_law
from weigh.trials.resampled_t_test import FoldCorrection

SIZES = [10, 20, 40, 80, 160, 320, 640, 1280]
N = np.array(SIZES, np.float64)
CORRECTED = FoldCorrection(10, 0.25, 0.95)


def contender(name: str, losses: np.ndarray, sigma: float, seed: int) -> CurveLosses:
    noise = sigma * np.random.default_rng(seed).standard_normal((10, len(N)))
    return CurveLosses(name, losses + noise, fit_power_law(SIZES, losses + noise, CORRECTED))


def crossed(first: np.ndarray, second: np.ndarray, sigma: float = 1e-3, seed: int = 0) -> Crossing:
    one, other = contender("quick", first, sigma, 2 * seed), contender("slow", second, sigma, 2 * seed + 1)
    return find_crossing(one, other, SIZES, CORRECTED)


def test_a_crossing_between_two_sizes_is_exact_in_log_n() -> None:
    found = crossed(np.full(8, 0.2), 0.2 + 0.1 * (np.log(100) - np.log(N)), sigma=1e-12)
    assert (found.kind, found.small, found.large) == ("measured", "quick", "slow")
    assert found.rows == pytest.approx(100)
    assert found.share == 1.0


def test_a_measured_crossing_is_within_its_interval() -> None:
    held = 0
    for seed in range(20):
        found = crossed(0.2 + 0.5 / N, 0.1 + 2.0 * N**-0.5, sigma=0.01, seed=seed)
        true = 392.0  # where 0.2 + 0.5/n meets 0.1 + 2/√n
        assert (found.kind, found.small, found.large) == ("measured", "quick", "slow")
        held += found.low <= true <= found.high
    assert held >= 19


def test_the_order_of_the_two_does_not_matter() -> None:
    one = contender("quick", 0.2 + 0.5 / N, 0.01, 1)
    other = contender("slow", 0.1 + 2.0 * N**-0.5, 0.01, 2)
    there, back = find_crossing(one, other, SIZES, CORRECTED), find_crossing(other, one, SIZES, CORRECTED)
    assert (there.small, there.large) == (back.small, back.large)
    # The draws of the difference have the other sign, and the same limits but for their own chance.
    assert there.rows == pytest.approx(back.rows)
    assert there.low == pytest.approx(back.low, rel=0.1)


def test_a_crossing_ahead_is_told_by_the_laws() -> None:
    found = crossed(0.2 + 0.5 / N, 0.1 + 5.0 * N**-0.5, sigma=1e-3)
    assert (found.kind, found.small, found.large) == ("extrapolated", "quick", "slow")
    assert found.low <= 2490 <= found.high  # where 0.2 + 0.5/n meets 0.1 + 5/√n
    assert str(found).startswith("slow would overtake quick at about 2,")


def test_no_crossing_is_told_with_the_leader() -> None:
    found = crossed(0.1 + 0.5 / N, 0.2 + 0.5 / N)
    assert (found.kind, found.large) == ("none", "quick")
    assert math.isnan(found.rows)
    assert found.to_dict()["rows"] is None
    assert str(found) == "quick is ahead of slow at the largest size, and no crossing is in sight."


def test_chance_makes_no_crossing() -> None:
    found = crossed(np.full(8, 0.2), np.full(8, 0.2), sigma=0.02)
    assert (found.kind, found.large) == ("none", None)
    assert str(found) == "quick and slow: neither is ahead beyond chance at the largest size."


def test_a_lead_that_chance_may_have_made_is_marked() -> None:
    found = crossed(np.full(8, 0.2), np.where(N < 50, 0.203, 0.15), sigma=0.01)
    assert (found.kind, found.small, found.large) == ("unsure", "quick", "slow")
    assert str(found).endswith(": not beyond chance.")


def twins(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Flags that are independent within the classes, but for one that is there four times."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    sign = (2 * y - 1)[:, None]
    flags = rng.random((n, 60)) < 0.5 + 0.1 * sign
    copied = (rng.random((n, 1)) < 0.5 + 0.2 * sign) ^ (rng.random((n, 4)) < 0.1)
    return np.hstack([flags, copied]), y


def test_logistic_regression_overtakes_naive_bayes_where_columns_repeat() -> None:
    curve = weigh.learning_curve(["naive-bayes", "logistic"], *twins(8000), sizes=[50, 100, 200, 400, 6400])
    found = curve.crossings[0]
    assert (found.kind, found.small, found.large) == ("measured", "naive-bayes", "logistic")
    assert 400 <= found.low <= found.rows <= found.high <= 6400
    assert curve["naive-bayes"].diagnosis.rival == "logistic"


def test_what_the_laws_expect_of_more_rows_comes_true() -> None:
    sizes = [50, 100, 200, 400, 800, 1600]
    curve = weigh.learning_curve(["naive-bayes", "logistic"], *twins(2000), sizes=sizes)
    (rows, labels), fresh = twins(6400, 1), twins(20_000, 2)
    for name, learner in [("naive-bayes", weigh.NaiveBayes()), ("logistic", weigh.LogisticRegression())]:
        expected = curve[name].at(6400)
        assert expected.low <= 1 - learner.fit(rows, labels).score(*fresh) <= expected.high
