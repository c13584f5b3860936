"""Losses of a classifier per row, for labels encoded as class codes.

With p the predicted probability of a row's true class y:

    zero-one   [prediction != y]      its mean is 1 - accuracy
    squared    (1 - p)^2              depends on the true class's probability only
    Brier      sum over c of (p_c - [c = y])^2, halved for two classes: scikit-learn's brier_score_loss
    log        -log p                 a single p = 0 makes the mean infinite

Evaluations report the weighted mean, sum w_i l_i / sum w_i, over the rows of positive weight. The label
code `UNSEEN` marks a label that is not a class of the model: every prediction is wrong, and p = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]

UNSEEN = -1


def select_true_class(labels: Codes, table: Floats, unseen: float) -> Floats:
    """Return table[i, y_i], each row's entry for its true class; `unseen` for unseen labels."""
    entries = table[np.arange(len(labels)), np.where(labels == UNSEEN, 0, labels)]
    return np.asarray(np.where(labels == UNSEEN, unseen, entries), np.float64)


def squared_losses(true_probability: Floats) -> Floats:
    """Return (1 - p)^2 per row for the probability p of the true class."""
    return np.square(1.0 - true_probability)


def brier_scores(probabilities: Floats, true_probability: Floats) -> Floats:
    """Return the sum over classes of (p_c - [c = y])^2 per row, halved for fewer than three classes."""
    others = np.einsum("ij,ij->i", probabilities, probabilities) - np.square(true_probability)
    sums = np.maximum(others, 0.0) + np.square(1.0 - true_probability)
    return np.asarray(sums / 2.0 if probabilities.shape[1] < 3 else sums, np.float64)


def log_losses(true_log_probability: Floats) -> Floats:
    """Return -log p per row for the probability p of the true class; inf where p is zero."""
    return 0.0 - true_log_probability
