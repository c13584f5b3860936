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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.accumulators import RetainedRows
from weigh.judge.metrics.confidence_intervals import Measure, average_share_interval, logit_interval
from weigh.judge.metrics.losses import Floats
from weigh.text import to_json_value


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows in the order of their scores; `step` tells which step each belongs to."""

    order: npt.NDArray[np.int64]
    step_of_row: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    weights: Floats
    thresholds: Floats
    true_positives: Floats
    false_positives: Floats

    @property
    def is_defined(self) -> bool:
        """Whether there are rows of the class and others."""
        return bool(self.true_positives[-1] > 0 and self.false_positives[-1] > 0)

    @property
    def rows(self) -> tuple[float, float]:
        """The effective number of rows of the class, and of the others."""
        return _effective_size(self.weights[self.positive]), _effective_size(self.weights[~self.positive])


@dataclass(frozen=True, eq=False)
class AreaEstimate:
    """An area with each row's part in its error [n], in the order of the rows as given."""

    value: float
    row_influences: Floats
    rows: float

    @property
    def variance(self) -> float:
        """The variance of the area."""
        return float(np.square(self.row_influences).sum())

    def interval(self, level: float) -> tuple[float, float, float]:
        """The area with its limits."""
        return self.value, *logit_interval(self.value, self.variance, self.rows, level)


def rank_rows(scores: Floats, positive: npt.NDArray[np.bool_], weights: Floats) -> Ranking:
    """Put rows of positive weight in the order of falling scores."""
    order = np.argsort(-scores)
    falling, truth, weight = scores[order], positive[order], weights[order]
    starts = np.append(0, np.flatnonzero(falling[1:] != falling[:-1]) + 1)
    ends = np.append(starts[1:], len(falling)) - 1
    step = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(falling))))
    hits, alarms = np.cumsum(weight * truth)[ends], np.cumsum(weight * ~truth)[ends]
    return Ranking(order, step, truth, weight, falling[ends], hits, alarms)


def roc_area(rows: Ranking) -> AreaEstimate:
    """The area under the ROC curve, by DeLong's components."""
    middle_hits, middle_alarms = _step_midpoints(rows.true_positives), _step_midpoints(rows.false_positives)
    n_hits, n_alarms = rows.true_positives[-1], rows.false_positives[-1]
    value = float((np.diff(rows.false_positives, prepend=0.0) * middle_hits).sum() / (n_hits * n_alarms))
    above = (1.0 - middle_alarms / n_alarms - value) / n_hits
    below = (middle_hits / n_hits - value) / n_alarms
    return _area_estimate(rows, value, above, below)


def pr_area(rows: Ranking) -> AreaEstimate:
    """The average precision."""
    seen, new = rows.true_positives + rows.false_positives, np.diff(rows.true_positives, prepend=0.0)
    precision, n_hits = rows.true_positives / seen, rows.true_positives[-1]
    value = float((new * precision).sum() / n_hits)
    gained = _reverse_cumulative_sum(new / seen)
    lost = _reverse_cumulative_sum(new / seen * precision)
    return _area_estimate(rows, value, (precision + gained - lost - value) / n_hits, -lost / n_hits)


def _area_estimate(rows: Ranking, value: float, of_hits: Floats, of_alarms: Floats) -> AreaEstimate:
    """Return an area from its derivatives by the weight of a row of the class, or of another, per step."""
    positives, negatives = rows.rows
    slopes = np.where(
        rows.positive,
        of_hits[rows.step_of_row] * _small_sample_correction(positives),
        of_alarms[rows.step_of_row] * _small_sample_correction(negatives),
    )
    parts = np.empty(len(slopes))
    parts[rows.order] = slopes * rows.weights
    return AreaEstimate(min(max(value, 0.0), 1.0), parts, min(positives, negatives))


def _step_midpoints(sums: Floats) -> Floats:
    return sums - np.diff(sums, prepend=0.0) / 2.0


def _reverse_cumulative_sum(values: Floats) -> Floats:
    return np.cumsum(values[::-1])[::-1]


def _small_sample_correction(rows: float) -> float:
    return float(np.sqrt(rows / (rows - 1.0))) if rows > 1.0 else 1.0


def _effective_size(weights: Floats) -> float:
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


AREA_NAMES = ("roc_area", "pr_area")
UNDEFINED_AREAS = (Measure(AREA_NAMES[0], np.nan), Measure(AREA_NAMES[1], np.nan))


@dataclass(frozen=True, eq=False)
class RankingAreas:
    """Per class and over all of them: (ROC, PR); nan for a class without rows, or without others.

    Over all of two classes the areas are those of the second, of more the mean over those that have one.
    """

    per_class: tuple[tuple[Measure, Measure], ...]
    overall: tuple[Measure, Measure]
    curves: tuple[ClassCurves, ...]


