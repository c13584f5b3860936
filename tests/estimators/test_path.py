"""Regularisation paths: certified weights for every penalty, cross-validation and output."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors

N, D = 50, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1, 2, 0.5, 1] + [0, 5, 0, 1]
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=N)
CODES = np.digitize(Y, [np.median(Y)])
CODES[:3] = [0, 1, 0]
THREE_CLASSES = np.digitize(Y + RNG.normal(size=N) * 3, [-12, -8])


def ridge(**params: Any) -> Any:
    return weigh.LinearRegression(weigh.Normal("cv"), **params)


def test_every_point_of_a_ridge_path_is_the_fit_of_its_penalty() -> None:
    path = weigh.path(ridge(), X, Y, n=9)
    assert path.penalty == "l2"
    assert (np.diff(path.penalties) < 0).all()
    assert not path.l1.any()
    for k, l2 in enumerate(path.l2):
        fit = weigh.LinearRegression(weigh.Penalty(l2=l2)).fit(X, Y)
        np.testing.assert_allclose(path.weights[k], fit.coef_, rtol=1e-7, atol=1e-12)
        assert path.intercepts[k] == pytest.approx(fit.intercept_)
    assert path.counts.tolist() == [D] * 9
    assert (path.best, path.errors, path.uncertainty) == (None, None, None)


def test_the_scale_of_the_prior_does_not_matter() -> None:
    paths = [
        weigh.path(weigh.LinearRegression(p), X, Y, n=5) for p in (0.1, weigh.Normal(7), weigh.Penalty(l2=3))
    ]
    for other in paths[1:]:
        np.testing.assert_allclose(other.l2, paths[0].l2, rtol=1e-12)
        np.testing.assert_allclose(other.weights, paths[0].weights, rtol=1e-9)


def test_columns_without_a_prior_stay_unpenalised() -> None:
    table = {**{name: X[:, j] for j, name in enumerate("abcd")}, "y": Y}
    path = weigh.path(weigh.LinearRegression({"a": 1.0, "b": 2.0}, scale=None), table, "y", n=3)
    fit = weigh.LinearRegression({"a": weigh.Penalty(l2=path.l2[1]), "b": weigh.Penalty(l2=path.l2[1] / 4)})
    assert path.features == ("a", "b", "c", "d")
    np.testing.assert_allclose(path.weights[1], fit.fit(table, "y").coef_, rtol=1e-8)


@pytest.mark.parametrize("label", ["y", "late"])
def test_weights_are_in_the_order_of_the_names(label: str) -> None:
    # The levels appear in a different order from that of the features.
    grades = [["low", "high", "mid"][i % 3] for i in range(N)]
    y = (Y + np.arange(N) % 3).tolist() if label == "y" else (CODES + np.arange(N) % 3 > 1).tolist()
    table = {"grade": grades, "size": X[:, 0], label: y}
    learner = weigh.LinearRegression if label == "y" else weigh.LogisticRegression
    path = weigh.path(learner(1.0, scale=None, tol=1e-9), table, label, n=3)
    fit = learner(weigh.Penalty(l2=path.l2[1]), tol=1e-9).fit(table, label)
    assert list(path.features) == fit.model_.features == ["grade=high", "grade=low", "grade=mid", "size"]
    np.testing.assert_allclose(path.weights[1], np.ravel(fit.coef_), rtol=1e-4)


@pytest.mark.parametrize("offset", [None, "b"])
def test_a_path_selects_the_same_penalty_as_the_learner(offset: str | None) -> None:
    table = {**{name: X[:, j] for j, name in enumerate("abcd")}, "y": Y}
    learner = ridge(offset=offset, folds=4)
    path = weigh.path(learner, table, "y", folds=4)
    chosen = learner.fit(table, "y")
    assert path.best is not None
    assert path.l2[path.best] == pytest.approx(chosen.model_.fit.units[1], rel=1e-9)
    assert path.headline == "100 fits over 4 features, strong penalty first, on standardised numbers"
    np.testing.assert_allclose(path.weights[path.best], chosen.coef_, rtol=1e-7)


def test_errors_are_mean_held_out_losses() -> None:
    path = weigh.path(ridge(), X, Y, n=4, folds=3)
    folds = [slice(0, 16), slice(16, 33), slice(33, 50)]
    for k, l2 in enumerate(path.l2):
        losses = []
        for test in folds:
            train = np.ones(N, dtype=bool)
            train[test] = False
            fit = weigh.LinearRegression(weigh.Penalty(l2=l2)).fit(X[train], Y[train])
            losses.append(np.square(Y[test] - fit.predict(X[test])))
        means = [each.mean() for each in losses]
        assert path.errors[k] == pytest.approx(np.concatenate(losses).mean(), rel=1e-9)
        assert path.uncertainty[k] == pytest.approx(np.std(means, ddof=1) / np.sqrt(3), rel=1e-9)


@pytest.mark.parametrize("y", [CODES, THREE_CLASSES], ids=["two classes", "three"])
def test_every_point_of_a_logistic_path_is_the_fit_of_its_penalty(y: Any) -> None:
    classes = len(np.unique(y))
    learner = weigh.LogisticRegression(weigh.Normal("cv"), tol=1e-12)
    path = weigh.path(learner, X, y, n=5, folds=3)
    assert path.classes == tuple(range(classes))
    assert path.weights.shape == ((5, D) if classes == 2 else (5, classes, D))
    for k, l2 in enumerate(path.l2):
        fit = weigh.LogisticRegression(weigh.Penalty(l2=l2), tol=1e-12).fit(X, y)
        np.testing.assert_allclose(np.atleast_2d(path.weights[k]), fit.coef_, atol=1e-5)
    assert (path.gaps <= 1e-12 * N).all()
    assert 0 <= path.best < 5


def test_a_lasso_path_begins_where_the_first_weight_becomes_active() -> None:
    path = weigh.path(weigh.LinearRegression(weigh.Laplace("cv"), tol=1e-13), X, Y, n=12, ratio=1e-2)
    assert path.penalty == "l1"
    centred = X - X.mean(axis=0)
    assert path.l1[0] == pytest.approx(np.abs(centred.T @ (Y - Y.mean())).max(), rel=1e-12)
    assert path.l1[-1] == pytest.approx(path.l1[0] / 100, rel=1e-12)
    assert path.counts[0] == 0
    assert path.counts[1] >= 1
    null = 0.5 * float(np.square(Y - Y.mean()).sum())
    assert (path.gaps <= 1e-13 * null).all()
    for w, b, l1 in zip(path.weights, path.intercepts, path.l1, strict=True):
        gradient = X.T @ (X @ w + b - Y)
        assert (np.abs(gradient) <= l1 * (1 + 1e-6)).all()
        np.testing.assert_allclose(gradient[w != 0], -l1 * np.sign(w[w != 0]), rtol=1e-5)


def test_an_elastic_net_keeps_its_ratio() -> None:
    path = weigh.path(weigh.LinearRegression(weigh.Penalty(l1=2, l2=0.5)), X, Y, n=6, folds=3)
    np.testing.assert_allclose(path.l2, path.l1 / 4, rtol=1e-12)
    for k in (2, 5):
        prior = weigh.Penalty(l1=path.l1[k], l2=path.l2[k])
        fit = weigh.LinearRegression(prior, tol=1e-12).fit(X, Y)
        np.testing.assert_allclose(path.weights[k], fit.coef_, atol=1e-3)


def test_errors_of_a_lasso_path_are_mean_held_out_losses() -> None:
    path = weigh.path(weigh.LinearRegression(weigh.Laplace(1), tol=1e-12), X, Y, n=5, folds=2)
    for k, l1 in enumerate(path.l1):
        losses = []
        for test in (slice(0, 25), slice(25, 50)):
            train = np.ones(N, dtype=bool)
            train[test] = False
            fit = weigh.LinearRegression(weigh.Penalty(l1=l1), tol=1e-12).fit(X[train], Y[train])
            losses.append(np.square(Y[test] - fit.predict(X[test])))
        assert path.errors[k] == pytest.approx(np.concatenate(losses).mean(), rel=1e-5)


@pytest.mark.parametrize("y", [CODES, THREE_CLASSES], ids=["two classes", "three"])
def test_a_logistic_lasso_path_begins_without_weights(y: Any) -> None:
    path = weigh.path(weigh.LogisticRegression(weigh.Laplace(1), tol=1e-10), X, y, n=6, ratio=0.05, folds=3)
    classes = len(np.unique(y))
    shares = np.bincount(y) / N
    gradient = (shares - np.eye(classes)[y]).T @ X
    assert path.l1[0] == pytest.approx(np.abs(gradient).max(), rel=1e-6)
    assert path.counts[0] == 0
    assert (np.diff(path.counts) >= 0).all()
    fit = weigh.LogisticRegression(weigh.Penalty(l1=path.l1[3]), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(np.atleast_2d(path.weights[3]), fit.coef_, atol=2e-3)


def test_a_path_leaves_the_learner_unchanged() -> None:
    learner = ridge()
    weigh.path(learner, X, Y, n=2)
    assert not hasattr(learner, "model_")


def test_a_path_prints_and_converts_to_json() -> None:
    path = weigh.path(ridge(), X, Y, n=20, folds=3)
    text = str(path)
    assert text.startswith("20 fits over 4 features, strong penalty first\n\n  l2 ")
    assert text.endswith("* smallest held-out loss")
    assert sum(line.rstrip().split()[-2] == "*" for line in text.splitlines() if len(line.split()) > 2) == 1
    data = json.loads(json.dumps(path.to_dict()))
    assert data["best"] == path.best
    assert data["features"] == [f"x{j}" for j in range(D)]
    np.testing.assert_array_equal(data["weights"], path.weights)
    assert "<table" in path._repr_html_()


def test_a_path_can_be_plotted() -> None:
    pytest.importorskip("altair")
    path = weigh.path(ridge(), X, Y, n=4, folds=3)
    assert path.plot() is not None
    assert path.plot_errors() is not None
    with pytest.raises(errors.Unsupported) as excinfo:
        weigh.path(ridge(), X, Y, n=4).plot_errors()
    assert str(excinfo.value) == "The path was not cross-validated. Give folds=5 to path."


@pytest.mark.parametrize(
    ("learner", "params", "message"),
    [
        (weigh.LinearRegression(), {}, "path needs a prior whose strength can change: "),
        (weigh.LinearRegression(1.0, "laplace"), {}, "Paths exist for squared and log loss only."),
        (weigh.Perceptron(), {}, "path: learner must be a LinearRegression or LogisticRegression, got "),
        (ridge(), {"n": 0}, "path: n must be at least 1, got 0."),
        (ridge(), {"ratio": 1}, "path: ratio must be a share between 0 and 1, got 1."),
        (ridge(), {"folds": 1}, "path: folds must be at least 2, got 1."),
        (ridge(), {"folds": 51}, "There are 50 rows for 51 folds; "),
    ],
)
def test_invalid_arguments_of_path_are_errors(learner: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.WeighError) as excinfo:
        weigh.path(learner, X, Y, **params)
    assert str(excinfo.value).startswith(message)
