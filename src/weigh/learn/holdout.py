"""Held-out accuracy of several perceptrons trained side by side in the same passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Ints, Mask
from weigh.learn.averaging import extend_average
from weigh.learn.chunk_encoder import EncodedChunk
from weigh.learn.dataset import Progress, SourceDataset
from weigh.learn.online_training import TrainingPasses
from weigh.learn.perceptron import PerceptronTask
from weigh.learn.perceptron_state import PerceptronState
from weigh.parameters.learners import PERCEPTRON
from weigh.source.base import Source
from weigh.source.sparse_rows import SparseRows


@dataclass(frozen=True)
class HoldoutScore:
    """The weight of the correctly predicted held-out rows and of all of them."""

    correct: float
    total: float

    @property
    def accuracy(self) -> float:
        """The weighted fraction of correct predictions."""
        return self.correct / self.total


@dataclass
class PerceptronCandidate:
    """A perceptron in training and its held-out scores after the passes in `evaluation_passes`."""

    state: PerceptronState
    evaluation_passes: set[int] = field(default_factory=set)
    scores: dict[int, HoldoutScore] = field(default_factory=dict)

    def needs_pass(self, number: int) -> bool:
        """Whether the candidate still trains in pass `number` (from 0)."""
        return not self.state.converged and number < max(self.evaluation_passes)

    def evaluate(self, number: int, passes: TrainingPasses, validation: DatasetSplit) -> None:
        """Score the candidate after pass `number` if due; after convergence, for all later passes as well."""
        width = validation.feature_index.width
        due = [n for n in self.evaluation_passes if n == number + 1 or (self.state.converged and n > number)]
        for n in sorted(due):
            extend_average(self.state, passes.rows(), width, n - number - 1 - self.state.added_passes)
            self.scores[n] = _evaluate_state(self.state, validation)


def evaluate_on_holdout(
    tasks: Sequence[PerceptronTask],
    source: Source,
    held_out: float,
    seed: int,
    progress: Progress | None = None,
) -> list[HoldoutScore]:
    """Train tasks with the same columns side by side and score them on a fraction `held_out` of the rows.

    Tasks that differ only in `max_iter` share one candidate, which is scored after several passes.
    """
    dataset = SourceDataset.read(tasks[0].schema, source, progress)
    classes = tasks[0].find_classes(dataset)
    training = DatasetSplit(dataset, seed, held_out, is_validation=False)
    validation = DatasetSplit(dataset, seed, held_out, is_validation=True)
    if not training.n_rows or not validation.n_rows:
        raise errors.DataError(
            f"{dataset.n_rows:,} rows are too few to hold some out. Give more, or another validation share."
        )
    candidates: dict[Any, dict[Any, PerceptronCandidate]] = {}
    for task in tasks:
        group = candidates.setdefault(_ordering_key(task), {})
        group.setdefault(task.settings, PerceptronCandidate(PerceptronState(task.settings, classes)))
        group[task.settings].evaluation_passes.add(task.max_passes)
    weights = {repr(task.class_weight): task.class_weight for task in tasks}
    passes = {
        key: TrainingPasses(training, classes, weight, PERCEPTRON.owner) for key, weight in weights.items()
    }
    for number in range(max(task.max_passes for task in tasks)):
        has_trained = [
            _train_pass(list(group.values()), passes[weight], order_seed, number, validation)
            for (order_seed, weight), group in candidates.items()
        ]
        if not any(has_trained):
            break
    return [candidates[_ordering_key(task)][task.settings].scores[task.max_passes] for task in tasks]


def _ordering_key(task: PerceptronTask) -> tuple[int | None, str]:
    """Return a key shared by the tasks that see the same weighted examples in the same order."""
    return task.seed if task.shuffle else None, repr(task.class_weight)


def _train_pass(
    candidates: list[PerceptronCandidate],
    passes: TrainingPasses,
    seed: int | None,
    number: int,
    validation: DatasetSplit,
) -> bool:
    """Train all unfinished candidates in one pass over the rows; return whether there were any."""
    active = [candidate for candidate in candidates if candidate.needs_pass(number)]
    if not active:
        return False
    for candidate in active:
        candidate.state.begin_pass()
    for examples, order in passes.examples(seed, number):
        for candidate in active:
            candidate.state.learn(examples, order, validation.feature_index.width)
    for candidate in active:
        candidate.evaluate(number, passes, validation)
    return True


def _evaluate_state(state: PerceptronState, validation: DatasetSplit) -> HoldoutScore:
    width, class_indices = validation.feature_index.width, validation.class_indices(state.classes)
    state.reserve_features(width)
    score = _make_scorer(state, width)
    correct = total = 0.0
    for chunk in validation.chunks():
        scores = score(chunk.rows)
        # Ties go to the second of two classes, and to the first of several.
        predicted = (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        weights = np.ones(len(predicted)) if chunk.weights is None else chunk.weights
        correct += float(weights[predicted == class_indices[chunk.targets]].sum())
        total += float(weights.sum())
    return HoldoutScore(correct, total)


def _make_scorer(state: PerceptronState, width: int) -> Callable[[SparseRows], Any]:
    """Return a function that computes the scores (or votes) of rows under the kept hypothesis."""
    record = state.record(np.arange(width, dtype=np.int32), width)
    if record is not None and state.settings.keep == "voted":
        return record.votes
    hypothesis = state.weights(np.arange(width)) if record is None else record.weights(state.settings.keep)
    table, biases = np.ascontiguousarray(hypothesis[0]), hypothesis[1]

    def score(rows: SparseRows) -> Any:
        scores = np.tile(biases, (rows.n_rows, 1))
        rows.add_product(table, scores)
        return scores

    return score


class DatasetSplit:
    """The held-out rows of a data set (`is_validation`), or all others."""

    def __init__(self, dataset: SourceDataset, seed: int, fraction: float, *, is_validation: bool) -> None:
        self._dataset, self._seed, self._fraction = dataset, seed, fraction
        self._is_validation = is_validation
        self.feature_index, self.is_cached = dataset.feature_index, dataset.is_cached
        n_held_out = int(is_held_out(0, dataset.n_rows, seed, fraction).sum())
        self.n_rows = n_held_out if is_validation else dataset.n_rows - n_held_out
        self.is_weighted = dataset.is_weighted

    def class_indices(self, classes: Sequence[Any]) -> Ints:
        """Return the index in `classes` of each label code."""
        return self._dataset.class_indices(classes)

    def chunks(self) -> Iterator[EncodedChunk]:
        """Iterate over the rows of the split, chunk by chunk."""
        first = 0
        for chunk in self._dataset.chunks():
            held_out = is_held_out(first, len(chunk.targets), self._seed, self._fraction)
            first += len(chunk.targets)
            yield _select_rows(chunk, held_out if self._is_validation else ~held_out)


def is_held_out(first: int, n: int, seed: int, fraction: float) -> Mask:
    """Return which of the rows first, …, first + n − 1 are held out.

    The choice depends only on row number and seed, so chunk sizes do not matter.
    """
    shift = np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    with np.errstate(over="ignore"):
        numbers = np.arange(first, first + n, dtype=np.uint64) + shift
        # The finaliser of the splitmix64 generator.
        mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) < np.uint64(int(fraction * 2**64))


def _select_rows(chunk: EncodedChunk, mask: Mask) -> EncodedChunk:
    weights = None if chunk.weights is None else chunk.weights[mask]
    return EncodedChunk(chunk.rows.select(mask), chunk.targets[mask], weights)
