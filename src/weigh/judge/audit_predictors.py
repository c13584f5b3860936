"""Who judges a labelled row: the model as it is, or the model that never saw the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.batches import LabelledBatch
from weigh.judge.metrics.predictor import ClassPredictions, Predictor
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.count_model import CountModel
from weigh.model.decision import best_class, equalise_ties, label_array, log_softmax
from weigh.model.evidence.evidence import EvidenceRow
from weigh.model.leave_one_out.scoring import left_out_rows
from weigh.source import Chunk

MAX_REASONS = 4


@dataclass(frozen=True, eq=False)
class AuditPredictor:
    """A model as it is, whoever made it.

    `has_seen` tells whether it has learned the rows, None: unknown; `can_forget` whether it could judge each
    of them without itself if it has.
    """

    predictor: Predictor
    model: Model | None
    has_seen: bool | None
    can_forget: bool

    @property
    def is_leave_one_out(self) -> bool:
        """Whether each row is judged by the model without it."""
        return False

    def predict(self, batch: LabelledBatch) -> tuple[ClassPredictions, Any]:
        """Return the answer for a batch, and which of its rows can be judged at all."""
        answer: ClassPredictions = self.predictor.predict(batch.rows)
        return answer, np.ones(len(batch.labels), dtype=bool)

    def reasons(self, batch: LabelledBatch, at: int, said: Any) -> tuple[EvidenceRow, ...]:
        """Return what speaks most for what is said of a row against its label."""
        if self.model is None:
            return ()
        inside, slope = _base_model(self.model)
        return _strongest_reasons(inside, slope, batch.rows.slice(at, at + 1), said, batch.labels[at])


@dataclass(frozen=True, eq=False)
class LeaveOneOutPredictor(AuditPredictor):
    """A model of counts, which for each row forgets it; a calibration stays as it is."""

    count_model: CountModel

    @property
    def is_leave_one_out(self) -> bool:
        """Whether each row is judged by the model without it."""
        return True

    def predict(self, batch: LabelledBatch) -> tuple[ClassPredictions, Any]:
        """Return the answer for a batch, and which of its rows can be judged at all."""
        chunk = _labelled_chunk(batch)
        scores = self.count_model.leave_one_out_chunk(chunk)
        is_possible = np.isfinite(scores.max(axis=1))
        scores[~is_possible] = 0.0
        if isinstance(self.model, CalibratedModel):
            scores = self.model.calibration.apply(equalise_ties(scores))
        posterior = log_softmax(scores)
        answer = ClassPredictions(
            best_class(scores, self.count_model.tie), posterior, posterior=np.exp(posterior)
        )
        # Where a row was the only one of its class, nothing can be taken for that class.
        return answer, is_possible & ~left_out_rows(self.count_model.counts, chunk).leaves_class_empty

    def reasons(self, batch: LabelledBatch, at: int, said: Any) -> tuple[EvidenceRow, ...]:
        """Return what speaks most for what is said of a row against its label, the row forgotten."""
        row = _labelled_chunk(batch).slice(at, at + 1)
        left = self.count_model.with_counts(
            self.count_model.counts.plus(self.count_model.count([row]), -1).canonical()
        )
        return _strongest_reasons(left, _base_model(self.model)[1], row, said, batch.labels[at])


def choose_audit_predictor(
    subject: Predictor, model: Any, rows: Any, y: Any, seen: bool | None
) -> AuditPredictor:
    """Return who judges: without each row where the model can forget it and has surely learned it."""
    if seen not in (True, False, None):
        must = "True (the model has learned these rows), False (it has not) or None (find out)"
        raise errors.parameter_error("audit", "seen", must, seen)
    ours = getattr(model, "model_", model)
    ours = ours if isinstance(ours, Model) else None
    counted = _base_model(ours)[0]
    if not isinstance(counted, CountModel) or not counted.has_rows:
        return AuditPredictor(subject, ours, seen, False)
    has_seen = False if seen is False else counted.has_learned(rows, y)
    if has_seen or (seen and has_seen is None):
        return LeaveOneOutPredictor(subject, ours, True, True, counted)
    if seen:
        raise errors.MergeError(
            "These rows were not all learned by this model, so that they cannot be left out one by one. Give "
            "the very rows that it was trained on, or seen=False for rows that it has not seen."
        )
    return AuditPredictor(subject, ours, has_seen, True)


def _base_model(model: Any) -> tuple[Any, float]:
    """Return the model that reasons, and what a calibration multiplies its reasons by."""
    if isinstance(model, CalibratedModel):
        return model.uncalibrated, model.calibration.slope
    return model, 1.0


def _strongest_reasons(
    model: Model, slope: float, row: Chunk, said: Any, label: Any
) -> tuple[EvidenceRow, ...]:
    """Return the features of a row that speak most for one class against another."""
    evidence = next(iter(model.explain_chunk(row)))
    speaking: Sequence[EvidenceRow] = [each for each in evidence.rows_between(said, label) if each.nats > 0]
    strongest = sorted(speaking, key=lambda each: -each.nats)[:MAX_REASONS]
    return tuple(replace(each, nats=each.nats * slope) for each in strongest)


def _labelled_chunk(batch: LabelledBatch) -> Chunk:
    chunk: Chunk = batch.rows
    return replace(chunk, labels=label_array(batch.labels))
