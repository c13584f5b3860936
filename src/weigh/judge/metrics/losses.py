"""Losses of a classifier, row by row, from labels given as class codes.

With p the probability that a row's true class y was given:

    zero-one   [prediction != y]      the share of rows predicted wrongly; accuracy is the rest
    squared    (1 - p)^2              only the true class's probability enters
    Brier      sum over c of (p_c - [c = y])^2, halved for two classes: scikit-learn's brier_score_loss
    log        -log p                 one zero probability of a true class makes the mean infinite

What is reported is the weighted mean, sum w_i l_i / sum w_i, over the rows of positive weight.
The label code `UNSEEN` marks a class that the model does not know: no prediction is right for it,
and its probability is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]

UNSEEN = -1


def select_true_class(labels: Codes, table: Floats, unseen: float) -> Floats:
    """Each row's entry for its true class, table[i, y_i]; `unseen` where the model lacks it."""
    picked = table[np.arange(len(labels)), np.where(labels == UNSEEN, 0, labels)]
    return np.asarray(np.where(labels == UNSEEN, unseen, picked), np.float64)


def squared_losses(true_probability: Floats) -> Floats:
    """Per row, (1 - p)^2 for the probability p given to the true class."""
    return np.square(1.0 - true_probability)


def brier_scores(probabilities: Floats, true_probability: Floats) -> Floats:
    """Per row, sum over classes of (p_c - [c = y])^2, halved for fewer than three classes."""
    others = np.einsum("ij,ij->i", probabilities, probabilities) - np.square(true_probability)
    sums = np.maximum(others, 0.0) + np.square(1.0 - true_probability)
    return np.asarray(sums / 2.0 if probabilities.shape[1] < 3 else sums, np.float64)


def log_losses(true_log_probability: Floats) -> Floats:
    """Per row, -log p for the probability p given to the true class; inf where p is zero."""
    return 0.0 - true_log_probability