def ranking_areas(held: RetainedRows, classes: Sequence[Any], level: float) -> RankingAreas:
    """Rank the rows held by the score of each class that occurs."""
    n_classes = len(classes)
    labels, weights = held.true_codes, held.weights
    rows = np.bincount(labels[labels >= 0], minlength=n_classes)
    drawn = set(np.argsort(-rows, kind="stable")[:MAX_CURVES].tolist())
    sums = (_AreaMean(), _AreaMean())
    per_class: list[tuple[Measure, Measure]] = [UNDEFINED_AREAS] * n_classes
    curves: list[ClassCurves] = []

    # A function, so that what ranks millions of rows is gone before the next class.
    def rank(code: int) -> None:
        order = rank_rows(held.class_scores(code), labels == code, weights)
        if order.is_defined:
            roc = sums[0].add(AREA_NAMES[0], roc_area(order), level)
            per_class[code] = (roc, sums[1].add(AREA_NAMES[1], pr_area(order), level))
            if code in drawn:
                curves.append(class_curves(classes[code], code, order))

    for code in np.flatnonzero(rows).tolist():
        rank(code)
    overall = per_class[1] if n_classes == 2 else (sums[0].mean(AREA_NAMES[0]), sums[1].mean(AREA_NAMES[1]))
    return RankingAreas(tuple(per_class), overall, tuple(curves))


class _AreaMean:
    """The areas of several classes on the same rows, whose errors hang together."""

    def __init__(self) -> None:
        self._measures: list[Measure] = []
        self._independent_variance = 0.0
        self._row_influences: Floats | float = 0.0

    def add(self, name: str, area: AreaEstimate, level: float) -> Measure:
        """Return the measure of an area, and count it in."""
        self._measures.append(Measure(name, *area.interval(level)))
        self._independent_variance += area.variance
        self._row_influences += area.row_influences
        return self._measures[-1]

    def mean(self, name: str) -> Measure:
        if not self._measures:
            return Measure(name, np.nan)
        together = (
            float(np.square(self._row_influences).sum()) / self._independent_variance
            if self._independent_variance > 0
            else 1.0
        )
        value, low, high = np.array([[each.value, each.low, each.high] for each in self._measures]).T
        return Measure(name, *average_share_interval(value, low, high, len(self._measures), together))


MAX_CURVES = 20  # classes whose curves are kept: those with most rows
MAX_CURVE_POINTS = 200


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Points (x, y) for falling thresholds: whoever has at least that score is given the class."""

    x: Floats
    y: Floats
    thresholds: Floats

    def to_dict(self) -> dict[str, Any]:
        """The curve for JSON."""
        columns = {"x": self.x, "y": self.y, "threshold": self.thresholds}
        return {
            name: [to_json_value(number) for number in column.tolist()] for name, column in columns.items()
        }


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """The curves of one class against the rest.

    `roc` has the share of other rows that are given the class as x and its recall as y; `precision_recall`
    has recall as x and precision as y. Points on a straight line are left out. Of more than 200 so many are
    kept that the area between them and the whole ROC curve is below 0.005; of the other the highest and the
    lowest precision in each of 99 ranges of recall.
    """

    label: Any
    code: int
    roc: ThresholdCurve
    precision_recall: ThresholdCurve

    def to_dict(self) -> dict[str, Any]:
        """Both curves for JSON."""
        return {
            "class": to_json_value(self.label),
            "roc": self.roc.to_dict(),
            "precision_recall": self.precision_recall.to_dict(),
        }


def class_curves(label: Any, code: int, rows: Ranking) -> ClassCurves:
    """The curves of a class that has rows, and others beside it."""
    return ClassCurves(label, code, _roc_curve(rows), _precision_recall_curve(rows))


def _roc_curve(rows: Ranking) -> ThresholdCurve:
    bends = (np.diff(rows.false_positives, 2) != 0) | (np.diff(rows.true_positives, 2) != 0)
    kept = np.flatnonzero(_with_ends(bends, len(rows.true_positives)))
    x = np.append(0.0, rows.false_positives[kept] / rows.false_positives[-1])
    y = np.append(0.0, rows.true_positives[kept] / rows.true_positives[-1])
    thresholds = np.append(np.inf, rows.thresholds[kept])
    if len(x) > MAX_CURVE_POINTS:
        # Both rise, so equal steps of their sum leave out little wherever the curve turns; with the point
        # before each, long straight pieces stay as they are.
        near = np.searchsorted(x + y, np.linspace(0.0, 2.0, MAX_CURVE_POINTS // 2))
        shown = np.unique(np.concatenate([near - 1, near]).clip(0, len(x) - 1))
        x, y, thresholds = x[shown], y[shown], thresholds[shown]
    return ThresholdCurve(x, y, thresholds)


def _precision_recall_curve(rows: Ranking) -> ThresholdCurve:
    moves = np.diff(rows.true_positives) != 0
    kept = np.flatnonzero(_with_ends(moves[:-1] | moves[1:], len(rows.true_positives)))
    hits = rows.true_positives[kept]
    x, y = hits / hits[-1], hits / (hits + rows.false_positives[kept])
    thresholds = rows.thresholds[kept]
    if len(x) >= MAX_CURVE_POINTS:
        cells = np.minimum((x * (MAX_CURVE_POINTS // 2 - 1)).astype(np.int64), MAX_CURVE_POINTS // 2 - 2)
        order = np.lexsort((y, cells))
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        shown = np.unique(
            np.concatenate([order[starts], order[np.append(starts[1:], len(x)) - 1], [len(x) - 1]])
        )
        x, y, thresholds = x[shown], y[shown], thresholds[shown]
    return ThresholdCurve(np.append(0.0, x), np.append(1.0, y), np.append(np.inf, thresholds))


def _with_ends(inner: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.bool_]:
    return np.concatenate([[True], inner, [True]])[:length]
