"""SGD for logistic regression against NumPy references: explicit and implicit steps, two and more classes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, softmax, wrightomega

from tests.core.test_perceptron import random_examples, sparse
from weigh import _core


def residuals(scores: Any, label: int) -> Any:
    """Return the residual of the label at given scores, one number per column."""
    if len(scores) == 1:
        return label - expit(scores)
    return np.eye(len(scores))[label] - softmax(scores)


def loss_of(scores: Any, label: int) -> float:
    if len(scores) == 1:
        return float(np.logaddexp(0, scores[0]) - label * scores[0])
    return float(logsumexp(scores) - scores[label])


def solve_update(a: Any, c: float, label: int) -> Any:
    """Return the residuals at the solution of z = a + c · residuals(z), found by bisection."""
    if len(a) == 1:
        z = brentq(lambda z: z - a[0] - c * (label - expit(z)), a[0] - c, a[0] + c, xtol=1e-14)
        return residuals(np.array([z]), label)
    shifted = a + c * np.eye(len(a))[label]

    def probabilities(log_sum: float) -> Any:
        return wrightomega(np.log(c) + shifted - log_sum).real / c

    found = brentq(
        lambda s: probabilities(s).sum() - 1, shifted.min() - c - 50, shifted.max() + 50, xtol=1e-14
    )
    return np.eye(len(a))[label] - probabilities(found)


class ExplicitReference:
    """The explicit step w ← w + ε (s r x − l2 w / n), with a constant as the first feature."""

    def __init__(self, columns: int, width: int, rate: float, l2: float, bias: bool) -> None:
        self.W, self.rate, self.l2, self.bias = np.zeros((columns, width + 1)), rate, l2, float(bias)
        self.loss = 0.0

    def learn(self, row: Any, label: int, weight: float, rows: int) -> None:
        x = np.concatenate([[self.bias], row])
        self.loss += weight * loss_of(self.W @ x, label)
        penalty_gradient = self.l2 / rows * self.W
        penalty_gradient[:, 0] = 0
        self.W += self.rate * (weight * np.outer(residuals(self.W @ x, label), x) - penalty_gradient)

    def weights(self) -> Any:
        return self.W


class ImplicitReference(ExplicitReference):
    """The implicit step with a step size per feature, and an average that weights later steps more."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.N, self.G, self.history = np.zeros(self.W.shape[1]), np.zeros(self.W.shape[1]), [self.W.copy()]

    def learn(self, row: Any, label: int, weight: float, rows: int) -> None:
        x = np.concatenate([[self.bias], row])
        self.loss += weight * loss_of(self.W @ x, label)
        is_present = x != 0
        self.N += is_present
        self.G += weight * x**2
        step = np.where(is_present, self.rate * np.sqrt(self.N) / np.where(is_present, self.G, 1), 0)
        penalty = self.l2 * len(self.history) / rows / np.maximum(self.N, 1)
        penalty[0] = 0
        shrinkage = 1 / (1 + step * penalty)
        r = (
            solve_update(self.W * shrinkage @ x, weight * step * shrinkage @ x**2, label)
            if is_present.any()
            else np.zeros(len(self.W))
        )
        self.W = shrinkage * (self.W + weight * np.outer(r, step * x))
        self.history.append(self.W.copy())

    def weights(self) -> Any:
        later = self.history[1:]
        return np.average(later, axis=0, weights=np.arange(1, len(later) + 1)) if later else self.W


