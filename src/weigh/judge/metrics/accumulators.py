"""Accumulate an evaluation over batches: sums, and a bounded number of individual rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics import losses
from weigh.judge.metrics.batches import LabelledBatch, check_label_present
from weigh.judge.metrics.confidence_intervals import student_interval
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.judge.metrics.predictor import ClassPredictions, Predictor, encode_labels
from weigh.model.file.store import FileContent, read_names, write_names

# Enough for 7 million rows of two classes. Ranking them takes 1.4 GB at its peak, 200 bytes per row.
MAX_RETAINED_BYTES = 1 << 28
MAX_RETAINED_TEXT = f"{MAX_RETAINED_BYTES >> 20} MB"


@dataclass(eq=False)
class RetainedRows:
    """True class, weight, class scores, confidence and correctness of every row, up to `MAX_RETAINED_BYTES`.

    The confidence is the probability of the predicted class. Above the limit the scores are dropped first,
    then everything else.
    """

    dropped_scores: bool = False
    dropped_confidence: bool = False
    _row_bytes: int = 0
    _score_bytes: int = 0
    _true_codes: list[Any] = field(default_factory=list)
    _weights: list[Any] = field(default_factory=list)
    _scores: list[Any] = field(default_factory=list)
    _confidence: list[Any] = field(default_factory=list)
    _correct: list[Any] = field(default_factory=list)

    def add(
        self,
        true_codes: Codes,
        weights: Floats,
        scores: Floats | None = None,
        confidence: Floats | None = None,
        is_correct: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Keep rows of positive weight; scores are [n, C], all others [n]."""
        if self.dropped_confidence:
            return
        columns = (true_codes.astype(np.int32), weights, confidence, is_correct)
        lists = (self._true_codes, self._weights, self._confidence, self._correct)
        self._row_bytes += sum(
            _append_column(column, parts) for column, parts in zip(columns, lists, strict=True)
        )
        if not self.dropped_scores:
            self._score_bytes += _append_column(scores, self._scores)
        if self.n_bytes > MAX_RETAINED_BYTES:
            self.dropped_scores, self._score_bytes = True, 0
            self._scores.clear()
        if self._row_bytes > MAX_RETAINED_BYTES:
            self.dropped_confidence = True
            for parts in lists:
                parts.clear()

    def merge(self, other: RetainedRows) -> None:
        """Append the rows of another evaluation."""
        self.dropped_scores |= other.dropped_scores
        self.dropped_confidence |= other.dropped_confidence
        if self.dropped_scores:
            self._scores.clear()
        if other._true_codes and not self.dropped_confidence:
            scores = np.concatenate(other._scores) if other.has_scores else None
            has_confidence = other.has_confidence
            confidence, is_correct = (other.confidence, other.is_correct) if has_confidence else (None, None)
            self.add(other.true_codes, other.weights, scores, confidence, is_correct)

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the rows to the content of a file."""
        meta["dropped"] = [self.dropped_scores, self.dropped_confidence]
        columns = {
            "codes": self._true_codes,
            "weights": self._weights,
            "scores": self._scores,
            "confidence": self._confidence,
            "correct": self._correct,
        }
        for name, parts in columns.items():
            if parts:
                arrays[f"rows.{name}"] = np.concatenate(parts)

    @classmethod
    def read_arrays(cls, stored: FileContent) -> RetainedRows:
        """Return the rows that `write_arrays` added."""
        rows = cls(*stored.meta["dropped"])
        if "rows.codes" in stored.arrays:
            arrays = (stored.arrays.get(f"rows.{name}") for name in ("scores", "confidence", "correct"))
            rows.add(stored.arrays["rows.codes"], stored.arrays["rows.weights"], *arrays)
        return rows

    @property
    def n_bytes(self) -> int:
        """The memory in use, in bytes."""
        return self._row_bytes + self._score_bytes

    @property
    def has_scores(self) -> bool:
        """Whether class scores are available."""
        return bool(self._scores)

    @property
    def has_confidence(self) -> bool:
        """Whether probabilities of the predicted classes are available."""
        return bool(self._confidence)

    @property
    def true_codes(self) -> Codes:
        """The true class code of each row, [n]."""
        return np.asarray(_concatenate_parts(self._true_codes), np.int32)

    @property
    def weights(self) -> Floats:
        """The weight of each row, [n]."""
        return np.asarray(_concatenate_parts(self._weights), np.float64)

    @property
    def confidence(self) -> Floats:
        """The probability of each row's predicted class, [n]."""
        return np.asarray(_concatenate_parts(self._confidence), np.float64)

    @property
    def is_correct(self) -> npt.NDArray[np.bool_]:
        """Whether each row's prediction is correct, [n]."""
        return np.asarray(_concatenate_parts(self._correct), np.bool_)

    @property
    def n_classes(self) -> int:
        """The number of classes with scores; 0 without scores."""
        return self._scores[0].shape[1] if self._scores else 0

    def class_scores(self, code: int) -> Floats:
        """Return the score of one class for each row, [n]."""
        return np.concatenate([table[:, code] for table in self._scores])


