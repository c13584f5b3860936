"""The corrected resampled t-test: worked values, symmetry, and its level under the null hypothesis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from weigh.trials.resampled_t_test import CorrectedMean, holm_adjust
from weigh.trials.splits import repeated_folds

DIFFERENCES = np.array([0.01, 0.02, 0.03, 0.04])


def test_a_small_case_equals_the_worked_values() -> None:
    # Mean 1/40; s² = (9 + 1 + 1 + 9) / 12 · 10⁻⁴ = 1/6000; scale² = s² (1/4 + 1/3) = 7/72000.
    result = CorrectedMean.of(DIFFERENCES, 1 / 3)
    assert (result.mean, result.degrees_of_freedom) == (pytest.approx(1 / 40, abs=1e-16), 3)
    assert result.standard_error**2 == pytest.approx(7 / 72000, rel=1e-13)
    assert result.statistic == pytest.approx(math.sqrt(72000 / 7) / 40, rel=1e-13)
    assert result.p_value == pytest.approx(2 * stats.t.sf(math.sqrt(72000 / 7) / 40, 3), rel=1e-12)


def test_the_posterior_is_students_with_the_same_scale() -> None:
    result = CorrectedMean.of(DIFFERENCES, 1 / 3)
    posterior = stats.t(3, loc=1 / 40, scale=math.sqrt(7 / 72000))
    for value in (-0.01, 0.0, 0.01, 0.025, 0.3):
        assert result.probability_below(value) == pytest.approx(posterior.cdf(value), rel=1e-12)
    assert result.interval(0.9) == pytest.approx(posterior.interval(0.9), rel=1e-12)


def test_swapping_the_learners_mirrors_the_result() -> None:
    one, other = (CorrectedMean.of(sign * DIFFERENCES, 0.1) for sign in (1, -1))
    assert one.p_value == other.p_value
    assert one.probability_below(0.01) == pytest.approx(1 - other.probability_below(-0.01), abs=1e-15)


@pytest.mark.parametrize(
    ("values", "p", "below"), [([0.0] * 5, 1.0, 0.5), ([0.1] * 5, 0.0, 0.0), ([-0.1] * 5, 0.0, 1.0)]
)
def test_equal_differences_have_no_uncertainty(values: list[float], p: float, below: float) -> None:
    result = CorrectedMean.of(np.array(values), 0.1)
    assert (result.standard_error, result.p_value, result.probability_below(0.0)) == (0.0, p, below)


def test_infinite_values_give_nan() -> None:
    result = CorrectedMean.of(np.array([0.1, np.inf]), 0.1)
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
        corrected.append(CorrectedMean.of(first - second, 1 / 9).p_value < 0.05)
        plain.append(stats.ttest_rel(first, second).pvalue < 0.05)
    assert 0.02 < np.mean(corrected) < 0.11
    assert np.mean(plain) > 0.3
