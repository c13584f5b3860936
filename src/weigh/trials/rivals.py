"""Compare a learner with other learners on the same folds, at a bounded cost.

A diagnosis needs to know what other learners reach on the same rows: a loss that is low compared with
guessing may still be high. Rivals are trained on at most `MAX_RIVAL_ROWS` rows of each fold of the first
repeat, and are left out if a fit takes longer than `MAX_SECONDS`. With fewer rows than the learner they are
at a disadvantage, so a rival that does better with them does better indeed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from weigh import errors
from weigh.estimators.base import BaseLearner
from weigh.estimators.bayes import NaiveBayes
from weigh.estimators.linear_model import LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.features.text_kinds import BagOfWordsKind
from weigh.judge.metrics.losses import Floats
from weigh.trials.candidates import LOSSES, Candidate, Experiment
from weigh.trials.learners import LEARNER_FACTORIES, is_regression
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Split, stratified_order

MIN_RIVAL_ROWS, MAX_RIVAL_ROWS = 200, 2_000  # training rows of a fold
MAX_CELLS = 300_000  # rows × columns × classes
MAX_SECONDS = 1.0  # of the first fit; slower rivals are left out
MAX_TREE_COLUMNS = 100
RIVALS: dict[str, type] = {
    "naive-bayes": NaiveBayes,
    "logistic": LogisticRegression,
    "perceptron": Perceptron,
    "tree": type(None),
}


@dataclass(frozen=True, eq=False)
class RivalLosses:
    """Validation losses [folds] of other learners on the first folds, and their number of training rows."""

    losses: Mapping[str, Floats] = field(default_factory=dict)
    rows: int = 0


def measure_rivals(experiment: Experiment, splits: list[Split], size: int, seed: int) -> RivalLosses:
    """Return the losses of other learners if the experiment has one classifier of this library."""
    candidates = list(experiment.candidates.values())
    learner = candidates[0].learner
    if len(candidates) > 1 or not isinstance(learner, BaseLearner) or is_regression(learner):
        return RivalLosses()
    rivals = _make_rivals(candidates[0], experiment)
    evaluation = _RivalEvaluation(experiment, _limit_rows(candidates[0].rows, size), seed)
    first, *others = [split for split in splits if split.repeat == 0]
    # One fit after the other: they have threads of their own.
    results = run_jobs(evaluation.loss, [(rival, first) for rival in rivals.values()], 1)
    starts = dict(zip(rivals, results, strict=True))
    quick = [name for name, (loss, seconds) in starts.items() if np.isfinite(loss) and seconds <= MAX_SECONDS]
    jobs = [(rivals[name], split) for name in quick for split in others]
    table = np.array(run_jobs(evaluation.loss, jobs, 1)).reshape(len(quick), len(others), 2)[:, :, 0]
    losses = {name: np.append(starts[name][0], row) for name, row in zip(quick, table, strict=True)}
    measured = {name: each for name, each in losses.items() if np.isfinite(each).all()}
    return RivalLosses(measured, evaluation.n_rows)


def _limit_rows(rows: LabelledRows, size: int) -> int:
    """Return the number of training rows of the rivals, fewer for wide tables and many classes."""
    data = rows.data
    if issparse(data):
        n_columns = int(data.nnz) // max(1, len(rows))
    else:
        n_columns = int(data.shape[1]) if hasattr(data, "shape") else len(data)
    cells_per_row = max(1, n_columns) * max(1, rows.n_classes)
    return min(size, MAX_RIVAL_ROWS, max(MIN_RIVAL_ROWS, MAX_CELLS // cells_per_row))


@dataclass(frozen=True, eq=False)
class _RivalEvaluation:
    """What the evaluations of all rivals share."""

    experiment: Experiment
    n_rows: int
    seed: int

    def loss(self, job: tuple[Candidate, Split]) -> tuple[float, float]:
        """Return the validation loss of a rival on a fold and the seconds of its fit."""
        rival, split = job
        rng = np.random.default_rng([self.seed, split.repeat, split.fold])
        order = stratified_order(split.train, self.experiment.strata, rng)
        try:
            model = rival.fit(order[: self.n_rows])
            return model.mean_loss(rival.rows.take(split.test), self.experiment.loss), model.seconds
        except (errors.WeighError, ValueError):
            return np.nan, 0.0  # rows that suit the learner need not suit its rivals


def _make_rivals(candidate: Candidate, experiment: Experiment) -> dict[str, Candidate]:
    rivals: dict[str, Candidate] = {}
    for name, learner_type in RIVALS.items():
        learner = _with_settings(LEARNER_FACTORIES[name](), candidate.learner)
        needs = LOSSES[experiment.loss].needs_probabilities
        if isinstance(candidate.learner, learner_type) or (needs and not hasattr(learner, "predict_proba")):
            continue
        try:
            rival = Candidate.of(name, learner, candidate.rows)
        except (errors.WeighError, ValueError):
            continue
        if name != "tree" or _is_narrow(rival):
            rivals[name] = rival
    return rivals


def _with_settings(rival: Any, learner: Any) -> Any:
    """Return a rival with the column kinds and the markers of missing values that the learner states."""
    stated = {name: value for name, value in learner.get_params().items() if name in ("columns", "missing")}
    names = {name.rpartition("__")[2]: name for name in rival.get_params()}
    return rival.set_params(**{names[name]: value for name, value in stated.items() if name in names})


def _is_narrow(rival: Candidate) -> bool:
    """Whether a tree is quick: few columns, and no texts, which become a column per word."""
    schema: Any = rival.prepared.steps[0][1].columns
    groups = schema.column_groups
    return sum(len(group.names) for group in groups) <= MAX_TREE_COLUMNS and all(
        not isinstance(group.kind, BagOfWordsKind) for group in groups
    )


def describe_rival(name: str) -> str:
    """Return how to use a rival: on the command line, and in Python."""
    rival = RIVALS[name]
    if not issubclass(rival, BaseLearner):
        return "scikit-learn's DecisionTreeClassifier"
    return f"`--learner {name}` (weigh.{rival.__name__})"
