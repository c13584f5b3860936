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
    sums = (_Sum(), _Sum())
    per_class: list[tuple[Measure, Measure]] = [NOTHING] * n_classes
    curves: list[ClassCurves] = []

    # A function, so that what ranks millions of rows is gone before the next class.
    def rank(code: int) -> None:
        order = ranked(held.column(code), labels == code, weights)
        if order.is_defined:
            roc = sums[0].add(NAMES[0], roc_area(order), level)
            per_class[code] = (roc, sums[1].add(NAMES[1], pr_area(order), level))
            if code in drawn:
                curves.append(class_curves(classes[code], code, order))

    for code in np.flatnonzero(rows).tolist():
        rank(code)
    overall = per_class[1] if n_classes == 2 else (sums[0].mean(NAMES[0]), sums[1].mean(NAMES[1]))
    return Areas(tuple(per_class), overall, tuple(curves))


class _Sum:
    """The areas of several classes on the same rows, whose errors hang together."""

    def __init__(self) -> None:
        self._found: list[Measure] = []
        self._apart = 0.0
        self._parts: Floats | float = 0.0

    def add(self, name: str, area: Area, level: float) -> Measure:
        """Return the measure of an area, and count it in."""
        self._found.append(Measure(name, *area.interval(level)))
        self._apart += area.variance
        self._parts += area.parts
        return self._found[-1]

    def mean(self, name: str) -> Measure:
        if not self._found:
            return Measure(name, np.nan)
        together = float(np.square(self._parts).sum()) / self._apart if self._apart > 0 else 1.0
        value, low, high = np.array([[each.value, each.low, each.high] for each in self._found]).T
        return Measure(name, *mean_of_shares(value, low, high, len(self._found), together))
