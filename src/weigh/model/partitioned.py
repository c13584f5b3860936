"""Predictions for the partitions of an engine's frame: lazy, and computed by its workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import errors
from weigh.model.decision import Decision, log_softmax
from weigh.source.memory.columns import is_partitioned
from weigh.source.partitioned.recognition import to_frame
from weigh.source.partitioned.rows import PartitionReader
from weigh.text import format_signed, truncate

if TYPE_CHECKING:
    from weigh.model.base import BaseModel, EncodedRows
    from weigh.model.evidence.evidence import Evidence
    from weigh.source.chunk import Chunk

MAX_REASON_WIDTH = 120
BASES = ("class prior", "bias")


@dataclass(frozen=True)
class PartitionPredictor:
    """Predicts the rows of one partition; the engine sends it to its workers.

    `columns` are "prediction" (unless `probabilities_only`), the probability of each class, and "reason 1" to
    "reason n": the strongest contributions.
    """

    model: Any
    decision: Decision | None = None
    n_reasons: int = 0
    probabilities_only: bool = False

    @property
    def _classes(self) -> list[Any]:
        has_probabilities = getattr(self.model, "has_probabilities", False)
        return list(self.model.classes) if has_probabilities else []

    def output(self) -> Any:
        """Return the Arrow schema of the result."""
        import pyarrow as pa

        reasons = [(f"reason {n}", pa.string()) for n in range(1, self.n_reasons + 1)]
        shares = [(f"P({label})", pa.float64()) for label in self._classes]
        verdict = [] if self.probabilities_only else [("prediction", self._verdict_type())]
        return pa.schema([*verdict, *shares, *reasons])

    def _verdict_type(self) -> Any:
        import pyarrow as pa

        if not hasattr(self.model, "classes"):
            return pa.float64()
        types = {type(label) for label in self.model.classes}
        if self.decision is not None and getattr(self.decision, "unsure", None) is not None:
            types.add(str)
        by_type = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
        return by_type.get(types.pop(), pa.string()) if len(types) == 1 else pa.string()

    def __call__(self, table: Any) -> Any:
        """Return the predictions of an Arrow table, row by row."""
        import pyarrow as pa

        output = self.output()
        if not table.num_rows:
            return output.empty_table()
        model = self.model
        source = PartitionReader(None, model.schema.missing, {}).source(table)
        readers = model.schema.chunk_readers(source, model.max_rows, model.learner, is_training=None)
        parts = [self._predict_chunk(reader.read()) for reader in readers]
        columns = [np.concatenate([part[name] for part in parts]) for name in output.names]
        if not self.probabilities_only and output.field(0).type == pa.string():
            columns[0] = np.array([str(value) for value in columns[0]], dtype=object)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, output, strict=True)]
        return pa.Table.from_arrays(arrays, schema=output)

    def _predict_chunk(self, chunk: Chunk) -> dict[str, Any]:
        model = self.model
        chunk = model.schema.with_blocks(chunk)  # encoded once
        columns: dict[str, Any] = {"prediction": model.predict(chunk, *self._decisions)}
        encoded: EncodedRows = model.encode(chunk)
        scores = model.finite_scores(encoded) if hasattr(model, "classes") else None
        if self._classes and scores is not None:
            shares = np.exp(log_softmax(scores))
            columns |= {f"P({label})": shares[:, c] for c, label in enumerate(self._classes)}
        if self.n_reasons:
            texts = [format_reasons(each, self.n_reasons) for each in model.explain(chunk)]
            for n in range(self.n_reasons):
                columns[f"reason {n + 1}"] = np.array([row[n] for row in texts], dtype=object)
        return columns

    @property
    def _decisions(self) -> tuple[Decision, ...]:
        return () if self.decision is None else (self.decision,)


def format_reasons(evidence: Evidence, n: int) -> list[str]:
    """Return the n strongest contributions without the class prior or bias, as text; "" for those missing."""
    strongest = [row for row in evidence.strongest(n + 1) if row.feature not in BASES]
    reasons = [
        f"{truncate(row.title, MAX_REASON_WIDTH)} ({format_signed(row.nats, 3)})" for row in strongest[:n]
    ]
    return [*reasons, *[""] * (n - len(reasons))]


def predict_partitions(model: BaseModel, rows: Any, **options: Any) -> Any:
    """Return the predictions of a frame as a lazy result of its engine."""
    model.check_has_outputs()
    frame, schema = to_frame(rows), model.schema
    if schema.named:
        schema.check_names(frame.names)
    predictor = PartitionPredictor(model, **options)
    return frame.map_rows(predictor, predictor.output())


def predict_frame(model: BaseModel, rows: Any, reasons: object, **options: Any) -> Any:
    """Return the predictions of a frame with reasons; raise ParameterError for reasons of other rows."""
    if not isinstance(reasons, int) or isinstance(reasons, bool) or reasons < 0:
        raise errors.parameter_error("predict", "reasons", "a whole number >= 0", reasons)
    if not is_partitioned(rows):
        raise errors.ParameterError(
            "predict: reasons belong to the frames of Dask and Spark.", hint="For other rows, use explain()."
        )
    return predict_partitions(model, rows, n_reasons=reasons, **options)
