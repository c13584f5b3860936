"""ROC and precision-recall curves of each class against the rest, their areas, and the areas' variances.

Rows are sorted by decreasing score; equal scores form one step. With T and F the cumulative weight of the
positives and negatives down to a step, T' and F' those of the step before, and P and N the totals:

    ROC area   sum over steps of (F - F') (T + T') / 2 / (P N): the probability that a positive row
               has the higher score, a tie counting half
    PR area    sum over steps of (T - T') / P * T / (T + F): average precision

The variance of an area A is sum (w_i dA/dw_i)^2 over rows, the limit of the bootstrap over rows. Scaled by
m / (m - 1) for the m effective rows of either side, it is DeLong's variance for ROC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.immutable import ImmutablePart
from weigh.judge.metrics.accumulators import RetainedRows
from weigh.judge.metrics.confidence_intervals import Measure, average_share_interval, logit_interval
from weigh.judge.metrics.losses import Floats
from weigh.result import Facts


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows by decreasing score, and the cumulative weights of positives and negatives at each step."""

    order: npt.NDArray[np.int64]
    step_of_row: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    weights: Floats
    thresholds: Floats
    true_positives: Floats
    false_positives: Floats

    @property
    def is_defined(self) -> bool:
        """Whether there are positives and negatives."""
        return bool(self.true_positives[-1] > 0 and self.false_positives[-1] > 0)

    @property
    def effective_rows(self) -> tuple[float, float]:
        """The effective number of positives and of negatives."""
        return _effective_size(self.weights[self.positive]), _effective_size(self.weights[~self.positive])

    def true_positives_at(self, false_positives: npt.ArrayLike) -> Floats:
        """Return the true positives at the lowest thresholds with at most so many false positives."""
        steps = np.searchsorted(self.false_positives, false_positives, side="right")
        return np.asarray(np.append(0.0, self.true_positives)[steps])


@dataclass(frozen=True, eq=False)
class AreaEstimate:
    """An area with the influence of each row [n], in the original order of the rows."""

    value: float
    row_influences: Floats
    effective_rows: float

    @property
    def variance(self) -> float:
        """The variance of the area."""
        return float(np.square(self.row_influences).sum())

    def interval(self, level: float) -> tuple[float, float, float]:
        """Return the area with its limits."""
        return self.value, *logit_interval(self.value, self.variance, self.effective_rows, level)


def rank_rows(scores: Floats, positive: npt.NDArray[np.bool_], weights: Floats | None = None) -> Ranking:
    """Sort rows of positive weight by decreasing score."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores)
    sorted_scores, is_positive, weight = scores[order], positive[order], weights[order]
    starts = np.append(0, np.flatnonzero(sorted_scores[1:] != sorted_scores[:-1]) + 1)
    ends = np.append(starts[1:], len(sorted_scores)) - 1
    step = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(sorted_scores))))
    tp, fp = np.cumsum(weight * is_positive)[ends], np.cumsum(weight * ~is_positive)[ends]
    return Ranking(order, step, is_positive, weight, sorted_scores[ends], tp, fp)


def roc_area(ranking: Ranking) -> AreaEstimate:
    """Return the area under the ROC curve, with DeLong's components as row influences."""
    tp, fp = ranking.true_positives, ranking.false_positives
    middle_tp, middle_fp = _step_midpoints(tp), _step_midpoints(fp)
    value = float((np.diff(fp, prepend=0.0) * middle_tp).sum() / (tp[-1] * fp[-1]))
    positive_slopes = (1.0 - middle_fp / fp[-1] - value) / tp[-1]
    negative_slopes = (middle_tp / tp[-1] - value) / fp[-1]
    return _area_estimate(ranking, value, positive_slopes, negative_slopes)


def pr_area(ranking: Ranking) -> AreaEstimate:
    """Return the average precision."""
    tp, n_predicted = ranking.true_positives, ranking.true_positives + ranking.false_positives
    new, precision = np.diff(tp, prepend=0.0), tp / n_predicted
    value = float((new * precision).sum() / tp[-1])
    gain = _reverse_cumulative_sum(new / n_predicted)
    loss = _reverse_cumulative_sum(new / n_predicted * precision)
    return _area_estimate(ranking, value, (precision + gain - loss - value) / tp[-1], -loss / tp[-1])


def _area_estimate(
    ranking: Ranking, value: float, positive_slopes: Floats, negative_slopes: Floats
) -> AreaEstimate:
    """Return an area from its derivatives by the weight of a positive or a negative row, per step."""
    n_positives, n_negatives = ranking.effective_rows
    slopes = np.where(
        ranking.positive,
        positive_slopes[ranking.step_of_row] * _small_sample_correction(n_positives),
        negative_slopes[ranking.step_of_row] * _small_sample_correction(n_negatives),
    )
    influences = np.empty(len(slopes))
    influences[ranking.order] = slopes * ranking.weights
    return AreaEstimate(min(max(value, 0.0), 1.0), influences, min(n_positives, n_negatives))


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
    """The (ROC, PR) areas per class and overall; nan for a class that has no rows or all rows.

    Overall means the second class if there are two, otherwise the mean over the classes with an area.
    """

    per_class: tuple[tuple[Measure, Measure], ...]
    overall: tuple[Measure, Measure]
    curves: tuple[RankingCurves, ...]


