"""Training a speller: held-out text, the bound, dropped words and errors."""

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
# A rate that so little text can show; some alarms occur, because many contexts are ambiguous.
SETTINGS = SpellerSettings(alarms=60, features=300)


@cache
def book() -> str:
    return text(sentences=1_500, seed=7)


def documents_of(content: str, parts: int = 6) -> list[Document]:
    """Split a text into documents, each in two pieces."""
    lines = content.split("\n\n")
    size = -(-len(lines) // parts)
    cuts = ["\n\n".join(lines[at : at + size]) for at in range(0, len(lines), size)]
    return [Document(f"{number}.txt", iter(pieces(cut))) for number, cut in enumerate(cuts)]


def pieces(content: str) -> list[bytes]:
    half = content.find("\n\n", len(content) // 2) + 2
    return [content[:half].encode(), content[half:].encode()]


@cache
def speller(learner: str = "logistic") -> Speller:
    return train_speller(
        documents_of(book()), SETS, SpellerSettings(learner=learner, alarms=60, features=300)
    )


def corpus() -> Corpus:
    return Corpus.read(documents_of(book()), SETS.sets, SETTINGS.window)


def test_pieces_are_read_as_one_document():
    whole = [Document("all.txt", iter([book().encode()]))]
    parts = [Document("all.txt", iter(pieces(book())))]
    first, second = (Corpus.read(read, SETS.sets, 6) for read in (whole, parts))
    assert first.document_words == second.document_words
    for one, other in zip(first.occurrences, second.occurrences, strict=True):
        assert one.positions.tolist() == other.positions.tolist()
        assert one.byte_offsets.tolist() == other.byte_offsets.tolist()
        assert [one.context(i) for i in range(20)] == [other.context(i) for i in range(20)]


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_final_classifiers_are_trained_on_all_of_the_text(learner):
    trained = speller(learner)
    for classifier, facts, rows in zip(trained.sets, trained.facts.sets, corpus().occurrences, strict=True):
        whole = train_linear_classifier(learner, rows, SETTINGS.features).with_temperature(facts.temperature)
        assert list(classifier.names) == list(whole.names)
        np.testing.assert_array_equal(classifier.weights, whole.weights)
        np.testing.assert_array_equal(classifier.intercept, whole.intercept)


def best_temperature(classifier: LinearWordClassifier, rows: Occurrences) -> float:
    scored = CalibrationData(classifier.scores(rows), rows.members.astype(np.intp), np.ones(len(rows)))
    return fit_temperature(scored).map.T


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_bound_holds_on_the_held_out_text(learner):
    trained, read = speller(learner), corpus()
    alarms = 0
    for facts, rows in zip(trained.facts.sets, read.occurrences, strict=True):
        is_held_out = read.is_held_out(rows)
        classifier = train_linear_classifier(learner, rows.select(~is_held_out), SETTINGS.features)
        test = rows.select(is_held_out)
        has_enough = np.bincount(test.members).min() >= SETTINGS.at_least
        minimum = 0.0 if has_enough else 1.0
        assert facts.temperature == pytest.approx(max(minimum, best_temperature(classifier, test)))
        probabilities = classifier.with_temperature(facts.temperature).predict_proba(test)
        best = probabilities.argmax(axis=1)
        found = [
            row[member] > trained.promise.threshold
            for row, member in zip(probabilities, test.members, strict=True)
        ]
        assert facts.found == sum(found) / len(found)
        assert 0 < facts.found < facts.accuracy
        alarms += int(
            ((best != test.members) & (probabilities.max(axis=1) > trained.promise.threshold)).sum()
        )
        majority = majority_classifier(rows.select(~is_held_out)).predict_proba(test).argmax(axis=1)
        assert facts.judged == len(test)
        assert facts.accuracy == (best == test.members).mean() > facts.majority
        assert facts.majority == (majority == test.members).mean()
        assert facts.examples == tuple(np.bincount(rows.members).tolist())
    assert trained.promise.alarms == alarms > 0
    assert trained.promise.words == read.n_held_out_words
    assert trained.promise.promised == alarm_rate_limit(alarms, read.n_held_out_words) <= SETTINGS.alarms


def test_sampled_occurrences_are_weighted():
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


def test_counts_of_sampled_sets_are_those_of_the_text():
    read = corpus()
    few = Corpus(
        read.document_words, tuple(replace(rows, sampling_fraction=0.25) for rows in read.occurrences)
    )
    rarest = int(min(np.bincount(rows.members).min() for rows in read.occurrences))
    settings = SpellerSettings(alarms=400, features=300, at_least=4 * rarest)
    assert train_on_corpus(read, "small", settings).left_out[0].examples == rarest
    trained = train_on_corpus(few, "small", settings)
    for facts, rows in zip(trained.facts.sets, read.occurrences, strict=True):
        assert facts.examples == tuple((4 * np.bincount(rows.members)).tolist())
        assert facts.judged == 4 * int(read.is_held_out(rows).sum())


def test_equal_texts_give_equal_spellers():
    again = train_speller(documents_of(book()), SETS, SETTINGS)
    assert again.to_bytes() == speller().to_bytes()


def test_statistics_have_words_documents_and_list():
    facts = speller().facts
    assert (facts.words, facts.documents, facts.list_name) == (corpus().n_words, 6, "small")


def test_sets_with_one_frequent_word_are_dropped():
    sets = ConfusionSets((("laugh", "tarry"), PAIR, ("boat", "ship"), THREE), "small")
    trained = train_speller(documents_of(book()), sets, SETTINGS)
    assert [one.words for one in trained.sets] == [PAIR, THREE]
    assert [(one.word, one.words, one.examples) for one in trained.left_out] == [
        ("tarry", ("laugh", "tarry"), 0),
        ("ship", ("boat", "ship"), 0),
    ]


def test_rare_word_is_dropped_from_its_set():
    sets = ConfusionSets(((*PAIR, "wether"),), "sheep")
    lines = book().split("\n\n")
    lines[100:100] = ["The wether was shorn."] * 3
    trained = train_speller(documents_of("\n\n".join(lines)), sets, SETTINGS)
    alone = train_speller(documents_of("\n\n".join(lines)), ConfusionSets((PAIR,), "sheep"), SETTINGS)
    assert [(one.word, one.examples) for one in trained.left_out] == [("wether", 3)]
    assert trained.sets[0].words == PAIR
    np.testing.assert_array_equal(trained.sets[0].weights, alone.sets[0].weights)


def test_word_only_in_held_out_text_is_dropped():
    lines = book().split("\n\n")
    # The fifth of six documents is held out.
    lines[1100:1100] = ["The wether was shorn."] * 40
    trained = train_speller(
        documents_of("\n\n".join(lines)), ConfusionSets(((*PAIR, "wether"),), "sheep"), SETTINGS
    )
    assert [(one.word, one.examples) for one in trained.left_out] == [("wether", 40)]


def test_temperature_is_at_least_one_if_a_word_is_missing_in_held_out_text():
    lines = book().split("\n\n")
    # The fifth of six documents is held out; it has only the clearest contexts of one word.
    lines[1000:1250] = ["So we all know whether to laugh."] * 250
    sets = ConfusionSets((PAIR,), "one")
    read = Corpus.read(documents_of("\n\n".join(lines)), sets.sets, SETTINGS.window)
    is_held_out = read.is_held_out(read.occurrences[0])
    classifier = train_linear_classifier(
        "logistic", read.occurrences[0].select(~is_held_out), SETTINGS.features
    )
    assert best_temperature(classifier, read.occurrences[0].select(is_held_out)) < 1
    assert train_on_corpus(read, "one", SETTINGS).facts.sets[0].temperature == 1


def test_too_little_text_for_the_rate_warns():
    with pytest.warns(
        errors.LittleText, match="too little text to promise 0.5 false alarms per 10,000 words"
    ):
        trained = train_speller(documents_of(book()), SETS, SpellerSettings())
    assert not trained.promise.has_enough_text
    assert trained.promise.alarms == 0


def test_progress_reports_every_byte_and_every_set():
    reported: list[int] = []
    train_speller(documents_of(book()), SETS, SETTINGS, progress=reported.append)
    assert sum(reported) == sum(len(piece) for one in documents_of(book()) for piece in one.pieces)
    assert reported.count(0) == 2 * len(SETS.sets)


def error_message(content: list[str], sets: ConfusionSets = SETS) -> str:
    documents = [Document(f"{number}.txt", iter([each.encode()])) for number, each in enumerate(content)]
    with pytest.raises(errors.DataError) as raised:
        train_speller(documents, sets, SETTINGS)
    return str(raised.value)


@pytest.mark.parametrize(("content", "read"), [([], "0 documents"), (["", " .\n"], "2 documents")])
def test_empty_text_raises(content, read):
    assert error_message(content) == (
        f"There is no text to learn from: no words in {read}. Give files or folders of text."
    )


def test_too_little_text_raises():
    assert error_message(["whether " * 4_999]) == (
        "There is too little text to learn from: 4,999 words in 1 document. At least 5,000 words are needed, "
        "because a fifth is held out in blocks of 1,000 words; a million is better."
    )


def test_text_without_set_words_raises():
    assert error_message(["so " * 6_000]) == (
        "No set of 'small' can be learned from 6,000 words of text: none of its words occurs, and two words "
        "of a set must occur at least 20 times each. Give more text, sets of words that occur in it, or "
        "a smaller at_least."
    )


def test_text_with_too_few_set_words_raises():
    assert "can be learned from 6,030 words of text: 30 occurrences in all, and two words" in error_message(
        ["so " * 6_000 + "whether " * 30]
    )


@pytest.mark.parametrize(
    ("settings", "message"),
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
def test_invalid_settings_raise(settings, message):
    with pytest.raises(errors.ParameterError, match=re.escape(f"Speller: {message}")):
        SpellerSettings(**settings)


def test_settings_round_trip_through_plain_values():
    assert SpellerSettings(**SETTINGS.to_dict()) == SETTINGS
