"""Learners on the same splits: the loss of every split, and what training and predicting cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from weigh.judge.metrics.confidence_intervals import Measure, clopper_pearson
from weigh.judge.metrics.losses import Floats
from weigh.text import to_json_value
from weigh.trials.candidates import Candidate, FittedLearner
from weigh.trials.parallel import run_jobs
from weigh.trials.resampled_t_test import CorrectedMean
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Split

TIMED_SPLITS = 3  # splits that run one at a time


@dataclass(frozen=True)
class LearnerCost:
    """Seconds of training and of predicting, per row, and the bytes of a saved model."""

    fit: float
    predict: float
    size: int | None

    def to_dict(self) -> dict[str, Any]:
        """The cost for JSON."""
        return {
            "fit_seconds_per_row": self.fit,
            "predict_seconds_per_row": self.predict,
            "model_bytes": self.size,
        }


@dataclass(frozen=True, eq=False)
class CrossValidationResult:
    """What was measured of each learner: a mean loss per split, and costs."""

    losses: Mapping[str, Floats]
    costs: Mapping[str, LearnerCost]


def cross_validate(
    learners: Mapping[str, Candidate],
    splits: Sequence[Split],
    loss: str,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> CrossValidationResult:
    """Try learners on all splits.

    The first three splits run one trial at a time, and only they are timed: trials that run side by side
    take each other's cores.
    """
    many = len(learners)
    ahead = min(len(splits), TIMED_SPLITS) * many
    jobs = [(at < ahead, *job) for at, job in enumerate(product(splits, learners))]

    def work(job: tuple[bool, Split, str]) -> tuple[float, LearnerCost]:
        is_timed, split, name = job
        with learners[name].error_context(str(split)):
            return _evaluate_split(learners[name], split, loss, is_timed)

    found = run_jobs(work, jobs, n_jobs, progress, alone=ahead)
    table = np.array([mean for mean, _ in found]).reshape(len(splits), many)
    costs = {
        name: _median_cost([cost for _, cost in found[at:ahead:many]]) for at, name in enumerate(learners)
    }
    return CrossValidationResult({name: table[:, at] for at, name in enumerate(learners)}, costs)


def _evaluate_split(tried: Candidate, split: Split, loss: str, is_timed: bool) -> tuple[float, LearnerCost]:
    held = tried.rows.take(split.test)
    model = tried.fit(split.train)
    seconds = _prediction_seconds(model, held) if is_timed else np.nan
    size = _model_bytes(model.learner) if is_timed else None
    cost = LearnerCost(model.seconds / len(split.train), seconds / len(split.test), size)
    return float(model.losses(held, loss).mean()), cost


def _prediction_seconds(model: FittedLearner, rows: LabelledRows) -> float:
    start = time.perf_counter()
    model.predict(rows)
    return time.perf_counter() - start


def _model_bytes(learner: Any) -> int | None:
    """Return the bytes of a model of ours when saved; nothing of others, which have no such file."""
    ours = getattr(learner, "model_", learner)
    return len(ours.to_bytes()) if hasattr(ours, "to_bytes") else None


def _median_cost(costs: Sequence[LearnerCost]) -> LearnerCost:
    sizes = [cost.size for cost in costs if cost.size is not None]
    return LearnerCost(
        float(np.median([cost.fit for cost in costs])),
        float(np.median([cost.predict for cost in costs])),
        int(np.median(sizes)) if sizes else None,
    )


@dataclass(frozen=True, eq=False)
class ComparisonScore:
    """A learner's mean loss with its interval, the loss of every split, and what it costs.

    `settings` are those of the learner that differ from the defaults, in words.
    """

    learner: str
    loss: Measure
    losses: Floats
    cost: LearnerCost
    is_baseline: bool = False
    settings: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The score for JSON."""
        return {
            "learner": self.learner,
            "settings": self.settings,
            "is_baseline": self.is_baseline,
            "loss": self.loss.to_dict(),
            "losses": [to_json_value(value) for value in self.losses.tolist()],
            "cost": self.cost.to_dict(),
        }


def error_rate(losses: Floats, ratio: float, rows: int, level: float) -> Measure:
    """Return the share of rows that were wrong, with the wider of two intervals.

    Folds that by chance, or because classes have the same shares in all of them, are equally wrong tell
    nothing of other rows; so the interval is no narrower than the exact one of a share of so many rows.
    """
    mean = CorrectedMean.of(losses, ratio)
    low, high = mean.interval(level)
    least, most = clopper_pearson(np.array([mean.mean * rows]), np.array([float(rows)]), level)
    return Measure(
        "zero_one", mean.mean, max(min(low, float(least[0])), 0.0), min(max(high, float(most[0])), 1.0)
    )


def mean_loss(loss: str, losses: Floats, ratio: float, level: float, is_guess: bool) -> Measure:
    """Return the mean loss with its corrected interval.

    A guess has none: classes have the same shares in all folds, so they hardly differ for it. Nor have
    losses that are the same in all folds.
    """
    mean = CorrectedMean.of(losses, ratio)
    if is_guess or mean.standard_error == 0:
        return Measure(loss, mean.mean)
    low, high = mean.interval(level)
    most = 1.0 if loss == "squared" else math.inf
    return Measure(loss, mean.mean, max(low, 0.0), min(high, most))
