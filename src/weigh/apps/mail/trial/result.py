"""What a trial found of one filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.apps.mail.trial.course import Course
from weigh.apps.mail.trial.curve import CurvePoint, learning_curve
from weigh.apps.mail.trial.figures import NAMES, figures
from weigh.apps.mail.trial.mistakes import Mistake, worst_mistakes
from weigh.apps.mail.trial.roc import RocPoint, roc_points
from weigh.judge.measures.measure import Measure


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The figures of one filter in percent, its counts of errors, its curves, its worst mistakes, its time.

    `learned` counts the mails whose labels it was given. Seconds are per mail judged, or learned.
    """

    name: str
    measures: tuple[Measure, ...]
    ham_errors: int
    spam_errors: int
    learned: int
    judge_seconds: float
    learn_seconds: float
    curve: tuple[CurvePoint, ...]
    roc: tuple[RocPoint, ...]
    mistakes: tuple[Mistake, ...]

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        return self.measures[NAMES.index(name)]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "filter": self.name,
            "measures": [measure.to_dict() for measure in self.measures],
            "ham_errors": self.ham_errors,
            "spam_errors": self.spam_errors,
            "learned": self.learned,
            "judge_seconds_per_mail": self.judge_seconds,
            "learn_seconds_per_mail": self.learn_seconds,
            "curve": [point.to_dict() for point in self.curve],
            "roc": [point.to_dict() for point in self.roc],
            "mistakes": [mistake.to_dict() for mistake in self.mistakes],
        }


def filter_result(course: Course, level: float, most: int) -> FilterResult:
    """Work out what a course shows of its filter."""
    return FilterResult(
        course.name,
        figures(course, level),
        int((course.is_wrong & ~course.is_spam).sum()),
        int((course.is_wrong & course.is_spam).sum()),
        course.learned,
        course.judge_seconds / len(course.scores),
        course.learn_seconds / max(course.learned, 1),
        learning_curve(course),
        roc_points(course),
        worst_mistakes(course, most),
    )
