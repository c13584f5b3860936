"""The learners of spellers, by name."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from tests.apps.spelling.sayings import PAIR, THREE, as_rows, occurrences
from weigh import errors
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.learners import LEARNERS, learned, learned_weights, majority, model_of
from weigh.apps.spelling.settings import KEPT


@pytest.mark.parametrize("words", [PAIR, THREE])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_beats_the_commoner_word(learner, words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    chances = learned(learner, taught).chances(asked)
    usual = majority(taught).chances(asked)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    right = (chances.argmax(axis=1) == asked.members).mean()
    assert right > (usual.argmax(axis=1) == asked.members).mean() + 0.15


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_text_teaches_the_same(learner):
    first, second = (learned(learner, occurrences()).chances(occurrences(seed=2)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("learner", KEPT)
def test_spellers_are_made_of_learners_with_weights(learner):
    rows = occurrences()
    assert isinstance(learned(learner, rows), LinearChooser)
    assert learned_weights(learner, rows, 25).size == 25


@pytest.mark.parametrize("words", [PAIR, THREE])
def test_votes_are_counted_as_the_model_counts_them(words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    model = model_of("voted", taught)
    chances = learned("voted", taught).chances(asked)
    top = np.sort(chances, axis=1)
    clear = top[:, -1] > top[:, -2]
    chosen = np.array(words)[chances.argmax(axis=1)]
    assert chosen[clear].tolist() == np.array(model.predict(as_rows(asked)))[clear].tolist()
    votes = chances * model.record.lives.sum()
    np.testing.assert_allclose(votes, votes.round(), atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_word_alone_is_always_the_answer(learner):
    rows = occurrences(THREE)
    only = rows.where(rows.members == 1)
    assert learned(learner, only).chances(rows).tolist() == [[0, 1, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_an_example_the_first_word_is_the_answer(learner):
    rows = occurrences(THREE)
    none = rows.where(np.zeros(len(rows), dtype=bool))
    assert learned(learner, none).chances(rows).tolist() == [[1, 0, 0]] * len(rows)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_word_without_an_example_has_no_chance(learner):
    rows = occurrences(THREE)
    chances = learned(learner, rows.where(rows.members != 1)).chances(rows)
    assert not chances[:, 1].any()
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_the_majority_is_the_commonest_word():
    rows = occurrences(THREE)
    common = np.bincount(rows.members).argmax()
    assert (majority(rows).chances(rows).argmax(axis=1) == common).all()
    one_each = rows.where(np.array([int(np.argmax(rows.members == at)) for at in (2, 1, 0)]))
    assert majority(one_each).chances(rows).argmax(axis=1).tolist() == [0] * len(rows)


def test_an_unknown_learner_is_refused():
    told = (
        "learned: learner must be one of 'logistic', 'naive-bayes', 'bernoulli', 'perceptron', 'voted', "
        "'memory', got 'winnow'."
    )
    with pytest.raises(errors.ParameterError, match=f"^{re.escape(told)}$"):
        learned("winnow", occurrences())


def test_votes_are_no_weights():
    with pytest.raises(errors.ParameterError, match="learned_weights: learner must be one of 'logistic'"):
        learned_weights("voted", occurrences(), 100)


def test_learning_needs_no_library_of_estimators():
    code = (
        "import sys, weigh.apps.spelling.learners;"
        "print(sorted(set(sys.modules) & {'sklearn', 'scipy', 'pandas', 'pyarrow'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
