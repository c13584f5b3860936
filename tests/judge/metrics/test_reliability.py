"""Bins of probabilities and the calibration error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.judge.metrics.scripted import evaluate_scripted

from weigh.judge.metrics.reliability import bin_probabilities


def drawn(rng, n, heat=1.0):
    """Probabilities and what comes of them; too sure where `heat` is above one."""
    logits = 2.0 * rng.normal(size=n)
    return 1 / (1 + np.exp(-logits)), rng.random(n) < 1 / (1 + np.exp(-logits / heat))


def test_a_small_case_worked_by_hand():
    probability = np.array([0.6] * 10 + [0.9] * 10)
    is_so = np.array([True] * 4 + [False] * 6 + [True] * 10)
    found = bin_probabilities(probability, is_so, np.ones(20))
    exact = stats.binomtest(4, 10).proportion_ci(0.95, "exact")
    first, second = found.bins("verdict", 0.95)
    assert (first.predicted, first.observed, first.rows) == (pytest.approx(0.6), 0.4, 10)
    assert (first.low, first.high) == pytest.approx((exact.low, exact.high))
    assert (second.predicted, second.observed, second.high) == (pytest.approx(0.9), 1.0, 1.0)
    assert found.calibration_error(0.95).value == pytest.approx((0.2 + 0.1) / 2)


def test_bins_have_equal_counts_and_equal_probabilities_stay_together():
    rng = np.random.default_rng(0)
    probability = rng.random(1000)
    assert bin_probabilities(probability, probability > 0.5, np.ones(1000)).rows.tolist() == [100] * 10
    tied = np.repeat([0.5, 0.8], [950, 50])
    assert bin_probabilities(tied, tied > 0.6, np.ones(1000)).rows.tolist() == [950, 50]
    assert bin_probabilities(probability[:35], probability[:35] > 0.5, np.ones(35)).rows.sum() == 35
    assert len(bin_probabilities(probability[:35], probability[:35] > 0.5, np.ones(35)).rows) == 3


def test_weights_change_means_and_shares():
    found = bin_probabilities(np.array([0.5, 0.7]), np.array([True, False]), np.array([3.0, 1.0]))
    (only,) = found.bins("verdict", 0.95)
    assert (only.predicted, only.observed) == (pytest.approx(0.55), 0.75)
    assert found.effective[0] == pytest.approx(16 / 10)


@pytest.mark.parametrize(("n", "heat"), [(200, 1.0), (1000, 2.0)])
def test_limits_of_the_calibration_error_hold_the_truth_at_least_as_often_as_they_say(n, heat):
    rng = np.random.default_rng(1)
    probability, is_so = drawn(rng, 400_000, heat)
    truth = bin_probabilities(probability, is_so, np.ones(400_000)).calibration_error(0.9).value
    held = 0
    for _ in range(200):
        found = bin_probabilities(*drawn(rng, n, heat), np.ones(n)).calibration_error(0.9)
        held += found.low <= truth <= found.high
    assert held / 200 > 0.9


def test_two_classes_have_bins_of_the_second_too():
    table = np.random.default_rng(2).dirichlet(np.ones(2), 50)
    found = evaluate_scripted([0, 1] * 25, table)
    assert list(dict.fromkeys(each.series for each in found.reliability)) == ["verdict", "P(1)"]
    assert sum(each.rows for each in found.reliability) == 100
    three = evaluate_scripted([0, 1, 2] * 20, np.random.default_rng(3).dirichlet(np.ones(3), 60))
    assert {each.series for each in three.reliability} == {"verdict"}
    assert three.to_dict()["reliability"][0].keys() == {
        "series", "predicted", "observed", "low", "high", "rows",
    }  # fmt: skip


def test_sure_and_right_is_no_certainty_of_being_calibrated():
    found = evaluate_scripted([1] * 5, [[0.0, 1.0]] * 5).measure("calibration_error")
    assert found.value == 0.0
    assert found.high > 0.1


def test_rounded_sums_of_weights_keep_shares_within_one():
    weights = np.random.default_rng(4).gamma(1.0, size=2000)
    found = bin_probabilities(np.full(2000, 1.0), np.ones(2000, bool), weights)
    assert found.predicted.max() <= 1.0
    assert found.observed.max() <= 1.0
