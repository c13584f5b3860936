"""The guess that does not look at the rows: what a learner has to beat."""

from __future__ import annotations

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from weigh.trials.entrant import Entrant
from weigh.trials.rows import LabelledRows

GUESSES = {
    "zero_one": ("majority", DummyClassifier()),
    "squared_error": ("mean", DummyRegressor(strategy="mean")),
    "absolute_error": ("median", DummyRegressor(strategy="median")),
}
# Of the losses of probabilities: the best for log loss and Brier score, near it for (1 − p)².
FREQUENCIES = ("frequencies", DummyClassifier(strategy="prior"))


def baseline(loss: str, rows: LabelledRows) -> Entrant:
    """Return the guess that is usual for a loss, and rows that say nothing, as quick as there are."""
    word, learner = GUESSES.get(loss, FREQUENCIES)
    return Entrant(f"baseline ({word})", learner, rows.with_data(np.zeros((len(rows), 1))))
