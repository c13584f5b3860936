"""Learning a speller: what is held out, what is promised, what is left out, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.apps.spelling.example_occurrences import PAIR, THREE, text
from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.false_alarms import alarm_rate_limit
from weigh.apps.spelling.learners import majority_classifier, train_linear_classifier
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import LINEAR_LEARNERS, SpellerSettings
from weigh.apps.spelling.training import train_on_corpus, train_speller
from weigh.learn.calibration import CalibrationData, fit_temperature

SETS = ConfusionSets((PAIR, THREE), "small")
# Alarms that so little text can show, and there are some, since many contexts leave a doubt.
SETTINGS = SpellerSettings(alarms=60, features=300)


@cache
def book() -> str:
    return text(sentences=1_500, seed=7)


def letters(content: str, parts: int = 6) -> list[Document]:
    """A text as so many documents, in pieces."""
    lines = content.split("\n\n")
    size = -(-len(lines) // parts)
    cuts = ["\n\n".join(lines[at : at + size]) for at in range(0, len(lines), size)]
    return [Document(f"{number}.txt", iter(pieces(cut))) for number, cut in enumerate(cuts)]


def pieces(content: str) -> list[bytes]:
    half = content.find("\n\n", len(content) // 2) + 2
    return [content[:half].encode(), content[half:].encode()]


@cache
def speller(learner: str = "logistic") -> Speller:
    return train_speller(letters(book()), SETS, SpellerSettings(learner=learner, alarms=60, features=300))


def corpus() -> Corpus:
    return Corpus.read(letters(book()), SETS.sets, SETTINGS.window)


def test_pieces_are_read_as_one_document():
    whole = [Document("all.txt", iter([book().encode()]))]
    parts = [Document("all.txt", iter(pieces(book())))]
    first, second = (Corpus.read(read, SETS.sets, 6) for read in (whole, parts))
    assert first.document_words == second.document_words
    for one, other in zip(first.occurrences, second.occurrences, strict=True):
        assert one.at.tolist() == other.at.tolist()
        assert one.begins.tolist() == other.begins.tolist()
        assert [one.context(i) for i in range(20)] == [other.context(i) for i in range(20)]


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_all_of_the_text_is_learned_in_the_end(learner):
    made = speller(learner)
    for chooser, facts, rows in zip(made.sets, made.facts.sets, corpus().occurrences, strict=True):
        whole = train_linear_classifier(learner, rows, SETTINGS.features).with_temperature(facts.temperature)
        assert list(chooser.names) == list(whole.names)
        np.testing.assert_array_equal(chooser.table, whole.table)
        np.testing.assert_array_equal(chooser.base, whole.base)


def best_temperature(chooser: LinearWordClassifier, rows: Occurrences) -> float:
    scored = CalibrationData(chooser.scores(rows), rows.members.astype(np.intp), np.ones(len(rows)))
    return fit_temperature(scored).map.T


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_the_promise_holds_on_the_held_out_text(learner):
    made, read = speller(learner), corpus()
    alarms = 0
    for facts, rows in zip(made.facts.sets, read.occurrences, strict=True):
        held = read.is_held_out(rows)
        chooser = train_linear_classifier(learner, rows.select(~held), SETTINGS.features)
        asked = rows.select(held)
        is_met = np.bincount(asked.members).min() >= SETTINGS.at_least
        least = 0.0 if is_met else 1.0
        assert facts.temperature == pytest.approx(max(least, best_temperature(chooser, asked)))
        chances = chooser.with_temperature(facts.temperature).predict_proba(asked)
        best = chances.argmax(axis=1)
        found = [
            row[member] > made.promise.threshold for row, member in zip(chances, asked.members, strict=True)
        ]
        assert facts.found == sum(found) / len(found)
        assert 0 < facts.found < facts.accuracy
        alarms += int(((best != asked.members) & (chances.max(axis=1) > made.promise.threshold)).sum())
        usual = majority_classifier(rows.select(~held)).predict_proba(asked).argmax(axis=1)
        assert facts.judged == len(asked)
        assert facts.accuracy == (best == asked.members).mean() > facts.majority
        assert facts.majority == (usual == asked.members).mean()
        assert facts.examples == tuple(np.bincount(rows.members).tolist())
    assert made.promise.alarms == alarms > 0
    assert made.promise.words == read.n_held_out_words
    assert made.promise.promised == alarm_rate_limit(alarms, read.n_held_out_words) <= SETTINGS.alarms


def test_an_occurrence_that_stands_for_four_counts_four_times():
    read = corpus()
    few = Corpus(
        read.document_words, tuple(replace(rows, sampling_fraction=0.25) for rows in read.occurrences)
    )
    plenty = SpellerSettings(alarms=4 * SETTINGS.alarms, features=300)
    whole, quarter = (
        train_on_corpus(read, "small", SETTINGS).promise,
        train_on_corpus(few, "small", plenty).promise,
    )
    assert quarter.threshold <= whole.threshold
    assert quarter.alarms % 4 == 0
    assert train_on_corpus(few, "small", SETTINGS).promise.threshold > whole.threshold


def test_counts_are_those_of_the_text_where_it_was_thinned():
    read = corpus()
    few = Corpus(
        read.document_words, tuple(replace(rows, sampling_fraction=0.25) for rows in read.occurrences)
    )
    rarest = int(min(np.bincount(rows.members).min() for rows in read.occurrences))
    settings = SpellerSettings(alarms=400, features=300, at_least=4 * rarest)
    assert train_on_corpus(read, "small", settings).left_out[0].examples == rarest
    made = train_on_corpus(few, "small", settings)
    for facts, rows in zip(made.facts.sets, read.occurrences, strict=True):
        assert facts.examples == tuple((4 * np.bincount(rows.members)).tolist())
        assert facts.judged == 4 * int(read.is_held_out(rows).sum())


def test_equal_texts_make_equal_spellers():
    again = train_speller(letters(book()), SETS, SETTINGS)
    assert again.to_bytes() == speller().to_bytes()


def test_facts_tell_what_was_read():
    facts = speller().facts
    assert (facts.words, facts.documents, facts.list_name) == (corpus().n_words, 6, "small")


def test_sets_of_which_one_word_is_left_are_left_out():
    sets = ConfusionSets((("laugh", "tarry"), PAIR, ("boat", "ship"), THREE), "small")
    made = train_speller(letters(book()), sets, SETTINGS)
    assert [one.words for one in made.sets] == [PAIR, THREE]
    assert [(one.word, one.words, one.examples) for one in made.left_out] == [
        ("tarry", ("laugh", "tarry"), 0),
        ("ship", ("boat", "ship"), 0),
    ]


def test_a_set_goes_on_without_its_rare_word():
    sets = ConfusionSets(((*PAIR, "wether"),), "sheep")
    lines = book().split("\n\n")
    lines[100:100] = ["The wether was shorn."] * 3
    made = train_speller(letters("\n\n".join(lines)), sets, SETTINGS)
    alone = train_speller(letters("\n\n".join(lines)), ConfusionSets((PAIR,), "sheep"), SETTINGS)
    assert [(one.word, one.examples) for one in made.left_out] == [("wether", 3)]
    assert made.sets[0].words == PAIR
    np.testing.assert_array_equal(made.sets[0].table, alone.sets[0].table)


def test_a_word_that_occurs_only_in_held_out_text_is_left_out():
    lines = book().split("\n\n")
    # The fifth of six documents is held out.
    lines[1100:1100] = ["The wether was shorn."] * 40
    made = train_speller(letters("\n\n".join(lines)), ConfusionSets(((*PAIR, "wether"),), "sheep"), SETTINGS)
    assert [(one.word, one.examples) for one in made.left_out] == [("wether", 40)]


def test_a_word_that_held_out_text_lacks_makes_nobody_surer():
    lines = book().split("\n\n")
    # The fifth of six documents is held out: it has only what the others are surest of.
    lines[1000:1250] = ["So we all know whether to laugh."] * 250
    sets = ConfusionSets((PAIR,), "one")
    read = Corpus.read(letters("\n\n".join(lines)), sets.sets, SETTINGS.window)
    held = read.is_held_out(read.occurrences[0])
    chooser = train_linear_classifier("logistic", read.occurrences[0].select(~held), SETTINGS.features)
    assert best_temperature(chooser, read.occurrences[0].select(held)) < 1
    assert train_on_corpus(read, "one", SETTINGS).facts.sets[0].temperature == 1


def test_too_little_text_for_a_rate_is_told():
    with pytest.warns(
        errors.LittleText, match="too little text to promise 0.5 false alarms per 10,000 words"
    ):
        made = train_speller(letters(book()), SETS, SpellerSettings())
    assert not made.promise.has_enough_text
    assert made.promise.alarms == 0


def test_progress_hears_of_every_byte_and_every_set():
    heard: list[int] = []
    train_speller(letters(book()), SETS, SETTINGS, progress=heard.append)
    assert sum(heard) == sum(len(piece) for one in letters(book()) for piece in one.pieces)
    assert heard.count(0) == 2 * len(SETS.sets)


def refusal(content: list[str], sets: ConfusionSets = SETS) -> str:
    documents = [Document(f"{number}.txt", iter([each.encode()])) for number, each in enumerate(content)]
    with pytest.raises(errors.DataError) as told:
        train_speller(documents, sets, SETTINGS)
    return str(told.value)


@pytest.mark.parametrize(("content", "read"), [([], "0 documents"), (["", " .\n"], "2 documents")])
def test_no_text_is_refused(content, read):
    assert refusal(content) == (
        f"There is no text to learn from: {read}, and no word in them. Give files or folders of text."
    )


def test_too_little_text_is_refused():
    assert refusal(["whether " * 4_999]) == (
        "There is too little text to learn from: 4,999 words in 1 document. A fifth is held out, in blocks "
        "of 1,000 words, so that 5,000 words are the least; a million is better."
    )


def test_text_without_the_words_of_any_set_is_refused():
    assert refusal(["so " * 6_000]) == (
        "No set of 'small' can be learned from 6,000 words of text: none of its words occurs, and two words "
        "of a set must occur 20 times each. Give more text, or sets of words that it has, or "
        "a smaller at_least."
    )


def test_text_with_too_few_of_the_words_is_refused():
    assert (
        "can be learned from 6,030 words of text: 30 occurrences of all its words, and two words"
        in refusal(["so " * 6_000 + "whether " * 30])
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"learner": "voted"}, "learner must be one of 'logistic', 'naive-bayes', 'bernoulli', 'perceptron'"),
        ({"alarms": 0}, "alarms must be a number above 0, of false alarms per 10,000 words, got 0"),
        (
            {"alarms": float("nan")},
            "alarms must be a number above 0, of false alarms per 10,000 words, got nan",
        ),
        ({"window": -1}, "window must be at least 0, got -1"),
        ({"window": 101}, "window must be at most 100, got 101"),
        ({"features": 0}, "features must be at least 1, got 0"),
        ({"at_least": 2.5}, "at_least must be a whole number of at least 1, got 2.5"),
    ],
)
def test_settings_are_checked(given, told):
    with pytest.raises(errors.ParameterError, match=re.escape(f"Speller: {told}")):
        SpellerSettings(**given)


def test_settings_come_back_from_plain_values():
    assert SpellerSettings(**SETTINGS.to_dict()) == SETTINGS
