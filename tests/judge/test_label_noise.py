"""The rate of wrong labels is estimated without bias where the model's errors fall with its lead."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh.judge.label_noise import LeadCounts


def simulate(seed: int, n: int, rate: float, slope: float, n_classes: int = 3) -> tuple[LeadCounts, int]:
    """Return counts of rows whose predictions are right with the log-odds slope × lead."""
    rng = np.random.default_rng(seed)
    leads = rng.exponential(4.0 / slope, n)
    is_right = rng.random(n) < 1 / (1 + np.exp(-slope * leads))
    is_wrong_label = rng.random(n) < rate
    # A wrong label is any other class, so it may be the class of a wrong prediction.
    agrees = np.where(is_wrong_label, ~is_right & (rng.random(n) < 1 / (n_classes - 1)), is_right)
    counts = LeadCounts()
    counts.add(leads, agrees, np.ones(n))
    return counts, int(is_wrong_label.sum())


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("slope", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_rate_is_found_whatever_the_confidence_of_the_model(rate, slope, n_classes) -> None:
    found = [
        simulate(seed, 3_000, rate, slope, n_classes)[0].estimate_noise(n_classes).rate for seed in range(5)
    ]
    assert abs(np.mean(found) - rate) < 0.01 + 0.1 * rate


def test_batches_give_the_same_estimate() -> None:
    rng = np.random.default_rng(0)
    leads, agrees = rng.exponential(3.0, 1_000), rng.random(1_000) < 0.9
    whole, parts = LeadCounts(), LeadCounts()
    whole.add(leads, agrees, np.ones(1_000))
    for start in range(0, 1_000, 70):
        stop = start + 70
        parts.add(leads[start:stop], agrees[start:stop], np.ones(len(leads[start:stop])))
    assert parts.estimate_noise(2) == whole.estimate_noise(2)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.1])
def test_planted_errors_are_counted(rate) -> None:
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 1_500)
        labels = truth.copy()
        flipped = rng.random(1_500) < rate
        labels[flipped] = (labels[flipped] + rng.integers(1, 3, flipped.sum())) % 3
        X = rng.normal(size=(1_500, 4)) + 1.3 * np.eye(3, 4)[truth] * [2, 1.5, 2, 1]
        result = weigh.audit(weigh.NaiveBayes().fit(X, labels), X, labels)
        ratios.append((result.wrong - flipped.sum()) / 1_500)
    assert abs(np.mean(ratios)) < 0.005 + 0.2 * rate


def test_one_class_has_no_wrong_labels() -> None:
    nb = weigh.NaiveBayes().fit({"x": [1.0, 2.0, 3.0]}, ["a", "a", "a"])
    assert weigh.audit(nb, {"x": [1.0, 2.0, 3.0]}, ["a", "a", "a"]).wrong == 0
