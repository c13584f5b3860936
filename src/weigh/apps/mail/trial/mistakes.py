"""The worst mistakes of a filter: where the mails lie, and how sure it was; never what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.apps.mail.trial.contestant import HAM, SPAM, UNSURE
from weigh.apps.mail.trial.course import Course
from weigh.text import plain


@dataclass(frozen=True)
class Mistake:
    """A mail that went where it does not belong; `turn` counts the mails from 1, in their order."""

    place: str
    label: str
    verdict: str
    score: float
    probability: float | None
    turn: int

    def to_dict(self) -> dict[str, Any]:
        """The mistake for JSON."""
        return {
            "place": self.place,
            "label": self.label,
            "verdict": self.verdict,
            "score": plain(self.score),
            "probability": plain(self.probability),
            "turn": self.turn,
        }


def worst_mistakes(course: Course, most: int) -> tuple[Mistake, ...]:
    """The ham lost with the highest scores, then the spam let through with the lowest, `most` of each."""
    lost = np.flatnonzero(course.is_wrong & ~course.is_spam)
    passed = np.flatnonzero(course.is_wrong & course.is_spam)
    by_score = (
        lost[np.argsort(-course.scores[lost], kind="stable")],
        passed[np.argsort(course.scores[passed], kind="stable")],
    )
    return tuple(_mistake(course, at) for places in by_score for at in _first(places, most))


def _first(places: npt.NDArray[np.intp], most: int) -> list[int]:
    return [int(at) for at in places[:most]]


def _mistake(course: Course, at: int) -> Mistake:
    share = float(course.probabilities[at])
    verdict = SPAM if course.said_spam[at] else UNSURE if course.is_unsure[at] else HAM
    return Mistake(
        course.places[at],
        SPAM if course.is_spam[at] else HAM,
        verdict,
        float(course.scores[at]),
        None if math.isnan(share) else share,
        course.seen + at + 1,
    )
