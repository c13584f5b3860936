"""The learners of spellers, by name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.spelling.example_occurrences import PAIR, THREE, as_rows, occurrences, read
from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.learners import (
    LEARNERS,
    MemoryBasedClassifier,
    fit_model,
    majority_classifier,
    train_classifier,
    train_linear_classifier,
)
from weigh.apps.spelling.speller_data import LINEAR_LEARNERS


@pytest.mark.parametrize("words", [PAIR, THREE])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_beats_the_majority(learner, words):
    train, test = occurrences(words), occurrences(words, seed=2)
    probabilities = train_classifier(learner, train).predict_proba(test)
    majority = majority_classifier(train).predict_proba(test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    accuracy = (probabilities.argmax(axis=1) == test.members).mean()
    assert accuracy > (majority.argmax(axis=1) == test.members).mean() + 0.15


@pytest.mark.parametrize("learner", LEARNERS)
def test_training_is_deterministic(learner):
    first, second = (
        train_classifier(learner, occurrences()).predict_proba(occurrences(seed=2)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_linear_learners_give_linear_classifiers(learner):
    rows = occurrences()
    assert isinstance(train_classifier(learner, rows), LinearWordClassifier)
    assert train_linear_classifier(learner, rows, 25).n_features == 25


@pytest.mark.parametrize("words", [PAIR, THREE])
def test_votes_equal_those_of_the_model(words):
    train, test = occurrences(words), occurrences(words, seed=2)
    model = fit_model("voted", train)
    probabilities = train_classifier("voted", train).predict_proba(test)
    top = np.sort(probabilities, axis=1)
    is_clear = top[:, -1] > top[:, -2]
    predicted = np.array(words)[probabilities.argmax(axis=1)]
    assert predicted[is_clear].tolist() == np.array(model.predict(as_rows(test)))[is_clear].tolist()
    votes = probabilities * model.record.lives.sum()
    np.testing.assert_allclose(votes, votes.round(), atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
def test_only_word_with_examples_is_always_predicted(learner):
    rows = occurrences(THREE)
    only = rows.select(rows.members == 1)
    assert train_classifier(learner, only).predict_proba(rows).tolist() == [[0, 1, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_first_word_is_predicted_without_examples(learner):
    rows = occurrences(THREE)
    none = rows.select(np.zeros(len(rows), dtype=bool))
    assert train_classifier(learner, none).predict_proba(rows).tolist() == [[1, 0, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_word_without_examples_has_probability_zero(learner):
    rows = occurrences(THREE)
    probabilities = train_classifier(learner, rows.select(rows.members != 1)).predict_proba(rows)
    assert not probabilities[:, 1].any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_majority_is_the_most_frequent_word():
    rows = occurrences(THREE)
    common = np.bincount(rows.members).argmax()
    assert (majority_classifier(rows).predict_proba(rows).argmax(axis=1) == common).all()
    one_each = rows.select(np.array([int(np.argmax(rows.members == at)) for at in (2, 1, 0)]))
    assert majority_classifier(one_each).predict_proba(rows).argmax(axis=1).tolist() == [0] * len(rows)


def test_unknown_learner_raises():
    message = (
        "train_classifier: learner must be one of 'logistic', 'naive-bayes', 'bernoulli', 'perceptron', "
        "'voted', "
        "'memory', got 'winnow'."
    )
    with pytest.raises(errors.ParameterError, match=f"^{re.escape(message)}$"):
        train_classifier("winnow", occurrences())


def test_voted_perceptron_is_not_linear():
    with pytest.raises(
        errors.ParameterError, match="train_linear_classifier: learner must be one of 'logistic'"
    ):
        train_linear_classifier("voted", occurrences(), 100)


def test_learners_do_not_import_heavy_libraries():
    code = (
        "import sys, weigh.apps.spelling.learners;"
        "print(sorted(set(sys.modules) & {'sklearn', 'scipy', 'pandas', 'pyarrow'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


Triple = tuple[str, str, str]


def reference_predictions(words, train, test):
    """Predict by both neighbours, else the one before, else the one after, else by frequency."""
    common = Counter(word for _, word, _ in train)
    best = lambda counts: max(words, key=lambda word: (counts[word], common[word], -words.index(word)))  # noqa: E731
    answers = []
    for before, _, after in test:
        by_neighbours = [
            Counter(w for b, w, a in train if b == before and a == after),
            Counter(w for b, w, _ in train if b == before),
            Counter(w for _, w, a in train if a == after),
        ]
        answers.append(best(next((counts for counts in by_neighbours if counts), common)))
    return answers


def answers(words: tuple[str, ...], train: list[Triple], test: list[Triple]) -> list[str]:
    """Return the predictions of the memory-based classifier."""
    classifier = MemoryBasedClassifier.from_occurrences(rows_of(words, train))
    best = classifier.predict_proba(rows_of(words, test)).argmax(axis=1)
    return [words[at] for at in best.tolist()]


def rows_of(words, triples):
    """Return occurrences with these neighbours, each in its own paragraph."""
    return read(words, "\n\n".join(" ".join(triple) for triple in triples))


NEIGHBOURS = st.sampled_from(["know", "the", "see", "Old"])


def triples(words: tuple[str, ...]) -> st.SearchStrategy[list[Triple]]:
    return st.lists(st.tuples(NEIGHBOURS, st.sampled_from(words), NEIGHBOURS), min_size=1, max_size=20)


@given(train=triples(PAIR), test=triples(PAIR))
def test_memory_of_two_words_follows_the_rules(train, test):
    assert answers(PAIR, train, test) == reference_predictions(PAIR, train, test)


@given(train=triples(THREE), test=triples(THREE))
def test_memory_of_three_words_follows_the_rules(train, test):
    assert answers(THREE, train, test) == reference_predictions(THREE, train, test)


@pytest.mark.parametrize(
    ("train", "test", "answer"),
    [
        # Both neighbours take precedence over a more frequent single neighbour.
        ("know whether to, know weather it, know weather it, so weather to", "know to", "whether"),
        # Without the pair, the word before decides.
        ("know whether it, so weather to, oh weather to", "know to", "whether"),
        # Without the word before, the word after decides.
        ("see weather is, see weather is, know whether to", "ask to", "whether"),
        # Without both, the more frequent word is predicted.
        ("see weather is, know whether to, know whether to", "ask him", "whether"),
        # A tie goes to the more frequent word.
        ("know weather to, know whether to, so whether it", "know to", "whether"),
        ("know weather to, know whether to, so weather it", "know to", "weather"),
    ],
)
def test_each_of_the_four_memory_rules(train, test, answer):
    before, after = test.split()
    triples = [tuple(words.split()) for words in train.split(", ")]
    assert answers(PAIR, triples, [(before, "weather", after)]) == [answer]


def test_memory_probabilities_have_one_pseudo_count():
    train = [("know", "whether", "to")] * 3 + [("the", "weather", "was")]
    probabilities = train_classifier("memory", rows_of(PAIR, train)).predict_proba(
        rows_of(PAIR, [("know", "weather", "to")])
    )
    # Three of three, and one pseudo-count distributed by the frequencies 1/4 and 3/4.
    assert probabilities.tolist() == [[pytest.approx(0.25 / 4), pytest.approx(3.75 / 4)]]


def test_memory_features_are_distinct_neighbours_and_pairs():
    # Three words before, two after, three pairs.
    train = [("know", "whether", "to"), ("see", "whether", "to"), ("the", "weather", "was")]
    assert train_classifier("memory", rows_of(PAIR, train)).n_features == 3 + 2 + 3
