"""Verdicts: ties, misclassification costs, other class priors and 'unsure'."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.model.decision import best_class

TABLE = {"x": ["a", "a", "a", "b", "b", "b", "b", "b"], "y": ["ham"] * 3 + ["spam"] + ["ham"] + ["spam"] * 3}


@pytest.fixture
def model():
    return weigh.NaiveBayes().fit(TABLE, "y").model_


def test_the_first_class_wins_a_tie_within_rounding():
    scores = np.array([[np.log(0.1) + np.log(0.3), np.log(0.3) + np.log(0.1) + 1e-16], [0.0, 1.0]])
    assert best_class(scores).tolist() == [0, 1]
    assert best_class(scores, "last").tolist() == [1, 1]


def test_an_expensive_error_is_avoided(model):
    spam = model.predict_proba({"x": "b"})[0, 1]
    assert spam == pytest.approx(5 / 7)
    assert model.predict({"x": "b"}).tolist() == ["spam"]
    careful = weigh.Decision(costs={("ham", "spam"): 10})
    assert model.predict({"x": "b"}, careful).tolist() == ["ham"]


def test_unsure_is_chosen_if_it_costs_less_than_the_expected_error(model):
    risk = 1 - 5 / 7
    assert model.predict({"x": "b"}, weigh.Decision(unsure=risk - 0.01)).tolist() == ["unsure"]
    assert model.predict({"x": "b"}, weigh.Decision(unsure=risk + 0.01)).tolist() == ["spam"]


def test_another_class_prior_replaces_the_trained_one(model):
    rare = weigh.Decision(class_prior={"ham": 0.99, "spam": 0.01})
    assert model.predict({"x": "b"}, rare).tolist() == ["ham"]
    same = weigh.Decision(class_prior="uniform")
    assert model.predict({"x": "b"}, same).tolist() == ["spam"]


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ({"class_prior": {"ham": 0.5}}, "must give each of the classes 'ham', 'spam' a probability"),
        ({"class_prior": {"ham": 0.5, "spam": 0.6}}, "and they must sum to 1"),
        ({"class_prior": "even"}, "a mapping from class to probability, or 'uniform'"),
        ({"costs": {("ham", "eggs"): 1}}, "costs name the class 'eggs'; the model has 'ham', 'spam'"),
    ],
)
def test_a_decision_that_does_not_match_the_model_is_rejected(model, decision, message):
    with pytest.raises(errors.ParameterError, match=message):
        model.predict({"x": "b"}, weigh.Decision(**decision))


@pytest.mark.parametrize("settings", [{"unsure": -1}, {"costs": {("a", "b"): -1}}, {"costs": {"a": 1}}])
def test_invalid_costs_are_rejected(settings):
    with pytest.raises(errors.ParameterError):
        weigh.Decision(**settings)


def test_a_stated_class_prior_is_checked_when_fitting():
    with pytest.raises(
        errors.ParameterError, match="must give each of the classes 'ham', 'spam' a probability"
    ):
        weigh.NaiveBayes(class_prior={"ham": 1.0}).fit(TABLE, "y")


def test_a_class_named_by_the_prior_exists_without_rows():
    prior = {"eggs": 0.2, "ham": 0.4, "spam": 0.4}
    nb = weigh.NaiveBayes(class_prior=prior).fit(TABLE, "y")
    assert nb.classes_.tolist() == ["eggs", "ham", "spam"]
    assert nb.predict_proba({"x": "a"})[0] == pytest.approx([3 / 13, 8 / 13, 2 / 13])
