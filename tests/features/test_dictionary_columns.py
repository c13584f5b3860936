"""Coded columns mean what the same values mean in other storages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weigh.errors import ColumnError
from weigh.features import Category, Flag, Number, Text
from weigh.features.columns import encode_column, to_codes, to_numbers, to_objects
from weigh.features.kind_inference import infer_bare_kind
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
