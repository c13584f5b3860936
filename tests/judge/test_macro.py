"""Means over classes: their limits, labels never seen, classes that are missing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from tests.judge.scripted import judged
from weigh.judge.measures.confusion import Confusion
from weigh.judge.measures.intervals import clopper_pearson, mean_of_shares
from weigh.judge.measures.macro import macro_measures


def means(labels, predictions, n_classes, level=0.9):
    confusion = Confusion.empty(n_classes).add(labels, predictions, np.ones(len(labels)))
    return {each.name: each for each in macro_measures(confusion, confusion.shares(level), 0)}


def drawn(rng, n, n_classes, noise):
    labels = rng.integers(0, n_classes, n)
    return labels, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), labels)


@pytest.mark.parametrize(("n", "n_classes", "noise"), [(60, 2, 0.3), (100, 2, 0.04), (150, 5, 0.4)])
def test_limits_hold_the_truth_about_as_often_as_they_say(n, n_classes, noise):
    rng = np.random.default_rng(0)
    truth = means(*drawn(rng, 300_000, n_classes, noise), n_classes)
    found = [means(*drawn(rng, n, n_classes, noise), n_classes) for _ in range(200)]
    for name, true in truth.items():
        held = np.mean([each[name].low <= true.value <= each[name].high for each in found])
        assert held > 0.9 - 0.064  # three standard errors


def test_a_mistake_moves_the_f1_of_both_classes():
    rng = np.random.default_rng(1)
    found = [means(*drawn(rng, 200, 2, 0.4), 2, 0.95)["macro_f1"] for _ in range(200)]
    width = np.mean([each.high - each.low for each in found])
    assert width == pytest.approx(2 * 1.96 * np.std([each.value for each in found]), rel=0.15)


def test_all_right_is_no_certainty():
    found = means(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2, 0.95)
    low, _ = clopper_pearson(np.array([2.0]), np.array([2.0]), 0.95)
    assert found["balanced_accuracy"].low == pytest.approx(1 - (1 - low[0]) / np.sqrt(2))
    for each in found.values():
        assert (each.value, each.high) == (1.0, 1.0)
        assert each.low < 0.5


def test_labels_never_seen_are_classes_too():
    labels = np.array([0, 1, 2, 2, 7, 8, 8])
    table = np.random.default_rng(2).dirichlet(np.ones(3), 7)
    found, said = judged(labels, table), table.argmax(axis=1)
    for name in ("precision", "recall", "f1"):
        metric = getattr(metrics, f"{name}_score")
        expected = metric(labels, said, average="macro", zero_division=0)
        assert found.measure(f"macro_{name}").value == pytest.approx(expected, rel=1e-12)
    expected = metrics.balanced_accuracy_score(labels, said)
    assert found.measure("balanced_accuracy").value == pytest.approx(expected, rel=1e-12)


def test_distances_to_limits_add_up_as_squares():
    value, low, high = (
        np.array([0.5, 0.7, np.nan]),
        np.array([0.2, 0.3, np.nan]),
        np.array([0.6, 0.9, np.nan]),
    )
    mean, below, above = mean_of_shares(value, low, high, 3)
    assert mean == pytest.approx(0.4)
    assert mean - below == pytest.approx(np.hypot(0.3, 0.4) / 3)
    assert above - mean == pytest.approx(np.hypot(0.1, 0.2) / 3)
    assert mean_of_shares(value, low, high, 3, 4.0)[1] == pytest.approx(0.4 - 2 * 0.5 / 3)


def test_the_f1_of_a_class_has_the_exact_limits_of_its_share():
    labels, said = np.array([0] * 6 + [1] * 5 + [2] * 3), np.array([0] * 5 + [1] + [1] * 4 + [2] + [2] * 3)
    table = Confusion.empty(3).add(labels, said, np.ones(14))
    f1, low, high = table.f1(0.95)
    # Of the six rows that are class 1 or taken for it, four are both.
    ends = clopper_pearson(np.array([5.0, 4.0, 3.0]), np.array([6.0, 6.0, 4.0]), 0.95)
    np.testing.assert_allclose(f1, metrics.f1_score(labels, said, average=None))
    for mine, end in zip((low, high), ends, strict=True):
        np.testing.assert_allclose(mine, 2 * end / (1 + end))
