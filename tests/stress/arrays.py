"""Hostile containers in memory: arrays, frames, sparse matrices and labels with contents that lie."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

import weigh
from tests.stress.attack import Attack
from tests.stress.files import LEARNERS, check_probabilities

N_ROWS = 24


def _self_containing() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


CELLS: tuple[Any, ...] = (
    b"\xff", b"text", "text", "", "\ud800", "\0", "nan", None, float("nan"), float("inf"), -1, 2**63, 2**70,
    10**400, 1e308, 5e-324, True, 1 + 2j, decimal.Decimal("1.5"), decimal.Decimal("sNaN"), pd.NA, pd.NaT,
    datetime.datetime(2024, 1, 1), np.datetime64("NaT"), np.float16(1), [], [1], ["a", None], {"a": 1}, {1},
    (1, 2), object, lambda: 0, _self_containing(), np.array([1, 2]), np.str_("a"), memoryview(b"a"),
)  # fmt: skip


class ArrayAttack(Attack):
    """Containers of every library with odd cells, indices out of range and wrong lengths."""

    def run_case(self, rng: random.Random) -> str:
        """Fit a learner to a hostile X or y, predict and explain; only an error of ours may end this."""
        try:
            X: Any = rng.choice(CONTAINERS)(rng)
            y: Any = rng.choice(LABELS)(rng)
        except (pa.ArrowException, TypeError, ValueError):
            return "refused by its own library"
        learner = rng.choice((*LEARNERS, weigh.LinearRegression))()
        if rng.random() < 0.3:
            learner.set_params(columns=rng.choice(("category", "number", "count", "flag", "text", "tokens")))
        sample_weight = rng.choice((None, None, None, _weights(rng)))
        learner.fit(X, y, sample_weight=sample_weight) if sample_weight is not None else learner.fit(X, y)
        predictions = learner.predict(X)
        if hasattr(learner, "predict_proba"):
            check_probabilities(learner.predict_proba(X), len(predictions))
        return "accepted"


def _weights(rng: random.Random) -> Any:
    weights: list[Any] = [1.0] * N_ROWS
    weights[rng.randrange(N_ROWS)] = rng.choice((0, -1, 1e308, 1e-308, float("nan"), float("inf"), 1e49))
    return weights if rng.random() < 0.5 else np.array(weights) * rng.choice((1.0, 1e40))


def _cells(rng: random.Random, n_rows: int = N_ROWS) -> list[Any]:
    usual = rng.choice((["red", "blue"], [1.5, 2.5, -3.0], [1, 2, 3], [True, False], ["a b c", "d e"]))
    cells: list[Any] = rng.choices(usual, k=n_rows)
    for _ in range(rng.choice((0, 1, 1, 3))):
        cells[rng.randrange(n_rows)] = rng.choice(CELLS)
    return cells


def _objects(rng: random.Random) -> Any:
    array = np.empty((N_ROWS, 2), object)
    for i in range(2):
        for row, cell in enumerate(_cells(rng)):
            array[row, i] = cell
    return array


def _columns(rng: random.Random) -> dict[Any, Any]:
    names = rng.choice((["a", "b"], ["", "\x1b[31m"], [0, 1], ["a", None], ["=cmd()", "b"], [("a", 1), "b"]))
    return {name: _cells(rng, rng.choice((N_ROWS, N_ROWS, N_ROWS, 3))) for name in names}


def _frame(rng: random.Random) -> Any:
    frame = pd.DataFrame({name: pd.Series(_cells(rng), dtype=object) for name in ("a", "b")})
    match rng.randrange(6):
        case 0:
            frame.columns = ["a", "a"]
        case 1:
            frame.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
        case 2:
            frame["b"] = pd.Categorical(rng.choices(["x", "y", None], k=N_ROWS))
        case 3:
            frame["b"] = pd.array(rng.choices([1, 2, None], k=N_ROWS), dtype="Int64")
        case 4:
            frame["b"] = pd.arrays.SparseArray(rng.choices([0.0, 1.0], k=N_ROWS))
    return frame


def _arrow(rng: random.Random) -> Any:
    n = N_ROWS
    match rng.randrange(7):
        case 0:
            codes = pa.array([rng.choice((0, 1, 0, 1, 7, -3)) for _ in range(n)], pa.int32())
            column: Any = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]), safe=False)
        case 1:
            offsets = np.arange(n + 1, dtype=np.int32)
            offsets[rng.randrange(n + 1)] = rng.choice((-5, 10**9, 0, 50))
            column = pa.Array.from_buffers(
                pa.string(), n, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"a" * n)]
            )
        case 2:
            column = pa.array([b"\xff"] * n, pa.binary()).view(pa.string())
        case 3:
            column = pa.array([rng.choice(([], ["a"], None, ["a", "b"])) for _ in range(n)])
        case 4:
            column = pa.array(["a", "b"] * (n // 2)).cast(rng.choice((pa.large_string(), pa.string_view())))
        case 5:
            column = pa.RunEndEncodedArray.from_arrays([n // 2, n], ["a", "b"])
        case _:
            column = pa.array([decimal.Decimal("1.5"), None] * (n // 2))
    return pa.table({"a": column, "b": pa.array(range(n))})


def _polars(rng: random.Random) -> Any:
    values = rng.choice((["a", None], [1.5, float("nan")], [[1], []], [b"\xff", b"a"], [{"k": 1}, None]))
    return pl.DataFrame({"a": values * (N_ROWS // 2), "b": list(range(N_ROWS))})


def _sparse(rng: random.Random) -> Any:
    dense = np.array([[rng.choice((0, 0, 1.0, 2.5)) for _ in range(6)] for _ in range(N_ROWS)])
    format_ = rng.choice(("csr", "csc", "coo", "bsr", "dok", "lil", "dia"))
    matrix = getattr(scipy.sparse, f"{format_}_matrix")(dense)
    names = [name for name in ("indptr", "indices", "row", "col", "data", "offsets") if hasattr(matrix, name)]
    for name in rng.sample(names, k=min(len(names), rng.choice((0, 1, 1, 2)))):
        _damage(matrix, name, rng)
    return matrix


def _damage(matrix: Any, name: str, rng: random.Random) -> None:
    """Put a value out of range into an array of a sparse matrix, or change its length or type."""
    array = np.array(getattr(matrix, name))
    if array.size and rng.random() < 0.7:
        array.reshape(-1)[rng.randrange(array.size)] = rng.choice((-1, -(2**31), 6, 7, 10**6, 2**31 - 1))
    else:
        array = rng.choice((array[:-1], array.astype(float), array[:0], np.append(array, array)))
    try:
        setattr(matrix, name, array)
    except (AttributeError, ValueError):
        getattr(matrix, name)[...] = array[: len(getattr(matrix, name))]


def _labels(rng: random.Random) -> Any:
    y: Any = rng.choices(["ham", "spam"], k=N_ROWS)
    match rng.randrange(14):
        case 0:
            return np.array([rng.random() for _ in range(N_ROWS)])
        case 1:
            return np.array([1j, 2] * (N_ROWS // 2))
        case 2:
            return scipy.sparse.csr_matrix([[1], [0]] * (N_ROWS // 2))
        case 3:
            return np.array([["a", "b"]] * N_ROWS)
        case 4:
            return _cells(rng)
        case 5:
            return y[:-1]
        case 6:
            return pd.Series(y, dtype="string[pyarrow]")
        case 7:
            return pa.array(y)
        case 8:
            return pl.Series(y)
        case 9:
            return rng.choice((None, "y", 3, [], [[]], np.zeros((N_ROWS, 0))))
    return y


CONTAINERS: tuple[Callable[[random.Random], Any], ...] = (
    _objects,
    _columns,
    _frame,
    _arrow,
    _polars,
    _sparse,
    lambda rng: _cells(rng),
    lambda rng: np.array(rng.choices(CELLS[-10:], k=1)[0], dtype=object),
)
LABELS: tuple[Callable[[random.Random], Any], ...] = (
    _labels,
    lambda rng: ["ham", "spam"] * (N_ROWS // 2),
)
