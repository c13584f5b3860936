"""Validation of sizes, types and ranges of the arguments of native functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weigh import _core


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def longs(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def floats(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


def count_table(classes: int, width: int = 160) -> Any:
    return np.zeros((classes, width), dtype=np.int64)


INVALID_ARGUMENTS: dict[str, Callable[[], Any]] = {
    "count_codes: lengths": lambda: _core.count_codes(ints(0), ints(0, 1), count_table(1, 2)),
    "count_codes: class": lambda: _core.count_codes(ints(1), ints(0), count_table(1, 2)),
    "count_codes: code": lambda: _core.count_codes(ints(0), ints(2), count_table(1, 2)),
    "count_codes: empty table": lambda: _core.count_codes(ints(0), ints(0), count_table(0, 0)),
    "count_weighted_codes: weights": lambda: _core.count_weighted_codes(
        ints(0, 0), ints(0, 0), floats(1.0), np.zeros((1, 1))
    ),
    "count_weighted_codes: code": lambda: _core.count_weighted_codes(
        ints(0), ints(5), floats(1.0), np.zeros((1, 1))
    ),
    "count_sparse: length of indptr": lambda: _core.count_sparse(
        ints(0, 0), longs(0, 1), ints(0), None, None, np.zeros((1, 1))
    ),
    "count_sparse: no indptr": lambda: _core.count_sparse(
        ints(), longs(), ints(), None, None, np.zeros((1, 1))
    ),
    "count_sparse: descending indptr": lambda: _core.count_sparse(
        ints(0, 0), longs(0, 1, 0), ints(0), None, None, np.zeros((1, 1))
    ),
    "count_sparse: negative indptr": lambda: _core.count_sparse(
        ints(0), longs(-1, 1), ints(0), None, None, np.zeros((1, 1))
    ),
    "count_sparse: indptr out of range": lambda: _core.count_sparse(
        ints(0), longs(0, 9), ints(0), None, None, np.zeros((1, 1))
    ),
    "count_sparse: index": lambda: _core.count_sparse(
        ints(0), longs(0, 1), ints(1), None, None, np.zeros((1, 1))
    ),
    "count_sparse: negative index": lambda: _core.count_sparse(
        ints(0), longs(0, 1), ints(-1), None, None, np.zeros((1, 1))
    ),
    "count_sparse: values": lambda: _core.count_sparse(
        ints(0), longs(0, 1), ints(0), floats(), None, np.zeros((1, 1))
    ),
    "count_sparse: weights": lambda: _core.count_sparse(
        ints(0), longs(0, 1), ints(0), None, floats(1.0, 2.0), np.zeros((1, 1))
    ),
    "encode_strings: descending offsets": lambda: _core.encode_strings(
        ints(0, 2, 1), np.zeros(9, np.uint8), None, 0
    ),
    "encode_strings: offsets out of range": lambda: _core.encode_strings(
        ints(0, 99), np.zeros(9, np.uint8), None, 0
    ),
    "encode_strings: no offsets": lambda: _core.encode_strings(ints(), np.zeros(9, np.uint8), None, 0),
    "encode_strings: bitmap": lambda: _core.encode_strings(
        ints(0, *range(1, 10)), np.zeros(9, np.uint8), np.zeros(1, np.uint8), 0
    ),
    "encode_objects: numbers": lambda: _core.encode_objects(floats(1.0)),
    "encode_objects: two dimensions": lambda: _core.encode_objects(np.empty((2, 2), dtype=object)),
    "have_exact_types: numbers": lambda: _core.have_exact_types(floats(1.0), (float,)),
    "score_codes: lengths": lambda: _core.score_codes(ints(0, 0), np.zeros((1, 2)), np.zeros((1, 2))),
    "score_codes: classes": lambda: _core.score_codes(ints(0), np.zeros((1, 3)), np.zeros((1, 2))),
    "score_codes: code": lambda: _core.score_codes(ints(1), np.zeros((1, 2)), np.zeros((1, 2))),
    "score_linear: lengths": lambda: _core.score_linear(floats(1.0), floats(1.0), np.zeros((2, 1))),
    "score_linear: classes": lambda: _core.score_linear(floats(1.0), floats(1.0), np.zeros((1, 2))),
    "score_sparse: rows": lambda: _core.score_sparse(
        longs(0, 1), ints(0), None, np.zeros((1, 2)), np.zeros((2, 2))
    ),
    "score_sparse: classes": lambda: _core.score_sparse(
        longs(0, 1), ints(0), None, np.zeros((1, 3)), np.zeros((1, 2))
    ),
    "score_sparse: index": lambda: _core.score_sparse(
        longs(0, 1), ints(7), None, np.zeros((1, 2)), np.zeros((1, 2))
    ),
    "score_gaussian: lengths": lambda: _core.score_gaussian(
        floats(1.0), floats(0.0), floats(0.0), floats(1.0), floats(0.0), np.zeros((2, 1))
    ),
    "score_gaussian: parameters": lambda: _core.score_gaussian(
        floats(1.0), floats(0.0), floats(0.0), floats(1.0, 2.0), floats(0.0), np.zeros((1, 1))
    ),
    "score_gaussian: residuals": lambda: _core.score_gaussian(
        floats(1.0), floats(0.0), floats(), floats(1.0), floats(0.0), np.zeros((1, 1))
    ),
    "leave_out_gaussian: values": lambda: _core.leave_out_gaussian(
        floats(1.0, 2.0), ints(0), floats(1.0), np.ones((4, 2)), 0.0, bytes_of(1), np.zeros((1, 1))
    ),
    "leave_out_gaussian: class": lambda: _core.leave_out_gaussian(
        floats(1.0), ints(1), floats(1.0), np.ones((4, 2)), 0.0, bytes_of(1), np.zeros((1, 1))
    ),
    "leave_out_gaussian: negative class": lambda: _core.leave_out_gaussian(
        floats(1.0), ints(-1), floats(1.0), np.ones((4, 2)), 0.0, bytes_of(1), np.zeros((1, 1))
    ),
    "leave_out_gaussian: weights": lambda: _core.leave_out_gaussian(
        floats(1.0), ints(0), floats(), np.ones((4, 2)), 0.0, bytes_of(1), np.zeros((1, 1))
    ),
    "leave_out_gaussian: mask": lambda: _core.leave_out_gaussian(
        floats(1.0), ints(0), floats(1.0), np.ones((4, 2)), 0.0, bytes_of(2), np.zeros((1, 1))
    ),
    "leave_out_shared_gaussian: moments": lambda: _core.leave_out_shared_gaussian(
        floats(1.0), ints(0), floats(1.0), np.ones((4, 1)), 0.0, 1.0, True, bytes_of(1), np.zeros((1, 1))
    ),
    "leave_out_words: classes": lambda: leave_out_words(counts=count_table(2, 1)),
    "leave_out_words: words": lambda: leave_out_words(pseudo=floats(1.0, 1.0)),
    "leave_out_words: index": lambda: leave_out_words(indices=ints(1)),
    "leave_out_words: class": lambda: leave_out_words(classes=ints(1)),
    "score_own_class: classes": lambda: _core.score_own_class(
        longs(0, 1), ints(0), ints(0), np.ones((1, 2)), np.ones((1, 2)), np.zeros((1, 1))
    ),
    "score_own_class: tables": lambda: _core.score_own_class(
        longs(0, 1), ints(0), ints(0), np.ones((1, 1)), np.ones((2, 1)), np.zeros((1, 1))
    ),
    "score_own_class: index": lambda: _core.score_own_class(
        longs(0, 1), ints(1), ints(0), np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1))
    ),
    "class_sums: lengths": lambda: _core.class_sums(ints(0), 1, floats(), None),
    "class_sums: weights": lambda: _core.class_sums(ints(0), 1, floats(1.0), floats()),
    "class_sums: class": lambda: _core.class_sums(ints(1), 1, floats(1.0), None),
    "class_sums: infinite weight": lambda: _core.class_sums(ints(0), 1, floats(1.0), floats(np.inf)),
    "class_sums: negative weight": lambda: _core.class_sums(ints(0), 1, floats(1.0), floats(-1.0)),
}

WRONG_TYPES: dict[str, Callable[[], Any]] = {
    "a list": lambda: _core.class_sums(ints(0), 1, untyped([1.0]), None),
    "two dimensions": lambda: _core.class_sums(ints(0), 1, np.zeros((2, 2)), None),
    "a table of a different type": lambda: _core.count_codes(ints(0), ints(0), untyped(np.zeros((1, 1)))),
    "a table with gaps": lambda: _core.count_codes(ints(0), ints(0), count_table(2, 4)[:, ::2]),
    "a read-only table": lambda: _core.count_codes(ints(0), ints(0), read_only()),
}


def bytes_of(n: int) -> Any:
    return np.zeros(n, dtype=np.uint8)


def leave_out_words(indices: Any = None, classes: Any = None, counts: Any = None, pseudo: Any = None) -> None:
    """Leave out the only row of one class with one word; arguments replace valid ones."""
    _core.leave_out_words(
        longs(0, 1),
        ints(0) if indices is None else indices,
        None,
        ints(0) if classes is None else classes,
        floats(1.0),
        count_table(1, 1) if counts is None else counts,
        floats(1.0),
        floats(1.0) if pseudo is None else pseudo,
        floats(2.0),
        np.zeros((1, 1)),
        1.0,
        bytes_of(1),
        np.zeros((1, 1)),
    )


def untyped(value: object) -> Any:
    """Return a value with its type hidden from the type checker."""
    return value


def read_only() -> Any:
    table = count_table(1, 1)
    table.flags.writeable = False
    return table


@pytest.mark.parametrize("what", INVALID_ARGUMENTS)
def test_invalid_arguments_are_rejected(what: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        INVALID_ARGUMENTS[what]()


@pytest.mark.parametrize("what", WRONG_TYPES)
def test_wrong_types_are_rejected(what: str) -> None:
    with pytest.raises(TypeError):
        WRONG_TYPES[what]()


def test_unhashable_values_raise_the_error_of_python() -> None:
    values = np.empty(1, dtype=object)
    values[0] = ["a list"]
    with pytest.raises(TypeError, match="unhashable"):
        _core.encode_objects(values)
