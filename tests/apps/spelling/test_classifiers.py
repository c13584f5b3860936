"""Choosers decide like the models they came from, with as many features as they are left."""

from __future__ import annotations

import numpy as np
import pytest

from tests.apps.spelling.example_occurrences import PAIR, THREE, as_rows, occurrences, read
from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.learners import fit_model
from weigh.apps.spelling.speller_data import LINEAR_LEARNERS
from weigh.features import NameArray

PROBABLE = tuple(learner for learner in LINEAR_LEARNERS if learner != "perceptron")
SETS = (PAIR, PAIR[::-1], THREE, THREE[::-1])


def small() -> LinearWordClassifier:
    """A chooser whose weights are plain numbers: spreads of 4, 2, 2, 0 and 6."""
    table = np.array([[2, -2], [1, -1], [-1, 1], [0, 0], [-3, 3]], dtype=np.float32)
    names = NameArray.from_strings(["after:was", "before:know", "before:the", "near:boat", "near:mary"])
    return LinearWordClassifier(PAIR, np.array([0.5, -0.5]), names, table)


@pytest.mark.parametrize("words", SETS)
@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_a_chooser_decides_like_the_model_it_came_from(learner, words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    model = fit_model(learner, taught)
    chances = LinearWordClassifier.from_model(model, words).predict_proba(asked)
    scores = np.sort(model.scores(as_rows(asked)), axis=1)
    clear = scores[:, -1] - scores[:, -2] > 1e-4
    chosen = np.array(words)[chances.argmax(axis=1)]
    assert clear.mean() > 0.95
    assert chosen[clear].tolist() == np.array(model.predict(as_rows(asked)))[clear].tolist()


@pytest.mark.parametrize("words", SETS)
@pytest.mark.parametrize("learner", PROBABLE)
def test_its_chances_are_the_probabilities_of_the_model(learner, words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    model = fit_model(learner, taught)
    places = [model.classes.index(word) for word in words]
    expected = model.predict_proba(as_rows(asked))[:, places]
    np.testing.assert_allclose(
        LinearWordClassifier.from_model(model, words).predict_proba(asked), expected, atol=2e-6
    )


@pytest.mark.parametrize("words", SETS)
def test_scores_of_a_perceptron_differ_as_those_of_its_model(words):
    taught, asked = occurrences(words), occurrences(words, seed=2)
    model = fit_model("perceptron", taught)
    places = [model.classes.index(word) for word in words]
    expected = model.scores(as_rows(asked))[:, places]
    found = LinearWordClassifier.from_model(model, words).scores(asked)
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=1e-5)


def test_words_keep_the_order_of_their_set():
    rows = occurrences(("whether", "weather"))
    chooser = LinearWordClassifier.from_model(fit_model("logistic", rows), rows.words)
    assert chooser.words == ("whether", "weather")
    assert (chooser.predict_proba(rows).argmax(axis=1) == rows.members).mean() > 0.9


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_base_and_weights_have_a_mean_of_zero(learner):
    chooser = LinearWordClassifier.from_model(fit_model(learner, occurrences(THREE)), THREE)
    assert chooser.base.mean() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(chooser.table.mean(axis=1), 0, atol=1e-6)


def test_the_evidence_adds_up_to_the_score():
    rows = occurrences(THREE, 60)
    chooser = LinearWordClassifier.from_model(fit_model("naive-bayes", rows), THREE)
    for i, scores in enumerate(chooser.scores(rows)):
        parts = [weights for _, weights in chooser.contributions(rows.context(i))]
        np.testing.assert_allclose(chooser.base + np.sum(parts, axis=0), scores, atol=1e-9)


def test_features_that_are_not_known_are_no_evidence():
    found = small().contributions(["before:the", "near:nobody"])
    assert [name for name, _ in found] == ["before:the"]
    assert found[0][1].tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("n", "kept"),
    [
        (1, ["near:mary"]),
        (2, ["after:was", "near:mary"]),
        (3, ["after:was", "before:know", "near:mary"]),
        (9, ["after:was", "before:know", "before:the", "near:mary"]),
    ],
)
def test_the_strongest_features_stay_with_their_weights(n, kept):
    chooser = small().select_strongest(n)
    assert list(chooser.names) == kept
    assert chooser.n_features == len(kept)
    whole = dict(small().contributions(small().names[:]))
    assert all(weights.tolist() == whole[name].tolist() for name, weights in chooser.contributions(kept))
    assert chooser.base.tolist() == [0.5, -0.5]


def test_with_rows_strength_counts_how_often_a_feature_is_met():
    # 'know' is met nine times (2 · 3), 'was' once (4 · 1), 'Mary' once (6 · 1), 'the' once (2 · 1).
    said = ["We know whether or not."] * 9 + ["The weather was so.", "Mary had weather."]
    rows = read(PAIR, "\n\n".join(said))
    assert list(small().select_strongest(2, rows).names) == ["before:know", "near:mary"]
    assert list(small().select_strongest(3, rows).names) == ["after:was", "before:know", "near:mary"]
    assert list(small().select_strongest(2).names) == ["after:was", "near:mary"]


def test_all_features_are_as_good_as_the_whole():
    rows = occurrences()
    chooser = LinearWordClassifier.from_model(fit_model("logistic", rows), PAIR)
    np.testing.assert_array_equal(
        chooser.select_strongest(10**9).predict_proba(rows), chooser.predict_proba(rows)
    )


def test_a_temperature_divides_scores_and_keeps_choices():
    rows = occurrences()
    chooser = LinearWordClassifier.from_model(fit_model("logistic", rows), PAIR)
    cooled = chooser.with_temperature(4.0)
    np.testing.assert_array_equal(cooled.scores(rows), chooser.scores(rows) / 4)
    assert (cooled.predict_proba(rows).max(axis=1) <= chooser.predict_proba(rows).max(axis=1)).all()


def test_chances_sum_to_one_and_no_rows_have_none():
    rows = occurrences(THREE)
    chooser = LinearWordClassifier.from_model(fit_model("bernoulli", rows), THREE)
    np.testing.assert_allclose(chooser.predict_proba(rows).sum(axis=1), 1)
    assert chooser.predict_proba(rows.select(np.zeros(len(rows), dtype=bool))).shape == (0, 3)


def test_a_constant_always_answers_its_word():
    rows = occurrences(THREE, 20)
    assert LinearWordClassifier.constant(THREE, 1).predict_proba(rows).tolist() == [[0, 1, 0]] * len(rows)


def test_weights_that_do_not_fit_their_names_are_refused():
    with pytest.raises(errors.DataError, match="A chooser has sorted names"):
        LinearWordClassifier(
            PAIR, np.zeros(2), NameArray.from_strings(["b", "a"]), np.zeros((2, 2), dtype=np.float32)
        )
    with pytest.raises(errors.DataError, match="A chooser has sorted names"):
        LinearWordClassifier(
            PAIR, np.zeros(3), NameArray.from_strings(["a"]), np.zeros((1, 2), dtype=np.float32)
        )
