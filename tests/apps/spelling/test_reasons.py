"""Reasons: what speaks for a word, in words, and each neighbour told once."""

from __future__ import annotations

import pytest

from weigh.apps.spelling.reasons import MORE_USUAL, MOST, Reason, strongest

TOLD = {
    "before:know": "'know' before",
    "after:to": "'to' after",
    "before:didn't know": "'didn't know' before",
    "after:to laugh": "'to laugh' after",
    "around:know _ to": "'know … to' around",
    "before2:didn't": "'didn't' two before",
    "after2:laugh": "'laugh' two after",
    "ending-before:ing": "'-ing' before",
    "ending-after:ing": "'-ing' after",
    "capital-before": "capital letter before",
    "capital-after": "capital letter after",
    "capital": "capital letter",
    "CAPITALS": "capital letters",
    "near:laugh": "'laugh' nearby",
    "before:¶": "start of a paragraph",
    "before:¶ ¶": "start of a paragraph",
    "after:¶": "end of a paragraph",
    "after:¶ ¶": "end of a paragraph",
    "before:¶ the": "'¶ the' before",
    "before:0": "a number before",
    "before::": "':' before",
    "after:_ _": "'_ _' after",
    MORE_USUAL: "more usual",
}


@pytest.mark.parametrize(("feature", "told"), TOLD.items())
def test_a_reason_is_told_in_words(feature: str, told: str) -> None:
    assert str(Reason(feature, 1.0)) == told


def names(**weights: float) -> list[str]:
    return [reason.feature for reason in strongest(weights.items())]


def test_reasons_come_the_strongest_first_and_only_those_that_speak_for_the_word() -> None:
    evidence = {"near:a": 0.5, "near:b": 2.0, "near:c": -3.0, "near:d": 0.0, MORE_USUAL: 1.0}
    assert names(**evidence) == ["near:b", MORE_USUAL, "near:a"]


def test_what_is_known_of_one_neighbour_is_told_once() -> None:
    evidence = {
        "before:know": 1.0,
        "ending-before:now": 0.9,
        "near:know": 0.8,
        "capital-before": 0.7,
        "before:didn't know": 0.6,
        "around:know _ to": 0.5,
        "after:to": 0.4,
        "before2:didn't": 0.3,
        "near:didn't": 0.2,
        "near:cry": 0.1,
    }
    assert names(**evidence) == ["before:know", "after:to", "before2:didn't", "near:cry"]


def test_a_word_that_is_merely_near_hides_the_place_where_it_stands() -> None:
    assert names(**{"near:know": 2.0, "before:know": 1.0, "after:to": 0.5}) == ["near:know", "after:to"]


def test_the_end_of_a_paragraph_is_told_once() -> None:
    evidence = {"before:¶": 1.0, "before:¶ ¶": 3.0, "before2:¶": 2.0, "after:¶": 0.5, "after2:¶": 0.4}
    assert names(**evidence) == ["before:¶ ¶", "after:¶"]


def test_equal_reasons_have_one_order_and_there_are_only_so_many() -> None:
    words = {f"near:{sign}": 1.0 for sign in "zyxwvutsrq"}
    assert names(**words) == [f"near:{sign}" for sign in "qrstuv"]
    assert len(names(**words)) == MOST
