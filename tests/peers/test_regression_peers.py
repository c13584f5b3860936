"""Agreement with scikit-learn's linear models to 1e-8 of the objective.

The parametrisations differ, and the tests convert between them:

- scikit-learn's Lasso and ElasticNet divide the squared loss by the number of rows, so the penalty too;
- its LogisticRegression multiplies the loss by C instead of dividing the penalty;
- its liblinear penalises the intercept, so these models have none;
- its QuantileRegressor minimises the mean of half the absolute deviations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse, special
from sklearn import linear_model

import weigh

TOLERANCE = 1e-8
SHAPES = [(80, 5), (12, 30)]


def rows(n: int, d: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.uniform(-2, 2, d)
    w = rng.normal(size=d) * (rng.random(d) < 0.5)
    return X, X @ w + rng.normal(size=n) + 2, rng.uniform(0.5, 2, n)


def objective(
    X: Any, y: Any, fitted: Any, l1: float, l2: float, s: Any = 1.0, *, absolute: bool = False
) -> float:
    """Return the objective of a fitted learner of either package."""
    residual = y - X @ np.ravel(fitted.coef_) - float(np.ravel(fitted.intercept_)[0])
    loss = np.abs(residual) if absolute else 0.5 * np.square(residual)
    w = np.ravel(fitted.coef_)
    return float((s * loss).sum() + l1 * np.abs(w).sum() + 0.5 * l2 * np.square(w).sum())


def check(X: Any, y: Any, ours: Any, theirs: Any, l1: float, l2: float, s: Any = 1.0, **options: Any) -> None:
    """Assert that both objectives agree, and that theirs respects our duality gap."""
    our_value, their_value = (objective(X, y, fitted, l1, l2, s, **options) for fitted in (ours, theirs))
    null = ours.certificate_.null
    assert ours.certificate_.objective == pytest.approx(our_value, rel=1e-9, abs=1e-9 * null)
    assert our_value - their_value <= TOLERANCE * null
    assert their_value >= our_value - ours.certificate_.gap - 1e-10 * null
    assert abs(our_value - their_value) <= TOLERANCE * null


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_and_ridge_agree(shape: tuple[int, int], bias: bool, weighted: bool) -> None:
    X, y, s = rows(*shape)
    s = s if weighted else None
    ours = weigh.LinearRegression(bias=bias).fit(X, y, s)
    theirs = linear_model.LinearRegression(fit_intercept=bias).fit(X, y, s)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
    for alpha in (1e-3, 1.0, 50.0):
        ours = weigh.LinearRegression(weigh.Penalty(l2=alpha), bias=bias).fit(X, y, s)
        theirs = linear_model.Ridge(alpha, fit_intercept=bias, solver="svd").fit(X, y, s)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)
        check(X, y, ours, theirs, 0.0, alpha, 1.0 if s is None else s)


@pytest.mark.parametrize("shape", SHAPES)
def test_ridge_selected_by_leave_one_out_agrees(shape: tuple[int, int]) -> None:
    X, y, _ = rows(*shape)
    fitted = weigh.path(weigh.LinearRegression(weigh.Normal("cv")), X, y, n=100)
    theirs = linear_model.RidgeCV(alphas=fitted.l2).fit(X, y)
    ours = weigh.LinearRegression(weigh.Normal("cv"), folds="loo").fit(X, y)
    assert ours.model_.fit.l2 == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("l1", "l2"), [(5.0, 0.0), (0.5, 0.0), (3.0, 2.0)])
def test_lasso_and_elastic_net_agree(shape: tuple[int, int], bias: bool, l1: float, l2: float) -> None:
    X, y, _ = rows(*shape)
    n = len(y)
    ours = weigh.LinearRegression(weigh.Penalty(l1=l1, l2=l2), bias=bias, tol=1e-11).fit(X, y)
    options = {"fit_intercept": bias, "tol": 1e-12, "max_iter": 200_000}
    if l2:
        theirs = linear_model.ElasticNet((l1 + l2) / n, l1_ratio=l1 / (l1 + l2), **options).fit(X, y)
    else:
        theirs = linear_model.Lasso(l1 / n, **options).fit(X, y)
    check(X, y, ours, theirs, l1, l2)
    assert set(np.flatnonzero(ours.coef_)) == set(np.flatnonzero(theirs.coef_))


def test_the_stated_equivalent_of_a_prior_gives_the_same_model() -> None:
    X, y, _ = rows(80, 5)
    ours = weigh.LinearRegression(weigh.Laplace(0.2), weigh.Normal(1.5), tol=1e-12).fit(X, y)
    call = str(ours.summary().equivalents["Lasso"])
    theirs = eval(call, {"Lasso": linear_model.Lasso}).set_params(tol=1e-13, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


@pytest.mark.parametrize("l1", [0.0, 2.0])
@pytest.mark.parametrize("bias", [True, False])
def test_least_absolute_deviations_agree(l1: float, bias: bool) -> None:
    X, y, s = rows(60, 4)
    ours = weigh.LinearRegression(weigh.Penalty(l1=l1), noise="laplace", bias=bias).fit(X, y, s)
    theirs = linear_model.QuantileRegressor(
        quantile=0.5, alpha=l1 / 2 / s.sum(), fit_intercept=bias, solver="highs"
    ).fit(X, y, s)
    check(X, y, ours, theirs, l1, 0.0, s, absolute=True)


def test_the_posterior_at_given_precisions_equals_bayesian_ridge() -> None:
    X, y, _ = rows(80, 5)
    theirs = linear_model.BayesianRidge(tol=1e-12, max_iter=2000).fit(X, y)
    prior, noise = weigh.Normal(theirs.lambda_**-0.5), weigh.Normal(theirs.alpha_**-0.5)
    ours = weigh.LinearRegression(prior, noise).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.posterior_.covariance, theirs.sigma_, rtol=1e-7, atol=1e-12)
    # BayesianRidge treats the intercept as known, so its variance is missing from their spread.
    sd = ours.posterior_.predictive_sd(X)
    known = np.sqrt(np.square(sd) - ours.posterior_.sigma**2 / 80)
    np.testing.assert_allclose(known, theirs.predict(X, return_std=True)[1], rtol=1e-7)


def log_objective(X: Any, codes: Any, fitted: Any, l1: float, l2: float, s: Any = 1.0) -> float:
    """Return Σ log loss + penalty of a fitted learner of either package, binary or softmax."""
    W, b = np.atleast_2d(fitted.coef_), np.ravel(fitted.intercept_)
    Z = X @ W.T + b
    Z = np.column_stack([np.zeros(len(Z)), Z]) if len(W) == 1 else Z
    losses = -special.log_softmax(Z, axis=1)[np.arange(len(codes)), codes]
    return float((s * losses).sum() + l1 * np.abs(W).sum() + 0.5 * l2 * np.square(W).sum())


def log_check(X: Any, codes: Any, ours: Any, theirs: Any, l1: float, l2: float, s: Any = 1.0) -> None:
    our_value, their_value = (log_objective(X, codes, fitted, l1, l2, s) for fitted in (ours, theirs))
    null = ours.certificate_.null
    assert ours.certificate_.objective == pytest.approx(our_value, rel=1e-9)
    assert their_value >= our_value - ours.certificate_.gap - 1e-10 * null
    assert abs(our_value - their_value) <= TOLERANCE * null


def labelled(classes: int, n: int = 120, d: int = 5) -> tuple[Any, Any, Any]:
    X, y, s = rows(n, d)
    noisy = y + np.random.default_rng(1).normal(size=n) * 2
    return X, np.argsort(np.argsort(noisy)) * classes // n, s


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_logistic_regression_with_a_normal_prior_agrees(classes: int, bias: bool, scale: float) -> None:
    X, y, s = labelled(classes)
    ours = weigh.LogisticRegression(scale, bias=bias, tol=1e-12).fit(X, y, s)
    theirs = linear_model.LogisticRegression(
        C=scale**2, fit_intercept=bias, tol=1e-10, max_iter=10_000, solver="newton-cg"
    ).fit(X, y, s)
    log_check(X, y, ours, theirs, 0.0, scale**-2, s)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("how", ["balanced", {0: 1.0, 1: 4.0}])
def test_class_weights_agree(how: Any) -> None:
    X, y, _ = labelled(2)
    y = np.where(np.arange(len(y)) % 3 == 0, 0, y)
    ours = weigh.LogisticRegression(class_weight=how, tol=1e-13).fit(X, y)
    theirs = linear_model.LogisticRegression(class_weight=how, tol=1e-11, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("l1", [0.5, 5.0])
def test_logistic_regression_with_a_laplace_prior_agrees_with_liblinear(l1: float) -> None:
    X, y, _ = labelled(2)
    ours = weigh.LogisticRegression(weigh.Laplace(1 / l1), bias=False, tol=1e-11, max_iter=10_000).fit(X, y)
    theirs = linear_model.LogisticRegression(
        l1_ratio=1, C=1 / l1, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(X, y)
    log_check(X, y, ours, theirs, l1, 0.0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("l1", "l2"), [(4.0, 0.0), (3.0, 2.0)])
def test_logistic_regression_with_both_penalties_agrees_with_saga(classes: int, l1: float, l2: float) -> None:
    X, y, _ = labelled(classes)
    prior = weigh.Penalty(l1=l1, l2=l2)
    ours = weigh.LogisticRegression(prior, tol=1e-11, max_iter=10_000).fit(X, y)
    theirs = linear_model.LogisticRegression(
        l1_ratio=l1 / (l1 + l2), C=1 / (l1 + l2), solver="saga", tol=1e-10, max_iter=50_000, random_state=0
    ).fit(X, y)
    log_check(X, y, ours, theirs, l1, l2)


def test_sparse_rows_agree() -> None:
    rng = np.random.default_rng(2)
    X = sparse.random(300, 400, 0.02, format="csr", random_state=3)
    y = (np.asarray(X @ rng.normal(size=400)) + 0.2 * rng.normal(size=300) > 0).astype(int)
    ours = weigh.LogisticRegression(2.0, tol=1e-12).fit(X, y)
    theirs = linear_model.LogisticRegression(C=4, tol=1e-10, max_iter=10_000).fit(X, y)
    log_check(X, y, ours, theirs, 0.0, 0.25)
    lasso = weigh.LinearRegression(weigh.Penalty(l1=0.5), tol=1e-11).fit(X, y.astype(float))
    their_value = linear_model.Lasso(0.5 / 300, tol=1e-12, max_iter=100_000).fit(X, y.astype(float))
    check(X, y, lasso, their_value, 0.5, 0.0)
