"""How well scores rank the rows of one class above the others: ROC and precision-recall areas.

Rows are taken by falling score, equal scores as one step. With T and F the weight of the class and of the
rest down to a step, and P and N the whole of them:

    ROC area   sum over steps of (F - F') (T + T') / 2 / (P N): the chance that a row of the class
               has the higher score, a tie counting half
    PR area    sum over steps of (T - T') / P * T / (T + F): precision averaged over the rows of the class

An area changes with the weight w of row i by dA/dw_i: sum (w_i dA/dw_i)^2 is its variance, that of the
bootstrap over rows when draws are many. Scaled by m / (m - 1) for the m effective rows of either side, it
is DeLong's for ROC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.judge.measures.intervals import logit_interval
from weigh.judge.measures.losses import Floats


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows in the order of their scores; `step` tells which step each belongs to."""

    order: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    weights: Floats
    thresholds: Floats
    hits: Floats
    alarms: Floats

    @property
    def is_defined(self) -> bool:
        """Whether there are rows of the class and others."""
        return bool(self.hits[-1] > 0 and self.alarms[-1] > 0)

    @property
    def rows(self) -> tuple[float, float]:
        """The effective number of rows of the class, and of the others."""
        return _effective(self.weights[self.positive]), _effective(self.weights[~self.positive])


@dataclass(frozen=True, eq=False)
class Area:
    """An area with each row's part in its error [n], in the order of the rows as given."""

    value: float
    parts: Floats
    rows: float

    @property
    def variance(self) -> float:
        """The variance of the area."""
        return float(np.square(self.parts).sum())

    def interval(self, level: float) -> tuple[float, float, float]:
        """The area with its limits."""
        return self.value, *logit_interval(self.value, self.variance, self.rows, level)


def ranked(scores: Floats, positive: npt.NDArray[np.bool_], weights: Floats) -> Ranked:
    """Put rows of positive weight in the order of falling scores."""
    order = np.argsort(-scores)
    falling, truth, weight = scores[order], positive[order], weights[order]
    starts = np.append(0, np.flatnonzero(falling[1:] != falling[:-1]) + 1)
    ends = np.append(starts[1:], len(falling)) - 1
    step = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(falling))))
    hits, alarms = np.cumsum(weight * truth)[ends], np.cumsum(weight * ~truth)[ends]
    return Ranked(order, step, truth, weight, falling[ends], hits, alarms)


def roc_area(rows: Ranked) -> Area:
    """The area under the ROC curve, by DeLong's components."""
    middle_hits, middle_alarms = _middle(rows.hits), _middle(rows.alarms)
    n_hits, n_alarms = rows.hits[-1], rows.alarms[-1]
    value = float((np.diff(rows.alarms, prepend=0.0) * middle_hits).sum() / (n_hits * n_alarms))
    above = (1.0 - middle_alarms / n_alarms - value) / n_hits
    below = (middle_hits / n_hits - value) / n_alarms
    return _area(rows, value, above, below)


def pr_area(rows: Ranked) -> Area:
    """The average precision."""
    seen, new = rows.hits + rows.alarms, np.diff(rows.hits, prepend=0.0)
    precision, n_hits = rows.hits / seen, rows.hits[-1]
    value = float((new * precision).sum() / n_hits)
    gained = _from_below(new / seen)
    lost = _from_below(new / seen * precision)
    return _area(rows, value, (precision + gained - lost - value) / n_hits, -lost / n_hits)


def _area(rows: Ranked, value: float, of_hits: Floats, of_alarms: Floats) -> Area:
    """Return an area from its derivatives by the weight of a row of the class, or of another, per step."""
    positives, negatives = rows.rows
    slopes = np.where(
        rows.positive,
        of_hits[rows.step] * _correction(positives),
        of_alarms[rows.step] * _correction(negatives),
    )
    parts = np.empty(len(slopes))
    parts[rows.order] = slopes * rows.weights
    return Area(min(max(value, 0.0), 1.0), parts, min(positives, negatives))


def _middle(sums: Floats) -> Floats:
    return sums - np.diff(sums, prepend=0.0) / 2.0


def _from_below(values: Floats) -> Floats:
    return np.cumsum(values[::-1])[::-1]


def _correction(rows: float) -> float:
    return float(np.sqrt(rows / (rows - 1.0))) if rows > 1.0 else 1.0


def _effective(weights: Floats) -> float:
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0
