"""What an evaluation adds up over batches: sums, and a bounded number of single rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics import losses
from weigh.judge.metrics.batches import LabelledBatch, check_label_present
from weigh.judge.metrics.confidence_intervals import student_interval
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.judge.metrics.predictor import ClassPredictions, Predictor, encode_labels

# Bytes kept: of two classes 7 million rows. Ranking so many takes 1.4 GB at its peak, 200 bytes for each.
MAX_RETAINED_BYTES = 1 << 28
MAX_RETAINED_TEXT = f"{MAX_RETAINED_BYTES >> 20} MB"


@dataclass(eq=False)
class RetainedRows:
    """Truth, weight, scores and the verdict's probability of every row, each kept once.

    Once they are too large scores are given up, and once the rest is too large, that is given up too.
    """

    lacks_scores: bool = False
    lacks_confidence: bool = False
    _row_bytes: int = 0
    _score_bytes: int = 0
    _true_codes: list[Any] = field(default_factory=list)
    _weights: list[Any] = field(default_factory=list)
    _scores: list[Any] = field(default_factory=list)
    _confidence: list[Any] = field(default_factory=list)
    _correct: list[Any] = field(default_factory=list)

    def add(
        self,
        truth: Codes,
        weights: Floats,
        scores: Floats | None = None,
        odds: Floats | None = None,
        is_right: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Keep rows of positive weight; scores are [n, C], odds the probabilities of the verdicts."""
        if self.lacks_confidence:
            return
        columns = (truth.astype(np.int32), weights, odds, is_right)
        lists = (self._true_codes, self._weights, self._confidence, self._correct)
        self._row_bytes += sum(
            _append_column(column, kept) for column, kept in zip(columns, lists, strict=True)
        )
        if not self.lacks_scores:
            self._score_bytes += _append_column(scores, self._scores)
        if self.n_bytes > MAX_RETAINED_BYTES:
            self.lacks_scores, self._score_bytes = True, 0
            self._scores.clear()
        if self._row_bytes > MAX_RETAINED_BYTES:
            self.lacks_confidence = True
            for kept in lists:
                kept.clear()

    @property
    def n_bytes(self) -> int:
        """How much is kept."""
        return self._row_bytes + self._score_bytes

    @property
    def has_scores(self) -> bool:
        """Whether there are scores of the classes."""
        return bool(self._scores)

    @property
    def has_confidence(self) -> bool:
        """Whether there are probabilities of the verdicts."""
        return bool(self._confidence)

    @property
    def true_codes(self) -> Codes:
        """What is true of each row, as a code."""
        return np.asarray(_concatenate_parts(self._true_codes), np.int32)

    @property
    def weights(self) -> Floats:
        """The weight of each row."""
        return np.asarray(_concatenate_parts(self._weights), np.float64)

    @property
    def confidence(self) -> Floats:
        """The probability that each row's verdict was given."""
        return np.asarray(_concatenate_parts(self._confidence), np.float64)

    @property
    def is_correct(self) -> npt.NDArray[np.bool_]:
        """Whether each row's verdict is right."""
        return np.asarray(_concatenate_parts(self._correct), np.bool_)

    def class_scores(self, code: int) -> Floats:
        """The score of one class for each row."""
        return np.concatenate([table[:, code] for table in self._scores])


def _append_column(column: npt.NDArray[Any] | None, kept: list[Any]) -> int:
    """Keep what there is, and return its bytes."""
    if column is None:
        return 0
    kept.append(column)
    return column.nbytes


def _concatenate_parts(kept: list[Any]) -> Any:
    """Return the parts of a column as one, which takes their place."""
    if len(kept) > 1:
        kept[:] = [np.concatenate(kept)]
    return kept[0]


MIN_MERGE_ROWS = 65536


