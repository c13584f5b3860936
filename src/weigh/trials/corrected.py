"""Means over folds side by side, with intervals that know that the folds' training rows overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import errors
from weigh.features.settings import finite
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.trials.resampled_test import CorrectedMean


@dataclass(frozen=True)
class Corrected:
    """How means over so many folds vary, and at what level their intervals hold."""

    folds: int
    ratio: float  # rows held out per row that is trained on
    level: float

    @property
    def shared(self) -> float:
        """How much of a mean's error is that of the rows themselves, which all folds share."""
        return math.sqrt(self.ratio / (1 / self.folds + self.ratio))

    def means(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return means, lower and upper limits and standard errors of values [folds, sizes]."""
        parts = [CorrectedMean.of(column, self.ratio) for column in values.T]
        limits = np.array([part.interval(self.level) for part in parts])
        means, scales = np.array([(part.mean, part.scale) for part in parts]).T
        return means, limits[:, 0], limits[:, 1], scales

    def measure(self, name: str, values: Floats, least: float = -np.inf) -> Measure:
        """Return the mean of values [folds] with its limits, no lower than the value can be."""
        mean, low, high, _ = (float(each[0]) for each in self.means(values[:, None]))
        return Measure(name, mean, max(low, least), high)

    def noise(self, values: Floats, n: int, seed: int) -> Floats:
        """Return n draws [n, sizes] of how far means of values [folds, sizes] may be off.

        Draws follow the multivariate t whose scatter is that of the folds, corrected; the same seed gives
        draws of other values of the same folds that belong together.
        """
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal((n, self.folds))
        tail = np.sqrt((self.folds - 1) / rng.chisquare(self.folds - 1, n))
        scatter = (values - values.mean(axis=0)) * np.sqrt((1 / self.folds + self.ratio) / (self.folds - 1))
        return np.asarray((normal * tail[:, None]) @ scatter)


def checked_level(level: float, owner: str) -> float:
    """Return the level of intervals, after a look at it."""
    must = "a share between 0 and 1"
    share = finite(owner, "level", level, must)
    if not 0 < share < 1:
        raise errors.parameter(owner, "level", must, level)
    return share
