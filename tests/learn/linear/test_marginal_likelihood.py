"""Marginal likelihood: the density of the targets, and the scales that maximise it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from tests.learn.linear.designs import Floats, law, make_problem
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


def density(y: Floats, covariance: Floats, flat: Floats) -> float:
    """Return the log density of y ~ Normal(0, covariance) plus columns with a flat prior."""
    Q, R = np.linalg.qr(flat, mode="complete")
    k = flat.shape[1]
    complement = Q[:, k:]
    projected = complement.T @ covariance @ complement
    log_density = multivariate_normal(np.zeros(len(y) - k), projected).logpdf(complement.T @ y)
    return float(log_density - np.log(np.abs(np.diagonal(R))).sum())


@law
@given(st.integers(0, 10**6), st.integers(4, 10), st.integers(1, 10), st.booleans(), st.integers(0, 1))
def test_the_marginal_likelihood_is_the_density_of_the_targets(
    seed: int, n: int, d: int, bias: bool, free: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y, s = rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(0.5, 2, n)
    direction = rng.uniform(0.5, 2, d)
    direction[:free] = 0.0
    gamma, sigma = rng.uniform(0.3, 2, 2)
    penalised = X[:, direction > 0]
    prior_covariance = gamma**2 * (penalised / direction[direction > 0]) @ penalised.T
    covariance = sigma**2 * np.diag(1 / s) + prior_covariance
    flat = np.column_stack([X[:, direction == 0], np.ones((n, int(bias)))])
    moments = Moments.from_problem(make_problem(X, y, bias=bias, weights=s))
    result = log_marginal_likelihood(moments, gamma, sigma, direction)
    assert result == pytest.approx(density(y, covariance, flat), rel=1e-8, abs=1e-8)


def test_a_flat_intercept_prior_is_the_limit_of_a_wide_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    wide = 1e4
    covariance = 0.25 * np.eye(8) + 4.0 * X @ X.T + wide**2
    limit = multivariate_normal(np.zeros(8), covariance).logpdf(y) + 0.5 * math.log(2 * math.pi * wide**2)
    result = log_marginal_likelihood(Moments.from_problem(make_problem(X, y)), 2.0, 0.5)
    assert result == pytest.approx(limit, abs=1e-5)


@pytest.mark.parametrize("shape", [(60, 4), (60, 80), (20, 1)])
@pytest.mark.parametrize("bias", [True, False])
def test_the_estimated_scales_maximise_the_marginal_likelihood(shape: tuple[int, int], bias: bool) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    y = X @ np.where(rng.random(shape[1]) < 0.5, -1.0, 1.0) + 2 * rng.normal(size=shape[0])
    moments = Moments.from_problem(make_problem(X, y, bias=bias))
    result = estimate_scales(moments)
    likelihood = MarginalLikelihood(moments)
    other = minimize(
        lambda p: -likelihood.log_density(*np.exp(p)), [0.0, 0.0], method="Nelder-Mead", tol=1e-10
    )
    assert result.log_marginal_likelihood >= -other.fun - 1e-9
    assert result.log_marginal_likelihood == pytest.approx(
        likelihood.log_density(result.gamma, result.sigma), rel=1e-12
    )
    np.testing.assert_allclose(np.log([result.gamma, result.sigma]), other.x, atol=1e-3)


def test_the_scales_of_simulated_rows_are_recovered() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3_000, 200))
    y = X @ (0.5 * rng.normal(size=200)) + 3 * rng.normal(size=3_000) + 7
    result = estimate_scales(Moments.from_problem(make_problem(X, y)))
    assert result.gamma == pytest.approx(0.5, rel=0.1)
    assert result.sigma == pytest.approx(3.0, rel=0.05)


def test_targets_uncorrelated_with_features_give_a_prior_scale_near_zero() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 3))
    X -= X.mean(axis=0)
    y = rng.normal(size=100)
    y -= X @ np.linalg.lstsq(X, y, rcond=None)[0]
    result = estimate_scales(Moments.from_problem(make_problem(X, y)))
    assert result.gamma < 1e-3
    assert result.sigma == pytest.approx(y.std() * math.sqrt(100 / 99), rel=1e-6)


@pytest.mark.parametrize("shape", [(60, 4), (60, 80)])
def test_the_estimated_noise_maximises_the_marginal_likelihood(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=shape)
    y = X @ rng.normal(size=shape[1]) + 6 * rng.normal(size=shape[0])
    moments = Moments.from_problem(make_problem(X, y))
    result = estimate_noise(moments, 1.0)
    likelihood = MarginalLikelihood(moments)
    nearby = result.sigma * np.linspace(0.5, 2, 301)
    assert (
        result.log_marginal_likelihood >= max(likelihood.log_density(1.0, sigma) for sigma in nearby) - 1e-12
    )
    assert result.sigma == pytest.approx(6.0, rel=0.5)


def test_the_residual_noise_uses_effective_degrees_of_freedom() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = X @ np.ones(3) + rng.normal(size=40)
    problem = make_problem(X, y, 5.0)
    moments = Moments.from_problem(problem)
    w = solve_ridge(problem).w
    A = X - X.mean(axis=0)
    hat = A @ np.linalg.solve(A.T @ A + 5 * np.eye(3), A.T)
    assert effective_degrees_of_freedom(moments, problem.l2) == pytest.approx(np.trace(hat) + 1, rel=1e-12)
    rss = float(np.square(y - moments.intercept(w) - X @ w).sum())
    assert residual_noise_std(moments, w, problem.l2) == pytest.approx(
        math.sqrt(rss / (39 - np.trace(hat))), rel=1e-10
    )
    assert effective_degrees_of_freedom(moments, np.zeros(3)) == pytest.approx(4.0, rel=1e-12)


def test_scales_cannot_be_estimated_from_too_few_rows() -> None:
    X = np.arange(3.0)[:, None] ** [[1, 2]]
    y = np.array([1.0, 2, 4])
    moments = Moments.from_problem(make_problem(X, y))
    with pytest.raises(DataError, match="The weights fit all 3 rows"):
        residual_noise_std(moments, solve_ridge(make_problem(X, y)).w, np.zeros(2))
    with pytest.raises(DataError, match="1 rows cannot determine the prior's scale"):
        MarginalLikelihood(Moments.from_problem(make_problem(X[:1], y[:1])))
