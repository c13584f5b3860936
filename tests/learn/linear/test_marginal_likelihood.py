"""Evidence: the density of the targets, and the scales that make it greatest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from tests.learn.linear.designs import Floats, law, problem
from weigh.errors import DataError
from weigh.learn.linear.marginal_likelihood import (
    MarginalLikelihood,
    effective_degrees_of_freedom,
    estimate_noise,
    estimate_scales,
    log_marginal_likelihood,
    residual_noise_std,
)
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.ridge import solve_ridge


def density(y: Floats, cover: Floats, flat: Floats) -> float:
    """Return the log density of y under Normal(0, cover) plus any multiple of flat columns."""
    Q, R = np.linalg.qr(flat, mode="complete")
    k = flat.shape[1]
    across = Q[:, k:]
    inside = multivariate_normal(np.zeros(len(y) - k), across.T @ cover @ across).logpdf(across.T @ y)
    return float(inside - np.log(np.abs(np.diagonal(R))).sum())


@law
@given(st.integers(0, 10**6), st.integers(4, 10), st.integers(1, 10), st.booleans(), st.integers(0, 1))
def test_the_evidence_is_the_density_of_the_targets(seed: int, n: int, d: int, bias: bool, free: int) -> None:
    draw = np.random.default_rng(seed)
    X, y, s = draw.normal(size=(n, d)), draw.normal(size=n), draw.uniform(0.5, 2, n)
    direction = draw.uniform(0.5, 2, d)
    direction[:free] = 0.0
    gamma, sigma = draw.uniform(0.3, 2, 2)
    held = X[:, direction > 0]
    cover = sigma**2 * np.diag(1 / s) + gamma**2 * (held / direction[direction > 0]) @ held.T
    flat = np.column_stack([X[:, direction == 0], np.ones((n, int(bias)))])
    moments = Moments.from_problem(problem(X, y, bias=bias, weights=s))
    found = log_marginal_likelihood(moments, gamma, sigma, direction)
    assert found == pytest.approx(density(y, cover, flat), rel=1e-8, abs=1e-8)


def test_a_flat_bias_is_the_limit_of_a_wide_prior() -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(8, 3)), draw.normal(size=8)
    wide = 1e4
    cover = 0.25 * np.eye(8) + 4.0 * X @ X.T + wide**2
    near = multivariate_normal(np.zeros(8), cover).logpdf(y) + 0.5 * math.log(2 * math.pi * wide**2)
    found = log_marginal_likelihood(Moments.from_problem(problem(X, y)), 2.0, 0.5)
    assert found == pytest.approx(near, abs=1e-5)


@pytest.mark.parametrize("shape", [(60, 4), (60, 80), (20, 1)])
@pytest.mark.parametrize("bias", [True, False])
def test_no_other_scales_make_the_targets_more_probable(shape: tuple[int, int], bias: bool) -> None:
    draw = np.random.default_rng(1)
    X = draw.normal(size=shape)
    y = X @ np.where(draw.random(shape[1]) < 0.5, -1.0, 1.0) + 2 * draw.normal(size=shape[0])
    moments = Moments.from_problem(problem(X, y, bias=bias))
    found = estimate_scales(moments)
    evidence = MarginalLikelihood(moments)
    other = minimize(lambda p: -evidence.log_density(*np.exp(p)), [0.0, 0.0], method="Nelder-Mead", tol=1e-10)
    assert found.log_marginal_likelihood >= -other.fun - 1e-9
    assert found.log_marginal_likelihood == pytest.approx(
        evidence.log_density(found.gamma, found.sigma), rel=1e-12
    )
    np.testing.assert_allclose(np.log([found.gamma, found.sigma]), other.x, atol=1e-3)


def test_the_scales_that_made_the_rows_are_found_again() -> None:
    draw = np.random.default_rng(2)
    X = draw.normal(size=(3_000, 200))
    y = X @ (0.5 * draw.normal(size=200)) + 3 * draw.normal(size=3_000) + 7
    found = estimate_scales(Moments.from_problem(problem(X, y)))
    assert found.gamma == pytest.approx(0.5, rel=0.1)
    assert found.sigma == pytest.approx(3.0, rel=0.05)


def test_targets_that_no_feature_explains_get_a_prior_near_zero() -> None:
    draw = np.random.default_rng(3)
    X = draw.normal(size=(100, 3))
    X -= X.mean(axis=0)
    y = draw.normal(size=100)
    y -= X @ np.linalg.lstsq(X, y, rcond=None)[0]
    found = estimate_scales(Moments.from_problem(problem(X, y)))
    assert found.gamma < 1e-3
    assert found.sigma == pytest.approx(y.std() * math.sqrt(100 / 99), rel=1e-6)


@pytest.mark.parametrize("shape", [(60, 4), (60, 80)])
def test_the_noise_under_a_given_prior_is_the_most_probable(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(4)
    X = draw.normal(size=shape)
    y = X @ draw.normal(size=shape[1]) + 6 * draw.normal(size=shape[0])
    moments = Moments.from_problem(problem(X, y))
    found = estimate_noise(moments, 1.0)
    evidence = MarginalLikelihood(moments)
    around = found.sigma * np.linspace(0.5, 2, 301)
    assert found.log_marginal_likelihood >= max(evidence.log_density(1.0, each) for each in around) - 1e-12
    assert found.sigma == pytest.approx(6.0, rel=0.5)


def test_the_noise_from_residuals_counts_effective_weights() -> None:
    draw = np.random.default_rng(5)
    X = draw.normal(size=(40, 3))
    y = X @ np.ones(3) + draw.normal(size=40)
    stated = problem(X, y, 5.0)
    moments = Moments.from_problem(stated)
    w = solve_ridge(stated).w
    A = X - X.mean(axis=0)
    hat = A @ np.linalg.solve(A.T @ A + 5 * np.eye(3), A.T)
    assert effective_degrees_of_freedom(moments, stated.l2) == pytest.approx(np.trace(hat) + 1, rel=1e-12)
    rss = float(np.square(y - moments.intercept(w) - X @ w).sum())
    assert residual_noise_std(moments, w, stated.l2) == pytest.approx(
        math.sqrt(rss / (39 - np.trace(hat))), rel=1e-10
    )
    assert effective_degrees_of_freedom(moments, np.zeros(3)) == pytest.approx(4.0, rel=1e-12)


def test_too_few_rows_tell_no_scales() -> None:
    X = np.arange(3.0)[:, None] ** [[1, 2]]
    y = np.array([1.0, 2, 4])
    moments = Moments.from_problem(problem(X, y))
    with pytest.raises(DataError, match="The weights fit all 3 rows"):
        residual_noise_std(moments, solve_ridge(problem(X, y)).w, np.zeros(2))
    with pytest.raises(DataError, match="The evidence of 1 rows is the same for all scales"):
        MarginalLikelihood(Moments.from_problem(problem(X[:1], y[:1])))
