"""What a learner's trials amount to: its mean loss with an interval, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.measures.intervals import clopper_pearson
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.text import plain
from weigh.trials.comparing.cross_validation import Cost
from weigh.trials.resampled_test import CorrectedMean


@dataclass(frozen=True, eq=False)
class Score:
    """A learner's mean loss with its interval, the loss of every split, and what it costs.

    `settings` are those of the learner that differ from the defaults, in words.
    """

    learner: str
    loss: Measure
    losses: Floats
    cost: Cost
    is_baseline: bool = False
    settings: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The score for JSON."""
        return {
            "learner": self.learner,
            "settings": self.settings,
            "is_baseline": self.is_baseline,
            "loss": self.loss.to_dict(),
            "losses": [plain(value) for value in self.losses.tolist()],
            "cost": self.cost.to_dict(),
        }


def share_of_errors(losses: Floats, ratio: float, rows: int, level: float) -> Measure:
    """Return the share of rows that were wrong, with the wider of two intervals.

    Folds that by chance, or because classes have the same shares in all of them, are equally wrong tell
    nothing of other rows; so the interval is no narrower than the exact one of a share of so many rows.
    """
    mean = CorrectedMean.of(losses, ratio)
    low, high = mean.interval(level)
    least, most = clopper_pearson(np.array([mean.mean * rows]), np.array([float(rows)]), level)
    return Measure(
        "zero_one", mean.mean, max(min(low, float(least[0])), 0.0), min(max(high, float(most[0])), 1.0)
    )


def mean_loss(loss: str, losses: Floats, ratio: float, level: float, is_guess: bool) -> Measure:
    """Return the mean loss with its corrected interval.

    A guess has none: classes have the same shares in all folds, so they hardly differ for it. Nor have
    losses that are the same in all folds.
    """
    mean = CorrectedMean.of(losses, ratio)
    if is_guess or mean.scale == 0:
        return Measure(loss, mean.mean)
    low, high = mean.interval(level)
    most = 1.0 if loss == "squared" else math.inf
    return Measure(loss, mean.mean, max(low, 0.0), min(high, most))
