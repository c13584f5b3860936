from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import weigh
from weigh.errors import ColumnError
from weigh.source import rows

LABELS = ["a", "b", "a", "b"]


def buffer(values: Any, dtype: Any = np.int32) -> Any:
    return pa.py_buffer(np.array(values, dtype))


def strings(offsets: list[int], text: bytes = b"wxyz", kind: Any = None) -> Any:
    kind = kind or pa.string()
    dtype = np.int64 if kind == pa.large_string() else np.int32
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, buffer(offsets, dtype), pa.py_buffer(text)])


def views(size: int, number: int, start: int, valid: bytes | None = None) -> Any:
    view = np.array([size, 0, number, start], np.int32).tobytes()
    bitmap = None if valid is None else pa.py_buffer(valid)
    return pa.Array.from_buffers(
        pa.string_view(), 4, [bitmap, pa.py_buffer(view * 4), pa.py_buffer(b"x" * 30)]
    )


def dictionary(codes: list[int], values: Any, dtype: Any = np.int32) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(np.array(codes, dtype)), values, safe=False)


def lists(offsets: list[int], values: Any, kind: Any = None) -> Any:
    return pa.Array.from_buffers(
        kind or pa.list_(values.type), len(offsets) - 1, [None, buffer(offsets)], children=[values]
    )


WORDS = pa.array(["red", "blue"])
DAMAGED: dict[str, Callable[[], Any]] = {
    "a code after the last": lambda: dictionary([0, 1, 2, 0], WORDS),
    "a code far outside": lambda: dictionary([0, 1, 2**30, 0], WORDS),
    "a negative code": lambda: dictionary([0, -1, 1, 0], WORDS),
    "a code of 64 bits": lambda: dictionary([0, 1, 2**40, 0], WORDS, np.int64),
    "a code of numbers": lambda: dictionary([0, 1, 2, 0], pa.array([1.5, 2.5])),
    "a code of times": lambda: dictionary([0, 1, 2, 0], pa.array([1, 2], pa.timestamp("s"))),
    "a code without values": lambda: dictionary([0, 0, 0, 0], pa.array([], pa.string())),
    "a dictionary with bad offsets": lambda: dictionary([0, 1, 0, 1], strings([0, 10**9, 2])),
    "an offset after the text": lambda: strings([0, 1, 10**9, 3, 4]),
    "a negative offset": lambda: strings([0, 1, -7, 3, 4]),
    "an offset of large strings": lambda: strings([0, 1, 10**15, 3, 4], kind=pa.large_string()),
    "a view of no buffer": lambda: views(20, 7, 0),
    "a view after its buffer": lambda: views(20, 0, 10**8),
    "a view before its buffer": lambda: views(20, 0, -(10**8)),
    "a view of negative size": lambda: views(-5, 0, 0),
    "an offset of lists": lambda: lists([0, 1, -7, 3, 4], pa.array(list("wxyz"))),
    "bad offsets in lists": lambda: lists([0, 1, 2, 3, 4], strings([0, 1, 10**9, 3, 4])),
    "views in lists": lambda: lists([0, 1, 2, 3, 4], views(20, 7, 0)),
    "a list view outside": lambda: pa.Array.from_buffers(
        pa.list_view(pa.string()), 4, [None, buffer([10**7] * 4), buffer([5] * 4)], children=[WORDS]
    ),
    "an extension": lambda: pa.ExtensionArray.from_storage(
        pa.opaque(pa.dictionary(pa.int32(), pa.string()), "x", "y"), dictionary([0, 9, 0, 9], WORDS)
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_array_is_refused_as_column_label_and_text(name: str) -> None:
    array = DAMAGED[name]()
    other = {"x": [1.0, 2.0, 3.0, 4.0]}
    for fit in (
        lambda: weigh.NaiveBayes().fit({"c": array, **other}, LABELS),
        lambda: weigh.NaiveBayes().fit(pa.table({"c": pa.chunked_array([array]), **other}), LABELS),
        lambda: weigh.LogisticRegression().fit(other, array),
        lambda: weigh.LinearRegression().fit(other, array),
        lambda: weigh.NaiveBayes(columns={"c": "skip"}).fit({"c": array, **other}, LABELS).predict(array),
    ):
        with pytest.raises(weigh.errors.DataError) as caught:
            fit()
        assert "is damaged: " in str(caught.value) or "Expected 2D" in str(caught.value)


def test_the_message_names_the_column() -> None:
    with pytest.raises(ColumnError) as caught:
        next(rows({"colour": dictionary([0, 5], WORDS)}).chunks())
    assert str(caught.value) == (
        "Column 'colour' is damaged: Dictionary indices invalid: Invalid: Value at position 1 out of bounds: "
        "5 (should be in [0, 1]). Build the array again from its values."
    )


SOUND = {
    "strings": pa.array(["a", None, "c", ""]),
    "sliced strings": pa.array(["x", "a", None, "c", "", "y"]).slice(1, 4),
    "no bytes": pa.array(["", "", "", None]),
    "views": pa.array(["short", "a text of more than 12 bytes", None, ""], pa.string_view()),
    "sliced views": pa.array(["x", "a", None, "a text of more than 12 bytes", "b"], pa.string_view()).slice(
        1
    ),
    "undefined views of missing values": views(20, 7, 10**8, valid=b"\0"),
    "codes": pa.array(["a", None, "a", "b"]).dictionary_encode(),
    "lists": pa.array([["a"], None, [], ["b", "c"]]),
    "sliced lists": pa.array([["x"], ["a"], None, [], ["b", "c"]]).slice(1),
    "list views": pa.array([["a"], None, [], ["b", "c"]], pa.list_view(pa.string())),
    "sliced list views": pa.array([["x"], ["a"], None, ["b", "c"]], pa.large_list_view(pa.string())).slice(1),
    "views in list views": pa.array([["a"], [], ["b", "c"]], pa.list_view(pa.string_view())),
    "fixed lists": pa.array([["a", "b"], None, ["c", "d"], ["e", "f"]], pa.list_(pa.string(), 2)),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3, 4], pa.int32()), pa.array(["a", "b"])),
    "binary": pa.array([b"a", None, b"b", b"c"]),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_array_is_read(name: str) -> None:
    column = rows({"c": SOUND[name]}).prefix().columns["c"]
    expected = SOUND[name].to_pylist()
    assert column.to_pylist() == [v.decode() if isinstance(v, bytes) else v for v in expected]


