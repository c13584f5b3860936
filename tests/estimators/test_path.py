"""Paths: the weights for every strength of a prior, proved, judged and told."""

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
THREE = np.digitize(Y + RNG.normal(size=N) * 3, [-12, -8])


def ridge(**given: Any) -> Any:
    return weigh.LinearRegression(weigh.Normal("cv"), **given)


def test_every_point_of_a_ridge_path_is_the_fit_of_its_penalty() -> None:
    found = weigh.path(ridge(), X, Y, n=9)
    assert found.penalty == "l2"
    assert (np.diff(found.penalties) < 0).all()
    assert not found.l1.any()
    for at, l2 in enumerate(found.l2):
        fit = weigh.LinearRegression(weigh.Penalty(l2=l2)).fit(X, Y)
        np.testing.assert_allclose(found.weights[at], fit.coef_, rtol=1e-7, atol=1e-12)
        assert found.intercepts[at] == pytest.approx(fit.intercept_)
    assert found.counts.tolist() == [D] * 9
    assert (found.best, found.errors, found.uncertainty) == (None, None, None)


def test_the_scale_of_the_prior_does_not_matter() -> None:
    paths = [
        weigh.path(weigh.LinearRegression(p), X, Y, n=5) for p in (0.1, weigh.Normal(7), weigh.Penalty(l2=3))
    ]
    for other in paths[1:]:
        np.testing.assert_allclose(other.l2, paths[0].l2, rtol=1e-12)
        np.testing.assert_allclose(other.weights, paths[0].weights, rtol=1e-9)


def test_columns_without_a_prior_stay_free() -> None:
    table = {**{name: X[:, j] for j, name in enumerate("abcd")}, "y": Y}
    found = weigh.path(weigh.LinearRegression({"a": 1.0, "b": 2.0}), table, "y", n=3)
    fit = weigh.LinearRegression({"a": weigh.Penalty(l2=found.l2[1]), "b": weigh.Penalty(l2=found.l2[1] / 4)})
    assert found.features == ("a", "b", "c", "d")
    np.testing.assert_allclose(found.weights[1], fit.fit(table, "y").coef_, rtol=1e-8)


@pytest.mark.parametrize("label", ["y", "late"])
def test_weights_are_in_the_order_of_the_names(label: str) -> None:
    # Levels are met in another order than they are told in.
    grades = [["low", "high", "mid"][i % 3] for i in range(N)]
    y = (Y + np.arange(N) % 3).tolist() if label == "y" else (CODES + np.arange(N) % 3 > 1).tolist()
    table = {"grade": grades, "size": X[:, 0], label: y}
    learner = weigh.LinearRegression if label == "y" else weigh.LogisticRegression
    found = weigh.path(learner(1.0, offset=None, tol=1e-9), table, label, n=3)
    fit = learner(weigh.Penalty(l2=found.l2[1]), tol=1e-9).fit(table, label)
    assert list(found.features) == fit.model_.features == ["grade=high", "grade=low", "grade=mid", "size"]
    np.testing.assert_allclose(found.weights[1], np.ravel(fit.coef_), rtol=1e-4)


@pytest.mark.parametrize("offset", [None, "b"])
def test_paths_are_judged_as_the_learner_judges(offset: str | None) -> None:
    table = {**{name: X[:, j] for j, name in enumerate("abcd")}, "y": Y}
    learner = ridge(offset=offset, folds=4)
    found = weigh.path(learner, table, "y", folds=4)
    chosen = learner.fit(table, "y")
    assert found.best is not None
    assert found.l2[found.best] == pytest.approx(chosen.model_.fit.l2, rel=1e-9)
    np.testing.assert_allclose(found.weights[found.best], chosen.coef_, rtol=1e-7)


def test_errors_are_mean_losses_of_rows_held_out() -> None:
    found = weigh.path(ridge(), X, Y, n=4, folds=3)
    parts = [slice(0, 16), slice(16, 33), slice(33, 50)]
    for at, l2 in enumerate(found.l2):
        losses = []
        for part in parts:
            rest = np.ones(N, dtype=bool)
            rest[part] = False
            fit = weigh.LinearRegression(weigh.Penalty(l2=l2)).fit(X[rest], Y[rest])
            losses.append(np.square(Y[part] - fit.predict(X[part])))
        means = [each.mean() for each in losses]
        assert found.errors[at] == pytest.approx(np.concatenate(losses).mean(), rel=1e-9)
        assert found.uncertainty[at] == pytest.approx(np.std(means, ddof=1) / np.sqrt(3), rel=1e-9)


@pytest.mark.parametrize("y", [CODES, THREE], ids=["two classes", "three"])
def test_every_point_of_a_logistic_path_is_the_fit_of_its_penalty(y: Any) -> None:
    classes = len(np.unique(y))
    learner = weigh.LogisticRegression(weigh.Normal("cv"), tol=1e-12)
    found = weigh.path(learner, X, y, n=5, folds=3)
    assert found.classes == tuple(range(classes))
    assert found.weights.shape == ((5, D) if classes == 2 else (5, classes, D))
    for at, l2 in enumerate(found.l2):
        fit = weigh.LogisticRegression(weigh.Penalty(l2=l2), tol=1e-12).fit(X, y)
        np.testing.assert_allclose(np.atleast_2d(found.weights[at]), fit.coef_, atol=1e-5)
    assert (found.gaps <= 1e-12 * N).all()
    assert 0 <= found.best < 5


