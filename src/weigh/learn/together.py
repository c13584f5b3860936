"""Several perceptrons in one pass over the same rows, judged on rows that were held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Ints, Mask
from weigh.learn.online import OnlineRun
from weigh.learn.perceptron import Passes, PerceptronTask
from weigh.learn.reading import Encoded, Progress, Reading
from weigh.learn.space import Rows
from weigh.model.perceptron import as_classes
from weigh.source import Source


@dataclass(frozen=True)
class Judged:
    """How many held-out rows a task's hypothesis was right about."""

    right: float
    rows: float

    @property
    def accuracy(self) -> float:
        """The share of rows it was right about."""
        return self.right / self.rows


def judge_together(
    tasks: Sequence[PerceptronTask],
    source: Source,
    held_out: float,
    seed: int,
    progress: Progress | None = None,
) -> list[Judged]:
    """Train tasks of the same columns side by side on a part of the rows; return how they judge the rest.

    Tasks that differ only in `max_iter` are one run, judged on its way.
    """
    reading = Reading.of(tasks[0].schema, source, progress)
    classes = tasks[0].classes_of(reading)
    learned, held = _HeldOut(reading, seed, held_out, False), _HeldOut(reading, seed, held_out, True)
    if not learned.n_rows or not held.n_rows:
        raise errors.DataError(
            f"{reading.n_rows:,} rows are too few to hold some out. Give more, or another validation share."
        )
    entrants: dict[Any, _Entrant] = {}
    for task in tasks:
        entrant = entrants.setdefault(_run_of(task), _Entrant(task, classes, learned))
        entrant.judged_after.add(task.max_iter)
    for number in range(max(task.max_iter for task in tasks)):
        for entrant in entrants.values():
            entrant.go(number, held)
    return [entrants[_run_of(task)].judged[task.max_iter] for task in tasks]


def _run_of(task: PerceptronTask) -> Any:
    """What tells runs over the same rows apart."""
    return task.settings, task.shuffle, task.seed, repr(task.class_weight)


class _Entrant:
    """A run, and after how many passes it is judged."""

    def __init__(self, task: PerceptronTask, classes: list[Any], learned: _HeldOut) -> None:
        self._task = task
        self._run = OnlineRun(task.settings, classes)
        self._passes = Passes(learned, classes, task.class_weight)
        self.judged_after: set[int] = set()
        self.judged: dict[int, Judged] = {}

    def go(self, number: int, held: _HeldOut) -> None:
        """Make the next pass; a run that has converged is judged for all passes to come."""
        run, seed = self._run, self._task.seed if self._task.shuffle else None
        if run.converged or number >= max(self.judged_after):
            return
        run.begin_pass()
        for examples, order in self._passes.examples(seed, number):
            run.learn(examples, order, held.space.width)
        due = [n for n in self.judged_after if n == number + 1 or (run.converged and n > number)]
        if due:
            self.judged |= dict.fromkeys(due, _judged(run, held, run.classes))


class _HeldOut:
    """The rows of a reading that are held out, or all others."""

    def __init__(self, reading: Reading, seed: int, share: float, held: bool) -> None:
        self._reading, self._seed, self._share, self._held = reading, seed, share, held
        self.space, self.is_kept = reading.space, reading.is_kept
        self.n_rows = sum(len(chunk.codes) for chunk in self.chunks())

    def places(self, classes: Sequence[Any]) -> Ints:
        """Return the place of every code's label among the classes."""
        return self._reading.places(classes)

    def chunks(self) -> Iterator[Encoded]:
        """Return the rows, some at a time."""
        first = 0
        for chunk in self._reading.chunks():
            chosen = is_held_out(first, len(chunk.codes), self._seed, self._share)
            first += len(chunk.codes)
            yield _where(chunk, chosen if self._held else ~chosen)


def is_held_out(first: int, n: int, seed: int, share: float) -> Mask:
    """Choose rows by their numbers alone, so that it does not matter how they are read."""
    numbers = np.arange(first, first + n, dtype=np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15) % 2**64)
    with np.errstate(over="ignore"):
        # The mixing steps of the generator splitmix64, which spread neighbours evenly.
        mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) < np.uint64(int(share * 2**64))


def _where(chunk: Encoded, kept: Mask) -> Encoded:
    indptr, indices, values = chunk.rows
    sizes = np.diff(indptr)
    entries = np.repeat(kept, sizes)
    within = slice(int(indptr[0]), int(indptr[-1]))
    rows = Rows(
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        indices[within][entries],
        None if values is None else values[within][entries],
    )
    return Encoded(rows, chunk.codes[kept], None if chunk.weights is None else chunk.weights[kept])


def _judged(run: OnlineRun, held: _HeldOut, classes: Sequence[Any]) -> Judged:
    width = held.space.width
    places = held.places(classes)
    run.widen(width)
    right = total = 0.0
    for chunk in held.chunks():
        said = _verdicts(run, chunk.rows, width)
        weights = np.ones(len(said)) if chunk.weights is None else chunk.weights
        right += float(weights[said == places[chunk.codes]].sum())
        total += float(weights.sum())
    return Judged(right, total)


def _verdicts(run: OnlineRun, rows: Rows, width: int) -> Any:
    """Return the classes of rows; for two a score of zero speaks for the second, else the first is best."""
    scores: Floats
    record = run.record(np.arange(width, dtype=np.int32), width)
    if run.settings.keep == "voted" and record is not None:
        scores = record.votes(*rows)
    else:
        if record is None:
            table, biases, _ = run.weights(np.arange(width))
        else:
            table, biases, _ = record.weights(run.settings.keep)
        scores = np.tile(biases, (len(rows.indptr) - 1, 1))
        _core.score_sparse(rows.indptr, rows.indices, rows.values, np.ascontiguousarray(table), scores)
    return (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else as_classes(scores).argmax(axis=1)
