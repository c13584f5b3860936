"""Facts about probabilities: decision thresholds, calibration, and ROC and precision–recall curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.evaluation import Evaluation
from weigh.judge.metrics.losses import UNSEEN, Floats
from weigh.judge.metrics.ranking import RankingCurves, ThresholdCurve
from weigh.judge.metrics.reliability import ReliabilityBin
from weigh.model.base import Model
from weigh.model.naive_bayes import BayesModel
from weigh.report.facts import EMPTY_CELL, format_share
from weigh.report.mistake_facts import ClassifierPredictions
from weigh.text import format_count, truncate

Bools = npt.NDArray[np.bool_]

THRESHOLD_STEPS = 100
TIE_TOLERANCE = 1e-9  # probabilities this close to one half are ties
TABLE_STEP = 5
MAX_CLASS_LENGTH = 120


@dataclass(frozen=True)
class ThresholdRow:
    """True positives, false positives, false negatives and true negatives at a threshold.

    Precision is None if the class is never predicted, recall if no row belongs to it. `counts` are the four
    counts as text, `told` the measures as a sentence.
    """

    threshold: float
    found: float
    false_alarms: float
    missed: float
    passed: float
    precision: float | None
    recall: float | None
    accuracy: float
    name: str
    counts: tuple[str, str, str, str]
    told: str


@dataclass(frozen=True)
class ThresholdFacts:
    """All thresholds from 0 to 1 in steps of 0.01, for the second of two classes.

    `sentence` says how the model itself decides. If its threshold is one half, the counts at `start` are
    those of its own predictions, so that ties are counted as the model decides them.
    """

    sentence: str
    label: str
    other: str
    rows: tuple[ThresholdRow, ...]
    start: int

    @property
    def table_rows(self) -> tuple[ThresholdRow, ...]:
        """The rows of the table, in steps of 0.05."""
        return self.rows[::TABLE_STEP]


def threshold_facts(predictions: ClassifierPredictions) -> ThresholdFacts | None:
    """Return the counts at every threshold; None unless there are two classes with probabilities."""
    if predictions.second_probability is None:
        return None
    known = predictions.true != UNSEEN
    is_positive, weight = predictions.true[known] == 1, predictions.weights[known]
    probability = predictions.second_probability[known]
    predicted = [probability >= step / THRESHOLD_STEPS for step in range(THRESHOLD_STEPS + 1)]
    model_predicted = predictions.predicted[known] == 1
    is_tie = np.abs(probability - 0.5) < TIE_TOLERANCE
    decides_at_half = bool(np.all(((probability > 0.5) == model_predicted) | is_tie))
    start = THRESHOLD_STEPS // 2
    if decides_at_half:
        predicted[start] = model_predicted
    rows = tuple(
        _threshold_row(step / THRESHOLD_STEPS, each, is_positive, weight)
        for step, each in enumerate(predicted)
    )
    first, second = (truncate(label, MAX_CLASS_LENGTH) for label in predictions.classes)
    return ThresholdFacts(_threshold_sentence(second, decides_at_half), second, first, rows, start)


def _threshold_sentence(label: str, decides_at_half: bool) -> str:
    rule = (
        f"The model predicts {label} if its probability is above one half."
        if decides_at_half
        else "The model does not decide by these probabilities alone; these are the results if it did."
    )
    return f"{rule} A lower threshold finds more such rows but raises more false alarms."


def _threshold_row(threshold: float, predicted: Bools, is_positive: Bools, weight: Floats) -> ThresholdRow:
    found, false = float(weight[predicted & is_positive].sum()), float(weight[predicted & ~is_positive].sum())
    missed = float(weight[~predicted & is_positive].sum())
    passed = float(weight[~predicted & ~is_positive].sum())
    counts = (found, false, missed, passed)
    precision = found / (found + false) if found + false else None
    recall = found / (found + missed) if found + missed else None
    accuracy = (found + passed) / sum(counts)
    shares = f"Precision {_format_optional_share(precision)}, recall {_format_optional_share(recall)}"
    first, second, third, fourth = map(format_count, counts)
    return ThresholdRow(
        threshold,
        *counts,
        precision,
        recall,
        accuracy,
        name=f"{threshold:.2f}",
        counts=(first, second, third, fourth),
        told=f"{shares}, accuracy {format_share(accuracy)}.",
    )


def _format_optional_share(share: float | None) -> str:
    return EMPTY_CELL if share is None else format_share(share)


VERDICT_SERIES = "verdict"
NOTABLE_MISCALIBRATION = 0.01  # difference between mean confidence and accuracy
MAX_CALIBRATION_ERROR = 0.03
MIN_CALIBRATION_ROWS = 50  # with fewer rows, calibration is not assessed


@dataclass(frozen=True)
class CalibrationFacts:
    """Confidence and accuracy of the predictions, overall and in bins, with a verdict.

    `remedy` says how to calibrate such a model, whether it needs it or not.
    """

    verdict: str
    stated: float
    observed: float
    sentence: str
    advice: str
    remedy: str
    bins: tuple[ReliabilityBin, ...]


def calibration_facts(evaluation: Evaluation, model: Any) -> CalibrationFacts | None:
    """Compare the confidence of predictions with their accuracy; None without probabilities."""
    bins = tuple(each for each in evaluation.reliability if each.series == VERDICT_SERIES)
    if not bins:
        return None
    rows = sum(each.rows for each in bins)
    stated = sum(each.rows * each.predicted for each in bins) / rows
    observed = sum(each.rows * each.observed for each in bins) / rows
    means = f"Its mean confidence is {format_share(stated)} and its accuracy {format_share(observed)}"
    verdict = _calibration_verdict(evaluation, rows, stated)
    remedy = _recalibration_advice(model)
    advice = f"{_VERDICT_ADVICE[verdict]}{remedy}" if _VERDICT_ADVICE[verdict] else ""
    return CalibrationFacts(
        verdict, stated, observed, f"{means}: {_VERDICT_MEANINGS[verdict]}", advice, remedy, bins
    )


def _calibration_verdict(evaluation: Evaluation, rows: float, confidence: float) -> str:
    accuracy = evaluation.measure("accuracy")
    if sum(n for _, n in evaluation.unseen) > NOTABLE_MISCALIBRATION * evaluation.n:
        return "unknown labels"
    if rows < MIN_CALIBRATION_ROWS or len(evaluation.classes) == 1:
        return "unknown"
    if confidence > accuracy.high + NOTABLE_MISCALIBRATION:
        return "overconfident"
    if confidence < accuracy.low - NOTABLE_MISCALIBRATION:
        return "underconfident"
    if evaluation.overconfidence is not None:
        return "overconfident"
    return "uneven" if evaluation.measure("calibration_error").low > MAX_CALIBRATION_ERROR else "fine"


def _recalibration_advice(model: Any) -> str:
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, Model):
        return "calibrate it on rows it was not trained on (scikit-learn's CalibratedClassifierCV)."
    if hasattr(fitted, "calibration"):
        return (
            "it was calibrated on other rows, so check the labels of these, or calibrate it again on rows "
            "like these (weigh calibrate)."
        )
    held_out = "calibrate it on rows it was not trained on (weigh calibrate)."
    if isinstance(fitted, BayesModel) and fitted.has_rows:
        return f'train it with calibration="auto" (--set calibration=auto), or {held_out}'
    return held_out


_VERDICT_MEANINGS = {
    "unknown labels": "this says little, because rows with labels unknown to the model count as errors.",
    "unknown": "there are too few rows or classes to assess its calibration.",
    "overconfident": "it is overconfident; its probabilities are too high.",
    "underconfident": "it is underconfident; it is correct more often than its probabilities say.",
    "uneven": "it is well calibrated on average, but not at every probability, as the chart shows.",
    "fine": "it is well calibrated.",
}
_VERDICT_ADVICE = {
    "unknown labels": "",
    "unknown": "",
    "overconfident": "Do not trust its probabilities, which are too high: ",
    "underconfident": "Its probabilities are too low: ",
    "uneven": "If you need probabilities, ",
    "fine": "",
}

MAX_CURVES = 5  # so that a chart stays readable
MAX_CURVE_POINTS = 60
MAX_TABLE_POINTS = 16  # approximate number of points of a curve in a table
MAX_CURVE_LABEL_LENGTH = 60


@dataclass(frozen=True)
class RankingPoint:
    """A point of a curve and its threshold."""

    x: float
    y: float
    threshold: float


@dataclass(frozen=True)
class ClassRankingCurves:
    """The ROC and precision–recall curves of one class, with the areas under them."""

    label: str
    roc_area: float
    pr_area: float
    told: tuple[str, str]
    roc: tuple[RankingPoint, ...]
    precision_recall: tuple[RankingPoint, ...]
    share: float

    @property
    def tables(self) -> tuple[tuple[str, str, tuple[RankingPoint, ...]], ...]:
        """The contents of the tables: the titles of both axes, and a sample of points of each curve."""
        return (
            ("false positive rate", "recall", _table_points(self.roc)),
            ("recall", "precision", _table_points(self.precision_recall)),
        )


@dataclass(frozen=True)
class CurveFacts:
    """The curves of the classes with the smallest ROC areas; of two classes, those of the second."""

    sentence: str
    classes: tuple[ClassRankingCurves, ...]
    left_out: int


def curve_facts(evaluation: Evaluation) -> CurveFacts | None:
    """Return the curves of an evaluation, thinned to as many points as a chart needs."""
    curves = [each for each in evaluation.curves if len(evaluation.classes) != 2 or each.code == 1]
    if not curves:
        return None
    if len(curves) > MAX_CURVES:
        curves = sorted(curves, key=lambda each: evaluation.per_class[each.code].roc_area.value)
    classes = tuple(_class_curves(evaluation, each) for each in curves[:MAX_CURVES])
    sentence = _ranking_sentence(evaluation, classes, len(curves))
    return CurveFacts(sentence, classes, len(curves) - len(classes))


def _class_curves(evaluation: Evaluation, curves: RankingCurves) -> ClassRankingCurves:
    row = evaluation.per_class[curves.code]
    areas = row.roc_area.value, row.pr_area.value
    return ClassRankingCurves(
        truncate(row.label, MAX_CURVE_LABEL_LENGTH),
        *areas,
        told=(format_share(areas[0]), format_share(areas[1])),
        roc=tuple(_thin_curve(curves.roc)),
        precision_recall=tuple(_thin_curve(curves.precision_recall)),
        share=row.support / evaluation.weight,
    )


def _thin_curve(curve: ThresholdCurve) -> Iterator[RankingPoint]:
    step = max(1, math.ceil((len(curve.x) - 1) / MAX_CURVE_POINTS))
    last = len(curve.x) - 1
    for i in sorted({*range(0, last, step), last}):
        yield RankingPoint(*(round(float(values[i]), 5) for values in (curve.x, curve.y, curve.thresholds)))


def _table_points(points: tuple[RankingPoint, ...]) -> tuple[RankingPoint, ...]:
    step = max(1, -(-len(points) // MAX_TABLE_POINTS))
    sample = points[::step]
    return sample if sample[-1] is points[-1] else (*sample, points[-1])


def _ranking_sentence(evaluation: Evaluation, classes: tuple[ClassRankingCurves, ...], n_classes: int) -> str:
    first = classes[0]
    if len(evaluation.classes) == 2:
        return (
            f"In {first.told[0]} of all pairs of a row of {first.label} and a row of the other class, the "
            f"model ranks the row of {first.label} higher (50 % is chance)."
        )
    shown = f" The {len(classes)} of {n_classes} classes with the smallest ROC areas are shown."
    text = "Each class is compared with all others together; a ROC area of 50 % is chance."
    return text + shown * (n_classes > len(classes))
