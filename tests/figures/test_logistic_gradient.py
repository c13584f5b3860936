"""R5: the first gradient of logistic regression on the five mails."""

from __future__ import annotations

from typing import Any

import numpy as np

import weigh
from weigh.learn.linear.logistic import gradient
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem


def test_the_gradient_at_zero_is_that_of_the_lecture(spam_table: dict[str, list[Any]]) -> None:
    levels = ["high", "medium", "low"]
    familiar = [[float(value == level) for level in levels] for value in spam_table["familiarity"]]
    X = np.column_stack([spam_table["CS373"], spam_table["investment"], familiar]).astype(np.float64)
    y = np.array([float(label == "spam") for label in spam_table["spam"]])
    slopes, slope = gradient(
        Problem(DenseMatrix(X), y, np.zeros(5), np.zeros(5)), 2, np.zeros(5), np.zeros(())
    )
    # The lecture climbs the log-likelihood; the loss is its negative.
    np.testing.assert_array_equal(-slopes, [-0.5, 0.5, 0.0, -0.5, 0.0])
    assert -slope == -0.5


def test_a_model_gives_the_gradient_of_the_lecture(spam_table: dict[str, list[Any]]) -> None:
    kinds = {
        "CS373": "number",
        "investment": "number",
        "familiarity": weigh.Category(levels=("high", "medium", "low")),
    }
    model = weigh.LogisticRegression(columns=kinds).fit(spam_table, "spam").model_
    found = model.gradient(spam_table, coef=0, intercept=0)
    components = dict(zip(found.features, found.coef.tolist(), strict=True))
    names = ["CS373", "investment", *(f"familiarity={level}" for level in ("high", "medium", "low"))]
    assert [components[name] for name in names] == [-0.5, 0.5, 0.0, -0.5, 0.0]
    assert found.intercept == -0.5
