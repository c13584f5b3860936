"""Kinds found from types and first rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import weigh
from weigh import errors
from weigh.features import Category, Flag, Number, Text, Tokens
from weigh.features.columns import bin_names, to_bins
from weigh.features.schema_inference import find_cuts, infer_kind, infer_schema


def kind_of(values: object) -> object:
    return infer_kind(values, "x", Number())


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


def test_integers_with_missing_values_stay_integers():
    assert kind_of(objects(1, None, 2)) == Category()
    assert kind_of(pa.array([1, None, 2])) == Category()


def test_numbers_get_the_requested_kind():
    assert infer_kind(np.array([0.5, 1.5]), "x", Number(bins=4)) == Number(bins=4)


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


def test_arrow_dictionaries_are_inferred_from_their_values():
    assert kind_of(pa.array(["a", "b", "a", "a"]).dictionary_encode()) == Category()


@pytest.mark.parametrize("empty", [objects(None, None), np.array([np.nan, np.nan]), pa.nulls(2)])
def test_a_column_without_values_is_rejected(empty):
    with pytest.raises(errors.ColumnError, match="Column 'x' has no values in the first rows"):
        kind_of(empty)


def test_nan_among_strings_does_not_make_them_numbers():
    assert kind_of(objects("red", float("nan"), "red")) == Category()


def test_integers_beyond_64_bits_are_categories_or_numbers_like_others():
    assert kind_of(objects(2**70, 1)) == Category()
    assert kind_of(objects(*(2**70 + k for k in range(30)))) == Number()
    assert kind_of(np.array([2**63 + 1, 1], dtype=np.uint64)) == Category()


def test_a_word_among_numbers_causes_a_warning():
    column = objects("39", "50", "?", "38", "53", "28", "?")
    with pytest.warns(
        errors.OddValues, match="Column 'x' contains numbers except for '\\?'.*missing=\\['\\?'\\]"
    ):
        assert kind_of(column) == Category()
    assert kind_of(objects("a1", "2", "3", "4", "5", "b", "c")) == Category()


def test_even_values_are_cut_into_equal_counts():
    values = np.arange(100.0)
    codes = to_bins(values, find_cuts(values, 4, "x")).codes
    assert np.bincount(codes).tolist() == [25, 25, 25, 25]


def test_a_value_that_fills_a_bin_gets_its_own_bin():
    values = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
    cuts = find_cuts(values, 5, "x")
    assert cuts[0] == 0.5
    codes = to_bins(values, cuts).codes
    assert (codes[:900] == 0).all()
    assert (codes[900:] > 0).all()


def test_cuts_of_huge_numbers_are_finite():
    assert find_cuts(np.array([-1e308, 1e308]), 2, "x") == (0.0,)
    assert find_cuts(np.array([1.6e308, 1.7e308]), 2, "x")[0] == pytest.approx(1.65e308)


def test_one_distinct_value_cannot_be_cut():
    with pytest.raises(errors.ColumnError, match="1 distinct value in the first rows, too few for 5 bins"):
        find_cuts(np.array([3.0, 3.0, np.nan]), 5, "x")


def test_bins_are_closed_on_the_right_and_missing_values_have_none():
    block = to_bins(np.array([1.0, 2.0, 2.5, np.nan]), (2.0,))
    assert block.codes.tolist() == [0, 0, 1, -1]
    assert block.levels == ["x ≤ 2", "x > 2"]


def test_bins_are_named_by_their_borders():
    assert bin_names((1.5, 2.0)) == ["x ≤ 1.5", "1.5 < x ≤ 2", "x > 2"]


def test_a_wide_sparse_matrix_needs_one_kind_for_all_columns() -> None:
    source = weigh.rows(sparse.csr_matrix(np.eye(3, 1_500)))
    with pytest.raises(errors.DataError, match="1,500 columns needs a stated kind"):
        infer_schema(source, dict.fromkeys(range(1_500), "flag"))
    assert infer_schema(source, "flag").accepts_sparse
