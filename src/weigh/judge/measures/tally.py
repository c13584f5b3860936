"""What an evaluation adds up over batches: sums, and a bounded number of single rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh.judge.measures import losses
from weigh.judge.measures.batches import Batch, refuse_missing
from weigh.judge.measures.confusion import Confusion
from weigh.judge.measures.held import Held
from weigh.judge.measures.intervals import student_mean
from weigh.judge.measures.losses import UNSEEN, Codes, Floats
from weigh.judge.measures.subject import Answer, Subject, codes_of

HELD_BACK = 65536


@dataclass(frozen=True)
class Moments:
    """Weighted mean and squared deviations of a loss; infinite losses are counted apart.

    Deviations are merged around the means, not taken as a difference of large sums.
    """

    weight: float = 0.0
    squares: float = 0.0
    mean: float = 0.0
    deviations: float = 0.0
    infinite: int = 0

    def add(self, values: Floats, weights: Floats) -> Moments:
        """These moments with more rows, all of positive weight."""
        finite = ~np.isinf(values)
        infinite = self.infinite + int(len(values) - finite.sum())
        x, w = values[finite], weights[finite]
        weight = float(w.sum())
        if weight == 0.0:
            return Moments(self.weight, self.squares, self.mean, self.deviations, infinite)
        mean = float((w * x).sum()) / weight
        total, step = self.weight + weight, mean - self.mean
        return Moments(
            total,
            self.squares + float(np.square(w).sum()),
            self.mean + step * weight / total,
            self.deviations
            + float((w * np.square(x - mean)).sum())
            + step * step * self.weight * weight / total,
            infinite,
        )

    def interval(self, level: float, most: float = np.inf) -> tuple[float, float, float]:
        """The mean with Student's interval at the stated level."""
        if self.infinite:
            return np.inf, *student_mean(np.inf, np.nan, np.nan, level)
        rows = self.weight * (self.weight / self.squares)
        spread = self.deviations / self.weight
        variance = spread * rows / (rows - 1.0) if rows > 1.0 else np.nan
        return self.mean, *student_mean(self.mean, variance, rows, level, most)

    def total(self) -> float:
        """The weighted sum of the losses."""
        return np.inf if self.infinite else self.mean * self.weight


@dataclass
class Tally:
    """The running sums of one evaluation, and what is held of its rows."""

    subject: Subject
    n: int = 0
    squared: Moments | None = None
    brier: Moments | None = None
    log: Moments | None = None
    joint: float | None = None
    impossible: int = 0
    unseen: Counter[Any] = field(default_factory=Counter)
    held: Held = field(default_factory=Held)

    def __post_init__(self) -> None:
        self._confusion = Confusion.empty(len(self.subject.classes))
        self._waiting: list[tuple[Codes, Codes, Floats]] = []
        self._n_waiting = 0

    def add(self, batch: Batch) -> None:
        """Ask the classifier for one batch and count its answers."""
        codes = codes_of(self.subject.classes, batch.labels)
        for place in np.flatnonzero(codes == UNSEEN):
            refuse_missing(batch.labels[place], self.n + int(place))
        answer = self.subject.answer(batch.rows)
        answer.refuse_improbable(self.n)
        self.n += len(codes)
        counted = np.flatnonzero(batch.weights > 0)
        labels, weights = codes[counted], batch.weights[counted]
        self.unseen.update(batch.labels[i] for i in counted[labels == UNSEEN])
        # Tables of many classes are large: they are copied only where some row does not count.
        if len(counted) < len(codes):
            answer = answer.take(counted)
        self._add_pairs(labels, answer.predictions, weights)
        self._add_losses(answer, labels, weights)
        self._hold(answer, labels, weights)

    def confusion(self) -> Confusion:
        """The table of all rows so far."""
        if self._waiting:
            parts = zip(*self._waiting, strict=True)
            labels, predictions, weights = (np.concatenate(part) for part in parts)
            self._confusion = self._confusion.add(labels, predictions, weights)
            self._waiting, self._n_waiting = [], 0
        return self._confusion

    def _add_pairs(self, labels: Codes, predictions: Codes, weights: Floats) -> None:
        self._waiting.append((labels, predictions, weights))
        self._n_waiting += len(labels)
        # Merging costs as much as the table is long: with many classes batches are small,
        # so rows wait until they are as many as its pairs.
        if self._n_waiting >= max(HELD_BACK, len(self._confusion.weight)):
            self.confusion()

    def _add_losses(self, answer: Answer, labels: Codes, weights: Floats) -> None:
        if answer.log_posterior is None or answer.posterior is None:
            return
        log = losses.of_true_class(labels, answer.log_posterior, -np.inf)
        true = losses.of_true_class(labels, answer.posterior, 0.0)
        self.impossible += int(np.sum(np.isneginf(log) & (labels != UNSEEN)))
        moments = (each or Moments() for each in (self.squared, self.brier, self.log))
        rows = (
            losses.squared_of_rows(true),
            losses.brier_of_rows(answer.posterior, true),
            losses.log_of_rows(log),
        )
        self.squared, self.brier, self.log = (
            each.add(values, weights) for each, values in zip(moments, rows, strict=True)
        )
        if answer.log_joint is not None:
            joint = losses.of_true_class(labels, answer.log_joint, -np.inf)
            self.joint = (self.joint or 0.0) + float((weights * joint).sum())

    def _hold(self, answer: Answer, labels: Codes, weights: Floats) -> None:
        if answer.posterior is None:
            if answer.scores is not None:
                self.held.add(labels, weights, answer.scores)
            return
        odds = losses.of_true_class(answer.predictions, answer.posterior, 0.0)
        self.held.add(labels, weights, answer.posterior, odds, labels == answer.predictions)