def test_a_slice_is_checked_with_its_own_offsets() -> None:
    array = strings([0, 10**9, 2, 3, 4])
    with pytest.raises(ColumnError, match="is damaged"):
        next(rows({"c": array}).chunks())
    assert rows({"c": array.slice(2)}).prefix().columns["c"].to_pylist() == ["y", "z"]


def test_bytes_that_are_not_utf8_name_the_column_or_the_labels() -> None:
    invalid = strings([0, 1, 2, 3, 4], b"\xff\xfexy")
    with pytest.raises(ColumnError) as caught:
        weigh.NaiveBayes().fit({"c": invalid}, LABELS)
    assert str(caught.value) == (
        "Column 'c' contains bytes that are not valid UTF-8: b'\\xff'. Decode them with their encoding, or "
        "use columns={'c': 'text'}, where invalid bytes separate words."
    )
    for learner in (weigh.NaiveBayes(), weigh.LinearRegression()):
        with pytest.raises(weigh.errors.DataError, match=r"contain bytes that are not valid UTF-8: b'\\xff'"):
            learner.fit({"x": [1.0, 2.0, 3.0, 4.0]}, invalid)


def test_category_codes_of_pandas_are_checked() -> None:
    for code in (2, 100, -2, -100):
        values = pd.Categorical.from_codes([0, 1, 0, 1], categories=["red", "blue"])
        values._ndarray[2] = code
        with pytest.raises(ColumnError) as caught:
            weigh.NaiveBayes().fit(pd.DataFrame({"c": values, "x": [1.0, 2.0, 3.0, 4.0]}), LABELS)
        assert str(caught.value) == (
            "Column 'c' is damaged: a category code is outside -1 to 1. Build it again from its values."
        )
