from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from weigh.errors import ColumnError, DataError
from weigh.source import rows


def column(data: Any, name: str) -> list[object]:
    values = rows(data).prefix().columns[name]
    result: list[object] = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()
    return result


def test_bare_arrays_have_numbered_columns() -> None:
    source = rows(np.array([[1, 2], [3, 4]]))
    assert (source.names, source.named) == (("x0", "x1"), False)
    assert column(np.array([[1, 2], [3, 4]]), "x1") == [2, 4]


def test_one_dict_of_scalars_is_one_row() -> None:
    source = rows({"a": 1, "b": "x", "c": None, "d": np.float32(2), "e": True})
    assert source.n_rows == 1
    assert {name: value.tolist()[0] for name, value in source.prefix().columns.items()} == {
        "a": 1,
        "b": "x",
        "c": None,
        "d": 2.0,
        "e": True,
    }


@pytest.mark.parametrize(
    "texts",
    [
        ["one two", None, "three"],
        ("one two", None, "three"),
        np.array(["one two", None, "three"], dtype=object),
        pd.Series(["one two", None, "three"]),
        pl.Series(["one two", None, "three"]),
        pa.array(["one two", None, "three"]),
    ],
)
def test_a_sequence_of_strings_is_one_text_column(texts: Any) -> None:
    source = rows(texts)
    assert (source.names, source.named) == (("text",), True)
    values = column(texts, "text")
    assert [None if value != value else value for value in values] == ["one two", None, "three"]


def test_lists_of_lists_keep_the_type_of_each_column() -> None:
    source = rows([[1, "a", 2.5], [3, "b", 4.5]])
    kinds = [values.dtype.kind for values in source.prefix().columns.values()]
    assert kinds == ["i", "O", "f"]
    assert not source.named


def test_rows_may_have_missing_keys() -> None:
    assert column([{"a": 1}, {"b": "x"}], "b") == [None, "x"]


def test_lists_in_a_column_stay_lists() -> None:
    assert column({"t": [["a", "b"], ["c", "d"]]}, "t") == [["a", "b"], ["c", "d"]]
    assert column({"t": [["a"], [], None]}, "t") == [["a"], [], None]


def test_fixed_width_strings_become_plain_ones() -> None:
    assert column({"u": np.array(["a", "bc"]), "s": np.array([b"a", b"bc"])}, "u") == ["a", "bc"]
    assert column({"s": np.array([b"a", b"bc"])}, "s") == ["a", "bc"]


def test_masked_entries_are_missing() -> None:
    masked = np.ma.masked_array([[1.0], [2.0]], mask=[[True], [False]])
    assert str(column(masked, "x0")) == "[nan, 2.0]"
    masked = np.ma.masked_array([[1], [2]], mask=[[True], [False]])
    assert column(masked, "x0") == [None, 2]


def read_error(data: Any, kind: type[Exception] = DataError) -> str:
    with pytest.raises(kind) as caught:
        next(rows(data).chunks())
    return str(caught.value)


def test_invalid_shapes_are_reported_in_scikit_learns_words() -> None:
    assert read_error(np.zeros(3)) == (
        "Expected 2D array, got 1D array of shape (3,) instead. Reshape your data with "
        ".reshape(-1, 1) if it is one column, or .reshape(1, -1) if it is one row."
    )
    assert read_error(np.zeros((2, 2, 2))) == (
        "Found array with dim 3. Expected 2D array, got shape (2, 2, 2): "
        "one row per example, one column per feature."
    )
    assert read_error(np.zeros((0, 3))) == (
        "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required."
    )
    assert read_error(np.zeros((3, 0))) == (
        "Found array with 0 feature(s) (shape=(3, 0)) while a minimum of 1 is required."
    )
    for flat in ([1, 2, 3], pd.Series([1, 2]), pa.array([1]), np.float64(1)):
        assert "table" in read_error(flat) or "Reshape your data" in read_error(flat)


def test_complex_numbers_are_errors() -> None:
    assert "Complex data not supported" in read_error(np.zeros((2, 2), dtype=complex))
    assert "Complex data not supported" in read_error({"a": np.zeros(2, dtype=complex)})
    assert "Complex data not supported" in read_error({"a": [1j, "x"]})


def test_ragged_rows_are_errors() -> None:
    assert read_error([[1, 2], [3]]) == (
        "The rows differ in length: row 0 has 2 values, row 1 has 1 value. "
        "Give every row the same number of values."
    )


def test_a_dict_of_scalars_and_sequences_is_an_error() -> None:
    assert read_error({"a": 1, "b": ["x"]}) == (
        "The dict mixes single values ('a') and sequences ('b'). Give a list of one dict for "
        "one row, or a sequence for every column."
    )


def test_an_unsupported_value_is_reported_with_its_row() -> None:
    message = read_error({"a": ["x", {"foo": "bar"}]}, ColumnError)
    assert message.startswith("Column 'a', row 1: a value's type must be text, a number or missing")
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        rows(np.array([[{"foo": "bar"}]], dtype=object)).prefix()


def test_columns_of_more_dimensions_are_errors() -> None:
    assert read_error({"a": np.zeros((2, 2))}, ColumnError) == (
        "Column 'a' has 2 dimensions (shape (2, 2)); a column has one value per row."
    )


@pytest.mark.parametrize("kind", [">f8", ">i4", "longdouble"])
def test_numbers_are_converted_to_native_byte_order(kind: str) -> None:
    values = rows(np.array([[1], [2]], dtype=kind)).prefix().columns["x0"]
    assert values.dtype.isnative
    assert values.dtype.itemsize <= 8
    assert values.tolist() == [1, 2]


def test_a_list_of_texts_with_an_array_in_it_is_refused() -> None:
    with pytest.raises(DataError, match="row 0 has a single value, row 1 has 2 values"):
        rows(["a b", np.array([1, 2]), float("nan")])
