"""Reliability bins and the calibration error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.judge.metrics.scripted import evaluate_scripted
from weigh.judge.metrics.reliability import bin_probabilities


def draw_outcomes(rng, n, temperature=1.0):
    """Return probabilities and outcomes; the probabilities are overconfident for temperatures above one."""
    logits = 2.0 * rng.normal(size=n)
    return 1 / (1 + np.exp(-logits)), rng.random(n) < 1 / (1 + np.exp(-logits / temperature))


def test_a_small_case_matches_a_hand_calculation():
    probability = np.array([0.6] * 10 + [0.9] * 10)
    is_correct = np.array([True] * 4 + [False] * 6 + [True] * 10)
    result = bin_probabilities(probability, is_correct, np.ones(20))
    exact = stats.binomtest(4, 10).proportion_ci(0.95, "exact")
    first, second = result.bins("verdict", 0.95)
    assert (first.predicted, first.observed, first.rows) == (pytest.approx(0.6), 0.4, 10)
    assert (first.low, first.high) == pytest.approx((exact.low, exact.high))
    assert (second.predicted, second.observed, second.high) == (pytest.approx(0.9), 1.0, 1.0)
    assert result.calibration_error(0.95).value == pytest.approx((0.2 + 0.1) / 2)


def test_bins_have_equal_counts_and_equal_probabilities_stay_together():
    rng = np.random.default_rng(0)
    probability = rng.random(1000)
    assert bin_probabilities(probability, probability > 0.5, np.ones(1000)).rows.tolist() == [100] * 10
    tied = np.repeat([0.5, 0.8], [950, 50])
    assert bin_probabilities(tied, tied > 0.6, np.ones(1000)).rows.tolist() == [950, 50]
    assert bin_probabilities(probability[:35], probability[:35] > 0.5, np.ones(35)).rows.sum() == 35
    assert len(bin_probabilities(probability[:35], probability[:35] > 0.5, np.ones(35)).rows) == 3


def test_weights_change_means_and_shares():
    result = bin_probabilities(np.array([0.5, 0.7]), np.array([True, False]), np.array([3.0, 1.0]))
    (only,) = result.bins("verdict", 0.95)
    assert (only.predicted, only.observed) == (pytest.approx(0.55), 0.75)
    assert result.effective_rows[0] == pytest.approx(16 / 10)


@pytest.mark.parametrize(("n", "temperature"), [(200, 1.0), (1000, 2.0)])
def test_intervals_of_the_calibration_error_have_at_least_their_nominal_coverage(n, temperature):
    rng = np.random.default_rng(1)
    probability, is_correct = draw_outcomes(rng, 400_000, temperature)
    truth = bin_probabilities(probability, is_correct, np.ones(400_000)).calibration_error(0.9).value
    n_covered = 0
    for _ in range(200):
        result = bin_probabilities(*draw_outcomes(rng, n, temperature), np.ones(n)).calibration_error(0.9)
        n_covered += result.low <= truth <= result.high
    assert n_covered / 200 > 0.9


def test_two_classes_also_have_bins_of_the_second():
    table = np.random.default_rng(2).dirichlet(np.ones(2), 50)
    result = evaluate_scripted([0, 1] * 25, table)
    assert list(dict.fromkeys(row.series for row in result.reliability)) == ["verdict", "P(1)"]
    assert sum(row.rows for row in result.reliability) == 100
    three = evaluate_scripted([0, 1, 2] * 20, np.random.default_rng(3).dirichlet(np.ones(3), 60))
    assert {row.series for row in three.reliability} == {"verdict"}
    assert three.to_dict()["reliability"][0].keys() == {
        "series", "predicted", "observed", "low", "high", "rows",
    }  # fmt: skip


def test_perfect_calibration_of_few_rows_still_has_an_interval():
    result = evaluate_scripted([1] * 5, [[0.0, 1.0]] * 5).measure("calibration_error")
    assert result.value == 0.0
    assert result.high > 0.1


def test_rounded_sums_of_weights_keep_shares_within_one():
    weights = np.random.default_rng(4).gamma(1.0, size=2000)
    result = bin_probabilities(np.full(2000, 1.0), np.ones(2000, bool), weights)
    assert result.predicted.max() <= 1.0
    assert result.observed.max() <= 1.0