def _append_column(column: npt.NDArray[Any] | None, parts: list[Any]) -> int:
    """Append a column unless it is None, and return its size in bytes."""
    if column is None:
        return 0
    parts.append(column)
    return column.nbytes


def _concatenate_parts(parts: list[Any]) -> Any:
    """Replace the parts of a column by their concatenation, and return it."""
    if len(parts) > 1:
        parts[:] = [np.concatenate(parts)]
    return parts[0]


MIN_MERGE_ROWS = 65536
LOSSES = ("squared_loss", "brier_score", "log_loss")
CONFUSION = ("true", "predicted", "weight", "squares")


@dataclass(frozen=True)
class LossMoments:
    """Weighted mean and sum of squared deviations of a loss; infinite losses are counted separately.

    Batches are merged by the parallel update of Chan et al. (1983), which avoids cancellation.
    """

    weight: float = 0.0
    squared_weights: float = 0.0
    mean: float = 0.0
    squared_deviations: float = 0.0
    n_infinite: int = 0

    def add(self, values: Floats, weights: Floats) -> LossMoments:
        """Return the moments with more rows of positive weight included."""
        finite = ~np.isinf(values)
        n_infinite = self.n_infinite + int(len(values) - finite.sum())
        x, w = values[finite], weights[finite]
        weight = float(w.sum())
        if weight == 0.0:
            return LossMoments(
                self.weight, self.squared_weights, self.mean, self.squared_deviations, n_infinite
            )
        mean = float((w * x).sum()) / weight
        total, delta = self.weight + weight, mean - self.mean
        return LossMoments(
            total,
            self.squared_weights + float(np.square(w).sum()),
            self.mean + delta * weight / total,
            self.squared_deviations
            + float((w * np.square(x - mean)).sum())
            + delta * delta * self.weight * weight / total,
            n_infinite,
        )

    def merge(self, other: LossMoments) -> LossMoments:
        """Return the moments of both sets of rows."""
        total, n_infinite = self.weight + other.weight, self.n_infinite + other.n_infinite
        if not total:
            return LossMoments(n_infinite=n_infinite)
        delta, share = other.mean - self.mean, other.weight / total
        squares = self.squared_deviations + other.squared_deviations + delta * delta * self.weight * share
        squared_weights = self.squared_weights + other.squared_weights
        return LossMoments(total, squared_weights, self.mean + delta * share, squares, n_infinite)

    def interval(self, level: float, upper: float = np.inf) -> tuple[float, float, float]:
        """Return the mean with Student's interval at the stated level, clipped to [0, upper]."""
        if self.n_infinite:
            return np.inf, *student_interval(np.inf, np.nan, np.nan, level)
        n = self.weight * (self.weight / self.squared_weights)
        biased_variance = self.squared_deviations / self.weight
        variance = biased_variance * n / (n - 1.0) if n > 1.0 else np.nan
        return self.mean, *student_interval(self.mean, variance, n, level, upper)

    def total(self) -> float:
        """Return the weighted sum of the losses."""
        return np.inf if self.n_infinite else self.mean * self.weight


