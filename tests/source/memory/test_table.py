from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from weigh.errors import ColumnError, DataError, LabelError, ParameterError
from weigh.source import Chunk, Source, rows

NUMBERS = [1.5, float("nan"), -2.0, 0.0]
COUNTS = [3, 1, 4, 1]
WORDS = ["red", None, "blue", "red"]
TABLE = {"x": NUMBERS, "n": COUNTS, "w": WORDS, "f": [True, False, True, True]}


class Stream:
    """An object that supports only Arrow's C stream interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    """An object that supports only Arrow's C array interface."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.batch.__arrow_c_array__(requested_schema)


def structured() -> np.ndarray[Any, Any]:
    kind = [("x", float), ("n", int), ("w", object), ("f", bool)]
    return np.array(list(zip(*TABLE.values(), strict=True)), dtype=kind)


STORAGES = {
    "dict of lists": TABLE,
    "dict of arrays": {name: np.array(values) for name, values in TABLE.items()},
    "dict of Series": {name: pd.Series(values) for name, values in TABLE.items()},
    "list of dicts": [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
    "structured": structured(),
    "pandas": pd.DataFrame(TABLE),
    "pandas objects": pd.DataFrame(TABLE).astype({"w": object}),
    "pandas categories": pd.DataFrame(TABLE).astype({"w": "category"}),
    "pandas arrow": pa.table(TABLE).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable": pd.DataFrame(TABLE).astype({"x": "Float64", "n": "Int64", "f": "boolean"}),
    "polars": pl.DataFrame(TABLE, strict=False),
    "polars categories": pl.DataFrame(TABLE).with_columns(pl.col("w").cast(pl.Categorical)),
    "arrow": pa.table(TABLE),
    "arrow pieces": pa.concat_tables([pa.table(TABLE).slice(0, 1), pa.table(TABLE).slice(1)]),
    "arrow batch": pa.record_batch(TABLE),
    "arrow dictionary": pa.table({**TABLE, "w": pa.array(WORDS).dictionary_encode()}),
    "c stream": Stream(pa.table(TABLE)),
    "c array": Batch(pa.record_batch(TABLE)),
}


def listed(column: Any) -> list[object]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return [None if value is None or value != value else value for value in values]


def contents(source: Source, size: int = 65_536) -> dict[str, list[object]]:
    result: dict[str, list[object]] = {name: [] for name in source.names}
    for chunk in source.chunks(size=size):
        for name, column in chunk.columns.items():
            assert len(column) == chunk.n_rows
            result[name] += listed(column)
    return result


EXPECTED = {"x": [1.5, None, -2.0, 0.0], "n": COUNTS, "w": WORDS, "f": [True, False, True, True]}


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_gives_the_same_columns(storage: str, size: int) -> None:
    source = rows(STORAGES[storage])
    assert source.names == ("x", "n", "w", "f")
    assert (source.width, source.named, source.n_rows, source.label) == (4, True, 4, None)
    assert contents(source, size) == EXPECTED


@pytest.mark.parametrize("storage", STORAGES)
def test_a_label_column_is_not_a_feature(storage: str) -> None:
    source = rows(STORAGES[storage], "w")
    assert source.label == "w"
    assert source.names == ("x", "n", "f")
    labels = [label for chunk in source.chunks(size=3) for label in listed(chunk.labels)]
    assert labels == WORDS


def test_chunks_start_again_at_every_call() -> None:
    source = rows(TABLE)
    first = source.chunks(size=3)
    assert next(first).n_rows == 3
    assert [chunk.n_rows for chunk in source.chunks(size=3)] == [3, 1]
    assert next(first).n_rows == 1


def test_first_row_counts_the_rows_before() -> None:
    assert [chunk.first_row for chunk in rows(np.zeros((10, 1))).chunks(size=4)] == [0, 4, 8]


def test_prefix_returns_the_first_rows_and_does_not_affect_progress() -> None:
    source = rows(TABLE)
    assert source.prefix(2).n_rows == 2
    assert source.prefix().n_rows == 4
    assert sum(chunk.n_rows for chunk in source.chunks()) == 4


def test_skipped_columns_are_omitted() -> None:
    source = rows({"a": [1], "s": pa.array([[{"z": 1}]])})
    assert list(source.prefix(kinds={"s": "skip"}).columns) == ["a"]


def test_numbers_are_views() -> None:
    array, frame = np.zeros((9, 2)), pd.DataFrame({"a": np.zeros(9)})
    assert np.shares_memory(rows(array).prefix().columns["x1"], array)
    assert np.shares_memory(rows(frame).prefix().columns["a"], frame["a"].to_numpy())


def test_arrow_columns_are_not_copied() -> None:
    column = pa.array(["a", "b"])
    args = rows(pa.table({"a": column})).prefix().columns["a"]
    assert args.buffers()[2].address == column.buffers()[2].address


def test_categories_share_one_dictionary() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["b", None, "a"], categories=["a", "b", "unused"])})
    chunks = [chunk.columns["c"] for chunk in rows(frame).chunks(size=2)]
    assert [chunk.to_pylist() for chunk in chunks] == [["b", None], ["a"]]
    assert all(chunk.dictionary.to_pylist() == ["a", "b", "unused"] for chunk in chunks)


