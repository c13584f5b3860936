"""Several perceptrons in one pass over the same rows, judged on rows that were held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Ints, Mask
from weigh.learn.dataset import EncodedChunk, Progress, SourceDataset
from weigh.learn.feature_index import FeatureRows
from weigh.learn.online_training import TrainingPasses
from weigh.learn.perceptron import ESTIMATOR_NAME, PerceptronTask
from weigh.learn.perceptron_state import PerceptronState
from weigh.source import Source


@dataclass(frozen=True)
class HoldoutScore:
    """How many held-out rows a task's hypothesis was right about."""

    correct: float
    total: float

    @property
    def accuracy(self) -> float:
        """The share of rows it was right about."""
        return self.correct / self.total


@dataclass
class PerceptronCandidate:
    """A run, and after how many passes it is judged."""

    state: PerceptronState
    evaluation_passes: set[int] = field(default_factory=set)
    scores: dict[int, HoldoutScore] = field(default_factory=dict)

    def needs_pass(self, number: int) -> bool:
        """Whether the run makes the pass of this number."""
        return not self.state.converged and number < max(self.evaluation_passes)

    def evaluate(self, number: int, held: DatasetSplit) -> None:
        """Judge the run after a pass, if it is due; one that has converged, for all passes to come."""
        due = [n for n in self.evaluation_passes if n == number + 1 or (self.state.converged and n > number)]
        if due:
            self.scores |= dict.fromkeys(due, _evaluate_state(self.state, held))


def evaluate_on_holdout(
    tasks: Sequence[PerceptronTask],
    source: Source,
    held_out: float,
    seed: int,
    progress: Progress | None = None,
) -> list[HoldoutScore]:
    """Train tasks of the same columns side by side on a part of the rows; return how they judge the rest.

    Tasks that differ only in `max_iter` are one run, judged on its way.
    """
    reading = SourceDataset.read(tasks[0].schema, source, progress)
    classes = tasks[0].find_classes(reading)
    learned, held = (DatasetSplit(reading, seed, held_out, held) for held in (False, True))
    if not learned.n_rows or not held.n_rows:
        raise errors.DataError(
            f"{reading.n_rows:,} rows are too few to hold some out. Give more, or another validation share."
        )
    entrants: dict[Any, dict[Any, PerceptronCandidate]] = {}
    for task in tasks:
        group = entrants.setdefault(_ordering_key(task), {})
        group.setdefault(task.settings, PerceptronCandidate(PerceptronState(task.settings, classes)))
        group[task.settings].evaluation_passes.add(task.max_iter)
    weights = {repr(task.class_weight): task.class_weight for task in tasks}
    passes = {
        key: TrainingPasses(learned, classes, weight, ESTIMATOR_NAME) for key, weight in weights.items()
    }
    for number in range(max(task.max_iter for task in tasks)):
        going = [
            _train_pass(list(group.values()), passes[weight], shuffled_by, number, held)
            for (shuffled_by, weight), group in entrants.items()
        ]
        if not any(going):
            break
    return [entrants[_ordering_key(task)][task.settings].scores[task.max_iter] for task in tasks]


def _ordering_key(task: PerceptronTask) -> tuple[int | None, str]:
    """What runs must share to see the same examples in the same order."""
    return task.seed if task.shuffle else None, repr(task.class_weight)


def _train_pass(
    entrants: list[PerceptronCandidate],
    passes: TrainingPasses,
    seed: int | None,
    number: int,
    held: DatasetSplit,
) -> bool:
    """Make one pass over the rows, in which all runs learn side by side; tell whether any went on."""
    going = [entrant for entrant in entrants if entrant.needs_pass(number)]
    if not going:
        return False
    for entrant in going:
        entrant.state.begin_pass()
    for examples, order in passes.examples(seed, number):
        for entrant in going:
            entrant.state.learn(examples, order, held.feature_index.width)
    for entrant in going:
        entrant.evaluate(number, held)
    return True


def _evaluate_state(run: PerceptronState, held: DatasetSplit) -> HoldoutScore:
    width, places = held.feature_index.width, held.class_indices(run.classes)
    run.reserve_features(width)
    scores_of = _make_scorer(run, width)
    right = total = 0.0
    for chunk in held.chunks():
        scores = scores_of(chunk.rows)
        # For two classes a score of zero speaks for the second, else the first of the best has it.
        said = (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        weights = np.ones(len(said)) if chunk.weights is None else chunk.weights
        right += float(weights[said == places[chunk.targets]].sum())
        total += float(weights.sum())
    return HoldoutScore(right, total)


def _make_scorer(run: PerceptronState, width: int) -> Callable[[FeatureRows], Any]:
    """Return what gives rows their scores, or votes, by the kept hypothesis of a run."""
    record = run.record(np.arange(width, dtype=np.int32), width)
    if record is not None and run.settings.keep == "voted":
        return lambda rows: record.votes(*rows)
    found = run.weights(np.arange(width)) if record is None else record.weights(run.settings.keep)
    table, biases = np.ascontiguousarray(found[0]), found[1]

    def scores_of(rows: FeatureRows) -> Any:
        scores = np.tile(biases, (len(rows.indptr) - 1, 1))
        _core.score_sparse(rows.indptr, rows.indices, rows.values, table, scores)
        return scores

    return scores_of


class DatasetSplit:
    """The rows of a reading that are held out, or all others."""

    def __init__(self, reading: SourceDataset, seed: int, share: float, held: bool) -> None:
        self._dataset, self._seed, self._fraction, self._is_validation = reading, seed, share, held
        self.feature_index, self.is_cached = reading.feature_index, reading.is_cached
        chosen = int(is_held_out(0, reading.n_rows, seed, share).sum())
        self.n_rows = chosen if held else reading.n_rows - chosen
        self.is_weighted = reading.is_weighted

    def class_indices(self, classes: Sequence[Any]) -> Ints:
        """Return the place of every code's label among the classes."""
        return self._dataset.class_indices(classes)

    def chunks(self) -> Iterator[EncodedChunk]:
        """Return the rows, some at a time."""
        first = 0
        for chunk in self._dataset.chunks():
            chosen = is_held_out(first, len(chunk.targets), self._seed, self._fraction)
            first += len(chunk.targets)
            yield _select_rows(chunk, chosen if self._is_validation else ~chosen)


def is_held_out(first: int, n: int, seed: int, share: float) -> Mask:
    """Choose rows by their numbers alone, so that it does not matter how they are read."""
    shift = np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    with np.errstate(over="ignore"):
        numbers = np.arange(first, first + n, dtype=np.uint64) + shift
        # The mixing steps of the generator splitmix64, which spread neighbours evenly.
        mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) < np.uint64(int(share * 2**64))


def _select_rows(chunk: EncodedChunk, kept: Mask) -> EncodedChunk:
    indptr, indices, values = chunk.rows
    sizes = np.diff(indptr)
    entries = np.repeat(kept, sizes)
    within = slice(int(indptr[0]), int(indptr[-1]))
    rows = FeatureRows(
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        indices[within][entries],
        None if values is None else values[within][entries],
    )
    return EncodedChunk(rows, chunk.targets[kept], None if chunk.weights is None else chunk.weights[kept])
