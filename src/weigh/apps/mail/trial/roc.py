"""What a filter would let through at every loss of ham: its ROC curve as the spam field draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.apps.mail.trial.course import Course

POINTS = 60


@dataclass(frozen=True)
class RocPoint:
    """Percent of ham lost, and of spam let through, at the lowest threshold that loses no more ham."""

    hm: float
    sm: float

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {"hm": self.hm, "sm": self.sm}


def roc_points(course: Course) -> tuple[RocPoint, ...]:
    """The curve at up to 60 losses of ham, close together where few are lost; none with one kind alone."""
    hams = np.sort(course.scores[~course.is_spam])[::-1]
    spams = np.sort(course.scores[course.is_spam])
    if not len(hams) or not len(spams):
        return ()
    allowed = np.unique(np.append(0, np.geomspace(1, len(hams), POINTS).round().astype(np.int64)))
    # A threshold at the first ham that may not be lost: what scores no higher is delivered.
    thresholds = np.append(hams, -np.inf)[allowed]
    passed = np.searchsorted(spams, thresholds, side="right") / len(spams)
    passed[allowed == len(hams)] = 0.0
    lost = allowed / len(hams)
    return tuple(RocPoint(100.0 * x, 100.0 * y) for x, y in zip(lost.tolist(), passed.tolist(), strict=True))
