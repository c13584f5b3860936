"""Who judges a labelled row: the model as it is, or the model that never saw the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.measures.batches import Batch
from weigh.judge.measures.subject import Answer, Subject
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.counted import Counted
from weigh.model.decision import best, levelled, normalised, to_labels
from weigh.model.evidence import Row
from weigh.model.leaving.left_out import leaving
from weigh.source import Chunk

MOST_REASONS = 4


@dataclass(frozen=True, eq=False)
class Judge:
    """A model as it is, whoever made it.

    `has_seen` tells whether it has learned the rows, None: unknown; `can_forget` whether it could judge each
    of them without itself if it has.
    """

    subject: Subject
    model: Model | None
    has_seen: bool | None
    can_forget: bool

    @property
    def leaves_out(self) -> bool:
        """Whether each row is judged by the model without it."""
        return False

    def answer(self, batch: Batch) -> tuple[Answer, Any]:
        """Return the answer for a batch, and which of its rows can be judged at all."""
        answer: Answer = self.subject.answer(batch.rows)
        return answer, np.ones(len(batch.labels), dtype=bool)

    def reasons(self, batch: Batch, at: int, said: Any) -> tuple[Row, ...]:
        """Return what speaks most for what is said of a row against its label."""
        if self.model is None:
            return ()
        inside, slope = _inside(self.model)
        return _strongest(inside, slope, batch.rows.slice(at, at + 1), said, batch.labels[at])


@dataclass(frozen=True, eq=False)
class LeavingOut(Judge):
    """A model of counts, which for each row forgets it; a calibration stays as it is."""

    counted: Counted

    @property
    def leaves_out(self) -> bool:
        """Whether each row is judged by the model without it."""
        return True

    def answer(self, batch: Batch) -> tuple[Answer, Any]:
        """Return the answer for a batch, and which of its rows can be judged at all."""
        chunk = _labelled(batch)
        scores = self.counted.left_out_chunk(chunk)
        is_possible = np.isfinite(scores.max(axis=1))
        scores[~is_possible] = 0.0
        if isinstance(self.model, CalibratedModel):
            scores = self.model.calibration.apply(levelled(scores))
        posterior = normalised(scores)
        answer = Answer(best(scores, self.counted.tie), posterior, posterior=np.exp(posterior))
        # Where a row was the only one of its class, nothing can be taken for that class.
        return answer, is_possible & ~leaving(self.counted.counts, chunk).vanished

    def reasons(self, batch: Batch, at: int, said: Any) -> tuple[Row, ...]:
        """Return what speaks most for what is said of a row against its label, the row forgotten."""
        row = _labelled(batch).slice(at, at + 1)
        left = self.counted.with_counts(self.counted.counts.plus(self.counted.count([row]), -1).canonical())
        return _strongest(left, _inside(self.model)[1], row, said, batch.labels[at])


def judge_of(subject: Subject, model: Any, rows: Any, y: Any, seen: bool | None) -> Judge:
    """Return who judges: without each row where the model can forget it and has surely learned it."""
    if seen not in (True, False, None):
        must = "True (the model has learned these rows), False (it has not) or None (find out)"
        raise errors.parameter("audit", "seen", must, seen)
    ours = getattr(model, "model_", model)
    ours = ours if isinstance(ours, Model) else None
    counted = _inside(ours)[0]
    if not isinstance(counted, Counted) or not counted.has_rows:
        return Judge(subject, ours, seen, False)
    has_seen = False if seen is False else counted.has_learned(rows, y)
    if has_seen or (seen and has_seen is None):
        return LeavingOut(subject, ours, True, True, counted)
    if seen:
        raise errors.MergeError(
            "These rows were not all learned by this model, so that they cannot be left out one by one. Give "
            "the very rows that it was trained on, or seen=False for rows that it has not seen."
        )
    return Judge(subject, ours, has_seen, True)


def _inside(model: Any) -> tuple[Any, float]:
    """Return the model that reasons, and what a calibration multiplies its reasons by."""
    if isinstance(model, CalibratedModel):
        return model.uncalibrated, model.calibration.slope
    return model, 1.0


def _strongest(model: Model, slope: float, row: Chunk, said: Any, label: Any) -> tuple[Row, ...]:
    """Return the features of a row that speak most for one class against another."""
    evidence = next(iter(model.explain_chunk(row)))
    speaking: Sequence[Row] = [each for each in evidence.rows_between(said, label) if each.nats > 0]
    strongest = sorted(speaking, key=lambda each: -each.nats)[:MOST_REASONS]
    return tuple(replace(each, nats=each.nats * slope) for each in strongest)


def _labelled(batch: Batch) -> Chunk:
    chunk: Chunk = batch.rows
    return replace(chunk, labels=to_labels(batch.labels))
