"""The strength of an elastic net by cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import KFold

import weigh


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 12))
    return X, X[:, :4] @ [2.0, -1.0, 0.5, 1.0] + rng.normal(size=90)


@pytest.mark.parametrize("ratio", [0.2, 0.8])
def test_linear_regression_chooses_the_strength_that_predicts_held_out_rows_best(ratio: float) -> None:
    X, y = make_rows()
    prior = weigh.Penalty(l1=ratio, l2=1 - ratio, scale="cv")
    fit = weigh.LinearRegression(prior, folds=5, tol=1e-10).fit(X, y).model_.fit
    assert fit.scale_by == "cross-validation"
    assert fit.l1 is not None
    assert fit.l2 is not None
    assert fit.l1 / fit.l2 == pytest.approx(ratio / (1 - ratio), rel=1e-12)

    def held_out_error(factor: float) -> float:
        """Return scikit-learn's squared error on the folds, with the same l1 and l2 in every fold."""
        errors = []
        for training, held_out in KFold(5).split(X):
            strength = factor * fit.l1 / ratio / len(training)
            peer = ElasticNet(alpha=strength, l1_ratio=ratio, tol=1e-10, max_iter=100_000)
            peer.fit(X[training], y[training])
            errors.append(np.square(y[held_out] - peer.predict(X[held_out])).sum())
        return float(sum(errors))

    assert held_out_error(1.0) < min(held_out_error(0.5), held_out_error(2.0))


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_chooses_the_best_of_the_path(classes: int) -> None:
    X, y = make_rows()
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    prior = weigh.Penalty(l1=1, l2=0.5, scale="cv")
    model = weigh.LogisticRegression(prior, tol=1e-8).fit(X, labels).model_
    assert model.fit.scale_by == "cross-validation"
    assert model.fit.prior == "Penalty(l1=1, l2=0.5, scale='cv')"
    assert model.fit.l1 == pytest.approx(2 * model.fit.l2, rel=1e-12)
    path = weigh.path(weigh.LogisticRegression(prior, tol=1e-6), X, labels, n=20, ratio=1e-3, folds=5)
    assert path.best is not None
    assert model.fit.l1 == pytest.approx(path.l1[path.best], rel=1e-9)


def test_the_chosen_penalty_gives_the_same_weights_when_stated() -> None:
    X, y = make_rows()
    chosen = weigh.LinearRegression(weigh.Penalty(l1=1, l2=1, scale="cv"), tol=1e-12).fit(X, y)
    fit = chosen.model_.fit
    stated = weigh.LinearRegression(weigh.Penalty(l1=fit.l1, l2=fit.l2), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(chosen.coef_, stated.coef_, atol=1e-8)
