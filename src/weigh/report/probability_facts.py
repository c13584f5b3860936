"""What other decision thresholds would do, of two classes: counts and shares, worked out beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge import Evaluation
from weigh.judge.metrics.losses import UNSEEN, Floats
from weigh.judge.metrics.ranking import ClassCurves, ThresholdCurve
from weigh.model import Model
from weigh.report.facts import EMPTY_CELL, format_share
from weigh.report.mistake_facts import ClassifierPredictions
from weigh.text import format_count, truncate

Bools = npt.NDArray[np.bool_]

THRESHOLD_STEPS = 100
TIE_TOLERANCE = 1e-9  # how far from one half a tie may be written
TABLE_STEP = 5
MAX_CLASS_LENGTH = 120


@dataclass(frozen=True)
class ThresholdRow:
    """Rows found, false alarms, missed and rightly passed when the class is said from `threshold` on.

    Precision is None where the class is never said, recall where no row is of it. `counts` are the four
    counts as texts, `told` the shares in a sentence.
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
    """All thresholds from 0 to 1 in steps of a hundredth, for the second of two classes.

    `sentence` tells how the model itself decides; at `start` its own verdicts are counted, if they follow
    from one half, so that a tie counts as it was decided.
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


def threshold_facts(answers: ClassifierPredictions) -> ThresholdFacts | None:
    """Count what every threshold would say; None unless there are two classes with probabilities."""
    if answers.second_probability is None:
        return None
    known = answers.true != UNSEEN
    truly, given, weight = answers.true[known] == 1, answers.second_probability[known], answers.weights[known]
    said = [given >= step / THRESHOLD_STEPS for step in range(THRESHOLD_STEPS + 1)]
    verdicts = answers.predicted[known] == 1
    by_half = bool(np.all(((given > 0.5) == verdicts) | (np.abs(given - 0.5) < TIE_TOLERANCE)))
    start = THRESHOLD_STEPS // 2
    if by_half:
        said[start] = verdicts
    rows = tuple(
        _threshold_row(step / THRESHOLD_STEPS, each, truly, weight) for step, each in enumerate(said)
    )
    first, second = (truncate(label, MAX_CLASS_LENGTH) for label in answers.classes)
    return ThresholdFacts(_threshold_sentence(second, by_half), second, first, rows, start)


def _threshold_sentence(label: str, by_half: bool) -> str:
    own = (
        f"The model says {label} when its probability is more than one half."
        if by_half
        else "The model decides otherwise than by these probabilities; here is what they would decide."
    )
    return f"{own} A lower threshold finds more such rows and raises more false alarms."


def _threshold_row(threshold: float, said: Bools, truly: Bools, weight: Floats) -> ThresholdRow:
    found, false = float(weight[said & truly].sum()), float(weight[said & ~truly].sum())
    missed, passed = float(weight[~said & truly].sum()), float(weight[~said & ~truly].sum())
    counts = (found, false, missed, passed)
    precision = found / (found + false) if found + false else None
    recall = found / (found + missed) if found + missed else None
    accuracy = (found + passed) / sum(counts)
    told = f"Precision {_format_optional_share(precision)}, recall {_format_optional_share(recall)}, accuracy {format_share(accuracy)}."
    first, second, third, fourth = map(format_count, counts)
    texts = f"{threshold:.2f}", (first, second, third, fourth), told
    return ThresholdRow(threshold, *counts, precision, recall, accuracy, *texts)


def _format_optional_share(number: float | None) -> str:
    return EMPTY_CELL if number is None else format_share(number)


VERDICT_SERIES = "verdict"
NOTABLE_MISCALIBRATION = 0.01  # a difference of stated and observed shares that is worth a word
MAX_CALIBRATION_ERROR = 0.03
MIN_CALIBRATION_ROWS = 50  # rows below which nothing is said


@dataclass(frozen=True)
class CalibrationBin:
    """Rows of about the same stated probability: what was stated on average, and what was observed."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class CalibrationFacts:
    """How sure the model is of its verdicts and how often they are right, bin by bin and in words.

    `remedy` tells how probabilities of such a model are set right, whether they need it or not.
    """

    verdict: str
    stated: float
    observed: float
    sentence: str
    advice: str
    remedy: str
    bins: tuple[CalibrationBin, ...]


def calibration_facts(found: Evaluation, model: Any) -> CalibrationFacts | None:
    """Compare how sure verdicts are with how often they are right; None without probabilities."""
    bins = tuple(
        CalibrationBin(each.predicted, each.observed, each.low, each.high, float(each.rows))
        for each in found.reliability
        if each.series == VERDICT_SERIES
    )
    if not bins:
        return None
    rows = sum(each.rows for each in bins)
    stated = sum(each.rows * each.predicted for each in bins) / rows
    observed = sum(each.rows * each.observed for each in bins) / rows
    told = f"On average it is {format_share(stated)} sure of its verdicts and right on {format_share(observed)} of them"
    verdict = _calibration_verdict(found, rows, stated)
    remedy = _recalibration_advice(model)
    advice = f"{_VERDICT_ADVICE[verdict]}{remedy}" if _VERDICT_ADVICE[verdict] else ""
    return CalibrationFacts(
        verdict, stated, observed, f"{told}: {_VERDICT_MEANINGS[verdict]}", advice, remedy, bins
    )


