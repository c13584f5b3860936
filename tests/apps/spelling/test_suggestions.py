"""Reasons of suggestions: wording, grouping by neighbour, order and sum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.spelling.example_speller import DO, THINGS, WHO, speller
from tests.apps.spelling.reference_contexts import contexts
from weigh.apps.spelling.checking import TextChecker
from weigh.apps.spelling.contexts import ContextReader
from weigh.apps.spelling.suggestions import PRIOR_FEATURE, SuggestionReason, rank_reasons

WORDING = {
    "before:know": "'know' before",
    "after:to": "'to' after",
    "before:didn't know": "'didn't know' before",
    "after:to laugh": "'to laugh' after",
    "around:know _ to": "'know … to' around",
    "before2:didn't": "'didn't' two before",
    "after2:laugh": "'laugh' two after",
    "after2:.": "'.' two after",
    "capital": "capital letter",
    "CAPITALS": "capital letters",
    "near:laugh": "'laugh' nearby",
    "before:¶": "start of a paragraph",
    "after:¶": "end of a paragraph",
    "before2:¶": "start of a paragraph two before",
    "after2:¶": "end of a paragraph two after",
    "before:¶ the": "'the' at the start of a paragraph",
    "after:. ¶": "'.' at the end of a paragraph",
    "around:¶ _ was": "between the start of a paragraph and 'was'",
    "around:know _ ¶": "between 'know' and the end of a paragraph",
    "around:¶ _ ¶": "a paragraph of its own",
    "before:0": "a number before",
    "near:0": "a number nearby",
    "before:0 of": "a number and 'of' before",
    "before:¶ 0": "a number at the start of a paragraph",
    "around:<code> _ 0": "code and a number around",
    "after:<long>": "a long word after",
    "before:code": "'code' before",
    "before::": "':' before",
    "after:_ _": "'_ _' after",
    "around:_ _ _": "'_ … _' around",
    PRIOR_FEATURE: "more usual",
}


@pytest.mark.parametrize(("feature", "wording"), WORDING.items())
def test_wording_of_reasons(feature: str, wording: str) -> None:
    assert str(SuggestionReason(feature, 1.0)) == wording


def test_reason_shows_the_surface_form() -> None:
    assert str(SuggestionReason("before:and i", 1.0, "And I")) == "'And I' before"
    assert str(SuggestionReason("around:i _ 0", 1.0, "I _ 0")) == "'I' and a number around"


def names(**weights: float) -> list[str]:
    return [reason.feature for reason in rank_reasons(weights.items())]


def test_reasons_for_come_before_reasons_against() -> None:
    evidence = {
        "near:a": 0.5,
        "near:b": 2.0,
        "near:c": -3.0,
        "near:d": 0.0,
        "near:e": -4.0,
        PRIOR_FEATURE: 1.0,
    }
    assert names(**evidence) == ["near:b", PRIOR_FEATURE, "near:a", "near:e", "near:c"]


def test_features_are_grouped_by_neighbour_and_pairs_are_split() -> None:
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
    reasons = rank_reasons(evidence.items())
    assert {one.feature: one.weight for one in reasons} == {
        "after:to": 2.375,
        "before:know": 2.25,
        "before2:didn't": 0.375,
        "near:cry": 0.0625,
        "after2:laugh": -4.0,
    }
    assert [one.feature for one in reasons][:2] == ["after:to", "before:know"]
    assert sum(one.weight for one in reasons) == sum(evidence.values())


def test_strongest_pair_is_one_reason() -> None:
    nearest = {"before2:did": 0.0, "before:not": 1.0, "after:to": 0.5, "after2:cry": 0.0}
    assert names(**nearest, **{"before:did not": 3.0}) == ["before:did not", "after:to"]
    assert names(**nearest, **{"around:not _ to": 3.0}) == ["around:not _ to"]
    assert names(**nearest, **{"after:to cry": -3.0}) == ["before:not", "after2:cry", "after:to"]


def test_reason_names_the_neighbour_not_its_ending() -> None:
    nearest = {"before2:i": 0.0, "before:would": 0.0, "after:to": 0.0, "after2:cry": 0.0}
    for known in ("ending-before:uld", "capital-before", "near:would"):
        assert names(**nearest, **{known: 1.0}) == ["before:would"]
    assert names(**nearest, **{"near:laugh": 2.0, "near:cry": 1.0}) == ["near:laugh", "after2:cry"]


def test_near_feature_is_split_between_equal_neighbours() -> None:
    reasons = rank_reasons({"near:to": 2.0, "before:to": 0.0, "after:to": 1.0}.items())
    assert [(one.feature, one.weight) for one in reasons] == [("after:to", 2.0), ("before:to", 1.0)]


def test_paragraph_end_is_one_reason() -> None:
    evidence = {"before:¶": 1.0, "before:¶ ¶": 3.0, "before2:¶": 2.0, "after:¶": 0.5, "after2:¶": 0.4}
    assert names(**evidence) == ["before:¶", "after:¶"]
    evidence = {"before:the": 1.0, "before2:¶": 2.0, "after:was": 0.5, "after2:¶": 0.4}
    assert names(**evidence) == ["before2:¶", "before:the", "after:was", "after2:¶"]


def test_equal_weights_are_ordered_by_name() -> None:
    assert names(**{f"near:{sign}": 1.0 for sign in "zyxwv"}) == [f"near:{sign}" for sign in "vwxyz"]


TEXTS = st.lists(
    st.sampled_from([*WHO, *DO, *THINGS, "weather", "Whether", "THEIR", "there", "they’re", "know", "to"])
    | st.sampled_from([".", "\n\n", "1984", "“", "was", "the", "\x1a"]),
    min_size=1,
    max_size=20,
).map(" ".join)


@given(TEXTS, st.sampled_from(["logistic", "naive-bayes"]))
def test_reasons_add_up_to_the_log_odds(text: str, learner: str) -> None:
    prose = text.encode()
    checker = TextChecker(speller(learner).sets, 0.0, 6)
    found = {one.begin: one for one in checker.check([prose], "text.txt")}
    reader = ContextReader([classifier.words for classifier in checker.classifiers], 6)
    reader.read(prose, 0)
    checked = 0
    for classifier, rows in zip(checker.classifiers, reader.occurrences(), strict=True):
        scores = classifier.scores(rows)
        for at, begin in enumerate(rows.byte_offsets.tolist()):
            one = found.get(len(prose[:begin].decode()))
            if one is None:
                assert scores[at].argmax() == rows.members[at]
                continue
            checked += 1
            odds = scores[at].max() - scores[at, rows.members[at]]
            assert one.log_odds == math.fsum(reason.weight for reason in one.reasons)
            assert one.log_odds == pytest.approx(odds, rel=1e-12, abs=1e-12)
            relative = np.exp(scores[at] - scores[at].max())
            assert one.probability == pytest.approx(1 / relative.sum())
            assert "because" in str(one)
            because = str(one).partition("because: ")[2]
            positive = [reason for reason in one.reasons if reason.weight > 0]
            assert because != "more usual)" or len(positive) == 1
    assert checked == len(found)


@given(TEXTS, st.randoms(use_true_random=False))
def test_random_weights_are_all_accounted_for(text: str, draw: object) -> None:
    for one in contexts(text.encode(), [["weather", "whether"], ["their", "there", "they're"]]):
        evidence = {name: draw.choice([0.0, draw.gauss(0, 2)]) for name in one.features}  # type: ignore[attr-defined]
        evidence[PRIOR_FEATURE] = draw.gauss(0, 2)  # type: ignore[attr-defined]
        reasons = rank_reasons(evidence.items())
        assert math.fsum(each.weight for each in reasons) == pytest.approx(math.fsum(evidence.values()))
        wordings = [str(each) for each in reasons]
        assert len(set(wordings)) == len(wordings)
        kinds = {each.feature.partition(":")[0] for each in reasons}
        assert not any(kind.startswith(("ending-", "capital-")) for kind in kinds)