def ranking_areas(rows: RetainedRows, classes: Sequence[Any], level: float) -> RankingAreas:
    """Return the areas of every class that occurs, and the curves of the most frequent ones."""
    n_classes = len(classes)
    labels, weights = rows.true_codes, rows.weights
    class_rows = np.bincount(labels[labels >= 0], minlength=n_classes)
    with_curves = set(np.argsort(-class_rows, kind="stable")[:MAX_CURVES].tolist())
    means = (_AreaMean(), _AreaMean())
    per_class: list[tuple[Measure, Measure]] = [UNDEFINED_AREAS] * n_classes
    curves: list[RankingCurves] = []

    # A function, so that the ranking of millions of rows is freed before the next class.
    def rank(code: int) -> None:
        ranking = rank_rows(rows.class_scores(code), labels == code, weights)
        if ranking.is_defined:
            roc = means[0].add(AREA_NAMES[0], roc_area(ranking), level)
            per_class[code] = (roc, means[1].add(AREA_NAMES[1], pr_area(ranking), level))
            if code in with_curves:
                curves.append(ranking_curves(classes[code], code, ranking))

    for code in np.flatnonzero(class_rows).tolist():
        rank(code)
    overall = per_class[1] if n_classes == 2 else (means[0].mean(AREA_NAMES[0]), means[1].mean(AREA_NAMES[1]))
    return RankingAreas(tuple(per_class), overall, tuple(curves))


class _AreaMean:
    """The mean of the areas of several classes, which are correlated because they share the rows."""

    def __init__(self) -> None:
        self._measures: list[Measure] = []
        self._independent_variance = 0.0
        self._row_influences: Floats | float = 0.0

    def add(self, name: str, area: AreaEstimate, level: float) -> Measure:
        """Include an area in the mean, and return it as a measure."""
        self._measures.append(Measure(name, *area.interval(level)))
        self._independent_variance += area.variance
        self._row_influences += area.row_influences
        return self._measures[-1]

    def mean(self, name: str) -> Measure:
        if not self._measures:
            return Measure(name, np.nan)
        inflation = 1.0
        if self._independent_variance > 0:
            inflation = float(np.square(self._row_influences).sum()) / self._independent_variance
        value, low, high = np.array([[area.value, area.low, area.high] for area in self._measures]).T
        return Measure(name, *average_share_interval(value, low, high, len(self._measures), inflation))


MAX_CURVES = 20  # only the classes with most rows keep their curves
MAX_CURVE_POINTS = 200


@dataclass(frozen=True, eq=False)
class ThresholdCurve(Facts, ImmutablePart):
    """Points (x, y) for decreasing thresholds: rows scoring at least the threshold are predicted positive."""

    x: Floats
    y: Floats
    thresholds: Floats
    _json = ("x", "y", ("threshold", "thresholds"))


@dataclass(frozen=True, eq=False)
class RankingCurves(Facts, ImmutablePart):
    """The curves of one class against the rest.

    `roc` has the false positive rate as x and recall as y; `precision_recall` has recall as x and precision
    as y. Collinear points are dropped. Curves of more than 200 points are thinned: ROC so that the area
    between the two curves stays below 0.005, precision-recall to the highest and lowest precision in each of
    99 intervals of recall.
    """

    label: Any
    code: int
    roc: ThresholdCurve
    precision_recall: ThresholdCurve
    _json = (("class", "label"), "roc", "precision_recall")


def ranking_curves(label: Any, code: int, ranking: Ranking) -> RankingCurves:
    """Return the curves of a class that has positive and negative rows."""
    return RankingCurves(label, code, _roc_curve(ranking), _precision_recall_curve(ranking))


def _roc_curve(ranking: Ranking) -> ThresholdCurve:
    tp, fp = ranking.true_positives, ranking.false_positives
    kept = np.flatnonzero(_with_ends((np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0), len(tp)))
    x, y = np.append(0.0, fp[kept] / fp[-1]), np.append(0.0, tp[kept] / tp[-1])
    thresholds = np.append(np.inf, ranking.thresholds[kept])
    if len(x) > MAX_CURVE_POINTS:
        # Both coordinates increase, so equal steps of x + y follow the curve closely; the point before each
        # one preserves long straight pieces.
        near = np.searchsorted(x + y, np.linspace(0.0, 2.0, MAX_CURVE_POINTS // 2))
        sample = np.unique(np.concatenate([near - 1, near]).clip(0, len(x) - 1))
        x, y, thresholds = x[sample], y[sample], thresholds[sample]
    return ThresholdCurve(x, y, thresholds)


def _precision_recall_curve(ranking: Ranking) -> ThresholdCurve:
    moves = np.diff(ranking.true_positives) != 0
    kept = np.flatnonzero(_with_ends(moves[:-1] | moves[1:], len(ranking.true_positives)))
    tp = ranking.true_positives[kept]
    x, y = tp / tp[-1], tp / (tp + ranking.false_positives[kept])
    thresholds = ranking.thresholds[kept]
    if len(x) >= MAX_CURVE_POINTS:
        cells = np.minimum((x * (MAX_CURVE_POINTS // 2 - 1)).astype(np.int64), MAX_CURVE_POINTS // 2 - 2)
        order = np.lexsort((y, cells))
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        ends = np.append(starts[1:], len(x)) - 1
        sample = np.unique(np.concatenate([order[starts], order[ends], [len(x) - 1]]))
        x, y, thresholds = x[sample], y[sample], thresholds[sample]
    return ThresholdCurve(np.append(0.0, x), np.append(1.0, y), np.append(np.inf, thresholds))


def _with_ends(inner: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.bool_]:
    return np.concatenate([[True], inner, [True]])[:length]
