"""Kinds found from types and first rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from weigh import errors
from weigh.features import Category, Flag, Number, Text, Tokens
from weigh.features.kind_finder import find_kind


def kind_of(values: object) -> object:
    return find_kind(values, "x", Number())


def objects(*values: object) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.mark.parametrize("wrap", [np.array, pa.array])
def test_booleans_are_flags(wrap):
    assert kind_of(wrap([True, False, True])) == Flag()


@pytest.mark.parametrize("wrap", [np.array, pa.array])
def test_floats_are_numbers_even_when_they_are_whole(wrap):
    assert kind_of(wrap([0.0, 1.0, 0.0])) == Number()


@pytest.mark.parametrize("wrap", [np.array, pa.array])
def test_integers_with_at_most_twenty_values_are_categories(wrap):
    assert kind_of(wrap(list(range(20)) * 3)) == Category()
    assert kind_of(wrap(list(range(21)) * 3)) == Number()


def test_integers_with_gaps_stay_integers():
    assert kind_of(objects(1, None, 2)) == Category()
    assert kind_of(pa.array([1, None, 2])) == Category()


def test_the_kind_of_numbers_is_the_one_asked_for():
    assert find_kind(np.array([0.5, 1.5]), "x", Number(bins=4)) == Number(bins=4)


def test_repeated_strings_are_categories():
    assert kind_of(objects("red", "green", "red", None)) == Category()


def test_distinct_texts_of_several_words_are_text():
    assert kind_of(objects("free money now", "lunch at noon", "see you soon")) == Text()
    assert kind_of(pa.array(["free money now", "lunch at noon", None])) == Text()


def test_repeated_texts_of_several_words_are_categories():
    assert kind_of(objects("very good", "very bad", "very good", "very bad")) == Category()


def test_distinct_single_words_are_categories():
    assert kind_of(objects("a1", "b2", "c3")) == Category()


def test_lists_of_strings_are_tokens():
    assert kind_of(objects(["a", "b"], ["c"])) == Tokens()
    assert kind_of(pa.array([["a", "b"], ["c"]])) == Tokens()


def test_arrow_dictionaries_are_judged_by_their_values():
    assert kind_of(pa.array(["a", "b", "a", "a"]).dictionary_encode()) == Category()


@pytest.mark.parametrize("empty", [objects(None, None), np.array([np.nan, np.nan]), pa.nulls(2)])
def test_a_column_without_values_is_refused(empty):
    with pytest.raises(errors.ColumnError, match="Column 'x' has no values at all in the first rows"):
        kind_of(empty)


def test_nan_among_strings_does_not_make_them_numbers():
    assert kind_of(objects("red", float("nan"), "red")) == Category()


def test_integers_beyond_64_bits_are_categories_or_numbers_like_others():
    assert kind_of(objects(2**70, 1)) == Category()
    assert kind_of(objects(*(2**70 + k for k in range(30)))) == Number()
    assert kind_of(np.array([2**63 + 1, 1], dtype=np.uint64)) == Category()


def test_a_word_among_numbers_is_told():
    column = objects("39", "50", "?", "38", "53", "28", "?")
    with pytest.warns(errors.OddValues, match="Column 'x' holds numbers but for '\\?'.*missing=\\['\\?'\\]"):
        assert kind_of(column) == Category()
    assert kind_of(objects("a1", "2", "3", "4", "5", "b", "c")) == Category()
