"""R1 to R4 through the learner: least squares, ridge, lasso, absolute loss, and priors as penalties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import weigh
from tests.figures.test_longley import ERRORS, INTERCEPT, INTERCEPT_ERROR, LONGLEY, WEIGHTS
from tests.figures.test_stack_loss import STACK_LOSS

RNG = np.random.default_rng(1)
X = RNG.normal(size=(25, 3))
Y = X @ [1.0, -0.2, 0.0] + RNG.normal(size=25)


def fitted(prior: Any = None, noise: Any = "normal", rows: Any = X, y: Any = Y, **given: Any) -> Any:
    return weigh.LinearRegression(prior, noise, **({"bias": False} | given)).fit(rows, y)


def test_longleys_figures_to_nine_digits() -> None:
    found = weigh.LinearRegression().fit(LONGLEY[:, 1:], LONGLEY[:, 0])
    np.testing.assert_allclose(found.coef_, WEIGHTS, rtol=1e-9)
    assert found.intercept_ == pytest.approx(INTERCEPT, rel=1e-9)
    lines = found.summary().lines
    np.testing.assert_allclose([line.error for line in lines], [INTERCEPT_ERROR, *ERRORS], rtol=1e-9)
    # NIST: residual standard deviation, R².
    assert found.posterior_.sigma == pytest.approx(304.854073561965, rel=1e-9)
    assert found.model_.fit.r2 == pytest.approx(0.995479004577296, rel=1e-9)


def test_least_absolute_deviations_of_the_stack_losses() -> None:
    found = weigh.LinearRegression(noise="laplace").fit(STACK_LOSS[:, 1:], STACK_LOSS[:, 0])
    np.testing.assert_allclose(found.coef_, [0.83188406, 0.57391304, -0.06086957], atol=5e-9)
    assert found.intercept_ == pytest.approx(-39.68985507, abs=5e-9)


def test_ridge_is_the_closed_form_of_the_lecture() -> None:
    for lam in (0.1, 1.0, 30.0):
        closed = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T @ Y)
        np.testing.assert_allclose(fitted(weigh.Penalty(l2=lam)).coef_, closed, rtol=1e-10)


def test_ridge_has_smaller_weights_and_a_larger_residual() -> None:
    free, ridge = fitted(), fitted(weigh.Penalty(l2=2))
    assert np.linalg.norm(ridge.coef_) < np.linalg.norm(free.coef_)
    assert np.linalg.norm(Y - ridge.predict(X)) > np.linalg.norm(Y - free.predict(X))


def test_more_features_than_rows_interpolate_with_a_warning() -> None:
    wide, y = RNG.normal(size=(6, 10)), RNG.normal(size=6)
    found = fitted(rows=wide, y=y)
    np.testing.assert_allclose(found.predict(wide), y, rtol=1e-9)
    np.testing.assert_allclose(found.coef_, np.linalg.pinv(wide) @ y, rtol=1e-8)
    message = "rank 6 of 10 features, solution of minimum norm"
    assert message in " ".join(str(found.certificate_).split())


def test_the_lasso_of_one_point_is_three_halves() -> None:
    # y = 2, x = 1: the lecture's (2 − β)² + |β| is twice our ½ (2 − β)² + ½ |β|.
    found = fitted(weigh.Penalty(l1=0.5), rows=[[1.0]], y=[2.0])
    assert found.coef_.tolist() == [pytest.approx(1.5, abs=1e-12)]
    ridge = fitted(weigh.Penalty(l2=1), rows=[[1.0]], y=[2.0])
    assert ridge.coef_.tolist() == [pytest.approx(1.0, abs=1e-12)]


@pytest.mark.parametrize(("lam1", "lam2"), [(3.0, 0.0), (0.0, 3.0), (4.0, 2.0)])
def test_the_penalties_of_the_lecture_equal_ours(lam1: float, lam2: float) -> None:
    # ‖Xβ − y‖² + λ₁‖β‖₁ + λ₂‖β‖² is least where ours is with l1 = λ₁/2, l2 = λ₂.
    found = fitted(weigh.Penalty(l1=lam1 / 2, l2=lam2), tol=1e-14)

    def lecture(w: Any) -> float:
        return float(np.square(X @ w - Y).sum() + lam1 * np.abs(w).sum() + lam2 * np.square(w).sum())

    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 10_000}
    least = minimize(lecture, found.coef_ + 0.01, method="Nelder-Mead", options=options)
    assert lecture(found.coef_) <= least.fun + 1e-10
    np.testing.assert_allclose(found.coef_, least.x, atol=1e-4)


def test_lasso_sets_weights_to_exactly_zero_and_ridge_does_not() -> None:
    assert (fitted(weigh.Penalty(l1=8)).coef_ == 0).sum() >= 1
    assert (fitted(weigh.Penalty(l2=8)).coef_ != 0).all()


PRIORS: list[Any] = [weigh.Normal(0.4), weigh.Laplace(0.3)]
NOISES: list[Any] = [weigh.Normal(0.8), weigh.Laplace(0.6)]


@pytest.mark.parametrize("prior", PRIORS, ids=["normal prior", "laplace prior"])
@pytest.mark.parametrize("noise", NOISES, ids=["normal noise", "laplace noise"])
def test_the_most_probable_weights_are_the_penalised_ones(prior: Any, noise: Any) -> None:
    found = fitted(prior, noise, tol=1e-12)
    # σ² of normal noise, b of Laplace's, times the prior's own −log density.
    factor = noise.scale**2 if isinstance(noise, weigh.Normal) else noise.scale
    penalty = (
        weigh.Penalty(l2=factor / prior.scale**2)
        if isinstance(prior, weigh.Normal)
        else weigh.Penalty(l1=factor / prior.scale)
    )
    same = fitted(penalty, "normal" if isinstance(noise, weigh.Normal) else "laplace", tol=1e-12)
    np.testing.assert_allclose(found.coef_, same.coef_, atol=1e-7)
    assert found.certificate_.objective == pytest.approx(same.certificate_.objective, rel=1e-10)

    def minus_log_posterior(w: Any) -> float:
        return -float(np.sum(noise.log_density(Y - X @ w)) + np.sum(prior.log_density(w)))

    best = minus_log_posterior(found.coef_)
    for step in RNG.normal(size=(200, 3)) * 10.0 ** -RNG.uniform(0, 5, (200, 1)):
        assert minus_log_posterior(found.coef_ + step) >= best - 1e-9
