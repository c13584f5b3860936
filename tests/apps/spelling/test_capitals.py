"""Capitals: set words as their list spells them, and neighbours as the text does."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import weigh
from tests.apps.spelling.example_speller import speller
from weigh.apps.spelling.checking import NeighbourWords
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import ContextReader
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.swaps import evaluate_swaps, find_set_words, normalise_word, swap_words
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import SpellerSettings
from weigh.apps.spelling.suggestions import match_case
from weigh.apps.spelling.training import train_speller

SENTENCES = (
    "Ich sah den {how} Mann {when} dort.",
    "Kann man {when} {how} gehen?",
    "Sie wohnt seit {when} dort.",
    "Er las die {how} Seite {when} vor.",
    "Man sagt, das war {when} {how}.",
    "Seit {when} ist es {how}.",
)
HOW = ("alten", "kleinen", "guten", "kalten", "roten", "langen", "neuen")
WHEN = ("gestern", "Mai", "Juni", "heute", "Montag", "Ostern", "damals", "April")


@cache
def german() -> Speller:
    lines = [line.format(how=how, when=when) for how, when, line in product(HOW, WHEN, SENTENCES)] * 4
    sets = ConfusionSets.parse(["man Mann", "seit, Seite"])
    return train_speller(
        [Document("a.txt", iter([" ".join(lines).encode()]))], sets, SpellerSettings(alarms=50)
    )


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("Ich sah den alten man gestern dort.", "Mann"),
        ("Ich sah den alten Man gestern dort.", "Mann"),
        ("ICH SAH DEN ALTEN MAN GESTERN DORT.", "MANN"),
        ("Kann Mann heute kleinen gehen?", "man"),
        ("Kann mann heute kleinen gehen?", "man"),
        ("Sie wohnt Seite gestern dort.", "seit"),
        ("Sie wohnt seite gestern dort.", "seit"),
        ("Er las die neuen seit Ostern vor.", "Seite"),
        ("Das. Mann sagt, das war heute guten.", "Man"),
        ("Mann sagt, das war heute guten.", "Man"),
    ],
)
def test_suggestions_are_capitalised_as_in_the_list(text: str, suggested: str) -> None:
    assert [one.suggested for one in german().check(text)] == [suggested]


def test_correctly_capitalised_text_has_no_suggestions() -> None:
    assert german().check("Man sagt, das war gestern neuen. Ich sah den roten Mann heute dort.") == []


def test_capitals_of_sets_survive_saving_and_printing(tmp_path: Path) -> None:
    german().save(tmp_path / "de.weigh")
    loaded = weigh.Speller.load(tmp_path / "de.weigh")
    assert [one.words for one in loaded.sets] == [("man", "Mann"), ("seit", "Seite")]
    assert loaded.to_bytes() == german().to_bytes()
    assert "seit, Seite" in str(loaded)
    assert loaded.to_dict()["sets"] == [["man", "Mann"], ["seit", "Seite"]]
    text = "Sie wohnt Seite gestern dort."
    assert loaded.check(text) == german().check(text)


def test_capitals_of_a_set_only_remove_the_capital_feature() -> None:
    text = b"Ich sah MANN und man, Mann seit der Seite."
    found = []
    for sets in ([("man", "Mann"), ("Seite", "seit")], [("man", "mann"), ("seite", "seit")]):
        reader = ContextReader(sets)
        reader.read(text, 0)
        found.append(reader.occurrences())
        assert [one.words for one in found[-1]] == sets
    for one, other in zip(*found, strict=True):
        assert one.members.tolist() == other.members.tolist()
        assert one.byte_offsets.tolist() == other.byte_offsets.tolist()
        for i in range(len(one)):
            assert one.context(i) == [name for name in other.context(i) if name != "capital"]
    assert found[0][0].members.tolist() == [1, 0, 1]


def test_swapped_words_are_capitalised_as_in_the_list() -> None:
    lines = [line.format(how="neuen", when="Mai") for line in SENTENCES] * 30
    found = evaluate_swaps(german(), [("de.txt", " ".join(lines))], one_in=20)
    assert found.total.swapped > 20
    assert found.total.right == found.total.swapped
    assert normalise_word("Mann’S") == "mann's"


def test_suggestion_does_not_depend_on_the_written_capital() -> None:
    results = [german().check(f"Ich sah den alten {word} gestern.", threshold=0.5) for word in ("man", "Man")]
    ((lower,), (upper,)) = results
    assert (lower.suggested, lower.probability) == (upper.suggested, upper.probability)
    assert german().check("Ich sah den alten mann gestern.") == []


def test_swapping_does_not_transfer_the_capital_of_a_noun() -> None:
    sets = [("man", "Mann")]
    text = b"Der Mann und man. Man"
    _, found = find_set_words(text, "a.txt", sets)
    assert swap_words(text, found, sets, np.random.default_rng(1))[0] == "Der man und Mann. Mann"


def test_capital_of_a_set_word_is_not_transferred() -> None:
    assert match_case("Seite", "seit", "'", "Seite") == "seit"
    assert match_case("Seite", "seit", "'") == "Seit"
    assert match_case("SEITE", "seit", "'", "Seite") == "SEIT"
    assert match_case("Weather", "whether", "'", "weather") == "Whether"
    assert match_case("im", "I'm", "’", "im") == "I’m"
    assert match_case("I", "eye", "'", "I") == "eye"


def test_reasons_show_neighbours_with_their_capitals() -> None:
    one = speller().check("The Captain AND I know weather To laugh in May.")[0]
    wording = {reason.feature: str(reason) for reason in one.reasons}
    assert wording["before2:i"] == "'I' two before"
    assert wording["after:to"] == "'To' after"
    assert "before:know" in wording


def test_surface_form_is_that_of_the_nearest_word() -> None:
    prose = "i I _a didn’t | It it İx".encode()
    neighbours = NeighbourWords.around(prose, prose.index(b"|"), prose.index(b"|") + 1)
    assert neighbours.surface_form("before2:i") == "I"
    assert neighbours.surface_form("after:it") == "It"
    assert neighbours.surface_form("around:didn't _ it") == "didn’t _ It"
    assert neighbours.surface_form("before:_a didn't") == "_a didn’t"
    assert neighbours.surface_form("near:it") == "It"
    assert neighbours.surface_form("near:elsewhere") == "elsewhere"
    assert neighbours.surface_form("base") == ""
    cut = "ü" * 200 + " I "
    assert (
        NeighbourWords.around(cut.encode(), len(cut.encode()), len(cut.encode())).surface_form("before:i")
        == "I"
    )


def test_log_odds_against_a_word_without_examples_are_infinite() -> None:
    one = Speller(
        (LinearWordClassifier.constant(("man", "Mann"), 1),),
        german().promise,
        german().settings,
        german().facts,
    ).check("so man")[0]
    assert (one.suggested, one.log_odds, one.because) == ("Mann", np.inf, "p>0.9999; because: more usual")
