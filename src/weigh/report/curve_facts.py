"""ROC and precision-recall curves of the classes, each against the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.judge import Evaluation
from weigh.judge.measures.curves import ClassCurves, Curve
from weigh.report.wording import share
from weigh.text import cut

MOST_CLASSES = 5  # curves that one picture can tell apart
POINTS = 60
LISTED = 16  # points of a curve in a table, about
NAME = 60


@dataclass(frozen=True)
class Point:
    """A point of a curve and the threshold it belongs to."""

    x: float
    y: float
    threshold: float


@dataclass(frozen=True)
class ClassCurve:
    """Both curves of one class, with the areas below them."""

    label: str
    roc_area: float
    pr_area: float
    told: tuple[str, str]
    roc: tuple[Point, ...]
    precision_recall: tuple[Point, ...]
    share: float

    @property
    def listed(self) -> tuple[tuple[str, str, tuple[Point, ...]], ...]:
        """What stands in the tables: the names of both shares, and some points of the curve."""
        return (
            ("share of other rows", "recall", _some(self.roc)),
            ("recall", "precision", _some(self.precision_recall)),
        )


@dataclass(frozen=True)
class CurveFacts:
    """The curves of the classes that are ranked worst; of two classes those of the second."""

    sentence: str
    classes: tuple[ClassCurve, ...]
    left_out: int


def curve_facts(found: Evaluation) -> CurveFacts | None:
    """Take the curves of an evaluation, with as many points as a picture needs."""
    shown = [each for each in found.curves if len(found.classes) != 2 or each.code == 1]
    if not shown:
        return None
    if len(shown) > MOST_CLASSES:
        shown = sorted(shown, key=lambda each: found.per_class[each.code].roc_area.value)
    classes = tuple(_of_class(found, each) for each in shown[:MOST_CLASSES])
    return CurveFacts(_sentence(found, classes, len(shown)), classes, len(shown) - len(classes))


def _of_class(found: Evaluation, curves: ClassCurves) -> ClassCurve:
    row = found.per_class[curves.code]
    areas = row.roc_area.value, row.pr_area.value
    told = share(areas[0]), share(areas[1])
    roc, pr = (tuple(_points(each)) for each in (curves.roc, curves.precision_recall))
    return ClassCurve(cut(row.label, NAME), *areas, told, roc, pr, row.support / found.weight)


def _points(curve: Curve) -> Iterator[Point]:
    step = max(1, math.ceil((len(curve.x) - 1) / POINTS))
    last = len(curve.x) - 1
    for at in sorted({*range(0, last, step), last}):
        yield Point(*(round(float(each[at]), 5) for each in (curve.x, curve.y, curve.thresholds)))


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    step = max(1, -(-len(points) // LISTED))
    chosen = points[::step]
    return chosen if chosen[-1] is points[-1] else (*chosen, points[-1])


def _sentence(found: Evaluation, classes: tuple[ClassCurve, ...], all_classes: int) -> str:
    first = classes[0]
    if len(found.classes) == 2:
        return (
            f"Of two rows, one of {first.label} and one of the other class, the model ranks the row of "
            f"{first.label} above the other in {first.told[0]} of such pairs (50 % is guessing)."
        )
    drawn = f" Of {all_classes} classes the {len(classes)} with the smallest ROC areas are drawn."
    told = "Each class is weighed against all others together; a ROC area of 50 % is guessing."
    return told + drawn * (all_classes > len(classes))