def _calibration_verdict(found: Evaluation, rows: float, stated: float) -> str:
    accuracy = found.measure("accuracy")
    if sum(each for _, each in found.unseen) > NOTABLE_MISCALIBRATION * found.n:
        return "strangers"
    if rows < MIN_CALIBRATION_ROWS or len(found.classes) == 1:
        return "unknown"
    if stated > accuracy.high + NOTABLE_MISCALIBRATION:
        return "over-sure"
    if stated < accuracy.low - NOTABLE_MISCALIBRATION:
        return "under-sure"
    return "uneven" if found.measure("calibration_error").low > MAX_CALIBRATION_ERROR else "fine"


def _recalibration_advice(model: Any) -> str:
    """How probabilities of such a model are set right."""
    ours = getattr(model, "model_", model)
    if not isinstance(ours, Model):
        return "calibrate them on rows it has not learned from (CalibratedClassifierCV of scikit-learn)."
    if hasattr(ours, "calibration"):
        return (
            "it was calibrated on other rows, so check the labels of these, or calibrate it again on rows "
            "like these (weigh calibrate)."
        )
    return "calibrate them on rows it has not learned from (weigh calibrate)."


_VERDICT_MEANINGS = {
    "strangers": "but rows whose labels it does not know count as errors, so this says little.",
    "unknown": "too few rows or classes to tell whether its probabilities mean what they say.",
    "over-sure": "it is over-sure, and its probabilities promise too much.",
    "under-sure": "it is under-sure, and right more often than it says.",
    "uneven": "about right on the whole, but not at every probability, as the picture shows.",
    "fine": "its probabilities mean what they say.",
}
_VERDICT_ADVICE = {
    "strangers": "",
    "unknown": "",
    "over-sure": "Do not take its probabilities at their word: ",
    "under-sure": "Its probabilities are too modest: ",
    "uneven": "Where probabilities matter, ",
    "fine": "",
}

MAX_CURVES = 5  # curves that one picture can tell apart
MAX_CURVE_POINTS = 60
MAX_TABLE_POINTS = 16  # points of a curve in a table, about
MAX_CURVE_LABEL_LENGTH = 60


@dataclass(frozen=True)
class RankingPoint:
    """A point of a curve and the threshold it belongs to."""

    x: float
    y: float
    threshold: float


@dataclass(frozen=True)
class ClassRankingCurves:
    """Both curves of one class, with the areas below them."""

    label: str
    roc_area: float
    pr_area: float
    told: tuple[str, str]
    roc: tuple[RankingPoint, ...]
    precision_recall: tuple[RankingPoint, ...]
    share: float

    @property
    def tables(self) -> tuple[tuple[str, str, tuple[RankingPoint, ...]], ...]:
        """What stands in the tables: the names of both shares, and some points of the curve."""
        return (
            ("share of other rows", "recall", _table_points(self.roc)),
            ("recall", "precision", _table_points(self.precision_recall)),
        )


@dataclass(frozen=True)
class CurveFacts:
    """The curves of the classes that are ranked worst; of two classes those of the second."""

    sentence: str
    classes: tuple[ClassRankingCurves, ...]
    left_out: int


def curve_facts(found: Evaluation) -> CurveFacts | None:
    """Take the curves of an evaluation, with as many points as a picture needs."""
    shown = [each for each in found.curves if len(found.classes) != 2 or each.code == 1]
    if not shown:
        return None
    if len(shown) > MAX_CURVES:
        shown = sorted(shown, key=lambda each: found.per_class[each.code].roc_area.value)
    classes = tuple(_class_curves(found, each) for each in shown[:MAX_CURVES])
    return CurveFacts(_ranking_sentence(found, classes, len(shown)), classes, len(shown) - len(classes))


def _class_curves(found: Evaluation, curves: ClassCurves) -> ClassRankingCurves:
    row = found.per_class[curves.code]
    areas = row.roc_area.value, row.pr_area.value
    told = format_share(areas[0]), format_share(areas[1])
    roc, pr = (tuple(_thin_curve(each)) for each in (curves.roc, curves.precision_recall))
    return ClassRankingCurves(
        truncate(row.label, MAX_CURVE_LABEL_LENGTH), *areas, told, roc, pr, row.support / found.weight
    )


def _thin_curve(curve: ThresholdCurve) -> Iterator[RankingPoint]:
    step = max(1, math.ceil((len(curve.x) - 1) / MAX_CURVE_POINTS))
    last = len(curve.x) - 1
    for at in sorted({*range(0, last, step), last}):
        yield RankingPoint(*(round(float(each[at]), 5) for each in (curve.x, curve.y, curve.thresholds)))


def _table_points(points: tuple[RankingPoint, ...]) -> tuple[RankingPoint, ...]:
    step = max(1, -(-len(points) // MAX_TABLE_POINTS))
    chosen = points[::step]
    return chosen if chosen[-1] is points[-1] else (*chosen, points[-1])


def _ranking_sentence(found: Evaluation, classes: tuple[ClassRankingCurves, ...], all_classes: int) -> str:
    first = classes[0]
    if len(found.classes) == 2:
        return (
            f"Of two rows, one of {first.label} and one of the other class, the model ranks the row of "
            f"{first.label} above the other in {first.told[0]} of such pairs (50 % is guessing)."
        )
    drawn = f" Of {all_classes} classes the {len(classes)} with the smallest ROC areas are drawn."
    told = "Each class is weighed against all others together; a ROC area of 50 % is guessing."
    return told + drawn * (all_classes > len(classes))
