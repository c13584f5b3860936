"""Columns in, arrays out: missing and odd values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import weigh
from weigh import errors
from weigh.features.columns import to_codes, to_numbers


def objects(*values: object) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def decoded(block) -> list[object]:
    return [None if code < 0 else block.levels[code] for code in block.codes]


@pytest.mark.parametrize(
    "column",
    [
        objects("a", None, "b", "a", "?"),
        pa.array(["a", None, "b", "a", "?"]),
        pa.array(["z", "a", None, "b", "a", "?"]).slice(1),
        pa.array(["a", None, "b", "a", "?"], pa.large_string()),
        pa.array(["a", None, "b", "a", "?"]).dictionary_encode(),
    ],
)
def test_strings_of_any_storage_have_the_same_codes(column):
    assert decoded(to_codes(column, "x", ("?",))) == ["a", None, "b", "a", None]


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 0, 1]),
        np.array([1.0, -0.0, 1.0]),
        np.array([True, False, True]),
        objects(1, 0.0, True),
        pa.array([1, 0, 1], pa.int8()),
        pa.array([1.0, 0.0, 1.0]),
        pa.array([True, False, True]),
    ],
)
def test_equal_values_of_different_types_are_one_level(column):
    levels = decoded(to_codes(column, "x"))
    assert levels == [1, 0, 1]
    assert {type(level) for level in levels} == {int}


def test_fractions_and_unicode_survive():
    assert decoded(to_codes(np.array([0.5, np.nan, 2.0]), "x")) == [0.5, None, 2]
    assert decoded(to_codes(objects("é", "日本", "é"), "x")) == ["é", "日本", "é"]


def test_values_that_cannot_be_compared_are_rejected():
    with pytest.raises(errors.ColumnError, match="a category needs strings"):
        to_codes(objects(["a"], ["b"]), "x")


@pytest.mark.parametrize(
    "column",
    [
        objects(1, None, 2.5, "?"),
        objects("1", float("nan"), "2.5", "?"),
        pa.array(["1", None, "2.5", "?"]),
        pa.array([1, None, 2.5, None]),
    ],
)
def test_numbers_of_any_storage_become_floats_with_nan(column):
    numbers = to_numbers(column, "x", ("?",))
    assert np.array_equal(numbers, [1.0, np.nan, 2.5, np.nan], equal_nan=True)


def test_a_value_that_is_not_a_number_is_reported():
    with pytest.raises(errors.ColumnError, match="Column 'age' holds numbers, but one value is 'abc'"):
        to_numbers(objects(1, "abc"), "age")
    with pytest.raises(errors.ColumnError, match="Column 'age' contains infinity"):
        to_numbers(np.array([1.0, np.inf]), "age")


@pytest.mark.parametrize(
    "column",
    [np.array([2**64 - 1, 1, 2**63], dtype=np.uint64), np.array([2**64 - 1, 1, 2**63], dtype=object)],
)
def test_unsigned_integers_beyond_int64_keep_their_value(column):
    block = to_codes(column, "x")
    assert [block.levels[code] for code in block.codes] == [2**64 - 1, 1, 2**63]


def test_an_integer_beyond_the_range_of_floats_is_rejected_with_its_column():
    with pytest.raises(errors.ColumnError, match="'x' holds a whole number beyond"):
        to_numbers(np.array([10**400, 1], dtype=object), "x")


def test_a_model_keeps_integers_beyond_64_bits(tmp_path):
    nb = weigh.NaiveBayes().fit({"x": [2**70, 1, 2**70], "y": ["b", "a", "b"]}, "y")
    nb.model_.save(tmp_path / "m.weigh")
    assert weigh.load(tmp_path / "m.weigh").predict({"x": [2**70, 1]}).tolist() == ["b", "a"]
