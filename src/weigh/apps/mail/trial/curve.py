"""How a filter fares while it learns: its errors up to each point, and around it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weigh.apps.mail.trial.course import Course, Flags
from weigh.apps.mail.trial.figures import one_minus_roca
from weigh.text import plain

POINTS = 40
WINDOW = 0.1  # the share of the mails judged that a window holds


@dataclass(frozen=True)
class CurvePoint:
    """Figures in percent once `seen` mails have come: over all judged so far, and over the last `window`.

    Those of no ham, or of no spam, are nan.
    """

    filter: str
    seen: int
    hm: float
    sm: float
    roca: float
    window: int
    window_hm: float
    window_sm: float
    window_roca: float

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}


def learning_curve(course: Course) -> tuple[CurvePoint, ...]:
    """The figures of a filter at up to 40 points of its way."""
    n = len(course.scores)
    window = max(1, math.ceil(WINDOW * n))
    stops = np.unique(np.ceil(np.linspace(0, n, POINTS + 1)[1:])).astype(np.int64).tolist()
    return tuple(
        CurvePoint(
            course.name,
            course.seen + stop,
            *_figures(course, 0, stop),
            min(window, stop),
            *_figures(course, max(0, stop - window), stop),
        )
        for stop in stops
    )


def _figures(course: Course, start: int, stop: int) -> tuple[float, float, float]:
    spam, wrong = course.is_spam[start:stop], course.is_wrong[start:stop]
    area = one_minus_roca(course.scores[start:stop], spam)
    return _percent(wrong[~spam]), _percent(wrong[spam]), 100.0 * area


def _percent(wrong: Flags) -> float:
    return 100.0 * float(wrong.mean()) if len(wrong) else math.nan