def native_weights(kind: type[ExplicitReference], run: dict[str, Any]) -> Any:
    """Return the weights [columns, 1 + features] of a native training run."""
    table, columns = run["table"], run["columns"]
    if kind is ExplicitReference:
        scale = np.where(np.arange(len(table)) > 0, run["scale"], 1.0)
        return (table * scale[:, None]).T
    total = max(1, run["steps"] * (run["steps"] + 1) // 2)
    return (table[:, 2 : 2 + columns] - table[:, 2 + columns :] / total).T


def run_pass(
    kind: type[ExplicitReference], run: dict[str, Any], examples: Any, order: Any, rows: int, grows: bool
) -> float:
    known = examples, order, run["settings"], rows, grows, run["table"]
    if kind is ExplicitReference:
        loss, run["scale"] = _core.sgd_pass(*known, run["scale"])
    else:
        loss = _core.implicit_sgd_pass(*known, run["steps"])
    run["steps"] += len(examples)
    return float(loss)


def start_run(
    kind: type[ExplicitReference], columns: int, width: int, settings: tuple[float, float, bool]
) -> dict[str, Any]:
    cells = columns if kind is ExplicitReference else 2 + 2 * columns
    table = _core.zeros(width + 1, cells)
    return {
        "settings": _core.SgdSettings(*settings, columns),
        "table": table,
        "columns": columns,
        "scale": 1.0,
        "steps": 0,
    }


@pytest.mark.parametrize(
    ("kind", "columns", "l2", "grows"),
    list(product([ExplicitReference, ImplicitReference], [1, 2, 4], [0.0, 5.0, 200.0], [True, False])),
)
def test_a_pass_equals_the_reference(
    kind: type[ExplicitReference], columns: int, l2: float, grows: bool
) -> None:
    rng = np.random.default_rng(columns)
    for n, width, bias in ((0, 3, True), (1, 0, True), (15, 4, True), (20, 7, False)):
        examples, X, codes, weights = random_examples(rng, n, width, max(2, columns))
        rate = 0.1 if kind is ExplicitReference else 4.0
        reference, run = (
            kind(columns, width, rate, l2, bias),
            start_run(kind, columns, width, (rate, l2, bias)),
        )
        seen = 0
        for order in (None, rng.permutation(n)):
            before = reference.loss
            for at, i in enumerate(range(n) if order is None else order):
                rows = seen + at + 1 if grows else n
                reference.learn(X[i], int(codes[i]), 1.0 if weights is None else float(weights[i]), rows)
            loss = run_pass(kind, run, examples, order, seen if grows else max(n, 1), grows)
            seen += n
            assert loss == pytest.approx(reference.loss - before, rel=1e-9)
        np.testing.assert_allclose(native_weights(kind, run), reference.weights(), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kind", [ExplicitReference, ImplicitReference])
def test_rows_without_values_equal_rows_of_ones(kind: type[ExplicitReference]) -> None:
    X = (np.random.default_rng(0).random((20, 5)) < 0.5) * 1.0
    codes = (np.arange(20) % 2).astype(np.int32)
    indptr, indices, values = sparse(X)
    found = []
    for given in (values, None):
        examples = _core.Examples()
        examples.add(indptr, indices, given, codes, None, 5)
        run = start_run(kind, 1, 5, (1.0, 1.0, True))
        run_pass(kind, run, examples, None, 20, False)
        found.append(run["table"])
    np.testing.assert_array_equal(*found)


def test_stored_zeros_do_not_count_as_examples_of_their_feature() -> None:
    X = np.random.default_rng(1).integers(-1, 2, (20, 4)) * 1.0
    codes = (np.arange(20) % 2).astype(np.int32)
    full = np.arange(0, 81, 4), np.tile(np.arange(4, dtype=np.int32), 20), X.ravel()
    found = []
    for indptr, indices, values in (sparse(X), full):
        examples = _core.Examples()
        examples.add(indptr.astype(np.int64), indices, values, codes, None, 4)
        run = start_run(ImplicitReference, 1, 4, (4.0, 1.0, True))
        run_pass(ImplicitReference, run, examples, None, 20, False)
        found.append(run["table"])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("columns", [1, 3])
def test_scaling_a_feature_only_scales_its_weight(columns: int) -> None:
    rng = np.random.default_rng(2)
    _, X, codes, _ = random_examples(rng, 40, 5, max(2, columns))
    units = 2.0 ** np.array([0, 20, -20, 1, 40])
    found = []
    for rows in (X, X * units):
        examples = _core.Examples()
        examples.add(*sparse(rows), codes, None, 5)
        run = start_run(ImplicitReference, columns, 5, (4.0, 0.0, True))
        run_pass(ImplicitReference, run, examples, None, 40, False)
        found.append(native_weights(ImplicitReference, run))
    np.testing.assert_allclose(found[1][:, 1:] * units, found[0][:, 1:], rtol=1e-9, atol=1e-12)


def test_invalid_tables_and_settings_are_rejected() -> None:
    examples = random_examples(np.random.default_rng(0), 3, 2, 2)[0]
    settings = _core.SgdSettings(1.0, 1.0, True, 1)
    with pytest.raises(ValueError, match="width"):
        _core.implicit_sgd_pass(examples, None, settings, 3, False, _core.zeros(3, 1), 0)
    with pytest.raises(ValueError, match="width"):
        _core.sgd_pass(examples, None, settings, 3, False, _core.zeros(3, 4), 1.0)
    with pytest.raises(ValueError, match="too few rows"):
        _core.sgd_pass(examples, None, settings, 3, False, _core.zeros(2, 1), 1.0)
    with pytest.raises(ValueError, match="n_rows must be positive"):
        _core.sgd_pass(examples, None, settings, 0, False, _core.zeros(3, 1), 1.0)
    with pytest.raises(ValueError, match="wrong place"):
        _core.implicit_sgd_pass(examples, np.array([0, 1, 3]), settings, 3, False, _core.zeros(3, 4), 0)
    for wrong in ((0.0, 1.0, True, 1), (1.0, -1.0, True, 1), (1.0, 1.0, True, 0)):
        with pytest.raises(ValueError, match=r"must (be|not be)"):
            _core.SgdSettings(*wrong)
