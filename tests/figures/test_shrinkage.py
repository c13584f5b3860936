"""R1, R4: ridge has smaller weights and a larger residual than least squares; a prior is a penalty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import laplace, norm

from tests.learn.linear.designs import law
from weigh.learn.linear.lad import solve_lad
from weigh.learn.linear.least_squares import solve_least_squares
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.ridge import solve_ridge


@law
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.floats(0.01, 100))
def test_ridge_has_smaller_weights_and_a_larger_residual(seed: int, n: int, d: int, strength: float) -> None:
    draw = np.random.default_rng(seed)
    X, y, none = draw.normal(size=(n, d)), draw.normal(size=n), np.zeros(d)
    assume(np.abs(X.T @ y).max() > 1e-3)
    free = solve_least_squares(Problem(DenseMatrix(X), y, none, none, has_intercept=False))
    ridge = solve_ridge(Problem(DenseMatrix(X), y, none, np.full(d, strength), has_intercept=False))
    assert np.linalg.norm(ridge.w) < np.linalg.norm(free.w)
    assert np.linalg.norm(y - X @ ridge.w) > np.linalg.norm(y - X @ free.w)


def test_more_features_than_rows_interpolate_without_a_prior() -> None:
    draw = np.random.default_rng(0)
    X, y, none = draw.normal(size=(6, 10)), draw.normal(size=6), np.zeros(10)
    found = solve_least_squares(Problem(DenseMatrix(X), y, none, none, has_intercept=False))
    np.testing.assert_allclose(X @ found.w, y, rtol=1e-10)
    assert "rank 6 of 10 features, solution of minimum norm" in found.method
    np.testing.assert_allclose(found.w, np.linalg.pinv(X) @ y, rtol=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_a_normal_prior_is_a_squared_penalty(bias: bool) -> None:
    draw = np.random.default_rng(1)
    X, y, none = draw.normal(size=(25, 3)), draw.normal(size=25) + 1, np.zeros(3)
    sigma, gamma = 0.8, 0.4

    def minus_log_posterior(p: np.ndarray) -> float:
        noise = norm(0, sigma).logpdf(y - X @ p[:3] - (p[3] if bias else 0))
        return -float(noise.sum() + norm(0, gamma).logpdf(p[:3]).sum())

    map_ = minimize(minus_log_posterior, np.zeros(3 + bias), method="BFGS", options={"gtol": 1e-9}).x
    found = solve_ridge(Problem(DenseMatrix(X), y, none, np.full(3, sigma**2 / gamma**2), has_intercept=bias))
    np.testing.assert_allclose(found.w, map_[:3], atol=1e-6)


def test_laplace_noise_and_a_laplace_prior_are_absolute_penalties() -> None:
    draw = np.random.default_rng(2)
    X, none = draw.normal(size=(25, 2)), np.zeros(2)
    y = X @ [1.0, 0.1] + draw.laplace(size=25)
    width, tau = 0.7, 0.2

    def minus_log_posterior(w: np.ndarray) -> float:
        return -float(laplace(0, width).logpdf(y - X @ w).sum() + laplace(0, tau).logpdf(w).sum())

    found = solve_lad(Problem(DenseMatrix(X), y, np.full(2, width / tau), none, has_intercept=False))
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
    map_ = minimize(minus_log_posterior, found.w + 0.05, method="Nelder-Mead", options=options)
    assert minus_log_posterior(found.w) <= map_.fun + 1e-12
    np.testing.assert_allclose(found.w, map_.x, atol=1e-3)
