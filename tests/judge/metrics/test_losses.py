"""Losses compared with hand calculations and with scikit-learn's metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics

from weigh import errors
from weigh.judge import evaluate
from weigh.judge.metrics import losses

LABELS = np.array([0, 0, 1, 1])
PROBABILITIES = np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0], [0.5, 0.5]])


class Fixed:
    """A classifier that returns row i of its log-probabilities for row i."""

    def __init__(self, logs):
        self.logs = np.asarray(logs)
        self.classes_ = np.arange(self.logs.shape[1])

    def predict(self, rows):
        return self.logs[rows[:, 0]].argmax(axis=1)

    def predict_log_proba(self, rows):
        return self.logs[rows[:, 0]]


def loss(name, labels, logs, weights=None):
    rows = np.arange(len(labels))[:, None]
    return evaluate(Fixed(logs), rows, np.asarray(labels), sample_weight=weights).measure(name).value


def log_probabilities(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def random_case(seed, n=200, classes=4):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(classes), n)
    return rng.integers(0, classes, n), probabilities, rng.gamma(1.0, size=n)


def test_zero_one_and_accuracy_are_shares():
    logs, weights = log_probabilities(PROBABILITIES), np.array([1.0, 3.0, 0.0, 0.0])
    assert loss("zero_one", LABELS, logs) == 0.5
    assert loss("accuracy", LABELS, logs) == 0.5
    assert loss("zero_one", LABELS, logs, weights) == 0.75


def test_squared_loss_is_the_mean_of_one_minus_p_squared():
    expected = (0.25 + 0.5625 + 0.0 + 0.25) / 4
    assert loss("squared", LABELS, log_probabilities(PROBABILITIES)) == pytest.approx(expected)


def test_log_loss_is_minus_the_mean_log_probability():
    expected = (math.log(2) * 2 + math.log(4)) / 4
    assert loss("log_loss", LABELS, log_probabilities(PROBABILITIES)) == pytest.approx(expected)


def test_log_loss_does_not_underflow():
    assert loss("log_loss", [1], [[0.0, -5000.0]]) == 5000.0


def test_a_zero_probability_of_the_true_class_gives_infinite_log_loss():
    assert loss("log_loss", [0, 1], [[-np.inf, 0.0], log_probabilities([0.4, 0.6])]) == np.inf


def test_a_certain_correct_prediction_has_a_loss_of_positive_zero():
    assert math.copysign(1.0, losses.log_losses(np.array([0.0]))[0]) == 1.0


def test_rows_of_weight_zero_are_ignored_even_with_infinite_loss():
    logs = [[-np.inf, 0.0], log_probabilities([0.25, 0.75])]
    assert loss("log_loss", [0, 0], logs, np.array([0.0, 3.0])) == math.log(4)


def test_an_unseen_label_is_wrong_with_probability_zero():
    logs = [[0.0, -np.inf]]
    assert loss("zero_one", [7], logs) == 1.0
    assert loss("squared", [7], logs) == 1.0
    assert loss("log_loss", [7], logs) == np.inf


def test_weights_that_sum_to_zero_have_no_mean():
    with pytest.raises(errors.DataError, match="sum to zero"):
        loss("accuracy", LABELS, log_probabilities(PROBABILITIES), np.zeros(4))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_those_of_scikit_learn(seed, weighted):
    labels, probabilities, weights = random_case(seed)
    w, logs, predictions = weights if weighted else None, np.log(probabilities), probabilities.argmax(axis=1)
    accuracy = metrics.accuracy_score(labels, predictions, sample_weight=w)
    assert loss("accuracy", labels, logs, w) == pytest.approx(accuracy)
    assert loss("zero_one", labels, logs, w) == pytest.approx(1 - accuracy)
    expected = metrics.log_loss(labels, probabilities, sample_weight=w)
    assert loss("log_loss", labels, logs, w) == pytest.approx(expected)


def test_squared_loss_of_two_classes_is_the_brier_score():
    labels, probabilities, weights = random_case(7, classes=2)
    expected = metrics.brier_score_loss(labels, probabilities[:, 1], sample_weight=weights)
    assert loss("squared", labels, np.log(probabilities), weights) == pytest.approx(expected)
