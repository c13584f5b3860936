"""Losses against hand-worked cases and against scikit-learn's metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics

from weigh.judge import losses

LABELS = np.array([0, 0, 1, 1])
PREDICTIONS = np.array([0, 1, 1, 1])
PROBABILITIES = np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0], [0.5, 0.5]])


def random_case(seed, n=200, classes=4):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(classes), n)
    labels = rng.integers(0, classes, n)
    return labels, probabilities, probabilities.argmax(axis=1), rng.gamma(1.0, size=n)


def test_zero_one_and_accuracy_are_shares():
    assert losses.zero_one(LABELS, PREDICTIONS) == 0.25
    assert losses.accuracy(LABELS, PREDICTIONS) == 0.75
    assert losses.zero_one(LABELS, PREDICTIONS, np.array([1.0, 3.0, 0.0, 0.0])) == 0.75


def test_squared_loss_is_the_mean_of_one_minus_p_squared():
    assert losses.squared(LABELS, PROBABILITIES) == (0.25 + 0.5625 + 0.0 + 0.25) / 4


def test_log_loss_is_minus_the_mean_log_probability():
    with np.errstate(divide="ignore"):
        logs = np.log(PROBABILITIES)
    assert losses.log_loss(LABELS, logs) == pytest.approx((math.log(2) * 2 + math.log(4)) / 4)


def test_log_loss_does_not_underflow():
    assert losses.log_loss(np.array([1]), np.array([[0.0, -5000.0]])) == 5000.0


def test_a_zero_probability_of_the_true_class_gives_infinite_log_loss():
    assert losses.log_loss(np.array([0, 1]), np.array([[-np.inf, 0.0], [-1.0, -0.5]])) == np.inf


def test_a_sure_and_right_answer_has_a_loss_of_positive_zero():
    assert math.copysign(1.0, losses.log_loss(np.array([0]), np.array([[0.0, -np.inf]]))) == 1.0


def test_a_row_of_weight_zero_does_not_count_even_if_its_loss_is_infinite():
    logs = np.array([[-np.inf, 0.0], [-2.0, -0.1]])
    assert losses.log_loss(np.array([0, 0]), logs, np.array([0.0, 3.0])) == 2.0


def test_an_unseen_label_is_wrong_with_probability_zero():
    unseen = np.array([losses.UNSEEN])
    assert losses.zero_one(unseen, np.array([0])) == 1.0
    assert losses.squared(unseen, np.array([[1.0, 0.0]])) == 1.0
    assert losses.log_loss(unseen, np.array([[0.0, -np.inf]])) == np.inf


def test_weights_that_sum_to_zero_have_no_mean():
    assert math.isnan(losses.mean(np.ones(2), np.zeros(2)))
    assert math.isnan(losses.mean(np.empty(0)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_those_of_scikit_learn(seed, weighted):
    labels, probabilities, predictions, weights = random_case(seed)
    w = weights if weighted else None
    assert losses.accuracy(labels, predictions, w) == pytest.approx(
        metrics.accuracy_score(labels, predictions, sample_weight=w)
    )
    assert losses.zero_one(labels, predictions, w) == pytest.approx(
        metrics.zero_one_loss(labels, predictions, sample_weight=w)
    )
    assert losses.log_loss(labels, np.log(probabilities), w) == pytest.approx(
        metrics.log_loss(labels, probabilities, sample_weight=w)
    )


def test_squared_loss_of_two_classes_is_the_brier_score():
    labels, probabilities, _, weights = random_case(7, classes=2)
    expected = metrics.brier_score_loss(labels, probabilities[:, 1], sample_weight=weights)
    assert losses.squared(labels, probabilities, weights) == pytest.approx(expected)
