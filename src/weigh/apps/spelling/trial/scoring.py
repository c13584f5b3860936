"""How often a learner chooses the word that was written, and how sure shares and means are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.learners import learned, majority
from weigh.judge.measures.intervals import clopper_pearson
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure

MAJORITY = "majority"
LEVEL = 0.95


class Hits(NamedTuple):
    """How many occurrences a learner got right, and how many features it keeps."""

    right: int
    features: int


def hits(learner: str, train: Occurrences, test: Occurrences) -> Hits:
    """Learn from some occurrences and choose a word for others; the majority is the commonest word."""
    chooser = majority(train) if learner == MAJORITY else learned(learner, train)
    return Hits(int((chooser.chances(test).argmax(axis=1) == test.members).sum()), chooser.size)


def share_of(name: str, part: int, whole: int) -> Measure:
    """A share with its exact 95 % interval; nan of nothing."""
    k, n = np.array([[part], [whole]], np.float64)
    low, high = clopper_pearson(k, n, LEVEL)
    return Measure(name, part / whole if whole else math.nan, float(low[0]), float(high[0]))


def error_over_sets(values: Floats) -> Floats:
    """The standard error of the mean over the sets, which are the last axis; nan of one set."""
    sets = values.shape[-1]
    if sets < 2:
        return np.full(values.shape[:-1], math.nan)
    return np.asarray(values.std(axis=-1, ddof=1) / math.sqrt(sets))
