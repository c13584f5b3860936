"""ROC and precision-recall curves, with no more points than a picture can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.measures.losses import Floats
from weigh.judge.measures.ranking import Ranked
from weigh.text import plain

CURVES = 20  # classes whose curves are kept: those with most rows
POINTS = 200


@dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y) for falling thresholds: whoever has at least that score is given the class."""

    x: Floats
    y: Floats
    thresholds: Floats

    def to_dict(self) -> dict[str, Any]:
        """The curve for JSON."""
        columns = {"x": self.x, "y": self.y, "threshold": self.thresholds}
        return {name: [plain(number) for number in column.tolist()] for name, column in columns.items()}


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
    roc: Curve
    precision_recall: Curve

    def to_dict(self) -> dict[str, Any]:
        """Both curves for JSON."""
        return {
            "class": plain(self.label),
            "roc": self.roc.to_dict(),
            "precision_recall": self.precision_recall.to_dict(),
        }


def class_curves(label: Any, code: int, rows: Ranked) -> ClassCurves:
    """The curves of a class that has rows, and others beside it."""
    return ClassCurves(label, code, _roc(rows), _precision_recall(rows))


def _roc(rows: Ranked) -> Curve:
    bends = (np.diff(rows.alarms, 2) != 0) | (np.diff(rows.hits, 2) != 0)
    kept = np.flatnonzero(_with_ends(bends, len(rows.hits)))
    x = np.append(0.0, rows.alarms[kept] / rows.alarms[-1])
    y = np.append(0.0, rows.hits[kept] / rows.hits[-1])
    thresholds = np.append(np.inf, rows.thresholds[kept])
    if len(x) > POINTS:
        # Both rise, so equal steps of their sum leave out little wherever the curve turns; with the point
        # before each, long straight pieces stay as they are.
        near = np.searchsorted(x + y, np.linspace(0.0, 2.0, POINTS // 2))
        shown = np.unique(np.concatenate([near - 1, near]).clip(0, len(x) - 1))
        x, y, thresholds = x[shown], y[shown], thresholds[shown]
    return Curve(x, y, thresholds)


def _precision_recall(rows: Ranked) -> Curve:
    moves = np.diff(rows.hits) != 0
    kept = np.flatnonzero(_with_ends(moves[:-1] | moves[1:], len(rows.hits)))
    hits = rows.hits[kept]
    x, y = hits / hits[-1], hits / (hits + rows.alarms[kept])
    thresholds = rows.thresholds[kept]
    if len(x) >= POINTS:
        cells = np.minimum((x * (POINTS // 2 - 1)).astype(np.int64), POINTS // 2 - 2)
        order = np.lexsort((y, cells))
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        shown = np.unique(
            np.concatenate([order[starts], order[np.append(starts[1:], len(x)) - 1], [len(x) - 1]])
        )
        x, y, thresholds = x[shown], y[shown], thresholds[shown]
    return Curve(np.append(0.0, x), np.append(1.0, y), np.append(np.inf, thresholds))


def _with_ends(inner: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.bool_]:
    return np.concatenate([[True], inner, [True]])[:length]