@dataclass(frozen=True)
class LossMoments:
    """Weighted mean and squared deviations of a loss; infinite losses are counted apart.

    Deviations are merged around the means, not taken as a difference of large sums.
    """

    weight: float = 0.0
    squared_weights: float = 0.0
    mean: float = 0.0
    squared_deviations: float = 0.0
    n_infinite: int = 0

    def add(self, values: Floats, weights: Floats) -> LossMoments:
        """These moments with more rows, all of positive weight."""
        finite = ~np.isinf(values)
        infinite = self.n_infinite + int(len(values) - finite.sum())
        x, w = values[finite], weights[finite]
        weight = float(w.sum())
        if weight == 0.0:
            return LossMoments(
                self.weight, self.squared_weights, self.mean, self.squared_deviations, infinite
            )
        mean = float((w * x).sum()) / weight
        total, step = self.weight + weight, mean - self.mean
        return LossMoments(
            total,
            self.squared_weights + float(np.square(w).sum()),
            self.mean + step * weight / total,
            self.squared_deviations
            + float((w * np.square(x - mean)).sum())
            + step * step * self.weight * weight / total,
            infinite,
        )

    def interval(self, level: float, most: float = np.inf) -> tuple[float, float, float]:
        """The mean with Student's interval at the stated level."""
        if self.n_infinite:
            return np.inf, *student_interval(np.inf, np.nan, np.nan, level)
        rows = self.weight * (self.weight / self.squared_weights)
        spread = self.squared_deviations / self.weight
        variance = spread * rows / (rows - 1.0) if rows > 1.0 else np.nan
        return self.mean, *student_interval(self.mean, variance, rows, level, most)

    def total(self) -> float:
        """The weighted sum of the losses."""
        return np.inf if self.n_infinite else self.mean * self.weight


@dataclass
class EvaluationAccumulator:
    """The running sums of one evaluation, and what is held of its rows."""

    predictor: Predictor
    n: int = 0
    squared_loss: LossMoments | None = None
    brier_score: LossMoments | None = None
    log_loss: LossMoments | None = None
    joint_log_likelihood: float | None = None
    impossible: int = 0
    unseen: Counter[Any] = field(default_factory=Counter)
    retained: RetainedRows = field(default_factory=RetainedRows)

    def __post_init__(self) -> None:
        self._confusion = ConfusionMatrix.empty(len(self.predictor.classes))
        self._pending: list[tuple[Codes, Codes, Floats]] = []
        self._n_pending = 0

    def add(self, batch: LabelledBatch) -> None:
        """Ask the classifier for one batch and count its answers."""
        codes = encode_labels(self.predictor.classes, batch.labels)
        for place in np.flatnonzero(codes == UNSEEN):
            check_label_present(batch.labels[place], self.n + int(place))
        answer = self.predictor.predict(batch.rows)
        answer.check_probabilities(self.n)
        self.n += len(codes)
        counted = np.flatnonzero(batch.weights > 0)
        labels, weights = codes[counted], batch.weights[counted]
        self.unseen.update(batch.labels[i] for i in counted[labels == UNSEEN])
        # Tables of many classes are large: they are copied only where some row does not count.
        if len(counted) < len(codes):
            answer = answer.take(counted)
        self._add_pairs(labels, answer.predictions, weights)
        self._add_losses(answer, labels, weights)
        self._retain_rows(answer, labels, weights)

    def confusion(self) -> ConfusionMatrix:
        """The table of all rows so far."""
        if self._pending:
            parts = zip(*self._pending, strict=True)
            labels, predictions, weights = (np.concatenate(part) for part in parts)
            self._confusion = self._confusion.add(labels, predictions, weights)
            self._pending, self._n_pending = [], 0
        return self._confusion

    def _add_pairs(self, labels: Codes, predictions: Codes, weights: Floats) -> None:
        self._pending.append((labels, predictions, weights))
        self._n_pending += len(labels)
        # Merging costs as much as the table is long: with many classes batches are small,
        # so rows wait until they are as many as its pairs.
        if self._n_pending >= max(MIN_MERGE_ROWS, len(self._confusion.weight)):
            self.confusion()

    def _add_losses(self, answer: ClassPredictions, labels: Codes, weights: Floats) -> None:
        if answer.log_posterior is None or answer.posterior is None:
            return
        log = losses.select_true_class(labels, answer.log_posterior, -np.inf)
        true = losses.select_true_class(labels, answer.posterior, 0.0)
        self.impossible += int(np.sum(np.isneginf(log) & (labels != UNSEEN)))
        moments = (each or LossMoments() for each in (self.squared_loss, self.brier_score, self.log_loss))
        rows = (
            losses.squared_losses(true),
            losses.brier_scores(answer.posterior, true),
            losses.log_losses(log),
        )
        self.squared_loss, self.brier_score, self.log_loss = (
            each.add(values, weights) for each, values in zip(moments, rows, strict=True)
        )
        if answer.log_joint is not None:
            joint = losses.select_true_class(labels, answer.log_joint, -np.inf)
            self.joint_log_likelihood = (self.joint_log_likelihood or 0.0) + float((weights * joint).sum())

    def _retain_rows(self, answer: ClassPredictions, labels: Codes, weights: Floats) -> None:
        if answer.posterior is None:
            if answer.scores is not None:
                self.retained.add(labels, weights, answer.scores)
            return
        odds = losses.select_true_class(answer.predictions, answer.posterior, 0.0)
        self.retained.add(labels, weights, answer.posterior, odds, labels == answer.predictions)
