"""Calibrated models: a classifier and the calibration map applied to its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Level
from weigh.features.schema import Schema
from weigh.model.base import EncodedRows, Model
from weigh.model.calibration import Calibration, plot_calibration, read_calibration
from weigh.model.decision import equalise_ties
from weigh.model.evidence.evidence import Evidence, EvidenceRow, exact_sum
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.file.loading import CLASSIFIER_TYPES, find_model_type
from weigh.model.file.terms import read_floats
from weigh.result import Table
from weigh.source.chunk import Chunk
from weigh.text import format_probability, truncate

INNER_KEY = "uncalibrated"


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedModel(Model):
    """score(class) = log q(class), where `calibration` maps the scores of `uncalibrated` to log q.

    `shares` are the smoothed class frequencies of the calibration rows, (n_class + 1) / (n + C); a `Decision`
    with another class prior divides by them. The result is a probability even if the inner model, such as a
    perceptron, has none.
    """

    type_name: ClassVar[str] = "calibrated"

    _inner: Model
    calibration: Calibration
    shares: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.calibration.supports_n_classes(len(self.classes)):
            must = f"a calibration map for the model's {len(self.classes)} classes"
            raise errors.parameter_error("CalibratedModel", "calibration", must, self.calibration)

    def __repr__(self) -> str:
        return f"<CalibratedModel by {self.calibration} of a {repr(self.uncalibrated)[1:]}"

    @property
    def uncalibrated(self) -> Model:
        """The inner model, without calibration."""
        return self._inner

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        """The names and kinds of the columns."""
        return self.uncalibrated.schema

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.uncalibrated.classes

    @property
    def levels(self) -> Mapping[str, Sequence[Level]]:
        """The known levels of each categorical column."""
        return self.uncalibrated.levels

    @property
    def log_prior(self) -> Floats:
        """The log share of each class among the calibration rows."""
        return np.log(self.shares)

    @property
    def tie(self) -> str:
        """The tie rule of the inner model."""
        return self.uncalibrated.tie

    @property
    def is_generative(self) -> bool:
        """Calibrated scores are log P(class | x), not joint log-probabilities."""
        return False

    def encode(self, chunk: Chunk) -> EncodedRows:
        """Encode the rows of a chunk for the inner model, with its scores, which evidence needs too."""
        rows = self.uncalibrated.encode(chunk)
        return EncodedRows([rows, self.uncalibrated.finite_scores(rows)], chunk.n_rows, chunk.row_number)

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the calibrated log-probabilities [rows, classes]."""
        _, scores = rows.blocks
        return self.calibration.apply(
            equalise_ties(scores) if self.uncalibrated.has_probabilities else scores
        )

    def unknown_words(self, rows: EncodedRows, row: int) -> list[str]:
        """Return the words in the texts of a row that the inner model does not know."""
        return self.uncalibrated.unknown_words(rows.blocks[0], row)

    def impossible_row_error(self, rows: EncodedRows, row: int) -> errors.ImpossibleEvidence:
        """Return the error for a row with probability zero in every class."""
        return self.uncalibrated.impossible_row_error(rows.blocks[0], row)

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the scaled evidence of the inner model for each row, plus the calibration's contribution."""
        verdicts = self.best(scores).tolist()
        inner = self.uncalibrated.explain_rows(*rows.blocks)
        for evidence, row_log_q, verdict in zip(inner, scores, verdicts, strict=True):
            yield self._calibrate_evidence(evidence, row_log_q, verdict)

    def _calibrate_evidence(self, evidence: Evidence, log_q: Floats, verdict: int) -> Evidence:
        others = [c for c in range(len(log_q)) if c != verdict]
        second = max(others, key=lambda c: (log_q[c], -c)) if others else None
        first, runner_up = self.classes[verdict], None if second is None else self.classes[second]
        lead = float(log_q[verdict]) - (0.0 if second is None else float(log_q[second]))
        return replace(
            evidence,
            verdict=first,
            runner_up=runner_up,
            probabilities=dict(zip(self.classes, np.exp(log_q).tolist(), strict=True)),
            table=self._calibrate_rows(evidence.rows_between(first, runner_up), lead),
            unit="nats",
            _class_products=_refuse_exact_products,
            _pairwise_rows=None,
        )

    def _calibrate_rows(self, inner: Sequence[EvidenceRow], lead: float) -> tuple[EvidenceRow, ...]:
        """Multiply the rows by the slope and add a row so that they sum to the calibrated log-odds `lead`."""
        rows = tuple(replace(row, nats=row.nats * self.calibration.slope) for row in inner)
        total = exact_sum([row.nats for row in rows])
        if self.calibration.preserves_verdicts and len(self.classes) > 1:
            return rows
        if not np.isfinite(total):
            # An infinite total cannot be split into finite contributions.
            return rows if total == lead else (EvidenceRow("calibration", "", lead),)
        return (*rows, EvidenceRow("calibration", "", lead - total))

    def predictive(self) -> NoReturn:
        """Raise Unsupported: the calibration was fitted to other probabilities."""
        raise errors.Unsupported(
            "A calibration is valid only for the probabilities it was fitted to, so a calibrated model has "
            "no posterior predictive probabilities. Use model.uncalibrated.predictive()."
        )

    def merge(self, other: Any) -> NoReturn:
        """Raise Unsupported: the merged model needs a new calibration."""
        raise self._recalibration_error("merge")

    def learn(self, rows: Any, y: Any = None) -> NoReturn:
        """Raise Unsupported: more rows need a new calibration."""
        raise self._recalibration_error("learn")

    def forget(self, rows: Any, y: Any = None) -> NoReturn:
        """Raise Unsupported: fewer rows need a new calibration."""
        raise self._recalibration_error("forget")

    def left_out_scores(self, rows: Any, y: Any = None) -> NoReturn:
        """Raise Unsupported: without a row the model would need a new calibration."""
        raise errors.Unsupported(
            "A calibration is valid only for the model with all its rows, so a calibrated model has no "
            "leave-one-out scores. Use model.uncalibrated.left_out_scores(rows)."
        )

    def _recalibration_error(self, verb: str) -> errors.Unsupported:
        return errors.Unsupported(
            f"A calibration is valid only for the model it was fitted to, so a calibrated model cannot "
            f"{verb}. Use model.uncalibrated.{verb}(...), then calibrate again: weigh.calibrate(model, rows)."
        )

    def linear(self) -> Any:
        """Return the linear form of the inner model if the calibration preserves its verdicts."""
        if self.calibration.preserves_verdicts:
            return self.uncalibrated.linear()
        raise errors.Unsupported(
            f"Calibration by {self.calibration.method} moves the decision boundaries. Use "
            f"model.uncalibrated.linear() for the uncalibrated weights."
        )

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the inner model, and one of probabilities before and after calibration."""
        yield from self.uncalibrated.display_tables()
        if self.uncalibrated.has_probabilities and len(self.classes) == 2:
            before = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
            after = np.exp(self.calibration.apply(np.log(np.column_stack([1.0 - before, before]))))[:, 1]
            pairs = np.column_stack([before, after]).tolist()
            rows = [["before", "after"], *([format_probability(p) for p in pair] for pair in pairs)]
            yield Table(rows, left=0, caption=f"Calibration: P({truncate(self.classes[1], 30)})")

    def plot(self) -> Any:
        """Plot the probability after calibration against the one before, or against the score."""
        return plot_calibration(self.calibration, self.classes, self.uncalibrated.has_probabilities)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: that of the inner model, nested, and the calibration."""
        inner_meta, inner_arrays = self.uncalibrated.to_store()
        meta: dict[str, Any] = {"schema": inner_meta.pop("schema")}
        meta[INNER_KEY] = {"model": self.uncalibrated.type_name, **inner_meta}
        arrays: dict[str, Any] = {f"{INNER_KEY}.{name}": array for name, array in inner_arrays.items()}
        arrays["shares"] = self.shares
        self.calibration.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> CalibratedModel:
        """Read a model that `to_store` described."""
        meta = stored.meta[INNER_KEY]
        model_type = find_model_type(meta["model"], CLASSIFIER_TYPES)
        if model_type is None:
            raise store.damaged_file_error(
                stored.path, f"it calibrates a model of unknown type {meta['model']!r}"
            )
        prefix = f"{INNER_KEY}."
        arrays = {
            name.removeprefix(prefix): array
            for name, array in stored.arrays.items()
            if name.startswith(prefix)
        }
        inner: Model = model_type.from_store(store.FileContent(meta, arrays, stored.path), schema)
        shares = read_floats(stored, "shares", len(inner.classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged_file_error(stored.path, "its class shares are not between 0 and 1")
        return cls(inner, read_calibration(stored, len(inner.classes)), shares)


def _refuse_exact_products() -> list[ClassProduct]:
    raise errors.Unsupported(
        "Calibrated probabilities are not products of fractions. Use the evidence of the uncalibrated model: "
        "model.uncalibrated.explain(rows)[0].worked()."
    )
