"""Learners of every kind, and small tables of mixed columns for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh

N_ROWS = 60
CURVES = {"x": weigh.Curve(bins=[-1.0, 0.0, 1.0]), "z": weigh.Curve(bins=[-0.5, 0.5])}
CELLS: dict[str, Any] = {"x": weigh.Number(bins=(-1.0, 0.0, 1.0)), "z": weigh.Number(bins=(-0.5, 0.5))}
ONLINE: dict[str, Any] = {"method": "online", "max_iter": 6}
TWO_CLASSES: dict[str, Any] = {
    "naive Bayes": weigh.NaiveBayes(),
    "naive Bayes of flags and bins": weigh.NaiveBayes(columns=CELLS),
    "joint Bayes": weigh.JointBayes(columns=CELLS | {"colour": "skip"}, prior=1),
    "threshold": weigh.Threshold(columns={"z": "skip", "f": "skip"}),
    "perceptron, averaged": weigh.Perceptron(max_iter=6),
    "perceptron, last": weigh.Perceptron("last", max_iter=6, shuffle=False),
    "perceptron, lazy": weigh.Perceptron("lazy", max_iter=6),
    "perceptron, voted": weigh.Perceptron("voted", max_iter=6),
    "perceptron, recorded": weigh.Perceptron(record=True, max_iter=6, margin=0.5, relative=True),
    "perceptron, balanced": weigh.Perceptron(class_weight="balanced", margin=1, rate=0.5, max_iter=4),
    "logistic": weigh.LogisticRegression(prior=1),
    "logistic, lasso": weigh.LogisticRegression(prior=weigh.Laplace(0.3)),
    "logistic, online": weigh.LogisticRegression(**ONLINE),
    "logistic, online with a rate": weigh.LogisticRegression(**ONLINE, rate=0.05, shuffle=False),
    "logistic, curves": weigh.LogisticRegression(columns=CURVES),
}
THREE_CLASSES: dict[str, Any] = {
    "naive Bayes": weigh.NaiveBayes(),
    "perceptron, joint": weigh.Perceptron(max_iter=6),
    "perceptron, one-vs-rest": weigh.Perceptron(multiclass="one-vs-rest", max_iter=6),
    "perceptron, voted": weigh.Perceptron("voted", max_iter=3),
    "softmax": weigh.LogisticRegression(prior=1),
    "softmax, lasso": weigh.LogisticRegression(prior=weigh.Laplace(0.3)),
    "softmax, online": weigh.LogisticRegression(**ONLINE),
}
NUMBERS: dict[str, Any] = {
    "least squares": weigh.LinearRegression(prior=None),
    "ridge": weigh.LinearRegression(prior=1),
    "lasso": weigh.LinearRegression(prior=weigh.Laplace(0.5)),
    "elastic net": weigh.LinearRegression(prior=weigh.Penalty(l1=1.0, l2=1.0)),
    "least absolute deviations": weigh.LinearRegression(noise="laplace", prior=None),
    "curves": weigh.LinearRegression(columns=CURVES),
}
CASES = [
    *(pytest.param(learner, 2, id=f"two classes: {name}") for name, learner in TWO_CLASSES.items()),
    *(pytest.param(learner, 3, id=f"three classes: {name}") for name, learner in THREE_CLASSES.items()),
    *(pytest.param(learner, 0, id=f"numbers: {name}") for name, learner in NUMBERS.items()),
]


def make_table(n_classes: int) -> dict[str, list[Any]]:
    """Return numbers, a category, a flag and the label y, of classes or, without any, a number."""
    rng = np.random.default_rng(n_classes)
    x, z = rng.normal(size=N_ROWS).round(2), rng.normal(size=N_ROWS).round(2)
    colour, f = rng.choice(["red", "green", "blue"], N_ROWS), rng.integers(0, 2, N_ROWS)
    score = 2 * x - z + (colour == "red") + 0.5 * f + 0.7 * rng.normal(size=N_ROWS)
    y: list[Any] = score.round(3).tolist()
    if n_classes:
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        y = [f"c{c}" for c in np.digitize(score, cuts).tolist()]
    return {"x": x.tolist(), "z": z.tolist(), "colour": colour.tolist(), "f": f.tolist(), "y": y}
