"""Losses of a classifier, from labels and predictions given as class codes.

Shapes: `labels` and `predictions` are [n] integer codes 0..C-1, `probabilities` and
`log_probabilities` are [n, C], `weights` is [n] or None for ones. The label code `UNSEEN` marks a
class that the model does not know: no prediction is right for it and its probability is zero.
A mean is weighted: sum w_i l_i / sum w_i. Rows of weight zero do not count, whatever their loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]

UNSEEN = -1


def of_true_class(labels: Codes, table: Floats, unseen: float) -> Floats:
    """Each row's entry for its true class, table[i, y_i]; `unseen` where the model lacks it."""
    picked = table[np.arange(len(labels)), np.where(labels == UNSEEN, 0, labels)]
    return np.asarray(np.where(labels == UNSEEN, unseen, picked), np.float64)


def zero_one_of_rows(labels: Codes, predictions: Codes) -> Floats:
    """Per row, 1 if the prediction is wrong and 0 if it is right."""
    return np.not_equal(labels, predictions).astype(np.float64)


def squared_of_rows(true_probability: Floats) -> Floats:
    """Per row, (1 - p)^2 for the probability p given to the true class."""
    return np.square(1.0 - true_probability)


def log_of_rows(true_log_probability: Floats) -> Floats:
    """Per row, -log p for the probability p given to the true class; inf where p is zero."""
    return 0.0 - true_log_probability


def mean(losses: Floats, weights: Floats | None = None) -> float:
    """The weighted mean, sum w_i l_i / sum w_i; nan when the weights sum to zero."""
    if weights is None:
        return float(losses.mean()) if len(losses) else float("nan")
    counted = weights > 0
    total = float(weights[counted].sum())
    if total == 0.0:
        return float("nan")
    return float((losses[counted] * weights[counted]).sum() / total)


def zero_one(labels: Codes, predictions: Codes, weights: Floats | None = None) -> float:
    """The share of rows predicted wrongly, mean of [prediction_i != y_i]."""
    return mean(zero_one_of_rows(labels, predictions), weights)


def accuracy(labels: Codes, predictions: Codes, weights: Floats | None = None) -> float:
    """The share of rows predicted rightly, mean of [prediction_i == y_i]."""
    return mean(1.0 - zero_one_of_rows(labels, predictions), weights)


def squared(labels: Codes, probabilities: Floats, weights: Floats | None = None) -> float:
    """The squared loss, mean of (1 - p_i[y_i])^2: only the true class's probability enters."""
    return mean(squared_of_rows(of_true_class(labels, probabilities, 0.0)), weights)


def log_loss(labels: Codes, log_probabilities: Floats, weights: Floats | None = None) -> float:
    """The log loss, mean of -log p_i[y_i]; one zero probability of a true class makes it inf."""
    return mean(log_of_rows(of_true_class(labels, log_probabilities, -np.inf)), weights)
