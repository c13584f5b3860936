"""ROC and PR areas of all classes, each against the rest, with their curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.measures.curves import CURVES, ClassCurves, class_curves
from weigh.judge.measures.held import Held
from weigh.judge.measures.intervals import mean_of_shares
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.judge.measures.ranking import Area, pr_area, ranked, roc_area

NAMES = ("roc_area", "pr_area")
NOTHING = (Measure(NAMES[0], np.nan), Measure(NAMES[1], np.nan))


@dataclass(frozen=True, eq=False)
class Areas:
    """Per class and over all of them: (ROC, PR); nan for a class without rows, or without others.

    Over all of two classes the areas are those of the second, of more the mean over those that have one.
    """

    per_class: tuple[tuple[Measure, Measure], ...]
    overall: tuple[Measure, Measure]
    curves: tuple[ClassCurves, ...]


def areas_of(held: Held, classes: Sequence[Any], level: float) -> Areas:
    """Rank the rows held by the score of each class that occurs."""
    n_classes = len(classes)
    labels, weights = held.truth, held.weights
    rows = np.bincount(labels[labels >= 0], minlength=n_classes)
    drawn = set(np.argsort(-rows, kind="stable")[:CURVES].tolist())
    sums = [_Sum(len(labels)) for _ in NAMES]
    per_class, curves = [NOTHING] * n_classes, []
    for code in np.flatnonzero(rows).tolist():
        order = ranked(held.column(code), labels == code, weights)
        if not order.is_defined:
            continue
        areas = (roc_area(order), pr_area(order))
        roc, pr = (Measure(name, *area.interval(level)) for name, area in zip(NAMES, areas, strict=True))
        per_class[code] = (roc, pr)
        for total, area, measure in zip(sums, areas, (roc, pr), strict=True):
            total.add(area, measure)
        if code in drawn:
            curves.append(class_curves(classes[code], code, order))
    overall = per_class[1] if n_classes == 2 else (sums[0].mean(NAMES[0]), sums[1].mean(NAMES[1]))
    return Areas(tuple(per_class), overall, tuple(curves))


class _Sum:
    """The areas of several classes on the same rows, whose errors hang together."""

    def __init__(self, n: int) -> None:
        self._found: list[Measure] = []
        self._apart = 0.0
        self._parts: Floats = np.zeros(n)

    def add(self, area: Area, measure: Measure) -> None:
        self._found.append(measure)
        self._apart += area.variance
        self._parts += area.parts

    def mean(self, name: str) -> Measure:
        if not self._found:
            return Measure(name, np.nan)
        together = float(np.square(self._parts).sum()) / self._apart if self._apart > 0 else 1.0
        value, low, high = np.array([[each.value, each.low, each.high] for each in self._found]).T
        return Measure(name, *mean_of_shares(value, low, high, len(self._found), together))
