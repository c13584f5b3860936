"""Predict labelled rows for an audit, with the full model or with the row left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.judge.metrics.batches import LabelledBatch
from weigh.judge.metrics.predictor import ClassPredictions, Predictor
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.count_model import CountModel
from weigh.model.decision import best_class, equalise_ties, label_array, log_softmax
from weigh.model.evidence.evidence import EvidenceRow
from weigh.model.leave_one_out.scoring import left_out_rows
from weigh.source.chunk import Chunk

MAX_REASONS = 4


@dataclass(frozen=True, eq=False)
class AuditPredictor:
    """The full model, of this library or scikit-learn's.

    `has_seen` says whether it was trained on the rows (None: unknown), `can_forget` whether it could leave
    each of them out then.
    """

    predictor: Predictor
    model: Model | None
    has_seen: bool | None
    can_forget: bool

    @property
    def is_leave_one_out(self) -> bool:
        """Whether each row is predicted by the model without it."""
        return False

    @property
    def uncalibrated_model(self) -> Any:
        """The model before calibration; None for a model of another library."""
        return _base_model(self.model)[0]

    def predict(self, batch: LabelledBatch) -> tuple[ClassPredictions, Any]:
        """Return the predictions for a batch, and a mask of the rows that have one."""
        predictions: ClassPredictions = self.predictor.predict(batch.rows)
        return predictions, np.ones(len(batch.labels), dtype=bool)

    def reasons(self, batch: LabelledBatch, row: int, predicted: Any) -> tuple[EvidenceRow, ...]:
        """Return the strongest evidence for the predicted class of a row against its label."""
        if self.model is None:
            return ()
        base, slope = _base_model(self.model)
        return _strongest_reasons(base, slope, batch.rows.slice(row, row + 1), predicted, batch.labels[row])


@dataclass(frozen=True, eq=False)
class LeaveOneOutPredictor(AuditPredictor):
    """A count model that leaves out each row it predicts; a calibration stays unchanged."""

    count_model: CountModel

    @property
    def is_leave_one_out(self) -> bool:
        """Whether each row is predicted by the model without it."""
        return True

    def predict(self, batch: LabelledBatch) -> tuple[ClassPredictions, Any]:
        """Return the leave-one-out predictions for a batch, and a mask of the rows that have one."""
        chunk = labelled_chunk(batch)
        scores = self.count_model.leave_one_out_chunk(chunk)
        is_possible = np.isfinite(scores.max(axis=1))
        scores[~is_possible] = 0.0
        if isinstance(self.model, CalibratedModel):
            scores = self.model.calibration.apply(equalise_ties(scores))
        log_posterior = log_softmax(scores)
        predictions = ClassPredictions(
            best_class(scores, self.count_model.tie), log_posterior, posterior=np.exp(log_posterior)
        )
        # Without the only row of its class, the class cannot be predicted.
        return predictions, is_possible & ~left_out_rows(self.count_model.counts, chunk).leaves_class_empty

    def reasons(self, batch: LabelledBatch, row: int, predicted: Any) -> tuple[EvidenceRow, ...]:
        """Return the strongest evidence for the predicted class against the label, without the row."""
        chunk = labelled_chunk(batch).slice(row, row + 1)
        counts = self.count_model.counts.plus(self.count_model.count([chunk]), -1).canonical()
        # Leave-one-out scores keep the shapes of numbers, and so do their reasons.
        model = self.count_model.with_fewer_counts(counts)
        return _strongest_reasons(model, _base_model(self.model)[1], chunk, predicted, batch.labels[row])


def choose_audit_predictor(
    predictor: Predictor, model: Any, rows: Any, y: Any, seen: bool | None
) -> AuditPredictor:
    """Return a leave-one-out predictor if the model can leave rows out and was trained on these."""
    if seen not in (True, False, None):
        must = "True (the model has learned these rows), False (it has not) or None (find out)"
        raise errors.parameter_error("audit", "seen", must, seen)
    fitted = getattr(model, "model_", model)
    fitted = fitted if isinstance(fitted, Model) else None
    base = _base_model(fitted)[0]
    if not isinstance(base, CountModel) or not base.has_rows:
        return AuditPredictor(predictor, fitted, seen, False)
    has_seen = False if seen is False else base.has_learned(rows, y)
    if has_seen or (seen and has_seen is None):
        return LeaveOneOutPredictor(predictor, fitted, True, True, base)
    if seen:
        raise errors.MergeError(
            "The model was not trained on all of these rows, so they cannot be left out one by one.",
            hint=(
                "Give the rows that it was trained on, or ",
                Setting("seen", False),
                " for rows that it has not seen.",
            ),
        )
    return AuditPredictor(predictor, fitted, has_seen, True)


def _base_model(model: Any) -> tuple[Any, float]:
    """Return the uncalibrated model, and the slope by which a calibration multiplies its evidence."""
    if isinstance(model, CalibratedModel):
        return model.uncalibrated, model.calibration.slope
    return model, 1.0


def _strongest_reasons(
    model: Model, slope: float, row: Chunk, predicted: Any, label: Any
) -> tuple[EvidenceRow, ...]:
    """Return the features of a row that favour the predicted class over the label most."""
    encoded = model.encode(row)
    evidence = next(model.explain_rows(encoded, model.score_rows(encoded)))
    favouring = [feature for feature in evidence.rows_between(predicted, label) if feature.nats > 0]
    strongest = sorted(favouring, key=lambda feature: -feature.nats)[:MAX_REASONS]
    return tuple(replace(feature, nats=feature.nats * slope) for feature in strongest)


def labelled_chunk(batch: LabelledBatch) -> Chunk:
    """Return the rows of a batch, read by a model of this library, with their labels."""
    chunk: Chunk = batch.rows
    return replace(chunk, labels=label_array(batch.labels))
