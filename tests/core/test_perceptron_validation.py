"""Validation of the arguments of perceptron passes, votes, CSR building and name indexing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weigh import _core
from weigh.features import NameArray


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def longs(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def floats(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


def one_example(label: int = 0, width: int = 2) -> _core.Examples:
    examples = _core.Examples()
    examples.add(longs(0, 1), ints(0), None, ints(label), None, width)
    return examples


def settings(columns: int = 1, average: str = "none", one_vs_rest: bool = False) -> _core.PerceptronSettings:
    return _core.PerceptronSettings(1.0, 0.0, False, one_vs_rest, True, average, columns)


def run_pass(
    examples: Any = None,
    order: Any = None,
    options: Any = None,
    shape: Any = (3, 1),
    counts: int = 1,
    n_norms: int = 1,
) -> Any:
    table, updates, squared_norms = np.zeros(shape), np.zeros(counts, np.int64), np.zeros(n_norms)
    return _core.perceptron_pass(
        examples or one_example(),
        order,
        options or settings(),
        table,
        updates,
        squared_norms,
        0,
        True,
        0.0,
        False,
    )


def add_votes(**changes: Any) -> Any:
    given = {
        "update_indptr": longs(0, 1),
        "update_indices": ints(0),
        "update_values": floats(1),
        "plus": ints(0),
        "minus": ints(-1),
        "amounts": floats(1),
        "survival_counts": longs(0, 1),
        "bias": True,
        "one_vs_rest": False,
        "indptr": longs(0, 1),
        "indices": ints(0),
        "values": None,
        "width": 1,
        "votes": np.zeros((1, 1)),
    }
    return _core.add_perceptron_votes(**(given | changes))


def merge_indexers(first: int, second: int, *names: str) -> None:
    one, other, packed = _core.NameIndexer(first), _core.NameIndexer(second), NameArray.from_strings(names)
    other.index(packed.text, packed.offsets, True)
    one.merge(other)


INDPTR_LENGTH = "indptr must have one more entry than there are rows"
INDPTR_ORDER = "indptr must ascend from 0 to the number of entries"
OUT_OF_RANGE = "an index is out of range"
TWO_COLUMNS = "a joint multiclass update needs two columns"
WIDTH = "the table width does not match the settings"

INVALID_CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: _core.CsrBuilder(2).add_codes(ints(0), ints(0)), "codes and rows differ in length"),
    (lambda: _core.CsrBuilder(1).add_codes(ints(1), ints(0)), "a code is out of range"),
    (lambda: _core.CsrBuilder(1).add_column(floats(), 0), "the column and the rows differ in length"),
    (lambda: _core.CsrBuilder(2).add_entries(longs(0, 1), ints(0), None, ints(0)), INDPTR_LENGTH),
    (lambda: _core.CsrBuilder(1).add_entries(longs(0, 2), ints(0), None, ints(0)), INDPTR_ORDER),
    (lambda: _core.CsrBuilder(2).add_entries(longs(0, 1, 0), ints(0), None, ints(0)), INDPTR_ORDER),
    (lambda: _core.CsrBuilder(1).add_entries(longs(0, 1), ints(1), None, ints(0)), OUT_OF_RANGE),
    (lambda: _core.CsrBuilder(1).add_entries(longs(0, 1), ints(-1), None, ints(0)), "an index is negative"),
    (
        lambda: _core.CsrBuilder(1).add_entries(longs(0, 1), ints(0), floats(), ints(0)),
        "values and indices differ in length",
    ),
    (lambda: _core.NameIndexer(3), "the number of buckets must be a power of two"),
    (
        lambda: _core.NameIndexer(0).index(np.zeros(1, np.uint8), longs(0, 2), True),
        "offsets must ascend within the text",
    ),
    (lambda: merge_indexers(4, 8), "both indexers must have the same number of buckets"),
    (lambda: merge_indexers(2, 0, "a", "b"), "both indexers must have the same number of buckets"),
    (lambda: _core.IndexCompactor(ints(-1)).compact(ints(1), True), "an item is out of range"),
    (lambda: _core.IndexCompactor(ints(-1)).compact(ints(-1), True), "an item is negative"),
    (lambda: one_example(-1), "a label is negative"),
    (lambda: one_example(0, 0), OUT_OF_RANGE),
    (
        lambda: _core.Examples().add(longs(0, 0), ints(), None, ints(0), floats(), 1),
        "weights and labels differ in length",
    ),
    (lambda: one_example().select(longs(1)), "an example index is out of range"),
    (lambda: one_example().select(longs(-1)), "an example index is out of range"),
    (lambda: settings(average="median"), "average must be 'none', 'examples' or 'updates'"),
    (lambda: settings(0), "columns must be at least 1"),
    (lambda: run_pass(shape=(3, 2)), WIDTH),
    (lambda: run_pass(options=settings(average="examples")), WIDTH),
    (lambda: run_pass(shape=(2, 1)), "the table has too few rows"),
    (lambda: run_pass(counts=2), "updates must have one value per column"),
    (lambda: run_pass(n_norms=2), "squared_norms must have one value per column"),
    (lambda: run_pass(one_example(2)), "a label is out of range"),
    (lambda: run_pass(one_example(3), None, settings(3), (3, 3), 3, 3), "a label is out of range"),
    (lambda: run_pass(options=settings(one_vs_rest=True)), "one-vs-rest needs at least two columns"),
    (lambda: run_pass(order=longs(0, 0)), "order must have one entry per example"),
    (lambda: run_pass(order=longs(1)), "the order has a wrong place"),
    (lambda: run_pass(order=longs(-1)), "the order has a wrong place"),
    (lambda: _core.final_weights(np.zeros((1, 2)), settings(), longs(0), longs(1)), WIDTH),
    (
        lambda: _core.final_weights(np.zeros((1, 1)), settings(), longs(0), longs()),
        "steps must have one value per column",
    ),
    (
        lambda: _core.final_weights(np.zeros((1, 1)), settings(), longs(1), longs(1)),
        "a row is out of range",
    ),
    (lambda: add_votes(plus=ints()), "columns and amounts differ in length"),
    (
        lambda: add_votes(survival_counts=longs(1)),
        "survival_counts must have one more value than there are updates",
    ),
    (lambda: add_votes(plus=ints(1)), "a column is out of range"),
    (lambda: add_votes(minus=ints(1)), "a column is out of range"),
    (lambda: add_votes(votes=np.zeros((1, 3))), TWO_COLUMNS),
    (lambda: add_votes(votes=np.zeros((1, 3)), plus=ints(-1), minus=ints(0)), TWO_COLUMNS),
    (lambda: add_votes(update_indices=ints(1)), OUT_OF_RANGE),
    (lambda: add_votes(indices=ints(1)), OUT_OF_RANGE),
    (lambda: add_votes(votes=np.zeros((2, 1))), INDPTR_LENGTH),
    (lambda: add_votes(update_indptr=longs(0)), INDPTR_LENGTH),
]


@pytest.mark.parametrize(("call", "message"), INVALID_CALLS)
def test_invalid_arguments_are_rejected(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: run_pass(shape=(3,)),
        lambda: _core.perceptron_pass(
            one_example(),
            None,
            settings(),
            np.zeros((3, 1), np.float32),
            longs(0),
            floats(0),
            0,
            True,
            0.0,
            False,
        ),
        lambda: add_votes(votes=np.zeros((1, 4))[:, ::2]),
        lambda: run_pass(order=[0]),
    ],
)
def test_wrong_types_are_rejected(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()
