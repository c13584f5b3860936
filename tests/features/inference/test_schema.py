"""Kinds found from types and first rows."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import weigh
from weigh import errors
from weigh.features import Category, Flag, Number, Skip, Text, Tokens
from weigh.features.columns import bin_names, to_bins
from weigh.features.inference.kinds import infer_bare_kind, infer_column
from weigh.features.inference.schema import find_cuts, infer_schema


def kind_of(values: object) -> object:
    return infer_bare_kind(values, "x", Number())


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
def test_integers_of_a_bare_array_are_categories_with_at_most_twenty_values(wrap):
    assert kind_of(wrap(list(range(20)) * 3)) == Category()
    assert kind_of(wrap(list(range(21)) * 3)) == Number()


def test_integers_with_missing_values_stay_integers():
    assert kind_of(objects(1, None, 2)) == Category()
    assert kind_of(pa.array([1, None, 2])) == Category()


def test_numbers_get_the_requested_kind():
    assert infer_bare_kind(np.array([0.5, 1.5]), "x", Number(bins=4)) == Number(bins=4)


def test_repeated_strings_are_categories():
    assert kind_of(objects("red", "green", "red", None)) == Category()


def test_distinct_texts_of_several_words_are_text():
    assert kind_of(objects("free money now", "lunch at noon", "see you soon")) == Text()
    assert kind_of(pa.array(["free money now", "lunch at noon", None])) == Text()


def test_repeated_texts_of_several_words_are_categories():
    assert kind_of(objects("very good", "very bad", "very good", "very bad")) == Category()


def test_many_notes_with_phrases_that_occur_once_are_text():
    phrases = ["sent invoice", "call back next week", "demo went well", "met at fair"]
    single = [f"{phrase}, call {k}" for k, phrase in enumerate(phrases * 60)]
    assert kind_of(objects(*phrases * 300, *single)) == Text()
    with pytest.warns(errors.OddValues, match="If it is running text"):
        assert kind_of(objects(*phrases * 1300, *single)) == Category()


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


def named_kind(values: object, name: str) -> object:
    return infer_column(values, name, Number())[0]


CODES = np.tile([1, 2, 3, 5, 9], 40)


def test_the_name_of_integers_says_whether_they_are_a_quantity_or_a_code():
    assert named_kind(CODES, "region") == Category()
    assert named_kind(CODES, "OccupationCode") == Category()
    assert named_kind(CODES, "age") == Number()
    assert named_kind(CODES, "num_rooms") == Number()
    assert named_kind(CODES, "age_group") == Category()


def test_integers_without_a_telling_name_are_codes_if_they_are_few_and_frequent():
    assert named_kind(np.arange(40).repeat(8), "v4") == Category()
    assert named_kind(np.arange(41).repeat(8), "v4") == Number()
    assert named_kind(np.arange(40).repeat(8)[:-1], "v4") == Number()


def test_a_code_needs_some_rows_per_level():
    assert named_kind(np.arange(60).repeat(3), "district") == Category()
    assert named_kind(np.arange(60).repeat(3)[:-1], "district") == Number()


def test_two_integers_are_a_category_under_any_name():
    assert named_kind(np.array([0, 1, 1]), "count") == Category()


def test_the_storage_of_integers_does_not_change_their_kind():
    assert named_kind(pa.array(CODES).dictionary_encode(), "age") == Number()
    assert named_kind(pa.array(CODES).dictionary_encode(), "region") == Category()


@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
@pytest.mark.parametrize(
    "make", [weigh.NaiveBayes, weigh.JointBayes, weigh.Perceptron, weigh.LogisticRegression]
)
def test_all_learners_read_integers_by_the_same_rule(make):
    table = {"age": np.arange(200) % 30, "region": CODES, "y": np.arange(200) // 7 % 2}
    kinds = make().fit(table, "y").schema_.kinds
    assert [isinstance(kind, Category) for kind in kinds] == [False, True]


def skipped_columns(table: dict[str, object]) -> list[str]:
    """Return the skipped columns of a table that has another column too."""
    n = len(next(iter(table.values())))
    source = weigh.rows({**table, "other": ["a", "b"] * (n // 2)})
    with pytest.warns(errors.SkippedColumns):
        schema = infer_schema(source)
    return [n for n, kind in zip(schema.names, schema.kinds, strict=True) if kind == Skip()]


EMAILS = [f"user{i}@example.com" for i in range(200)]


def test_strings_that_are_nearly_all_distinct_are_skipped():
    assert skipped_columns({"mail": EMAILS}) == ["mail"]
    assert skipped_columns({"mail": EMAILS[:180] + EMAILS[:20]}) == ["mail"]
    assert named_kind(objects(*EMAILS[:179], *EMAILS[:21]), "mail") == Category()


def test_fewer_than_a_hundred_values_are_not_called_identifiers():
    assert named_kind(objects(*EMAILS[:99]), "mail") == Category()
    assert named_kind(objects(*EMAILS[:99], *[None] * 50), "mail") == Category()
    assert named_kind(np.arange(99), "row_id") == Number()


def test_texts_of_several_words_are_not_identifiers():
    assert named_kind(objects(*(f"order of user {i}" for i in range(200))), "note") == Text()


RANDOM = np.random.default_rng(0).permutation(10**6)[:200]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Unnamed: 0", np.arange(200)),
        ("v1", np.random.default_rng(0).permutation(300)[:200]),
        ("v1", np.arange(1000, 3000, 10)),
        ("customer_id", RANDOM),
        ("orderNo", RANDOM),
    ],
)
def test_integers_that_number_the_rows_are_skipped(name, values):
    assert skipped_columns({name: values}) == [name]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("salary", RANDOM),
        ("v1", RANDOM),
        ("year", np.arange(1800, 2000)),
        ("x", np.arange(200)),
        ("row_id", np.arange(200) + 0.5),
    ],
)
def test_quantities_with_distinct_values_stay_numbers(name, values):
    assert named_kind(values, name) == Number()


def test_a_skipped_column_is_named_with_the_way_to_keep_it():
    table = {"mail": EMAILS, "other": ["a", "b"] * 100}
    text = (
        "Column 'mail' is skipped: nearly all of its 200 values are distinct, so it looks like an "
        "identifier. To keep it, use columns={'mail': 'category'}."
    )
    with pytest.warns(errors.SkippedColumns, match=f"^{re.escape(text)}$"):
        infer_schema(weigh.rows(table))
    text = (
        "Columns 'nr', 'mail' are skipped: nearly all of their values are distinct, so they look like "
        "identifiers. To keep one, use columns={'nr': 'number'}."
    )
    with pytest.warns(errors.SkippedColumns, match=f"^{re.escape(text)}$"):
        infer_schema(weigh.rows({"nr": np.arange(200), **table}))


def test_a_stated_kind_keeps_an_identifier():
    table = {"mail": EMAILS, "nr": np.arange(200)}
    schema = infer_schema(weigh.rows(table), {"mail": "category", "nr": "number"})
    assert list(schema.kinds) == [Category(), Number()]


def test_bare_arrays_have_no_identifiers():
    assert list(infer_schema(weigh.rows(np.c_[np.arange(200), np.arange(200)])).kinds) == [Number(), Number()]
    assert kind_of(objects(*EMAILS)) == Category()


def test_a_table_of_identifiers_alone_is_refused():
    text = (
        "There is nothing to learn from. Column 'mail' would be skipped: nearly all of its 200 values are "
        "distinct, so it looks like an identifier. To keep it, use columns={'mail': 'category'}."
    )
    with pytest.raises(errors.DataError, match=f"^{re.escape(text)}$"):
        infer_schema(weigh.rows({"mail": EMAILS}))


def test_predictions_need_no_skipped_column_and_ignore_its_values():
    table = {"mail": EMAILS, "side": ["a", "b"] * 100, "y": ["no", "yes"] * 100}
    with pytest.warns(errors.SkippedColumns):
        model = weigh.NaiveBayes().fit(table, "y").model_
    expected = model.scores({"side": "a"})
    for mail in (EMAILS[0], "new@example.com", None):
        assert (model.scores({"mail": mail, "side": "a"}) == expected).all()


def test_a_label_is_never_an_identifier():
    with pytest.warns(errors.SkippedColumns, match="Column 'mail'"):
        weigh.LinearRegression().fit(
            {"mail": EMAILS, "size": np.arange(200) % 17 / 2, "y": np.arange(200)}, "y"
        )


def test_a_refused_merge_names_the_columns_and_the_schema_to_use():
    table = {"mail": EMAILS, "side": ["a", "b"] * 100, "y": ["no", "yes"] * 100}
    with pytest.warns(errors.SkippedColumns):
        first = weigh.NaiveBayes().fit(table, "y").model_
    few = {name: column[:50] for name, column in table.items()}
    text = (
        "The models cannot merge: column 'mail' is Skip() in the first and Category() in the second. Train "
        "the second with the columns of the first: columns=first.schema."
    )
    with pytest.raises(errors.MergeError, match=f"^{re.escape(text)}$"):
        first.merge(weigh.NaiveBayes().fit(few, "y").model_)
    second = weigh.NaiveBayes(columns=first.schema).fit(few, "y").model_
    assert first.merge(second).counts.rows.tolist() == [125, 125]
