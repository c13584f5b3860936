"""Steps of online logistic regression against short NumPy twins: plain and safe, two classes and several."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, softmax, wrightomega

from tests.core.test_online import some_examples, sparse
from weigh import _core


def lacks(scores: Any, label: int) -> Any:
    """What the label lacks at some scores, one number per column."""
    if len(scores) == 1:
        return label - expit(scores)
    return np.eye(len(scores))[label] - softmax(scores)


def losses(scores: Any, label: int) -> float:
    if len(scores) == 1:
        return float(np.logaddexp(0, scores[0]) - label * scores[0])
    return float(logsumexp(scores) - scores[label])


def solved(a: Any, c: float, label: int) -> Any:
    """The lacks at the solution of z = a + c · lacks(z), by bisection."""
    if len(a) == 1:
        z = brentq(lambda z: z - a[0] - c * (label - expit(z)), a[0] - c, a[0] + c, xtol=1e-14)
        return lacks(np.array([z]), label)
    own = a + c * np.eye(len(a))[label]

    def shares(all_: float) -> Any:
        return wrightomega(np.log(c) + own - all_).real / c

    found = brentq(lambda s: shares(s).sum() - 1, own.min() - c - 50, own.max() + 50, xtol=1e-14)
    return np.eye(len(a))[label] - shares(found)


class Plain:
    """w ← w + ε (s r x − l2 w / n) over rows with a constant in front."""

    def __init__(self, columns: int, width: int, rate: float, l2: float, bias: bool) -> None:
        self.W, self.rate, self.l2, self.bias = np.zeros((columns, width + 1)), rate, l2, float(bias)
        self.loss = 0.0

    def learn(self, row: Any, label: int, weight: float, rows: int) -> None:
        x = np.concatenate([[self.bias], row])
        self.loss += weight * losses(self.W @ x, label)
        pull = self.l2 / rows * self.W
        pull[:, 0] = 0
        self.W += self.rate * (weight * np.outer(lacks(self.W @ x, label), x) - pull)

    def weights(self) -> Any:
        return self.W


class Safe(Plain):
    """The implicit step, every column with its own length; a mean in which later weights count more."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.N, self.G, self.trail = np.zeros(self.W.shape[1]), np.zeros(self.W.shape[1]), [self.W.copy()]

    def learn(self, row: Any, label: int, weight: float, rows: int) -> None:
        x = np.concatenate([[self.bias], row])
        self.loss += weight * losses(self.W @ x, label)
        met = x != 0
        self.N += met
        self.G += weight * x**2
        step = np.where(met, self.rate * np.sqrt(self.N) / np.where(met, self.G, 1), 0)
        share = self.l2 * len(self.trail) / rows / np.maximum(self.N, 1)
        share[0] = 0
        kept = 1 / (1 + step * share)
        r = (
            solved(self.W * kept @ x, weight * step * kept @ x**2, label)
            if met.any()
            else np.zeros(len(self.W))
        )
        self.W = kept * (self.W + weight * np.outer(r, step * x))
        self.trail.append(self.W.copy())

    def weights(self) -> Any:
        later = self.trail[1:]
        return np.average(later, axis=0, weights=np.arange(1, len(later) + 1)) if later else self.W


def ours(kind: type[Plain], run: dict[str, Any]) -> Any:
    """The weights [columns, 1 + features] of a native run."""
    table, columns = run["table"], run["columns"]
    if kind is Plain:
        scale = np.where(np.arange(len(table)) > 0, run["scale"], 1.0)
        return (table * scale[:, None]).T
    total = max(1, run["steps"] * (run["steps"] + 1) // 2)
    return (table[:, 2 : 2 + columns] - table[:, 2 + columns :] / total).T


def go(kind: type[Plain], run: dict[str, Any], examples: Any, order: Any, rows: int, grows: bool) -> float:
    known = examples, order, run["settings"], rows, grows, run["table"]
    if kind is Plain:
        loss, run["scale"] = _core.sgd_pass(*known, run["scale"])
    else:
        loss = _core.implicit_sgd_pass(*known, run["steps"])
    run["steps"] += len(examples)
    return float(loss)


def begun(kind: type[Plain], columns: int, width: int, settings: tuple[float, float, bool]) -> dict[str, Any]:
    cells = columns if kind is Plain else 2 + 2 * columns
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
    list(product([Plain, Safe], [1, 2, 4], [0.0, 5.0, 200.0], [True, False])),
)
def test_a_pass_is_that_of_the_definition(kind: type[Plain], columns: int, l2: float, grows: bool) -> None:
    rng = np.random.default_rng(columns)
    for n, width, bias in ((0, 3, True), (1, 0, True), (15, 4, True), (20, 7, False)):
        examples, X, codes, weights = some_examples(rng, n, width, max(2, columns))
        rate = 0.1 if kind is Plain else 4.0
        twin, run = kind(columns, width, rate, l2, bias), begun(kind, columns, width, (rate, l2, bias))
        seen = 0
        for order in (None, rng.permutation(n)):
            before = twin.loss
            for at, i in enumerate(range(n) if order is None else order):
                rows = seen + at + 1 if grows else n
                twin.learn(X[i], int(codes[i]), 1.0 if weights is None else float(weights[i]), rows)
            loss = go(kind, run, examples, order, seen if grows else max(n, 1), grows)
            seen += n
            assert loss == pytest.approx(twin.loss - before, rel=1e-9)
        np.testing.assert_allclose(ours(kind, run), twin.weights(), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kind", [Plain, Safe])
def test_rows_without_values_are_ones(kind: type[Plain]) -> None:
    X = (np.random.default_rng(0).random((20, 5)) < 0.5) * 1.0
    codes = (np.arange(20) % 2).astype(np.int32)
    indptr, indices, values = sparse(X)
    found = []
    for given in (values, None):
        examples = _core.Examples()
        examples.add(indptr, indices, given, codes, None, 5)
        run = begun(kind, 1, 5, (1.0, 1.0, True))
        go(kind, run, examples, None, 20, False)
        found.append(run["table"])
    np.testing.assert_array_equal(*found)


def test_zeros_that_are_stored_are_no_examples_of_their_column() -> None:
    X = np.random.default_rng(1).integers(-1, 2, (20, 4)) * 1.0
    codes = (np.arange(20) % 2).astype(np.int32)
    full = np.arange(0, 81, 4), np.tile(np.arange(4, dtype=np.int32), 20), X.ravel()
    found = []
    for indptr, indices, values in (sparse(X), full):
        examples = _core.Examples()
        examples.add(indptr.astype(np.int64), indices, values, codes, None, 4)
        run = begun(Safe, 1, 4, (4.0, 1.0, True))
        go(Safe, run, examples, None, 20, False)
        found.append(run["table"])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("columns", [1, 3])
def test_the_unit_of_a_column_changes_nothing_but_its_weight(columns: int) -> None:
    rng = np.random.default_rng(2)
    _, X, codes, _ = some_examples(rng, 40, 5, max(2, columns))
    units = 2.0 ** np.array([0, 20, -20, 1, 40])
    found = []
    for rows in (X, X * units):
        examples = _core.Examples()
        examples.add(*sparse(rows), codes, None, 5)
        run = begun(Safe, columns, 5, (4.0, 0.0, True))
        go(Safe, run, examples, None, 40, False)
        found.append(ours(Safe, run))
    np.testing.assert_allclose(found[1][:, 1:] * units, found[0][:, 1:], rtol=1e-9, atol=1e-12)


def test_a_table_of_the_wrong_form_is_refused() -> None:
    examples = some_examples(np.random.default_rng(0), 3, 2, 2)[0]
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
