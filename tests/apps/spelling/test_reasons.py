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


def test_what_is_known_of_one_neighbour_is_one_reason_and_a_pair_counts_half_for_each() -> None:
    evidence = {
        "before:know": 1.0,
        "ending-before:now": 0.5,
        "near:know": 0.25,
        "capital-before": -0.125,
        "before:didn't know": 0.5,
        "around:know _ to": 0.75,
        "after:to": 2.0,
        "before2:didn't": 0.0,
        "near:didn't": 0.125,
        "near:cry": 0.0625,
        "after2:laugh": -4.0,
    }
    told = strongest(evidence.items())
    assert {one.feature: one.weight for one in told} == {
        "after:to": 2.375,
        "before:know": 2.25,
        "before2:didn't": 0.375,
        "near:cry": 0.0625,
    }
    assert [one.feature for one in told] == ["after:to", "before:know", "before2:didn't", "near:cry"]
    assert sum(one.weight for one in told) - 4.0 == sum(evidence.values())


def test_a_word_that_is_near_is_told_by_its_place_next_to_the_occurrence() -> None:
    assert names(**{"near:know": 2.0, "before:know": 0.0, "after:to": 0.5}) == ["before:know", "after:to"]
    assert names(**{"near:to": 2.0, "before:to": 0.0, "after:to": 1.0}) == ["near:to"]
    assert names(**{"near:cry": 2.0, "after2:laugh": 1.0}) == ["near:cry", "after2:laugh"]


def test_a_feature_that_its_neighbour_outweighs_is_no_reason() -> None:
    assert names(**{"before:know": 1.0, "near:know": -2.0, "after:to": 0.5}) == ["after:to"]


def test_the_end_of_a_paragraph_is_told_once() -> None:
    evidence = {"before:¶": 1.0, "before:¶ ¶": 3.0, "before2:¶": 2.0, "after:¶": 0.5, "after2:¶": 0.4}
    assert names(**evidence) == ["before:¶ ¶", "after:¶"]


def test_equal_reasons_have_one_order_and_there_are_only_so_many() -> None:
    words = {f"near:{sign}": 1.0 for sign in "zyxwvutsrq"}
    assert names(**words) == [f"near:{sign}" for sign in "qrstuv"]
    assert len(names(**words)) == MOST
    assert names(**{"ending-before:now": 1.0, "before:know": 1.0}) == ["before:know"]
