"""Evaluate a model on the partitions of a frame: each worker evaluates its rows, and the results are merged.

Confusion counts and losses are sums. Areas and calibration need the scores of single rows, which are kept up
to `MAX_RETAINED_BYTES`, as for rows in this process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.engines.partitioned import PartitionFold
from weigh.features.schema import Schema
from weigh.judge.metrics.accumulators import EvaluationAccumulator
from weigh.judge.metrics.batches import MAX_SCORE_CELLS, LabelledBatch
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import make_predictor, to_python_list
from weigh.judge.metrics.training_overlap import OverlapDetector
from weigh.model.file.store import FileContent
from weigh.model.training_rows import TrainingRows
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of
from weigh.source.partitioned.rows import PartitionedSource


@dataclass(eq=False)
class EvaluatedRows:
    """The totals of a classifier, or true values and predictions of a regression; the record of the rows."""

    totals: EvaluationAccumulator
    detector: OverlapDetector
    true: list[Floats]
    predicted: list[Floats]


class PartitionEvaluator:
    """Evaluates the chunks of a partition."""

    def __init__(self, task: EvaluationTask) -> None:
        self._rows = task.new_rows()
        self._size = max(64, min(65_536, MAX_SCORE_CELLS // max(len(self._rows.totals.predictor.classes), 1)))

    def add(self, chunk: Chunk) -> None:
        """Evaluate one chunk."""
        for start in range(0, chunk.n_rows, self._size):
            self._add(chunk.slice(start, start + self._size))

    def _add(self, chunk: Chunk) -> None:
        # Imported here: the evaluation of regressions, which evaluates partitions, imports this module.
        from weigh.judge.metrics.regression import predict_batch

        rows, predictor = self._rows, self._rows.totals.predictor
        labels = to_python_list(chunk.labels)
        batch = LabelledBatch(chunk, labels, np.ones(chunk.n_rows), chunk.list_row_numbers())
        batch = rows.detector.encode(batch)
        if predictor.classes:
            rows.totals.add(batch)
        else:
            true, predicted, _ = predict_batch(predictor, batch, chunk.first_row)
            rows.true.append(true)
            rows.predicted.append(predicted)
        rows.detector.add(batch)

    def merge(self, other: PartitionEvaluator) -> None:
        """Raise NotImplementedError: engines merge counts, not counters."""
        raise NotImplementedError

    def counts(self) -> EvaluatedRows:
        """Return the evaluated rows."""
        return self._rows


@dataclass(frozen=True)
class EvaluationTask:
    """Evaluates the rows of a frame."""

    model: Any
    schema: Schema

    def new_rows(self) -> EvaluatedRows:
        """Return the evaluation of no rows."""
        predictor = make_predictor(self.model)
        return EvaluatedRows(EvaluationAccumulator(predictor), OverlapDetector(self.model, predictor), [], [])

    def counter(self) -> PartitionEvaluator:
        """Return an evaluation of no rows."""
        return PartitionEvaluator(self)

    def merge(self, first: EvaluatedRows, second: EvaluatedRows) -> EvaluatedRows:
        """Add the second rows to the first."""
        first.totals.merge(second.totals)
        first.detector.merge(second.detector)
        first.true += second.true
        first.predicted += second.predicted
        return first

    def write_counts(self, rows: EvaluatedRows) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return evaluated rows as JSON metadata and arrays."""
        meta: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        rows.detector.write_arrays(arrays, meta)
        if rows.true:
            arrays |= {"true": np.concatenate(rows.true), "predicted": np.concatenate(rows.predicted)}
        else:
            rows.totals.write_arrays(arrays, meta)
        return meta, arrays

    def read_counts(self, stored: FileContent) -> EvaluatedRows:
        """Return the rows that `write_counts` wrote."""
        rows = self.new_rows()
        record = TrainingRows.read_arrays(stored, self.schema)
        if record is not None:
            rows.detector.restore(record, stored.arrays["overlap.hashes"])
        if "true" in stored.arrays:
            rows.true, rows.predicted = [stored.arrays["true"]], [stored.arrays["predicted"]]
        else:
            rows.totals.read_arrays(stored)
        return rows


def evaluate_partitions(model: Any, data: Any, y: Any, label: str | None, weights: Any) -> EvaluatedRows:
    """Evaluate a model on a frame, whose label is one of its columns."""
    fitted = getattr(model, "model_", model)
    if y is not None or weights is not None:
        raise errors.DataError(
            "The labels of a frame are one of its columns, and its rows count once.",
            hint="Give the name of the label column, and leave out sample_weight.",
        )
    if getattr(fitted, "schema", None) is None:
        raise errors.Unsupported(
            f"{type(model).__name__} is not a model of weigh, and only those are evaluated on frames.",
            hint="Collect the rows.",
        )
    source = rows_of(data, label or fitted.label, missing=fitted.schema.missing)
    assert isinstance(source, PartitionedSource)
    if source.label is None:
        raise errors.LabelError("The model does not know its label column. Give its name as label=.")
    return PartitionFold(source)(EvaluationTask(fitted, fitted.schema))
