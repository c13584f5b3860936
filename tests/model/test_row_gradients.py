"""The gradient of the log-likelihood equals finite differences, in every storage and with any weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weigh
from weigh.errors import LabelError, ParameterError, Unsupported


def make_table(classes: int) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(classes)
    table = {
        "size": rng.normal(50, 20, 60),
        "kind": rng.choice(["a", "b", "c"], 60),
        "rare": rng.random(60) < 0.3,
        "y": rng.choice([f"class {k}" for k in range(classes)], 60),
    }
    return table, rng.uniform(0.5, 2, 60)


def log_likelihood(model: Any, table: Any, weights: Any, coef: Any, intercept: Any) -> float:
    """Return the log-likelihood in plain NumPy, from features in the original units."""
    names = list(model.features)
    X = np.zeros((60, len(names)))
    for j, name in enumerate(names):
        column, _, level = name.partition("=")
        X[:, j] = np.array(table[column]) == level if level else np.asarray(table[column], dtype=float)
    Z = X @ np.atleast_2d(coef).T + intercept
    Z = np.hstack([np.zeros_like(Z), Z]) if Z.shape[1] == 1 else Z
    top = Z.max(axis=1)
    codes = np.array([list(model.classes).index(label) for label in table["y"]])
    return float(weights @ (Z[np.arange(60), codes] - top - np.log(np.exp(Z - top[:, None]).sum(axis=1))))


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("is_own", [True, False])
def test_the_gradient_equals_finite_differences(classes: int, scale: Any, is_own: bool) -> None:
    table, weights = make_table(classes)
    model = weigh.LogisticRegression(0.5, scale=scale).fit(table, "y").model_
    rng = np.random.default_rng(0)
    coef, intercept = np.asarray(model.coef), np.asarray(model.intercept)
    if not is_own:
        coef = coef + 0.01 * rng.normal(size=coef.shape)
        intercept = intercept + rng.normal(size=intercept.shape)
    at = {} if is_own else {"coef": coef, "intercept": intercept}
    found = model.gradient(table, weights=weights, **at)
    assert found.coef.shape == coef.shape
    assert np.shape(found.intercept) == intercept.shape
    for _ in range(10):
        direction, shift = rng.normal(size=coef.shape) / 50, rng.normal(size=intercept.shape)
        ahead, behind = (
            log_likelihood(model, table, weights, coef + step * direction, intercept + step * shift)
            for step in (1e-5, -1e-5)
        )
        slope = float((found.coef * direction).sum() + np.sum(found.intercept * shift))
        assert (ahead - behind) / 2e-5 == pytest.approx(slope, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_at_the_optimum_the_gradient_is_that_of_the_prior(classes: int) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, classes, 80)
    model = weigh.LogisticRegression(0.5, tol=1e-13).fit(X, y).model_
    for rows in (X, sparse.csr_array(X)):
        found = model.gradient(rows, y)
        np.testing.assert_allclose(found.coef, model.coef / 0.25, atol=1e-6)
        np.testing.assert_allclose(found.intercept, 0, atol=1e-6)


def test_the_gradient_prints_its_components() -> None:
    table = {"x": [0.0, 1.0, 2.0, 3.0], "late": ["no", "yes", "no", "yes"]}
    model = weigh.LogisticRegression(1, scale=None).fit(table, "late").model_
    assert str(model.gradient(table, coef=0, intercept=0)) == (
        "Gradient of the log-likelihood; that of the log loss has the opposite sign\n\n"
        "  feature\n  bias     0\n  x        1"
    )


def test_what_a_gradient_cannot_be_computed_from_is_refused() -> None:
    table = {"x": [0.0, 1.0, 2.0, 3.0], "late": ["no", "yes", "no", "yes"]}
    model = weigh.LogisticRegression(1).fit(table, "late").model_
    with pytest.raises(LabelError) as caught:
        model.gradient({"x": [1.0, 2.0]}, ["no", "perhaps"])
    assert str(caught.value) == (
        "The label 'perhaps' is not one of the model's classes: 'no', 'yes'. Leave such rows out."
    )
    with pytest.raises(ParameterError) as caught_shape:
        model.gradient(table, coef=[1, 2])
    assert (
        str(caught_shape.value)
        == "gradient: coef must be a number, or numbers of the shape (1,), got [1, 2]."
    )
    unnamed = weigh.LogisticRegression(1).fit(np.eye(4), [0, 1, 0, 1]).model_
    with pytest.raises(LabelError) as caught:
        unnamed.gradient(np.eye(4))
    assert str(caught.value) == "The rows have no labels. Give y: one label per row, or its column."
    curved = weigh.LogisticRegression(curves="auto").fit({"x": np.arange(40.0), "y": [0, 1] * 20}, "y").model_
    with pytest.raises(Unsupported) as caught_curves:
        curved.gradient({"x": np.arange(40.0), "y": [0, 1] * 20})
    assert str(caught_curves.value) == (
        "The features of a model with curves are cells of its columns, whose gradients are not available. "
        "Train without curves and pairs."
    )
