"""Outcomes, statistics and descriptions of all families of distributions."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh.features import Text, Tokens

TABLE = {
    "colour": ["red", "blue", "red", None],
    "age": [1.0, 2.0, 4.0, 8.0],
    "bin": [1.0, 2.0, 4.0, 8.0],
    "wet": [True, False, True, True],
    "hits": [0, 3, 1, 2],
    "body": ["a cat", "cat sat", "the cat", "sat"],
    "tags": [["x"], ["y"], ["x", "y"], []],
}
KINDS = {
    "bin": weigh.Number(bins=(3.0,)),
    "hits": "count",
    "wet": "flag",
    "body": Text(min_count=2),
    "tags": Tokens(counts=False),
}


@pytest.fixture(scope="module")
def parts():
    model = weigh.NaiveBayes(columns=KINDS).fit(TABLE, ["p", "q", "p", "q"]).model_
    return {part.part.names[0]: part for part in model.distributions}


def test_every_family_has_outcomes_or_parameters_statistics_and_a_description(parts):
    for part in parts.values():
        assert part.outcomes() or part.normal_parameters()
        assert list(part.sufficient_statistics())
        assert isinstance(part.describe(), str)


@pytest.mark.parametrize("column", ["colour", "bin", "body", "hits"])
def test_exclusive_outcomes_sum_to_one(parts, column):
    (outcomes,) = parts[column].outcomes()
    assert outcomes.exclusive
    np.testing.assert_allclose(outcomes.probabilities.sum(axis=1), 1.0)


def test_a_flag_is_present_or_absent(parts):
    present, absent = parts["wet"].outcomes()
    np.testing.assert_array_equal(present.probabilities + absent.probabilities, 1.0)
    assert (present.title(0), absent.title(0)) == ("wet", "wet = 0")
    assert (present.frequencies(), absent.frequencies()) == ({"wet": 3}, {"wet": 1})


def test_the_absence_of_a_word_is_not_an_outcome(parts):
    (present,) = parts["tags"].outcomes()
    assert [present.title(k) for k in range(2)] == ["tags: x", "tags: y"]


def test_titles_of_outcomes_include_the_column(parts):
    assert parts["colour"].outcomes()[0].title(1) == "colour = red"
    assert parts["body"].outcomes()[0].title(0) == "body: cat"
    assert parts["colour"].outcomes()[0].frequencies() == {"blue": 1, "red": 2}


def test_pruned_words_are_training_names_but_not_outcomes(parts):
    assert list(parts["body"].outcomes()[0].keys) == ["cat", "sat"]
    assert {"the", "cat", "sat"} <= set(parts["body"].training_names())
    assert not list(parts["wet"].training_names())


def test_a_number_has_normal_parameters_per_class_and_exact_sums(parts):
    assert parts["age"].normal_parameters() == [(2.5, 1.5), (5.0, 3.0)]
    statistics = {name: table.ravel().tolist() for name, _, table in parts["age"].sufficient_statistics()}
    cells = statistics.pop("cell")
    assert statistics == {"known": [2, 2], "sum": [5, 10], "sum of squares": [17, 68]}
    assert cells == [1, 0, 1, 0, 0, 1, 0, 1]  # classes with the ages 1 and 4, 2 and 8


def test_columns_are_described_briefly(parts):
    assert {name: part.describe() for name, part in parts.items()} == {
        "colour": "2 levels",
        "age": "means 2.5 to 5",
        "bin": "2 bins",
        "wet": "",
        "hits": "",
        "body": "2 words",
        "tags": "2 words",
    }
