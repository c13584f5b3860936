"""Cross-validation of several learners on the same splits: losses, and costs of training and prediction."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from weigh.immutable import ImmutablePart
from weigh.judge.metrics.confidence_intervals import Measure, proportion
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import Estimate
from weigh.result import Facts
from weigh.trials.candidates import Candidate, FittedLearner
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Split

TIMED_SPLITS = 3  # splits that run one at a time, so that they can be timed


@dataclass(frozen=True)
class LearnerCost(Facts):
    """Seconds per row of training and of prediction, and the size of the saved model in bytes."""

    fit: float
    predict: float
    size: int | None
    _json = (("fit_seconds_per_row", "fit"), ("predict_seconds_per_row", "predict"), ("model_bytes", "size"))


@dataclass(frozen=True, eq=False)
class CrossValidationResult:
    """The mean loss per split [splits] and the cost of each learner."""

    losses: Mapping[str, Floats]
    costs: Mapping[str, LearnerCost]


def cross_validate(
    learners: Mapping[str, Candidate],
    splits: Sequence[Split],
    loss: str,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> CrossValidationResult:
    """Evaluate learners on all splits.

    Only the first `TIMED_SPLITS` splits are timed. They run one fit at a time, because parallel fits compete
    for the cores.
    """
    n_learners = len(learners)
    n_timed = min(len(splits), TIMED_SPLITS) * n_learners
    jobs = [(i < n_timed, *job) for i, job in enumerate(product(splits, learners))]

    def work(job: tuple[bool, Split, str]) -> tuple[float, LearnerCost]:
        is_timed, split, name = job
        with learners[name].error_context(str(split)):
            return _evaluate_split(learners[name], split, loss, is_timed)

    results = run_jobs(work, jobs, n_jobs, progress, n_sequential=n_timed)
    table = np.array([mean for mean, _ in results]).reshape(len(splits), n_learners)
    costs = {
        name: _median_cost([cost for _, cost in results[i:n_timed:n_learners]])
        for i, name in enumerate(learners)
    }
    return CrossValidationResult({name: table[:, i] for i, name in enumerate(learners)}, costs)


def _evaluate_split(
    candidate: Candidate, split: Split, loss: str, is_timed: bool
) -> tuple[float, LearnerCost]:
    test = candidate.rows.take(split.test)
    model = candidate.fit(split.train)
    seconds = _prediction_seconds(model, test) if is_timed else np.nan
    size = _model_bytes(model.learner) if is_timed else None
    cost = LearnerCost(model.seconds / len(split.train), seconds / len(split.test), size)
    return model.mean_loss(test, loss), cost


def _prediction_seconds(model: FittedLearner, rows: LabelledRows) -> float:
    start = time.perf_counter()
    model.predict(rows)
    return time.perf_counter() - start


def _model_bytes(learner: Any) -> int | None:
    """Return the size of a saved model of this library, or None for other models."""
    model = getattr(learner, "model_", learner)
    return len(model.to_bytes()) if hasattr(model, "to_bytes") else None


def _median_cost(costs: Sequence[LearnerCost]) -> LearnerCost:
    sizes = [cost.size for cost in costs if cost.size is not None]
    return LearnerCost(
        float(np.median([cost.fit for cost in costs])),
        float(np.median([cost.predict for cost in costs])),
        int(np.median(sizes)) if sizes else None,
    )


@dataclass(frozen=True, eq=False)
class ComparisonScore(Facts, ImmutablePart):
    """A learner's mean loss with its interval, its loss on every split [splits], and its cost.

    `settings` lists the settings that differ from the defaults, as text.
    """

    learner: str
    loss: Measure
    losses: Floats
    cost: LearnerCost
    is_baseline: bool = False
    settings: str = ""


def error_rate(losses: Floats, ratio: float, n_rows: int, level: float) -> Measure:
    """Return the error rate with the union of its corrected and its Clopper–Pearson interval.

    By chance, or because folds are stratified, the error rates of the folds can agree more closely than those
    of new rows would. The interval is therefore no narrower than the exact one of a proportion of `n_rows`.
    """
    mean = Estimate.of_mean(losses, ratio)
    low, high = mean.interval(level)
    exact = proportion("zero_one", mean.mean * n_rows, n_rows, level)
    return Measure("zero_one", mean.mean, max(min(low, exact.low), 0.0), min(max(high, exact.high), 1.0))


def mean_loss(loss: str, losses: Floats, ratio: float, level: float, is_baseline: bool) -> Measure:
    """Return the mean loss with its corrected interval.

    Baselines have no interval, because their loss hardly varies between stratified folds. Neither do losses
    that are equal in all folds.
    """
    mean = Estimate.of_mean(losses, ratio)
    if is_baseline or mean.standard_error == 0:
        return Measure(loss, mean.mean)
    low, high = mean.interval(level)
    upper_bound = 1.0 if loss == "squared" else math.inf
    return Measure(loss, mean.mean, max(low, 0.0), min(high, upper_bound))
