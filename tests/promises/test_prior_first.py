"""The prior is stated, and the equal lambda, alpha or C of other packages is printed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

import weigh

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -0.5, 0.0] + 0.5 * RNG.normal(size=40)


def test_a_normal_prior_is_ridge_regression_with_the_printed_alpha() -> None:
    prior, noise = weigh.Normal(0.5), weigh.Normal(0.3)
    l1, l2 = prior.penalty(sigma=0.3)
    assert (l1, l2) == (0.0, pytest.approx(0.36))
    ours = weigh.LinearRegression(prior=prior, noise=noise, columns="number").fit(X, Y)
    assert ours.coef_ == pytest.approx(Ridge(alpha=l2).fit(X, Y).coef_, rel=1e-9)
    assert "Ridge(alpha=0.36" in str(prior.equivalents("linear", n=40, sigma=0.3))


def test_a_laplace_prior_is_the_lasso_with_the_printed_alpha() -> None:
    l1, _ = weigh.Laplace(0.05).penalty(sigma=0.5)
    assert l1 == pytest.approx(5.0)
    ours = weigh.LinearRegression(
        prior=weigh.Laplace(0.05), noise=weigh.Normal(0.5), columns="number", tol=1e-12
    ).fit(X, Y)
    theirs = Lasso(alpha=l1 / 40, tol=1e-12).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert (ours.coef_ == 0).tolist() == (theirs.coef_ == 0).tolist()


def test_a_normal_prior_is_logistic_regression_with_the_printed_c() -> None:
    printed = str(weigh.Normal(2).equivalents("logistic", n=40))
    assert "LogisticRegression(C=4" in printed
    ours = weigh.LogisticRegression(prior=weigh.Normal(2), columns=weigh.Number(scale=None), tol=1e-10).fit(
        X, Y > 0
    )
    theirs = LogisticRegression(C=4.0, tol=1e-10, max_iter=1000).fit(X, Y > 0)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-5)


def test_pseudo_counts_are_a_dirichlet_prior(mails: dict[str, list[object]]) -> None:
    by_number = weigh.NaiveBayes(prior=1).fit(mails, "spam")
    by_mode = weigh.NaiveBayes(prior=weigh.Dirichlet(2)).fit(mails, "spam")
    row = {"CS373": 1, "investment": 1, "familiarity": "high"}
    assert by_mode.predict_proba(row).tolist() == by_number.predict_proba(row).tolist()
    assert str(weigh.Dirichlet(2).equivalents()) != str(weigh.Dirichlet(3).equivalents())
