"""Find out whether the evaluated rows are those that the model was trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.errors import WeighError
from weigh.features.row_hashes import add_label_hashes, hash_features
from weigh.judge.metrics.batches import LabelledBatch, open_source
from weigh.judge.metrics.predictor import Predictor
from weigh.model.count_model import CountModel
from weigh.model.training_rows import TrainingRows

MIN_REPORTED_SHARE = 0.1  # a smaller share of equal rows may be chance


@dataclass(frozen=True)
class TrainingOverlap:
    """Whether the evaluated rows are exactly the training rows, and the share of them that are.

    Both are None if the model cannot tell. The share is an estimate, except that it is 1 for the training
    rows themselves.
    """

    is_training_data: bool | None = None
    share: float | None = None

    def __str__(self) -> str:
        share = "" if self.is_training_data or self.share is None else f"about {100 * self.share:.0f}% of "
        return f"trained on {share}these rows"

    @property
    def is_notable(self) -> bool:
        """Whether so many rows are training rows that the figures are too good."""
        return bool(self.is_training_data) or (self.share or 0.0) >= MIN_REPORTED_SHARE

    def notes(self) -> list[str]:
        """Return the warning about figures that are too good, if they are."""
        if not self.is_notable:
            return []
        return [f"The model was {self}, so the figures are too good. Evaluate it on other rows."]


class OverlapDetector:
    """Compares evaluated rows, batch by batch, with the training rows of a model."""

    def __init__(self, model: Any, predictor: Predictor) -> None:
        fitted = getattr(model, "model_", model)
        self._model, self._schema = getattr(fitted, "uncalibrated", fitted), predictor.schema
        self._predictor = predictor
        self._known: TrainingRows | None = getattr(self._model, "training_rows", None)
        self._hashes: list[Any] = []
        self._rows = TrainingRows()

    def encode(self, batch: LabelledBatch) -> LabelledBatch:
        """Return a batch that is encoded once, for its predictions and its hashes."""
        return batch if self._known is None else replace(batch, rows=self._schema.with_blocks(batch.rows))

    def add(self, batch: LabelledBatch) -> None:
        """Compare one batch."""
        if self._known is None:
            return
        chunk = batch.rows
        hashes = hash_features(self._schema, self._schema.blocks(chunk), chunk.n_rows)
        add_label_hashes(batch.labels, None, hashes)
        self._rows = self._rows.plus(TrainingRows.from_hashes(hashes))
        # Only these can be in the sample.
        self._hashes.append(hashes[hashes <= self._known.limit])

    def merge(self, other: OverlapDetector) -> None:
        """Add the rows of another detector of the same model."""
        self._rows = self._rows.plus(other._rows)
        self._hashes += other._hashes

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the compared rows to the content of a file, if the model can tell."""
        if self._known is not None:
            self._rows.write_arrays(arrays, meta)
            arrays["overlap.hashes"] = np.concatenate(self._hashes)

    def restore(self, rows: TrainingRows, hashes: Any) -> None:
        """Set the compared rows to those that `write_arrays` added."""
        self._rows, self._hashes = rows, [hashes]

    @property
    def partial_result(self) -> TrainingOverlap:
        """The overlap as far as it is known without reading the rows again."""
        return TrainingOverlap() if self._known is None else self.result(None, None, None, 0)

    def result(self, data: Any, y: Any, label: str | None, n_rows: int) -> TrainingOverlap:
        """Return the overlap of all batches; for counts, the rows are read again if their number agrees."""
        if self._known is not None:
            if self._known.equals(self._rows):
                return TrainingOverlap(True, 1.0)
            return TrainingOverlap(False, self._known.share_of(np.concatenate(self._hashes)))
        model = self._model
        if not isinstance(model, CountModel) or not model.has_rows:
            return TrainingOverlap()
        if model.counts.rows.sum() != n_rows:
            return TrainingOverlap(False)
        return (
            TrainingOverlap(True, 1.0) if self._has_learned(model, data, y, label) else TrainingOverlap(False)
        )

    def _has_learned(self, model: CountModel, data: Any, y: Any, label: str | None) -> bool:
        try:
            source = open_source(self._predictor, data, y, label)
            return bool(model.has_learned(source, y))
        except WeighError:  # rows that cannot be counted were not learned
            return False