def test_intervals_become_text() -> None:
    frame = pd.DataFrame({"age": pd.cut(pd.Series([1.0, 3.0]), [0, 2, 4])})
    assert rows(frame).prefix().columns["age"].to_pylist() == ["(0, 2]", "(2, 4]"]


def test_labels_and_weights_are_sliced_with_the_rows() -> None:
    source = rows(np.zeros((5, 2)), list("abcab"), [0, 1, 2, 3, 4])
    chunks = list(source.chunks(size=2))
    assert [listed(chunk.labels) for chunk in chunks] == [["a", "b"], ["c", "a"], ["b"]]
    assert [weights(chunk) for chunk in chunks] == [[0.0, 1.0], [2.0, 3.0], [4.0]]


def weights(chunk: Chunk) -> list[float]:
    assert chunk.weights is not None
    assert chunk.weights.dtype == np.float64
    result: list[float] = chunk.weights.tolist()
    return result


@pytest.mark.parametrize(
    "label",
    [
        ["a", "b"],
        np.array(["a", "b"]),
        np.array([["a"], ["b"]]),
        pd.Series(["a", "b"]),
        pd.DataFrame({"y": ["a", "b"]}),
        pd.Categorical(["a", "b"]),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
    ],
)
def test_labels_may_have_any_storage(label: Any) -> None:
    assert listed(rows([[1], [2]], label).prefix().labels) == ["a", "b"]


def test_one_weight_applies_to_all_rows() -> None:
    assert weights(rows([[1], [2]], None, 2).prefix()) == [2.0, 2.0]


def test_a_source_is_returned_unchanged() -> None:
    source = rows(TABLE)
    assert rows(source) is source
    assert rows(source, "w").label == "w"
    labelled = rows(TABLE, "w")
    assert rows(labelled, "w") is labelled


def test_bare_arrays_can_be_named() -> None:
    source = rows(np.zeros((2, 2)), names=["a", "b"])
    assert (source.names, source.named) == (("a", "b"), True)


def test_names_that_are_not_strings_become_strings() -> None:
    assert rows(pd.DataFrame({0: [1], ("a", 1): [2]})).names == ("0", "('a', 1)")


def test_markers_are_missing_in_texts_and_numbers() -> None:
    texts = {
        "list": ["?", "a"],
        "arrow": pa.array(["?", "a"]),
        "codes": pa.array(["?", "a"]).dictionary_encode(),
    }
    numbers = {
        "n": [-999, 1],
        "x": np.array([-999.0, 1.0]),
        "whole": pa.array([-999, 1], pa.int32()),
        "byte": pa.array([None, 1], pa.int8()),
        "float": pa.array([-999, 1], pa.float32()),
    }
    source = rows(texts | numbers, missing=("?", -999))
    args = contents(source)
    assert all(args[name] == [None, "a"] for name in texts)
    assert all(args[name] == [None, 1] for name in numbers)


def test_integers_with_markers_stay_integers() -> None:
    assert rows({"n": [-999, 1]}, missing=-999).prefix().columns["n"].type == pa.int64()


