"""What distributions tell of themselves, in one form for all families."""

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


def test_every_family_answers_every_question(parts):
    for part in parts.values():
        assert part.outcomes() or part.curves()
        assert list(part.held())
        assert isinstance(part.found(), str)


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


def test_the_absence_of_a_word_is_no_outcome(parts):
    (present,) = parts["tags"].outcomes()
    assert [present.title(at) for at in range(2)] == ["tags: x", "tags: y"]


def test_outcomes_are_told_with_their_column(parts):
    assert parts["colour"].outcomes()[0].title(1) == "colour = red"
    assert parts["body"].outcomes()[0].title(0) == "body: cat"
    assert parts["colour"].outcomes()[0].frequencies() == {"blue": 1, "red": 2}


def test_pruned_words_are_known_though_they_are_no_outcomes(parts):
    assert list(parts["body"].outcomes()[0].keys) == ["cat", "sat"]
    assert {"the", "cat", "sat"} <= set(parts["body"].training_names())
    assert not list(parts["wet"].training_names())


def test_a_number_has_a_curve_per_class_and_exact_sums(parts):
    assert parts["age"].curves() == [(2.5, 1.5), (5.0, 3.0)]
    held = {what: table.ravel().tolist() for what, _, table in parts["age"].held()}
    assert held == {"known": [2, 2], "sum": [5, 10], "sum of squares": [17, 68]}


def test_what_a_column_holds_is_said_in_a_few_words(parts):
    told = {name: part.found() for name, part in parts.items()}
    assert told == {
        "colour": "2 levels",
        "age": "means 2.5 to 5",
        "bin": "2 bins",
        "wet": "",
        "hits": "",
        "body": "2 words",
        "tags": "2 words",
    }
