"""Paired tests: worked values, symmetry, and levels under the null hypothesis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from weigh.judge.metrics.paired_tests import Estimate, area_difference, holm_adjust, mcnemar_p_value
from weigh.judge.metrics.ranking import rank_rows, roc_area
from weigh.trials.splits import repeated_folds

DIFFERENCES = np.array([0.01, 0.02, 0.03, 0.04])


def test_a_small_case_equals_the_worked_values() -> None:
    # Mean 1/40; s² = (9 + 1 + 1 + 9) / 12 · 10⁻⁴ = 1/6000; scale² = s² (1/4 + 1/3) = 7/72000.
    result = Estimate.of_mean(DIFFERENCES, 1 / 3)
    assert (result.mean, result.degrees_of_freedom) == (pytest.approx(1 / 40, abs=1e-16), 3)
    assert result.standard_error**2 == pytest.approx(7 / 72000, rel=1e-13)
    assert result.statistic == pytest.approx(math.sqrt(72000 / 7) / 40, rel=1e-13)
    assert result.p_value == pytest.approx(2 * stats.t.sf(math.sqrt(72000 / 7) / 40, 3), rel=1e-12)


def test_the_posterior_is_students_with_the_same_scale() -> None:
    result = Estimate.of_mean(DIFFERENCES, 1 / 3)
    posterior = stats.t(3, loc=1 / 40, scale=math.sqrt(7 / 72000))
    for value in (-0.01, 0.0, 0.01, 0.025, 0.3):
        assert result.probability_below(value) == pytest.approx(posterior.cdf(value), rel=1e-12)
    assert result.interval(0.9) == pytest.approx(posterior.interval(0.9), rel=1e-12)


def test_swapping_the_learners_mirrors_the_result() -> None:
    one, other = (Estimate.of_mean(sign * DIFFERENCES, 0.1) for sign in (1, -1))
    assert one.p_value == other.p_value
    assert one.probability_below(0.01) == pytest.approx(1 - other.probability_below(-0.01), abs=1e-15)


@pytest.mark.parametrize(
    ("values", "p", "below"), [([0.0] * 5, 1.0, 0.5), ([0.1] * 5, 0.0, 0.0), ([-0.1] * 5, 0.0, 1.0)]
)
def test_equal_differences_have_no_uncertainty(values: list[float], p: float, below: float) -> None:
    result = Estimate.of_mean(np.array(values), 0.1)
    assert (result.standard_error, result.p_value, result.probability_below(0.0)) == (0.0, p, below)


@pytest.mark.parametrize("seed", range(5))
def test_independent_differences_give_the_paired_t_test(seed: int) -> None:
    first, second = np.random.default_rng(seed).normal(size=(2, 9))
    result, expected = Estimate.of_mean(first - second), stats.ttest_rel(first, second)
    assert (result.statistic, result.p_value) == (
        pytest.approx(expected.statistic),
        pytest.approx(expected.pvalue),
    )
    assert result.interval(0.9) == pytest.approx(expected.confidence_interval(0.9))


def test_a_single_difference_has_no_standard_error() -> None:
    result = Estimate.of_mean(np.array([0.25]))
    assert result.mean == 0.25
    assert math.isnan(result.standard_error)


def test_infinite_values_give_nan() -> None:
    result = Estimate.of_mean(np.array([0.1, np.inf]), 0.1)
    assert result.mean == math.inf
    assert math.isnan(result.p_value)
    assert math.isnan(result.probability_below(0.0))


def test_holm_adjusts_the_smallest_most_and_keeps_the_order() -> None:
    assert holm_adjust([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjust([0.5, 0.9]) == [1.0, 1.0]
    assert holm_adjust([math.nan, 0.02])[1] == pytest.approx(0.02)
    assert holm_adjust([]) == []


def errors_of_neighbours(column: Any, labels: Any, splits: Any) -> Any:
    """Return the error rate of the nearest neighbour on one column for every split."""
    distance = np.abs(column[:, None] - column[None, :])
    nearest = [split.train[distance[np.ix_(split.test, split.train)].argmin(axis=1)] for split in splits]
    return np.array([(labels[n] != labels[s.test]).mean() for n, s in zip(nearest, splits, strict=True)])


def test_the_corrected_test_keeps_its_level_and_the_plain_one_does_not() -> None:
    # Two learners that see different columns of noise have the same expected loss.
    rng, n = np.random.default_rng(5), 60
    splits = repeated_folds(np.zeros(n, np.int64), 10, 3, 0, "test")
    corrected, plain = [], []
    for _ in range(400):
        labels, columns = rng.integers(0, 2, n), rng.normal(size=(2, n))
        first, second = (errors_of_neighbours(column, labels, splits) for column in columns)
        corrected.append(Estimate.of_mean(first - second, 1 / 9).p_value < 0.05)
        plain.append(stats.ttest_rel(first, second).pvalue < 0.05)
    assert 0.02 < np.mean(corrected) < 0.11
    assert np.mean(plain) > 0.3


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (1, 0), (0, 5), (3, 9), (10, 10), (250, 300), (40, 4000)]
)
def test_mcnemar_is_the_exact_binomial_test(first: int, second: int) -> None:
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_p_value(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_p_value(second, first) == mcnemar_p_value(first, second)


def delong_variance(is_positive: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the variance of the difference of two areas by the covariances of placement values."""
    wins = [np.sign(s[is_positive][:, None] - s[~is_positive][None, :]) / 2 + 0.5 for s in (first, second)]
    difference = wins[0] - wins[1]
    by_positive, by_negative = difference.mean(axis=1), difference.mean(axis=0)
    return by_positive.var(ddof=1) / len(by_positive) + by_negative.var(ddof=1) / len(by_negative)


@pytest.mark.parametrize("seed", range(5))
def test_the_difference_of_areas_has_delongs_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    is_positive = np.arange(60) < 25
    first, second = np.round(rng.normal(size=(2, 60)) + is_positive, 1)
    areas = [roc_area(rank_rows(scores, is_positive)) for scores in (first, second)]
    result = area_difference(*areas)
    assert result.mean == areas[0].value - areas[1].value
    assert result.standard_error**2 == pytest.approx(delong_variance(is_positive, first, second))
    z = result.mean / result.standard_error
    assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert result.interval(0.95) == pytest.approx(
        stats.norm.interval(0.95, result.mean, result.standard_error)
    )


def test_perfect_rankings_have_no_variance() -> None:
    perfect = roc_area(rank_rows(np.array([2.0, 1.0]), np.array([True, False])))
    result = area_difference(perfect, perfect)
    assert (result.mean, result.p_value) == (0.0, 1.0)
    assert math.isnan(result.interval(0.95)[0])