def error_message(kind: type[Exception], *args: Any, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        list(rows(*args, **options).chunks())
    return str(caught.value)


def test_table_errors_say_what_to_do() -> None:
    assert error_message(DataError, {"a": [1, 2], "b": [1]}) == (
        "The dict's columns differ in length: 'a' has 2, 'b' has 1 rows."
    )
    assert error_message(DataError, pd.DataFrame([[1, 2]], columns=["a", "a"])) == (
        "The DataFrame has the column name 'a' more than once. Give every column its own name."
    )
    assert error_message(DataError, pd.DataFrame({"a": []})) == (
        "The DataFrame is empty: it has columns 'a' and no rows. "
        "Found array with 0 sample(s) (shape=(0, 1)) while a minimum of 1 is required."
    )
    assert error_message(DataError, pd.DataFrame(index=[0, 1])) == (
        "The DataFrame is empty: Found array with 0 feature(s) (shape=(2, 0)) "
        "while a minimum of 1 is required."
    )
    assert error_message(DataError, pl.LazyFrame({"a": [1]}), [1]) == (
        "Labels and weights that are arrays need the rows of a polars LazyFrame. Call .collect() on it "
        "first, or name its label column."
    )
    assert error_message(DataError, "some text") == (
        "A single string is not a table. Give a list of strings, or weigh.open(path)."
    )
    assert error_message(DataError, 3).startswith("Expected a table, got int.")


def test_label_errors_say_what_to_do() -> None:
    assert error_message(ColumnError, {"spam": [1], "b": [2]}, "span") == (
        "The dict has no column 'span'; it has 'spam', 'b'. Did you mean 'spam'?"
    )
    assert error_message(LabelError, [[1], [2]], ["a"]) == (
        "There are 1 labels for 2 rows. Give one label per row."
    )
    assert error_message(LabelError, np.zeros((2, 1)), "y") == (
        "The label was given as the column name 'y', but a bare array has no column names. "
        "Give the labels themselves, or a table with named columns."
    )
    assert error_message(LabelError, np.zeros((2, 1)), np.zeros((2, 2))) == (
        "Labels of shape (2, 2) were given; give one label per row."
    )
    assert error_message(LabelError, np.zeros((2, 1)), 7) == (
        "Labels must be a sequence of one per row, or a column's name, got int."
    )
    assert error_message(DataError, {"y": [1]}, "y") == "The dict has no column besides the label 'y'."
    assert error_message(LabelError, rows(TABLE), [1, 2, 3, 4]) == (
        "Labels cannot be added to a source. Give the name of its label column."
    )


def test_weight_errors_name_the_row() -> None:
    assert error_message(DataError, [[1], [2]], None, [1, -1]) == (
        "Weights must be finite and >= 0; row 1 has -1.0."
    )
    assert error_message(DataError, [[1], [2]], None, [1, np.nan]) == (
        "Weights must be finite and >= 0; row 1 has nan."
    )
    assert error_message(DataError, [[1], [2]], None, [1]) == (
        "There are 1 weights for 2 rows. Give one per row."
    )
    assert error_message(DataError, [[1], [2]], None, [1, 1e51]) == (
        "The sample weight of row 1 is 1e+51; weights must be 0, or from 1e-50 to 1e+50. Divide them by "
        "their mean."
    )
    assert error_message(DataError, [[1], [2]], None, [5e-324, 0]) == (
        "The sample weight of row 0 is 4.94066e-324; weights must be 0, or from 1e-50 to 1e+50. Give "
        "weight 0 to what must not count."
    )


@pytest.mark.parametrize(
    "given",
    [
        ["a", "b"],
        ["1", "2"],
        np.array(["1", 2], dtype=object),
        [b"1", b"2"],
        [1j, 2],
        [10**400, 1],
        [[1], [1, 2]],
        [None, object()],
    ],
)
def test_weights_that_are_not_numbers_are_refused(given: Any) -> None:
    assert error_message(DataError, [[1], [2]], None, given) == "Weights must be numbers, one per row."


@pytest.mark.parametrize("given", [[1e50, 1e-50], [0, 1], [Fraction(1, 2), Decimal(2)], [True, False]])
def test_numbers_of_any_type_and_in_the_whole_range_are_weights(given: Any) -> None:
    assert weights(rows([[1], [2]], None, given).prefix()) == [float(weight) for weight in given]


def test_a_chunk_has_at_least_one_row() -> None:
    with pytest.raises(ParameterError, match="size must be at least 1, got 0"):
        next(iter(rows(TABLE).chunks(size=0)))


def test_reading_plain_rows_imports_only_numpy() -> None:
    code = (
        "import sys, weigh.source as s; s.rows({'a': 1, 'b': 'x'}).prefix();"
        "s.rows([[1, 2]]).prefix(); s.rows(['a text']).prefix();"
        "heavy = {'pyarrow', 'pandas', 'polars', 'scipy', 'sklearn'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
