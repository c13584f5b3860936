"""The Laplace prior of a weight."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from weigh.errors import ParameterError
from weigh.priors import Laplace
from weigh.priors.location_scale import FeatureWeights

# For smaller scales scipy takes the logarithm of a density of zero.
scales = st.floats(0.2, 100)
numbers = st.floats(-50, 50)


@given(scales, numbers, st.lists(numbers, min_size=1, max_size=5), st.floats(0.01, 0.99))
@settings(max_examples=50, deadline=None)
def test_densities_and_intervals_agree_with_scipy(t: float, m: float, w: list[float], level: float) -> None:
    ours, theirs = Laplace(t, mean=m), stats.laplace(m, t)
    assert ours.log_density(w) == pytest.approx(theirs.logpdf(w), rel=1e-12, abs=1e-12)
    assert ours.density(w[0]) == pytest.approx(theirs.pdf(w[0]), rel=1e-9)
    assert ours.interval(level) == pytest.approx(theirs.interval(level), rel=1e-9, abs=1e-9)
    assert ours.mean == ours.mode == m


@given(scales, numbers, st.lists(numbers, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_the_value_is_the_negative_log_density_without_its_constant(
    t: float, m: float, w: list[float]
) -> None:
    prior = Laplace(t, mean=m)
    constant = len(w) * prior.log_density(m)
    assert prior.value(w) == pytest.approx(constant - prior.log_density(w).sum(), rel=1e-9, abs=1e-9)


@given(scales, numbers, numbers, st.floats(0, 10))
@settings(max_examples=100, deadline=None)
def test_zero_is_a_subgradient_at_the_prox(t: float, m: float, v: float, step: float) -> None:
    w, bound = Laplace(t, mean=m).prox(v, step), step / t
    subgradient = v - w
    if w == m:
        assert abs(subgradient) <= bound * (1 + 1e-12) + 1e-12
    else:
        assert subgradient == pytest.approx(math.copysign(bound, w - m), abs=1e-9 * (1 + bound))


def test_the_prox_is_soft_thresholding_around_the_mean() -> None:
    assert Laplace(0.5).prox([3, -0.5, -4], step=1).tolist() == [1, 0, -2]
    assert Laplace(0.5, mean=1).prox([4, 0.5, -3], step=1).tolist() == [2, 1, -1]
    prior = Laplace(2, mean=1)
    minimum = optimize.minimize_scalar(lambda w: 0.5 * (w - 5) ** 2 + 3 * prior.value(w), tol=1e-12)
    assert prior.prox(5, step=3) == 3.5 == pytest.approx(minimum.x, abs=1e-6)


def test_the_penalty_is_the_variance_over_the_scale() -> None:
    assert Laplace(0.5).penalty() == (2, 0)
    assert Laplace(0.5).penalty(sigma=3) == (18, 0)
    assert Laplace(0.1).exact_penalty(0.3) == (Fraction(9, 10), 0)


def test_laplace_noise_gives_the_absolute_loss() -> None:
    noise, residuals = Laplace(3), np.array([1.0, -2.0, 0.5])
    assert noise.loss == "absolute"
    assert noise.dispersion * noise.value(residuals) == pytest.approx(3.5)


@pytest.mark.parametrize("bad", [0, -1, math.nan, "foo", "evidence", None])
def test_scales_that_are_not_positive_numbers_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError) as error:
        Laplace(bad)
    assert str(error.value) == f"Laplace: scale must be a positive, finite number or 'cv', got {bad!r}."


def test_the_mean_may_be_a_model_matched_by_feature_name() -> None:
    prior = Laplace(2, mean=FeatureWeights(("age", "sex"), np.array([2.0, -1.0])))
    assert prior.centre(["sex", "height"]).tolist() == [-1, 0]
    assert prior.value([4, -1]) == 1
    assert prior.prox([5, -1], step=2).tolist() == [4, -1]
    assert prior.sample(3).shape == (3, 2)


def test_sample_is_seeded_and_has_the_given_mean_and_scale() -> None:
    prior = Laplace(3, mean=-1)
    draws = prior.sample(20_000, seed=1)
    assert np.array_equal(draws, prior.sample(20_000, seed=1))
    assert (np.median(draws), np.abs(draws + 1).mean()) == pytest.approx((-1, 3), abs=0.06)


def test_repr_is_python_and_str_shows_the_equivalents() -> None:
    for prior in (Laplace(2), Laplace(0.1, mean=-1.5), Laplace("cv")):
        assert eval(repr(prior), {"Laplace": Laplace}) == prior
    assert str(Laplace(0.5)) == (
        "Laplace(0.5): l1=2 with the log loss, LogisticRegression(C=0.5, l1_ratio=1); "
        "2 σ² with ½‖y − Xw‖², Lasso(alpha=2 σ²/n)"
    )
