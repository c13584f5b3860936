"""Linear classifiers predict like the models they are made from."""

from __future__ import annotations

import numpy as np
import pytest

from tests.apps.spelling.example_occurrences import PAIR, THREE, as_rows, occurrences, read
from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.learners import fit_model
from weigh.apps.spelling.speller_data import LINEAR_LEARNERS
from weigh.features import NameArray

PROBABILISTIC = tuple(learner for learner in LINEAR_LEARNERS if learner != "perceptron")
SETS = (PAIR, PAIR[::-1], THREE, THREE[::-1])


def small_classifier() -> LinearWordClassifier:
    """A classifier with ranges of weights of 4, 2, 2, 0 and 6."""
    table = np.array([[2, -2], [1, -1], [-1, 1], [0, 0], [-3, 3]], dtype=np.float32)
    names = NameArray.from_strings(["after:was", "before:know", "before:the", "near:boat", "near:mary"])
    return LinearWordClassifier(PAIR, np.array([0.5, -0.5]), names, table)


@pytest.mark.parametrize("words", SETS)
@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_classifier_predicts_like_its_model(learner, words):
    train, test = occurrences(words), occurrences(words, seed=2)
    model = fit_model(learner, train)
    probabilities = LinearWordClassifier.from_model(model, words).predict_proba(test)
    scores = np.sort(model.scores(as_rows(test)), axis=1)
    is_clear = scores[:, -1] - scores[:, -2] > 1e-4
    predicted = np.array(words)[probabilities.argmax(axis=1)]
    assert is_clear.mean() > 0.95
    assert predicted[is_clear].tolist() == np.array(model.predict(as_rows(test)))[is_clear].tolist()


@pytest.mark.parametrize("words", SETS)
@pytest.mark.parametrize("learner", PROBABILISTIC)
def test_probabilities_equal_those_of_the_model(learner, words):
    train, test = occurrences(words), occurrences(words, seed=2)
    model = fit_model(learner, train)
    columns = [model.classes.index(word) for word in words]
    expected = model.predict_proba(as_rows(test))[:, columns]
    np.testing.assert_allclose(
        LinearWordClassifier.from_model(model, words).predict_proba(test), expected, atol=2e-6
    )


@pytest.mark.parametrize("words", SETS)
def test_perceptron_score_differences_equal_those_of_the_model(words):
    train, test = occurrences(words), occurrences(words, seed=2)
    model = fit_model("perceptron", train)
    columns = [model.classes.index(word) for word in words]
    expected = model.scores(as_rows(test))[:, columns]
    found = LinearWordClassifier.from_model(model, words).scores(test)
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=1e-5)


def test_words_keep_the_order_of_their_set():
    rows = occurrences(("whether", "weather"))
    classifier = LinearWordClassifier.from_model(fit_model("logistic", rows), rows.words)
    assert classifier.words == ("whether", "weather")
    assert (classifier.predict_proba(rows).argmax(axis=1) == rows.members).mean() > 0.9


@pytest.mark.parametrize("learner", LINEAR_LEARNERS)
def test_intercept_and_weights_are_centred(learner):
    classifier = LinearWordClassifier.from_model(fit_model(learner, occurrences(THREE)), THREE)
    assert classifier.intercept.mean() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(classifier.weights.mean(axis=1), 0, atol=1e-6)


def test_contributions_add_up_to_the_score():
    rows = occurrences(THREE, 60)
    classifier = LinearWordClassifier.from_model(fit_model("naive-bayes", rows), THREE)
    for i, scores in enumerate(classifier.scores(rows)):
        parts = [weights for _, weights in classifier.contributions(rows.context(i))]
        np.testing.assert_allclose(classifier.intercept + np.sum(parts, axis=0), scores, atol=1e-9)


def test_unknown_features_contribute_nothing():
    found = small_classifier().contributions(["before:the", "near:nobody"])
    assert [name for name, _ in found] == ["before:the"]
    assert found[0][1].tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, ["near:mary"]),
        (2, ["after:was", "near:mary"]),
        (3, ["after:was", "before:know", "near:mary"]),
        (9, ["after:was", "before:know", "before:the", "near:mary"]),
    ],
)
def test_strongest_features_keep_their_weights(n, expected):
    classifier = small_classifier().select_strongest(n)
    assert list(classifier.names) == expected
    assert classifier.n_features == len(expected)
    whole = dict(small_classifier().contributions(small_classifier().names[:]))
    assert all(
        weights.tolist() == whole[name].tolist() for name, weights in classifier.contributions(expected)
    )
    assert classifier.intercept.tolist() == [0.5, -0.5]


def test_strength_depends_on_feature_frequency():
    # 'know' occurs nine times (2 · 3), 'was' once (4 · 1), 'Mary' once (6 · 1), 'the' once (2 · 1).
    sentences = ["We know whether or not."] * 9 + ["The weather was so.", "Mary had weather."]
    rows = read(PAIR, "\n\n".join(sentences))
    assert list(small_classifier().select_strongest(2, rows).names) == ["before:know", "near:mary"]
    assert list(small_classifier().select_strongest(3, rows).names) == [
        "after:was",
        "before:know",
        "near:mary",
    ]
    assert list(small_classifier().select_strongest(2).names) == ["after:was", "near:mary"]


def test_selecting_all_features_changes_no_prediction():
    rows = occurrences()
    classifier = LinearWordClassifier.from_model(fit_model("logistic", rows), PAIR)
    np.testing.assert_array_equal(
        classifier.select_strongest(10**9).predict_proba(rows), classifier.predict_proba(rows)
    )


def test_temperature_divides_scores():
    rows = occurrences()
    classifier = LinearWordClassifier.from_model(fit_model("logistic", rows), PAIR)
    tempered = classifier.with_temperature(4.0)
    np.testing.assert_array_equal(tempered.scores(rows), classifier.scores(rows) / 4)
    assert (tempered.predict_proba(rows).max(axis=1) <= classifier.predict_proba(rows).max(axis=1)).all()


def test_probabilities_sum_to_one_and_no_rows_give_none():
    rows = occurrences(THREE)
    classifier = LinearWordClassifier.from_model(fit_model("bernoulli", rows), THREE)
    np.testing.assert_allclose(classifier.predict_proba(rows).sum(axis=1), 1)
    assert classifier.predict_proba(rows.select(np.zeros(len(rows), dtype=bool))).shape == (0, 3)


def test_constant_classifier_always_predicts_its_word():
    rows = occurrences(THREE, 20)
    assert LinearWordClassifier.constant(THREE, 1).predict_proba(rows).tolist() == [[0, 1, 0]] * len(rows)


def test_inconsistent_weights_raise():
    with pytest.raises(errors.DataError, match="needs sorted feature names"):
        LinearWordClassifier(
            PAIR, np.zeros(2), NameArray.from_strings(["b", "a"]), np.zeros((2, 2), dtype=np.float32)
        )
    with pytest.raises(errors.DataError, match="needs sorted feature names"):
        LinearWordClassifier(
            PAIR, np.zeros(3), NameArray.from_strings(["a"]), np.zeros((1, 2), dtype=np.float32)
        )
