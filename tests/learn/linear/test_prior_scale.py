"""The scale of logistic regression's prior that `prior="auto"` chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.learn.linear.cross_validation import stratified_folds
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.prior_scale import MAX_ROWS, MIN_ROWS, SCALES, choose_prior_scale
from weigh.learn.linear.problem import Problem

SEED = 0


def make_problem(n: int, d: int, strength: float, seed: int = SEED) -> Problem:
    """Rows of normal numbers, of which the first decides the class with this strength."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (rng.random(n) < 1 / (1 + np.exp(-strength * X[:, 0]))).astype(float)
    return Problem(DenseMatrix(X), y, np.zeros(d), np.zeros(d))


def reference_scale(X: Any, y: Any) -> float:
    """The rule, written down with an estimator and plain NumPy."""
    losses = np.zeros((len(SCALES), len(y)))
    for i, scale in enumerate(SCALES):
        for mask in stratified_folds(y, 5):
            model = weigh.LogisticRegression(scale, scale=None, tol=1e-9).fit(X[~mask], y[~mask])
            p = model.predict_proba(X[mask])
            losses[i, mask] = -np.log(p[np.arange(len(p)), y[mask].astype(int)])
    best = int(np.argmin(losses.sum(axis=1)))
    gain = losses[SCALES.index(1.0)] - losses[best]
    return SCALES[best] if gain.mean() > gain.std() / np.sqrt(len(gain)) else 1.0


@pytest.mark.parametrize("strength", [0.0, 1.0, 20.0])
def test_the_choice_is_that_of_the_rule(strength: float) -> None:
    problem = make_problem(150, 6, strength)
    X = problem.X.dense_columns(np.arange(6))
    assert choose_prior_scale(problem, np.ones(6), 2, 1_000) == reference_scale(X, problem.y)


def test_noise_has_a_narrow_prior_and_classes_that_a_plane_separates_a_wide_one() -> None:
    assert choose_prior_scale(make_problem(100, 20, 0.0), np.ones(20), 2, 1_000) < 1
    assert choose_prior_scale(make_problem(300, 3, 100.0), np.ones(3), 2, 1_000) > 1


def test_rows_without_weight_and_classes_of_one_row_have_no_effect() -> None:
    problem = make_problem(200, 4, 5.0)
    expected = choose_prior_scale(problem, np.ones(4), 2, 1_000)
    X = np.vstack([problem.X.dense_columns(np.arange(4)), np.full((2, 4), 9.0)])
    y, weights = np.append(problem.y, [1.0, 2.0]), np.append(np.ones(200), [0.0, 1.0])
    more = Problem(DenseMatrix(X), y, np.zeros(4), np.zeros(4), weights=weights)
    assert choose_prior_scale(more, np.ones(4), 3, 1_000) == expected


def test_more_rows_than_the_sample_and_a_single_class_in_it_are_no_error() -> None:
    problem = make_problem(2 * MAX_ROWS, 2, 1.0)
    assert choose_prior_scale(problem, np.ones(2), 2, 1_000) in SCALES
    y = np.zeros(2 * MAX_ROWS)
    y[1] = 1.0
    assert choose_prior_scale(replace(problem, y=y), np.ones(2), 2, 1_000) == 1.0


def make_table(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    a, b = rng.normal(size=n), rng.normal(size=n)
    return {"a": a, "b": b, "y": np.where(a > b, "yes", "no")}


def test_logistic_regression_chooses_for_named_tables_and_says_so() -> None:
    model = weigh.LogisticRegression().fit(make_table(200), "y")
    assert dict(model.summary().facts)["prior"] == "Normal(30), scale by cross-validation"
    same = weigh.LogisticRegression(30.0).fit(make_table(200), "y")
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-12)
    assert dict(same.summary().facts)["prior"] == "Normal(30)"


@pytest.mark.parametrize("case", ["few rows", "bare array", "a number", "online"])
def test_otherwise_the_prior_is_normal_1(case: str) -> None:
    table = make_table(MIN_ROWS - 1 if case == "few rows" else 200)
    rows: Any = {name: table[name] for name in ("a", "b")}
    if case == "bare array":
        rows = np.column_stack([table["a"], table["b"]])
    prior = 1.0 if case == "a number" else "auto"
    method = "online" if case == "online" else "exact"
    model = weigh.LogisticRegression(prior, method=method).fit(rows, table["y"])
    assert dict(model.summary().facts)["prior"] == "Normal(1)"


def test_other_words_are_refused() -> None:
    with pytest.raises(weigh.errors.ParameterError) as caught:
        weigh.LogisticRegression("wide").fit(make_table(60), "y")
    assert str(caught.value) == (
        "LogisticRegression: prior must be 'auto', a number above zero, None, Normal(s), Laplace(t) or "
        "Penalty(l1=a, l2=b), got 'wide'."
    )
