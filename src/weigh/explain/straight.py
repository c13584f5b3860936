"""A score over a plane that turns out to be a straight function of both coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats

NEARLY = 1e-9  # what rounding may leave, as a share of the largest score

Span = tuple[float, float]


@dataclass(frozen=True)
class Straight:
    """score = w·(x, y) + b; a positive score speaks for the second class."""

    w: tuple[float, float]
    b: float

    def score(self, x: float, y: float) -> float:
        """Return the score of a place."""
        return self.w[0] * x + self.w[1] * y + self.b

    def line(self, score: float, across: Span, up: Span) -> list[tuple[float, float]]:
        """Return the two ends of the line of one score within a box; nothing where it is outside."""
        (wx, wy), c = self.w, self.b - score
        ends = [(x, -(wx * x + c) / wy) for x in across] if wy else []
        ends += [(-(wy * y + c) / wx, y) for y in up] if wx else []
        inside = [(x, y) for x, y in ends if _within(x, across) and _within(y, up)]
        return [min(inside), max(inside)] if len(set(inside)) > 1 else []


def straight(x: Floats, y: Floats, scores: Floats) -> Straight | None:
    """Return the straight function that places have as their scores; None if it is another one."""
    if not np.isfinite(scores).all():
        return None
    middle, unit = (x.mean(), y.mean()), (np.ptp(x) or 1.0, np.ptp(y) or 1.0)
    table = np.column_stack([(x - middle[0]) / unit[0], (y - middle[1]) / unit[1], np.ones(len(x))])
    found, *_ = np.linalg.lstsq(table, scores, rcond=None)
    largest = float(np.abs(scores).max())
    if not largest or not np.abs(table @ found - scores).max() <= NEARLY * largest:
        return None
    w = float(found[0] / unit[0]), float(found[1] / unit[1])
    return Straight(w, float(found[2]) - w[0] * float(middle[0]) - w[1] * float(middle[1]))


def _within(value: float, span: Span) -> bool:
    slack = 1e-12 * (span[1] - span[0])
    return span[0] - slack <= value <= span[1] + slack
