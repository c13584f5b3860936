"""The evaluation result of one filter: measures, learning curve, ROC curve and worst mistakes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh.apps.mail.evaluation.filter_run import FilterRun, Flags
from weigh.apps.mail.evaluation.mail_stream import HAM, SPAM, UNSURE
from weigh.apps.mail.evaluation.trec_measures import MEASURE_NAMES, filter_measures, one_minus_roca
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.ranking import rank_rows
from weigh.result import Facts

MAX_CURVE_POINTS = 40
MAX_ROC_POINTS = 60
WINDOW_SHARE = 0.1  # size of the sliding window as a share of the judged mails


@dataclass(frozen=True, eq=False)
class FilterResult(Facts):
    """The measures of one filter in percent, its error counts, curves, worst mistakes and times.

    `learned` counts the mails whose labels it was given. The times are seconds per mail judged or learned.
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
    _json = (
        ("filter", "name"),
        "measures",
        "ham_errors",
        "spam_errors",
        "learned",
        ("judge_seconds_per_mail", "judge_seconds"),
        ("learn_seconds_per_mail", "learn_seconds"),
        "curve",
        "roc",
        "mistakes",
    )

    def measure(self, name: str) -> Measure:
        """Return the measure of that name."""
        return self.measures[MEASURE_NAMES.index(name)]


def summarise_run(run: FilterRun, level: float, most: int) -> FilterResult:
    """Summarise a filter's run, with intervals of confidence `level` and `most` mistakes of each label."""
    return FilterResult(
        run.name,
        filter_measures(run, level),
        int((run.is_wrong & ~run.is_spam).sum()),
        int((run.is_wrong & run.is_spam).sum()),
        run.n_learned,
        run.judge_seconds / len(run.scores),
        run.learn_seconds / max(run.n_learned, 1),
        filter_learning_curve(run),
        roc_points(run),
        worst_mistakes(run, most),
    )


@dataclass(frozen=True)
class FilterCurvePoint(Facts):
    """Measures in percent after `seen` mails: over all judged so far, and over the last `window` of them.

    They are nan where there is no ham or no spam.
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


def filter_learning_curve(run: FilterRun) -> tuple[FilterCurvePoint, ...]:
    """Return the measures of a filter at up to 40 points of its run."""
    n = len(run.scores)
    window = max(1, math.ceil(WINDOW_SHARE * n))
    stops = np.unique(np.ceil(np.linspace(0, n, MAX_CURVE_POINTS + 1)[1:])).astype(np.int64).tolist()
    return tuple(
        FilterCurvePoint(
            run.name,
            run.n_warmup + stop,
            *_error_rates(run, 0, stop),
            min(window, stop),
            *_error_rates(run, max(0, stop - window), stop),
        )
        for stop in stops
    )


def _error_rates(run: FilterRun, start: int, stop: int) -> tuple[float, float, float]:
    spam, wrong = run.is_spam[start:stop], run.is_wrong[start:stop]
    area = one_minus_roca(rank_rows(run.scores[start:stop], spam))
    return _percent(wrong[~spam]), _percent(wrong[spam]), 100.0 * area


def _percent(wrong: Flags) -> float:
    return 100.0 * float(wrong.mean()) if len(wrong) else math.nan


@dataclass(frozen=True)
class RocPoint(Facts):
    """The ham and the spam misclassified, in percent, at the lowest threshold that loses no more ham."""

    hm: float
    sm: float


def roc_points(run: FilterRun) -> tuple[RocPoint, ...]:
    """Return the ROC curve at up to 60 points, denser at small ham losses; empty with only one label."""
    if not run.ranking.is_defined:
        return ()
    hams, spams = run.ranking.false_positives[-1], run.ranking.true_positives[-1]
    n_lost = np.unique(np.append(0, np.geomspace(1, hams, MAX_ROC_POINTS).round()))
    hm, sm = n_lost / hams, (spams - run.ranking.true_positives_at(n_lost)) / spams
    return tuple(RocPoint(100.0 * x, 100.0 * y) for x, y in zip(hm.tolist(), sm.tolist(), strict=True))


@dataclass(frozen=True)
class FilterMistake(Facts):
    """A misclassified mail; `turn` is its position in the stream, counted from 1."""

    place: str
    label: str
    verdict: str
    score: float
    probability: float | None
    turn: int


def worst_mistakes(run: FilterRun, most: int) -> tuple[FilterMistake, ...]:
    """Return the misclassified ham with the highest scores, then the spam with the lowest, `most` of each."""
    hams = np.flatnonzero(run.is_wrong & ~run.is_spam)
    spams = np.flatnonzero(run.is_wrong & run.is_spam)
    worst_hams = hams[np.argsort(-run.scores[hams], kind="stable")][:most]
    worst_spams = spams[np.argsort(run.scores[spams], kind="stable")][:most]
    return tuple(_build_mistake(run, index) for index in [*worst_hams.tolist(), *worst_spams.tolist()])


def _build_mistake(run: FilterRun, index: int) -> FilterMistake:
    probability = float(run.probabilities[index])
    return FilterMistake(
        run.places[index],
        SPAM if run.is_spam[index] else HAM,
        SPAM if run.predicted_spam[index] else UNSURE if run.is_unsure[index] else HAM,
        float(run.scores[index]),
        None if math.isnan(probability) else probability,
        run.n_warmup + index + 1,
    )
