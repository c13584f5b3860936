"""Learners on the same splits: the loss of every split, and what training and predicting cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from weigh.judge.measures.losses import Floats
from weigh.trials.entrant import Entrant
from weigh.trials.rows import LabelledRows
from weigh.trials.running import run
from weigh.trials.splits import Split
from weigh.trials.trial import Fitted

TIMED = 3  # splits that run one at a time


@dataclass(frozen=True)
class Cost:
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
class Trials:
    """What was measured of each learner: a mean loss per split, and costs."""

    losses: Mapping[str, Floats]
    costs: Mapping[str, Cost]


def cross_validated(
    learners: Mapping[str, Entrant],
    splits: Sequence[Split],
    loss: str,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> Trials:
    """Try learners on all splits.

    The first three splits run one trial at a time, and only they are timed: trials that run side by side
    take each other's cores.
    """
    many = len(learners)
    ahead = min(len(splits), TIMED) * many
    jobs = [(at < ahead, *job) for at, job in enumerate(product(splits, learners))]

    def work(job: tuple[bool, Split, str]) -> tuple[float, Cost]:
        is_timed, split, name = job
        with learners[name].at(str(split)):
            return _trial(learners[name], split, loss, is_timed)

    found = run(work, jobs, n_jobs, progress, alone=ahead)
    table = np.array([mean for mean, _ in found]).reshape(len(splits), many)
    costs = {name: _median([cost for _, cost in found[at:ahead:many]]) for at, name in enumerate(learners)}
    return Trials({name: table[:, at] for at, name in enumerate(learners)}, costs)


def _trial(tried: Entrant, split: Split, loss: str, is_timed: bool) -> tuple[float, Cost]:
    held = tried.rows.take(split.test)
    model = tried.fitted(split.train)
    seconds = _predicting(model, held) if is_timed else np.nan
    size = _size(model.learner) if is_timed else None
    cost = Cost(model.seconds / len(split.train), seconds / len(split.test), size)
    return float(model.losses(held, loss).mean()), cost


def _predicting(model: Fitted, rows: LabelledRows) -> float:
    start = time.perf_counter()
    model.predict(rows)
    return time.perf_counter() - start


def _size(learner: Any) -> int | None:
    """Return the bytes of a model of ours when saved; nothing of others, which have no such file."""
    ours = getattr(learner, "model_", learner)
    return len(ours.to_bytes()) if hasattr(ours, "to_bytes") else None


def _median(costs: Sequence[Cost]) -> Cost:
    sizes = [cost.size for cost in costs if cost.size is not None]
    return Cost(
        float(np.median([cost.fit for cost in costs])),
        float(np.median([cost.predict for cost in costs])),
        int(np.median(sizes)) if sizes else None,
    )
