"""The Beta distribution."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from weigh.errors import ParameterError, Unsupported
from weigh.priors import Beta

HALF = Fraction(1, 2)
parameters = st.fractions(min_value=Fraction(1, 20), max_value=50, max_denominator=20)
counts = st.integers(0, 1000)


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [
        (2, 2, HALF),
        (3, 2, Fraction(2, 3)),
        (1, 2, 0),
        (2, 1, 1),
        (1, HALF, 1),
        (HALF, 1, 0),
        (HALF, 2, 0),
        (2, HALF, 1),
    ],
)
def test_the_mode_maximises_the_density(a: Fraction, b: Fraction, mode: Fraction) -> None:
    prior = Beta(a, b)
    assert prior.mode == mode
    grid = np.linspace(0, 1, 61)
    assert all(prior.density(float(mode)) >= prior.density(p) for p in grid)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (0.5, 0.2)])
def test_a_mode_that_is_not_unique_raises_an_error_that_suggests_the_mean(a: float, b: float) -> None:
    with pytest.raises(Unsupported, match=r"has no mode: .* Use its mean"):
        _ = Beta(a, b).mode


@given(parameters, parameters, st.floats(0.001, 0.999))
@settings(max_examples=50, deadline=None)
def test_moments_densities_and_intervals_agree_with_scipy(a: Fraction, b: Fraction, p: float) -> None:
    ours, theirs = Beta(a, b), stats.beta(float(a), float(b))
    assert float(ours.mean) == pytest.approx(theirs.mean())
    assert float(ours.variance) == pytest.approx(theirs.var())
    assert ours.log_density(p) == pytest.approx(theirs.logpdf(p), rel=1e-9, abs=1e-9)
    assert ours.density(p) == pytest.approx(theirs.pdf(p), rel=1e-9)
    assert ours.interval(0.9) == pytest.approx(theirs.interval(0.9), rel=1e-7)


@given(parameters, parameters, counts, counts, counts, counts)
@settings(max_examples=50, deadline=None)
def test_updating_twice_equals_updating_with_the_summed_counts(
    a: Fraction, b: Fraction, h1: int, t1: int, h2: int, t2: int
) -> None:
    in_two_steps = Beta(a, b).posterior(heads=h1, tails=t1).posterior(heads=h2, tails=t2)
    assert in_two_steps == Beta(a, b).posterior(heads=h1 + h2, tails=t1 + t2)


def test_density_at_the_ends_of_the_interval_and_outside() -> None:
    assert Beta(2, 2).density(0) == Beta(2, 2).density(1) == 0
    assert Beta(1, 3).density(0) == pytest.approx(3)
    assert Beta(3, 1).density(1) == pytest.approx(3)
    assert Beta(0.5, 2).density(0) == math.inf
    assert Beta(2, 0.5).log_density(1) == math.inf
    assert Beta(2, 2).density(-0.1) == Beta(2, 2).density(1.1) == 0
    assert Beta(0.001, 1).density(5e-324) == math.inf
    with pytest.raises(ParameterError, match="p must be a number, got nan"):
        Beta(2, 2).density(math.nan)


def test_floats_are_read_by_their_decimal_representation() -> None:
    assert Beta(0.1, Decimal("0.3")).mean == Fraction(1, 4)
    assert Beta(np.float32(0.1), np.int64(2)).a == Fraction(1, 10)
    assert Beta(0.1, 2) == Beta(Fraction(1, 10), 2.0)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, -math.inf, True, "2", None, 1e-320, 10**400, [2]])
def test_parameters_that_are_not_positive_and_finite_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"Beta: a must be a positive, finite number, got"):
        Beta(bad, 1)
    with pytest.raises(ParameterError, match=r"Beta: b must be a positive, finite number, got"):
        Beta(1, bad)


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "3", None])
def test_negative_counts_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError, match="heads must be a count of zero or more"):
        Beta(1, 1).posterior(heads=bad)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, "0.9"])
def test_interval_levels_outside_0_and_1_are_rejected(level: object) -> None:
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        Beta(1, 1).interval(level)


def test_sample_is_seeded_and_has_the_mean() -> None:
    prior = Beta(3, 1)
    draws = prior.sample(20_000, seed=1)
    assert np.array_equal(draws, prior.sample(20_000, seed=1))
    assert not np.array_equal(draws, prior.sample(20_000, seed=2))
    assert draws.mean() == pytest.approx(0.75, abs=0.01)


def test_repr_is_python_and_str_shows_the_equivalents() -> None:
    for prior in (Beta(2, 0.5), Beta(Fraction(1, 3), 4)):
        assert eval(repr(prior), {"Beta": Beta, "Fraction": Fraction}) == prior
    assert str(Beta(2, 2)) == (
        "Beta(2, 2): by its mode (MAP) pseudo-counts of 1 heads and 1 tails, scikit-learn's "
        "alpha=1; by its mean pseudo-counts of 2 heads and 2 tails, scikit-learn's alpha=2"
    )
    assert Beta(3, 2).equivalents()["mode (MAP)"] == "pseudo-counts of 2 heads and 1 tails"
    assert "no alpha of scikit-learn" in Beta(0.5, 0.5).equivalents()["mode (MAP)"]


def test_a_prior_can_be_hashed_copied_and_pickled() -> None:
    prior = Beta(2, 0.5)
    assert {prior: 1}[Beta(2.0, HALF)] == 1
    assert copy.deepcopy(prior) == pickle.loads(pickle.dumps(prior)) == prior