@dataclass
class EvaluationAccumulator:
    """The running sums and the retained rows of one evaluation."""

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
        """Predict one batch and add its losses, confusion counts and rows."""
        codes = encode_labels(self.predictor.classes, batch.labels)
        for row in np.flatnonzero(codes == UNSEEN):
            check_label_present(batch.labels[row], self.n + int(row))
        predicted: ClassPredictions = self.predictor.predict(batch.rows)
        predicted.check_probabilities(self.n)
        self.n += len(codes)
        weighted = np.flatnonzero(batch.weights > 0)
        labels, weights = codes[weighted], batch.weights[weighted]
        self.unseen.update(batch.labels[i] for i in weighted[labels == UNSEEN])
        # Scores of many classes are large: copy them only if some rows have zero weight.
        if len(weighted) < len(codes):
            predicted = predicted.take(weighted)
        self._add_pairs(labels, predicted.predictions, weights)
        self._add_losses(predicted, labels, weights)
        self._retain_rows(predicted, labels, weights)

    def confusion(self) -> ConfusionMatrix:
        """Return the confusion matrix of all rows so far."""
        if self._pending:
            parts = zip(*self._pending, strict=True)
            labels, predictions, weights = (np.concatenate(part) for part in parts)
            self._confusion = self._confusion.add(labels, predictions, weights)
            self._pending, self._n_pending = [], 0
        return self._confusion

    def merge(self, other: EvaluationAccumulator) -> None:
        """Add another evaluation by the same predictor."""
        self.n += other.n
        for name in LOSSES:
            pair = getattr(self, name), getattr(other, name)
            moments = [each for each in pair if each is not None]
            setattr(self, name, moments[0].merge(moments[1]) if len(moments) == 2 else (*moments, None)[0])
        joint = [each for each in (self.joint_log_likelihood, other.joint_log_likelihood) if each is not None]
        self.joint_log_likelihood = sum(joint) if joint else None
        self.impossible += other.impossible
        self.unseen.update(other.unseen)
        self.retained.merge(other.retained)
        self._confusion = self.confusion().merge(other.confusion())

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the evaluation to the content of a file."""
        moments = {name: getattr(self, name) for name in LOSSES}
        arrays |= {
            f"loss.{name}": np.array(astuple(each)) for name, each in moments.items() if each is not None
        }
        confusion = self.confusion()
        for name in CONFUSION:
            arrays[f"confusion.{name}"] = getattr(confusion, name)
        meta |= {"n": self.n, "impossible": self.impossible}
        if self.joint_log_likelihood is not None:
            arrays["joint"] = np.array([self.joint_log_likelihood])
        write_names(arrays, meta, "unseen", self.unseen)
        arrays["unseen_rows"] = np.array([*self.unseen.values()], dtype=np.int64)
        self.retained.write_arrays(arrays, meta)

    def read_arrays(self, stored: FileContent) -> None:
        """Set the evaluation to the one that `write_arrays` added."""
        arrays, meta = stored.arrays, stored.meta
        self.n, self.impossible = int(meta["n"]), int(meta["impossible"])
        for name in LOSSES:
            if f"loss.{name}" in arrays:
                moments = LossMoments(*arrays[f"loss.{name}"].tolist())
                setattr(self, name, replace(moments, n_infinite=int(moments.n_infinite)))
        parts = (arrays[f"confusion.{name}"] for name in CONFUSION)
        self._confusion = ConfusionMatrix(self._confusion.n_classes, *parts)
        self.joint_log_likelihood = float(arrays["joint"][0]) if "joint" in arrays else None
        labels = read_names(stored, "unseen")
        self.unseen = Counter(dict(zip(labels, arrays["unseen_rows"].tolist(), strict=True)))
        self.retained = RetainedRows.read_arrays(stored)

    def _add_pairs(self, labels: Codes, predictions: Codes, weights: Floats) -> None:
        self._pending.append((labels, predictions, weights))
        self._n_pending += len(labels)
        # Merging costs time proportional to the stored pairs, and batches of many classes are small: wait
        # until there are as many new rows as pairs.
        if self._n_pending >= max(MIN_MERGE_ROWS, len(self._confusion.weight)):
            self.confusion()

    def _add_losses(self, predicted: ClassPredictions, labels: Codes, weights: Floats) -> None:
        if predicted.log_posterior is None or predicted.posterior is None:
            return
        log_p = losses.select_true_class(labels, predicted.log_posterior, -np.inf)
        p = losses.select_true_class(labels, predicted.posterior, 0.0)
        self.impossible += int(np.sum(np.isneginf(log_p) & (labels != UNSEEN)))
        squared, brier, log = (
            moments or LossMoments() for moments in (self.squared_loss, self.brier_score, self.log_loss)
        )
        self.squared_loss = squared.add(losses.squared_losses(p), weights)
        self.brier_score = brier.add(losses.brier_scores(predicted.posterior, p), weights)
        self.log_loss = log.add(losses.log_losses(log_p), weights)
        if predicted.log_joint is not None:
            joint = losses.select_true_class(labels, predicted.log_joint, -np.inf)
            self.joint_log_likelihood = (self.joint_log_likelihood or 0.0) + float((weights * joint).sum())

    def _retain_rows(self, predicted: ClassPredictions, labels: Codes, weights: Floats) -> None:
        codes, posterior = predicted.predictions, predicted.posterior
        if posterior is not None:
            confidence = losses.select_true_class(codes, posterior, 0.0)
            self.retained.add(labels, weights, posterior, confidence, labels == codes)
        elif predicted.scores is not None:
            self.retained.add(labels, weights, predicted.scores)
