"""What a trial found of one filter."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.apps.mail.evaluation.filter_run import FilterRun, Flags
from weigh.apps.mail.evaluation.mail_stream import HAM, SPAM, UNSURE
from weigh.apps.mail.evaluation.trec_measures import MEASURE_NAMES, filter_measures, one_minus_roca
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.text import to_json_value


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
    curve: tuple[FilterCurvePoint, ...]
    roc: tuple[RocPoint, ...]
    mistakes: tuple[FilterMistake, ...]

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        return self.measures[MEASURE_NAMES.index(name)]

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


def summarise_run(course: FilterRun, level: float, most: int) -> FilterResult:
    """Work out what a course shows of its filter."""
    return FilterResult(
        course.name,
        filter_measures(course, level),
        int((course.is_wrong & ~course.is_spam).sum()),
        int((course.is_wrong & course.is_spam).sum()),
        course.n_learned,
        course.judge_seconds / len(course.scores),
        course.learn_seconds / max(course.n_learned, 1),
        filter_learning_curve(course),
        roc_points(course),
        worst_mistakes(course, most),
    )


MAX_CURVE_POINTS = 40
WINDOW_SHARE = 0.1  # the share of the mails judged that a window holds


@dataclass(frozen=True)
class FilterCurvePoint:
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
        return {name: to_json_value(value) for name, value in asdict(self).items()}


def filter_learning_curve(course: FilterRun) -> tuple[FilterCurvePoint, ...]:
    """The figures of a filter at up to 40 points of its way."""
    n = len(course.scores)
    window = max(1, math.ceil(WINDOW_SHARE * n))
    stops = np.unique(np.ceil(np.linspace(0, n, MAX_CURVE_POINTS + 1)[1:])).astype(np.int64).tolist()
    return tuple(
        FilterCurvePoint(
            course.name,
            course.n_warmup + stop,
            *_error_rates(course, 0, stop),
            min(window, stop),
            *_error_rates(course, max(0, stop - window), stop),
        )
        for stop in stops
    )


def _error_rates(course: FilterRun, start: int, stop: int) -> tuple[float, float, float]:
    spam, wrong = course.is_spam[start:stop], course.is_wrong[start:stop]
    area = one_minus_roca(course.scores[start:stop], spam)
    return _percent(wrong[~spam]), _percent(wrong[spam]), 100.0 * area


def _percent(wrong: Flags) -> float:
    return 100.0 * float(wrong.mean()) if len(wrong) else math.nan


MAX_ROC_POINTS = 60


@dataclass(frozen=True)
class RocPoint:
    """Percent of ham lost, and of spam let through, at the lowest threshold that loses no more ham."""

    hm: float
    sm: float

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {"hm": self.hm, "sm": self.sm}


def roc_points(course: FilterRun) -> tuple[RocPoint, ...]:
    """The curve at up to 60 losses of ham, close together where few are lost; none with one kind alone."""
    hams = np.sort(course.scores[~course.is_spam])[::-1]
    spams = np.sort(course.scores[course.is_spam])
    if not len(hams) or not len(spams):
        return ()
    allowed = np.unique(np.append(0, np.geomspace(1, len(hams), MAX_ROC_POINTS).round().astype(np.int64)))
    # A threshold at the first ham that may not be lost: what scores no higher is delivered.
    thresholds = np.append(hams, -np.inf)[allowed]
    passed = np.searchsorted(spams, thresholds, side="right") / len(spams)
    passed[allowed == len(hams)] = 0.0
    lost = allowed / len(hams)
    return tuple(RocPoint(100.0 * x, 100.0 * y) for x, y in zip(lost.tolist(), passed.tolist(), strict=True))


@dataclass(frozen=True)
class FilterMistake:
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
            "score": to_json_value(self.score),
            "probability": to_json_value(self.probability),
            "turn": self.turn,
        }


def worst_mistakes(course: FilterRun, most: int) -> tuple[FilterMistake, ...]:
    """The ham lost with the highest scores, then the spam let through with the lowest, `most` of each."""
    lost = np.flatnonzero(course.is_wrong & ~course.is_spam)
    passed = np.flatnonzero(course.is_wrong & course.is_spam)
    by_score = (
        lost[np.argsort(-course.scores[lost], kind="stable")],
        passed[np.argsort(course.scores[passed], kind="stable")],
    )
    return tuple(_build_mistake(course, at) for places in by_score for at in _first_indices(places, most))


def _first_indices(places: npt.NDArray[np.intp], most: int) -> list[int]:
    return [int(at) for at in places[:most]]


def _build_mistake(course: FilterRun, at: int) -> FilterMistake:
    share = float(course.probabilities[at])
    verdict = SPAM if course.predicted_spam[at] else UNSURE if course.is_unsure[at] else HAM
    return FilterMistake(
        course.places[at],
        SPAM if course.is_spam[at] else HAM,
        verdict,
        float(course.scores[at]),
        None if math.isnan(share) else share,
        course.n_warmup + at + 1,
    )
