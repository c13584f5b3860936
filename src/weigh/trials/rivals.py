"""Compare a learner with other learners on the same folds, at a bounded cost.

A diagnosis needs to know what other learners reach on the same rows: a loss that is low compared with
guessing may still be high. Rivals are trained on at most `MAX_RIVAL_ROWS` rows of each fold of the first
repeat, fewer for wide rows and many classes. With fewer rows than the learner they are at a disadvantage, so
a rival that does better with them does better indeed. Which rivals are evaluated depends on the rows only,
never on the clock, and those that are not are recorded with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from weigh.estimators.base import BaseLearner
from weigh.estimators.bayes import NaiveBayes
from weigh.estimators.linear_model import LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import as_sparse_block
from weigh.judge.metrics.losses import Floats
from weigh.source.memory.table import rows as rows_of
from weigh.trials.candidates import LOSSES, Candidate, Experiment
from weigh.trials.learners import LEARNER_FACTORIES, is_regression
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Split, stratified_order

MIN_RIVAL_ROWS, MAX_RIVAL_ROWS = 200, 2_000  # training rows of a fold
TARGET_CELLS = 300_000  # rows × values per row × classes
MAX_CELLS = 2_000_000  # if `MIN_RIVAL_ROWS` rows have more, no rival is evaluated
MAX_TREE_COLUMNS = 100
N_SAMPLE_TEXTS = 200


@dataclass(frozen=True)
class Rival:
    """A learner to compare with: how to make it, how to use it, and the estimators that are the same."""

    name: str
    factory: Callable[[], Any]
    advice: str
    same_as: tuple[type, ...] = ()
    needs_few_columns: bool = False

    def is_suitable(self, learner: Any, loss: str) -> bool:
        """Whether this is another learner than the given one, and has the loss."""
        is_same = isinstance(learner, self.same_as)
        return not is_same and (
            not LOSSES[loss].needs_probabilities or hasattr(self.factory(), "predict_proba")
        )

    def prepare(self, learner: Any, rows: LabelledRows) -> Candidate:
        """Return this rival for rows, with the column kinds and markers of missing values of a learner."""
        rival = self.factory()
        names = {name.rpartition("__")[2]: name for name in rival.get_params()}
        stated = {name: value for name, value in learner.get_params().items() if name in SHARED_PARAMETERS}
        rival.set_params(**{names[name]: value for name, value in stated.items() if name in names})
        return Candidate.of(self.name, rival, rows)


SHARED_PARAMETERS = ("columns", "missing")
RIVALS = (
    Rival(
        "naive-bayes",
        LEARNER_FACTORIES["naive-bayes"],
        "`--learner naive-bayes` (weigh.NaiveBayes)",
        same_as=(NaiveBayes,),
    ),
    Rival(
        "logistic",
        LEARNER_FACTORIES["logistic"],
        "`--learner logistic` (weigh.LogisticRegression)",
        same_as=(LogisticRegression,),
    ),
    Rival(
        "perceptron",
        LEARNER_FACTORIES["perceptron"],
        "`--learner perceptron` (weigh.Perceptron)",
        same_as=(Perceptron,),
    ),
    Rival(
        "tree",
        LEARNER_FACTORIES["tree"],
        "scikit-learn's DecisionTreeClassifier",
        needs_few_columns=True,
    ),
)
RIVAL_ADVICE = {rival.name: rival.advice for rival in RIVALS}


@dataclass(frozen=True, eq=False)
class RivalLosses:
    """Validation losses [folds] of other learners on the first folds, and their number of training rows.

    `left_out` has the learners that could not be evaluated on all of these folds, with the reason.
    """

    losses: Mapping[str, Floats] = field(default_factory=dict)
    rows: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)


def measure_rivals(
    experiment: Experiment,
    splits: list[Split],
    size: int,
    seed: int,
    rivals: Sequence[Rival] = RIVALS,
) -> RivalLosses:
    """Return the losses of other learners if the experiment has one classifier of this library."""
    candidate, *others = experiment.candidates.values()
    learner = candidate.learner
    if others or not isinstance(learner, BaseLearner) or is_regression(learner):
        return RivalLosses()
    rivals = [rival for rival in rivals if rival.is_suitable(learner, experiment.loss)]
    row_size = RowSize.of(candidate)
    n_rows = row_size.limit_rows(size)
    left_out = {
        rival.name: reason for rival in rivals if (reason := row_size.objection(rival, n_rows)) is not None
    }
    jobs = [rival for rival in rivals if rival.name not in left_out]
    folds = [split for split in splits if split.repeat == 0]
    evaluation = _RivalEvaluation(experiment, candidate, folds, n_rows, seed)
    # One fit after the other: they have threads of their own.
    results = dict(zip((rival.name for rival in jobs), run_jobs(evaluation.losses, jobs, 1), strict=True))
    left_out |= {name: result for name, result in results.items() if isinstance(result, str)}
    losses = {name: result for name, result in results.items() if not isinstance(result, str)}
    return RivalLosses(losses, n_rows, left_out)


@dataclass(frozen=True)
class RowSize:
    """What the cost of a fit depends on: columns, values per row (a word is a value) and classes."""

    n_columns: int
    n_values: float
    n_classes: int
    has_texts: bool

    @classmethod
    def of(cls, candidate: Candidate) -> RowSize:
        """Measure the rows of a candidate in the column kinds of its learner, in any storage."""
        rows, schema = candidate.rows, candidate.prepared.columns
        is_text = [isinstance(group.kind, BagOfWordsKind) for group in schema.column_groups]
        groups = list(zip(schema.column_groups, is_text, strict=True))
        n_columns = sum(len(group.names) for group, is_words in groups if not is_words)
        n_values = int(rows.data.nnz) / max(1, len(rows)) if issparse(rows.data) else float(n_columns)
        if any(is_text):
            n_values += _words_per_row(rows, schema)
        return cls(n_columns, max(1.0, n_values), max(1, rows.n_classes), any(is_text))

    @property
    def n_cells(self) -> float:
        """Values per row times classes."""
        return self.n_values * self.n_classes

    def limit_rows(self, size: int) -> int:
        """Return the number of training rows of the rivals, fewer for wide tables and many classes."""
        return min(size, MAX_RIVAL_ROWS, max(MIN_RIVAL_ROWS, int(TARGET_CELLS / self.n_cells)))

    def objection(self, rival: Rival, n_rows: int) -> str | None:
        """Return why a rival would take too long, or None."""
        if n_rows * self.n_cells > MAX_CELLS:
            return "the rows have too many values and classes"
        if rival.needs_few_columns and self.has_texts:
            return "a text has too many words"
        if rival.needs_few_columns and self.n_columns > MAX_TREE_COLUMNS:
            return f"there are more than {MAX_TREE_COLUMNS} columns"
        return None


def _words_per_row(rows: LabelledRows, schema: Schema) -> float:
    """Return the mean number of distinct words in the texts of the first rows."""
    sample = rows.take(np.arange(min(len(rows), N_SAMPLE_TEXTS)))
    n_words = 0
    for chunk in schema.chunks(rows_of(sample.data, missing=schema.missing)):
        blocks: list[Any] = schema.encode(chunk)
        for group, block in zip(schema.column_groups, blocks, strict=True):
            if isinstance(group.kind, BagOfWordsKind):
                n_words += len(as_sparse_block(block).rows.indices)
    return n_words / max(1, len(sample))


@dataclass(frozen=True, eq=False)
class _RivalEvaluation:
    """What the evaluations of all rivals share."""

    experiment: Experiment
    candidate: Candidate
    folds: list[Split]
    n_rows: int
    seed: int

    def losses(self, rival: Rival) -> Floats | str:
        """Return the validation losses [folds] of a rival, or why it has none."""
        try:
            prepared = rival.prepare(self.candidate.learner, self.candidate.rows)
            losses = np.array([self._fold_loss(prepared, split) for split in self.folds])
        # Rows that suit the learner need not suit its rivals, whose errors are not those of the user.
        except Exception as cause:
            return f"{type(cause).__name__}: {cause}"
        return losses if np.isfinite(losses).all() else "its loss is not finite"

    def _fold_loss(self, rival: Candidate, split: Split) -> float:
        rng = np.random.default_rng([self.seed, split.repeat, split.fold])
        order = stratified_order(split.train, self.experiment.strata, rng)
        model = rival.fit(order[: self.n_rows])
        return model.mean_loss(rival.rows.take(split.test), self.experiment.loss)
