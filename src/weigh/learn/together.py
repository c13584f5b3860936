"""Several perceptrons in one pass over the same rows, judged on rows that were held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.learn.held_out import HeldOut
from weigh.learn.online import OnlineRun
from weigh.learn.passes import Passes
from weigh.learn.perceptron import OWNER, PerceptronTask
from weigh.learn.reading import Progress, Reading
from weigh.learn.space import Rows
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


@dataclass
class Entrant:
    """A run, and after how many passes it is judged."""

    run: OnlineRun
    judged_after: set[int] = field(default_factory=set)
    judged: dict[int, Judged] = field(default_factory=dict)

    def goes_on(self, number: int) -> bool:
        """Whether the run makes the pass of this number."""
        return not self.run.converged and number < max(self.judged_after)

    def judge(self, number: int, held: HeldOut) -> None:
        """Judge the run after a pass, if it is due; one that has converged, for all passes to come."""
        due = [n for n in self.judged_after if n == number + 1 or (self.run.converged and n > number)]
        if due:
            self.judged |= dict.fromkeys(due, _judged(self.run, held))


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
    learned, held = (HeldOut(reading, seed, held_out, held) for held in (False, True))
    if not learned.n_rows or not held.n_rows:
        raise errors.DataError(
            f"{reading.n_rows:,} rows are too few to hold some out. Give more, or another validation share."
        )
    entrants: dict[Any, dict[Any, Entrant]] = {}
    for task in tasks:
        group = entrants.setdefault(_order_of(task), {})
        group.setdefault(task.settings, Entrant(OnlineRun(task.settings, classes)))
        group[task.settings].judged_after.add(task.max_iter)
    weights = {repr(task.class_weight): task.class_weight for task in tasks}
    passes = {key: Passes(learned, classes, weight, OWNER) for key, weight in weights.items()}
    for number in range(max(task.max_iter for task in tasks)):
        going = [
            _pass(list(group.values()), passes[weight], shuffled_by, number, held)
            for (shuffled_by, weight), group in entrants.items()
        ]
        if not any(going):
            break
    return [entrants[_order_of(task)][task.settings].judged[task.max_iter] for task in tasks]


def _order_of(task: PerceptronTask) -> tuple[int | None, str]:
    """What runs must share to see the same examples in the same order."""
    return task.seed if task.shuffle else None, repr(task.class_weight)


def _pass(entrants: list[Entrant], passes: Passes, seed: int | None, number: int, held: HeldOut) -> bool:
    """Make one pass over the rows, in which all runs learn side by side; tell whether any went on."""
    going = [entrant for entrant in entrants if entrant.goes_on(number)]
    if not going:
        return False
    for entrant in going:
        entrant.run.begin_pass()
    for examples, order in passes.examples(seed, number):
        for entrant in going:
            entrant.run.learn(examples, order, held.space.width)
    for entrant in going:
        entrant.judge(number, held)
    return True


def _judged(run: OnlineRun, held: HeldOut) -> Judged:
    width, places = held.space.width, held.places(run.classes)
    run.widen(width)
    scores_of = _scorer(run, width)
    right = total = 0.0
    for chunk in held.chunks():
        scores = scores_of(chunk.rows)
        # For two classes a score of zero speaks for the second, else the first of the best has it.
        said = (scores[:, 0] >= 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        weights = np.ones(len(said)) if chunk.weights is None else chunk.weights
        right += float(weights[said == places[chunk.codes]].sum())
        total += float(weights.sum())
    return Judged(right, total)


def _scorer(run: OnlineRun, width: int) -> Callable[[Rows], Any]:
    """Return what gives rows their scores, or votes, by the kept hypothesis of a run."""
    record = run.record(np.arange(width, dtype=np.int32), width)
    if record is not None and run.settings.keep == "voted":
        return lambda rows: record.votes(*rows)
    found = run.weights(np.arange(width)) if record is None else record.weights(run.settings.keep)
    table, biases = np.ascontiguousarray(found[0]), found[1]

    def scores_of(rows: Rows) -> Any:
        scores = np.tile(biases, (len(rows.indptr) - 1, 1))
        _core.score_sparse(rows.indptr, rows.indices, rows.values, table, scores)
        return scores

    return scores_of
