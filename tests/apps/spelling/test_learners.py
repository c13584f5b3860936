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
def test_every_learner_beats_the_commoner_word(learner, words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    chances = train_classifier(learner, taught).predict_proba(asked)
    usual = majority_classifier(taught).predict_proba(asked)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    right = (chances.argmax(axis=1) == asked.members).mean()
    assert right > (usual.argmax(axis=1) == asked.members).mean() + 0.15


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_text_teaches_the_same(learner):
    first, second = (
        train_classifier(learner, occurrences()).predict_proba(occurrences(seed=2)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_spellers_are_made_of_learners_with_weights(learner):
    rows = occurrences()
    assert isinstance(train_classifier(learner, rows), LinearWordClassifier)
    assert train_linear_classifier(learner, rows, 25).n_features == 25


@pytest.mark.parametrize("words", [PAIR, THREE])
def test_votes_are_counted_as_the_model_counts_them(words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    model = fit_model("voted", taught)
    chances = train_classifier("voted", taught).predict_proba(asked)
    top = np.sort(chances, axis=1)
    clear = top[:, -1] > top[:, -2]
    chosen = np.array(words)[chances.argmax(axis=1)]
    assert chosen[clear].tolist() == np.array(model.predict(as_rows(asked)))[clear].tolist()
    votes = chances * model.record.lives.sum()
    np.testing.assert_allclose(votes, votes.round(), atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_word_alone_is_always_the_answer(learner):
    rows = occurrences(THREE)
    only = rows.select(rows.members == 1)
    assert train_classifier(learner, only).predict_proba(rows).tolist() == [[0, 1, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_an_example_the_first_word_is_the_answer(learner):
    rows = occurrences(THREE)
    none = rows.select(np.zeros(len(rows), dtype=bool))
    assert train_classifier(learner, none).predict_proba(rows).tolist() == [[1, 0, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_word_without_an_example_has_no_chance(learner):
    rows = occurrences(THREE)
    chances = train_classifier(learner, rows.select(rows.members != 1)).predict_proba(rows)
    assert not chances[:, 1].any()
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_the_majority_is_the_commonest_word():
    rows = occurrences(THREE)
    common = np.bincount(rows.members).argmax()
    assert (majority_classifier(rows).predict_proba(rows).argmax(axis=1) == common).all()
    one_each = rows.select(np.array([int(np.argmax(rows.members == at)) for at in (2, 1, 0)]))
    assert majority_classifier(one_each).predict_proba(rows).argmax(axis=1).tolist() == [0] * len(rows)


def test_an_unknown_learner_is_refused():
    told = (
        "learned: learner must be one of 'logistic', 'naive-bayes', 'bernoulli', 'perceptron', 'voted', "
        "'memory', got 'winnow'."
    )
    with pytest.raises(errors.ParameterError, match=f"^{re.escape(told)}$"):
        train_classifier("winnow", occurrences())


def test_votes_are_no_weights():
    with pytest.raises(errors.ParameterError, match="learned_weights: learner must be one of 'logistic'"):
        train_linear_classifier("voted", occurrences(), 100)


def test_learning_needs_no_library_of_estimators():
    code = (
        "import sys, weigh.apps.spelling.learners;"
        "print(sorted(set(sys.modules) & {'sklearn', 'scipy', 'pandas', 'pyarrow'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


Triple = tuple[str, str, str]


def twin(words, taught, asked):
    """What the rules say: by both neighbours, else the one before, else the one after, else the commoner."""
    common = Counter(word for _, word, _ in taught)
    best = lambda counts: max(words, key=lambda word: (counts[word], common[word], -words.index(word)))  # noqa: E731
    answers = []
    for before, _, after in asked:
        looks = [
            Counter(w for b, w, a in taught if b == before and a == after),
            Counter(w for b, w, _ in taught if b == before),
            Counter(w for _, w, a in taught if a == after),
        ]
        answers.append(best(next((seen for seen in looks if seen), common)))
    return answers


def answers(words: tuple[str, ...], taught: list[Triple], asked: list[Triple]) -> list[str]:
    """What the learner answers."""
    chooser = MemoryBasedClassifier.from_occurrences(rows_of(words, taught))
    best = chooser.predict_proba(rows_of(words, asked)).argmax(axis=1)
    return [words[at] for at in best.tolist()]


def rows_of(words, triples):
    """Occurrences with these neighbours, each in a paragraph of its own."""
    return read(words, "\n\n".join(" ".join(triple) for triple in triples))


NEIGHBOURS = st.sampled_from(["know", "the", "see", "Old"])


def triples(words: tuple[str, ...]) -> st.SearchStrategy[list[Triple]]:
    return st.lists(st.tuples(NEIGHBOURS, st.sampled_from(words), NEIGHBOURS), min_size=1, max_size=20)


@given(taught=triples(PAIR), asked=triples(PAIR))
def test_two_words_are_told_apart_as_the_rules_say(taught, asked):
    assert answers(PAIR, taught, asked) == twin(PAIR, taught, asked)


@given(taught=triples(THREE), asked=triples(THREE))
def test_three_words_are_told_apart_as_the_rules_say(taught, asked):
    assert answers(THREE, taught, asked) == twin(THREE, taught, asked)


@pytest.mark.parametrize(
    ("taught", "asked", "answer"),
    [
        # Both neighbours count more than what either alone has seen far oftener.
        ("know whether to, know weather it, know weather it, so weather to", "know to", "whether"),
        # Without the pair the word before decides, whatever the one after says.
        ("know whether it, so weather to, oh weather to", "know to", "whether"),
        # Without the word before, the one after.
        ("see weather is, see weather is, know whether to", "ask to", "whether"),
        # Without any of them, the commoner word.
        ("see weather is, know whether to, know whether to", "ask him", "whether"),
        # A tie goes to the commoner word.
        ("know weather to, know whether to, so whether it", "know to", "whether"),
        ("know weather to, know whether to, so weather it", "know to", "weather"),
    ],
)
def test_the_four_rules_one_by_one(taught, asked, answer):
    before, after = asked.split()
    learned_from = [tuple(each.split()) for each in taught.split(", ")]
    assert answers(PAIR, learned_from, [(before, "weather", after)]) == [answer]


def test_chances_are_shares_with_one_look_more():
    taught = [("know", "whether", "to")] * 3 + [("the", "weather", "was")]
    chances = train_classifier("memory", rows_of(PAIR, taught)).predict_proba(
        rows_of(PAIR, [("know", "weather", "to")])
    )
    # Three of three, and the fourth look shared as the text shares them: 1/4 and 3/4.
    assert chances.tolist() == [[pytest.approx(0.25 / 4), pytest.approx(3.75 / 4)]]


def test_its_size_is_what_it_remembers():
    # Three words before, two after, three pairs.
    taught = [("know", "whether", "to"), ("see", "whether", "to"), ("the", "weather", "was")]
    assert train_classifier("memory", rows_of(PAIR, taught)).n_features == 3 + 2 + 3
