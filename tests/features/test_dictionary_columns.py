"""Coded columns mean what the same values mean in other storages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import weigh
from weigh.errors import ColumnError
from weigh.features import Category, Flag, Number, Text
from weigh.features.columns import drop_unused_values, encode_column, to_codes, to_numbers, to_objects
from weigh.features.inference.kinds import infer_bare_kind
from weigh.features.inference.schema import infer_schema
from weigh.source import rows
from weigh.source.chunk import DictionaryColumn

CODES = np.array([1, 0, -1, 1], dtype=np.int32)


def coded(*values: Any) -> DictionaryColumn:
    return DictionaryColumn(CODES, list(values))


def test_codes_and_values_are_used_without_conversion() -> None:
    codes, values = encode_column(coded("p", "q"), "a")
    assert codes is CODES
    assert values == ["p", "q"]


def test_markers_are_missing_levels() -> None:
    block = to_codes(coded("?", "q"), "a", ["?"])
    assert (block.codes.tolist(), block.levels) == ([0, -1, -1, 0], ["q"])


def test_numbers_are_looked_up() -> None:
    np.testing.assert_array_equal(to_numbers(coded(5, 7), "a"), [7.0, 5.0, np.nan, 7.0])
    np.testing.assert_array_equal(to_numbers(coded(True, False), "a"), [0.0, 1.0, np.nan, 0.0])
    with pytest.raises(ColumnError, match="Column 'a' holds numbers, but one value is 'x'"):
        to_numbers(coded("x", "1"), "a")


def test_objects_have_the_narrowest_faithful_type() -> None:
    whole = DictionaryColumn(np.array([1, 0], dtype=np.int32), [5, 7])
    assert to_objects(whole).dtype == np.int64
    assert to_objects(whole).tolist() == [7, 5]
    np.testing.assert_array_equal(to_objects(coded(5, 7)), [7.0, 5.0, np.nan, 7.0])
    assert to_objects(coded(True, False)).tolist() == [False, True, None, False]
    assert to_objects(coded("p", "q")).tolist() == ["q", "p", None, "q"]
    assert to_objects(DictionaryColumn(np.array([-1, -1], dtype=np.int32), [])).tolist() == [None, None]


def test_kinds_are_inferred_from_the_values() -> None:
    many = DictionaryColumn(np.arange(30, dtype=np.int32), list(range(30)))
    texts = DictionaryColumn(np.arange(30, dtype=np.int32), [f"words of {i}" for i in range(30)])
    assert infer_bare_kind(coded(True, False), "a", Number()) == Flag()
    assert infer_bare_kind(coded(1, 2), "a", Number()) == Category()
    assert infer_bare_kind(many, "a", Number()) == Number()
    assert infer_bare_kind(coded("p", "q"), "a", Number()) == Category()
    assert infer_bare_kind(texts, "a", Number()) == Text()
    with pytest.raises(ColumnError, match="has no values"):
        infer_bare_kind(DictionaryColumn(np.array([-1], dtype=np.int32), []), "a", Number())


N_ROWS = 400
COLUMNS_WITH_UNUSED_VALUES = {
    "flag": ([("yes", "no")[k % 2] for k in range(N_ROWS)], ["maybe"]),
    "number": ([f"${k % 90}.5" for k in range(N_ROWS)], [f"q{k}" for k in range(200)]),
    "date": ([f"13.{k % 12 + 1:02d}.2024" for k in range(N_ROWS)], ["2024/1/1", *"abcdefgh"]),
    "category": ([f"c{k % 5}" for k in range(N_ROWS)], [f"q{k}" for k in range(N_ROWS)]),
    "integer": ([k * 7 % 390 for k in range(N_ROWS)], list(range(1_000, 9_000))),
}


@pytest.mark.parametrize("name", COLUMNS_WITH_UNUSED_VALUES)
def test_values_that_no_row_has_do_not_change_the_kind(name: str) -> None:
    values, unused = COLUMNS_WITH_UNUSED_VALUES[name]
    expected = infer_schema(rows({"x": values, "z": values}))
    levels = [*unused, *dict.fromkeys(values)]
    frame = pd.DataFrame({column: pd.Categorical(values, categories=levels) for column in ("x", "z")})
    assert infer_schema(rows(frame)) == expected
    if name != "integer":
        array = pa.DictionaryArray.from_arrays([levels.index(value) for value in values], levels)
        assert infer_schema(rows(pa.table({"x": array, "z": array}))) == expected
    stated = infer_schema(rows({"x": values, "z": values}), {"x": "number", "z": "flag"})
    assert infer_schema(rows(frame), {"x": "number", "z": "flag"}) == stated


def test_integers_of_a_parser_are_the_same_numbers_as_their_values() -> None:
    integers = np.array([5, -7, 2**62 + 1], dtype=np.int64)
    plain = DictionaryColumn(np.array([2, -1, 0, 1], dtype=np.int32), integers.tolist())
    parsed = DictionaryColumn(plain.codes, plain.values, integers, uses_all_values=True)
    for markers in [(), ("?",), (-7,), (5.0, "")]:
        np.testing.assert_array_equal(to_numbers(parsed, "a", markers), to_numbers(plain, "a", markers))
    assert parsed.types == plain.types == {int}
    assert parsed[1:].types == {int}


def test_a_part_of_the_rows_may_leave_values_unused() -> None:
    column = DictionaryColumn(
        np.array([0, 1], dtype=np.int32), [5, 7], np.array([5, 7]), uses_all_values=True
    )
    assert drop_unused_values(column, "a") is column
    assert drop_unused_values(column[1:], "a").values == [7]


@pytest.mark.parametrize(
    "cells", ["1,01,-9", "a,-9,b", "true,TRUE,false", "1.5,nan,-9", "-9,-9,-9", "07,-9,7"]
)
def test_a_csv_file_has_every_value_of_its_columns(cells: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{cell},1\n" for cell in cells.split(",")))
    column = weigh.open(path, "y", missing=[-9]).prefix().columns["x"]
    if isinstance(column, DictionaryColumn):
        assert column.uses_all_values
        assert set(column.codes.tolist()) - {-1} == set(range(len(column.values)))
