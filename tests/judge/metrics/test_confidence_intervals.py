"""Shared intervals against short references: shares, standard errors and quantiles of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from weigh.judge.metrics.confidence_intervals import proportion, quantile_interval, standard_error
from weigh.priors.quantiles import binomial_limit, student_critical_value


@pytest.mark.parametrize(("part", "whole"), [(0, 7), (7, 7), (3, 7), (1, 1), (50, 1000)])
def test_a_proportion_has_the_exact_interval_in_its_unit(part: int, whole: int) -> None:
    measure = proportion("share", part, whole, 0.9, 100.0)
    exact = stats.binomtest(part, whole).proportion_ci(0.9, "exact")
    assert measure.value == 100.0 * part / whole
    assert (measure.low, measure.high) == pytest.approx((100 * exact.low, 100 * exact.high))


def test_a_proportion_of_nothing_is_unknown() -> None:
    measure = proportion("share", 0, 0)
    assert all(math.isnan(number) for number in (measure.value, measure.low, measure.high))


@pytest.mark.parametrize(("part", "whole"), [(0, 9), (4, 9), (9, 9), (3, 200)])
def test_a_binomial_limit_is_the_share_at_which_the_tail_has_its_probability(part: int, whole: int) -> None:
    low, high = (binomial_limit(part, whole, 0.05, upper=upper) for upper in (False, True))
    assert stats.binom.sf(part - 1, whole, low) == pytest.approx(0.05 if part else 1.0)
    assert stats.binom.cdf(part, whole, high) == pytest.approx(0.05 if part < whole else 1.0)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_critical_values_enclose_the_level(level: float) -> None:
    t, z = student_critical_value(4, level), student_critical_value(math.inf, level)
    assert stats.t.cdf(t, 4) - stats.t.cdf(-t, 4) == pytest.approx(level)
    assert math.erf(z / math.sqrt(2)) == pytest.approx(level)


def test_the_standard_error_is_over_the_last_axis() -> None:
    values = np.random.default_rng(1).normal(size=(3, 8))
    assert standard_error(values) == pytest.approx(stats.sem(values, axis=1))
    assert standard_error(values, 0.25) == pytest.approx(np.sqrt(values.var(axis=1, ddof=1) * (1 / 8 + 0.25)))
    assert np.isnan(standard_error(values[:, :1])).all()


def test_a_quantile_interval_leaves_equal_shares_of_the_draws_outside() -> None:
    draws = np.random.default_rng(2).permutation(np.arange(101.0))
    assert quantile_interval(draws, 0.9).tolist() == pytest.approx([5.0, 95.0])
    assert quantile_interval(np.append(draws, math.nan), 0.9).tolist() == pytest.approx([5.0, 95.0])
    table = np.column_stack([draws, -2 * draws])
    assert quantile_interval(table, 0.9) == pytest.approx(np.array([[5.0, -190.0], [95.0, -10.0]]))


def test_the_nearest_draws_may_be_infinite() -> None:
    draws = np.append(np.arange(98.0), [math.inf] * 3)
    assert quantile_interval(draws, 0.98, "nearest").tolist() == [1.0, math.inf]