def test_a_lasso_path_begins_where_the_first_weight_does() -> None:
    found = weigh.path(weigh.LinearRegression(weigh.Laplace("cv"), tol=1e-13), X, Y, n=12, ratio=1e-2)
    assert found.penalty == "l1"
    away = X - X.mean(axis=0)
    assert found.l1[0] == pytest.approx(np.abs(away.T @ (Y - Y.mean())).max(), rel=1e-12)
    assert found.l1[-1] == pytest.approx(found.l1[0] / 100, rel=1e-12)
    assert found.counts[0] == 0
    assert found.counts[1] >= 1
    null = 0.5 * float(np.square(Y - Y.mean()).sum())
    assert (found.gaps <= 1e-13 * null).all()
    for w, b, l1 in zip(found.weights, found.intercepts, found.l1, strict=True):
        slopes = X.T @ (X @ w + b - Y)
        assert (np.abs(slopes) <= l1 * (1 + 1e-6)).all()
        np.testing.assert_allclose(slopes[w != 0], -l1 * np.sign(w[w != 0]), rtol=1e-5)


def test_an_elastic_net_keeps_its_ratio() -> None:
    found = weigh.path(weigh.LinearRegression(weigh.Penalty(l1=2, l2=0.5)), X, Y, n=6, folds=3)
    np.testing.assert_allclose(found.l2, found.l1 / 4, rtol=1e-12)
    for at in (2, 5):
        prior = weigh.Penalty(l1=found.l1[at], l2=found.l2[at])
        fit = weigh.LinearRegression(prior, tol=1e-12).fit(X, Y)
        np.testing.assert_allclose(found.weights[at], fit.coef_, atol=1e-3)


def test_a_lasso_path_is_judged_by_its_own_fits() -> None:
    found = weigh.path(weigh.LinearRegression(weigh.Laplace(1), tol=1e-12), X, Y, n=5, folds=2)
    for at, l1 in enumerate(found.l1):
        losses = []
        for part in (slice(0, 25), slice(25, 50)):
            rest = np.ones(N, dtype=bool)
            rest[part] = False
            fit = weigh.LinearRegression(weigh.Penalty(l1=l1), tol=1e-12).fit(X[rest], Y[rest])
            losses.append(np.square(Y[part] - fit.predict(X[part])))
        assert found.errors[at] == pytest.approx(np.concatenate(losses).mean(), rel=1e-5)


@pytest.mark.parametrize("y", [CODES, THREE], ids=["two classes", "three"])
def test_a_logistic_lasso_path_begins_without_weights(y: Any) -> None:
    found = weigh.path(weigh.LogisticRegression(weigh.Laplace(1), tol=1e-10), X, y, n=6, ratio=0.05, folds=3)
    classes = len(np.unique(y))
    shares = np.bincount(y) / N
    slopes = (shares - np.eye(classes)[y]).T @ X
    assert found.l1[0] == pytest.approx(np.abs(slopes).max(), rel=1e-6)
    assert found.counts[0] == 0
    assert (np.diff(found.counts) >= 0).all()
    fit = weigh.LogisticRegression(weigh.Penalty(l1=found.l1[3]), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(np.atleast_2d(found.weights[3]), fit.coef_, atol=2e-3)


def test_a_path_leaves_the_learner_as_it_was() -> None:
    learner = ridge()
    weigh.path(learner, X, Y, n=2)
    assert not hasattr(learner, "model_")


def test_a_path_prints_and_is_plain_data() -> None:
    found = weigh.path(ridge(), X, Y, n=20, folds=3)
    text = str(found)
    assert text.startswith("20 fits over 4 features, strong penalty first\n\n  l2 ")
    assert text.endswith("* the least loss on rows held out")
    assert sum(line.rstrip().split()[-2] == "*" for line in text.splitlines() if len(line.split()) > 2) == 1
    told = json.loads(json.dumps(found.to_dict()))
    assert told["best"] == found.best
    assert told["features"] == [f"x{j}" for j in range(D)]
    np.testing.assert_array_equal(told["weights"], found.weights)
    assert "<table" in found._repr_html_()


def test_a_path_has_pictures() -> None:
    pytest.importorskip("altair")
    found = weigh.path(ridge(), X, Y, n=4, folds=3)
    assert found.plot() is not None
    assert found.plot_errors() is not None
    with pytest.raises(errors.Unsupported) as refused:
        weigh.path(ridge(), X, Y, n=4).plot_errors()
    assert str(refused.value) == "The path was not cross-validated. Give folds=5 to path."


@pytest.mark.parametrize(
    ("learner", "given", "said"),
    [
        (weigh.LinearRegression(), {}, "path needs a prior whose strength can change: "),
        (weigh.LinearRegression(1.0, "laplace"), {}, "Paths are of squared and of log loss."),
        (weigh.Perceptron(), {}, "path: learner must be a LinearRegression or LogisticRegression, got "),
        (ridge(), {"n": 0}, "path: n must be at least 1, got 0."),
        (ridge(), {"ratio": 1}, "path: ratio must be a share between 0 and 1, got 1."),
        (ridge(), {"folds": 1}, "path: folds must be at least 2, got 1."),
        (ridge(), {"folds": 51}, "There are 50 rows for 51 folds; "),
    ],
)
def test_what_has_no_path_is_refused(learner: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.WeighError) as refused:
        weigh.path(learner, X, Y, **given)
    assert str(refused.value).startswith(said)
