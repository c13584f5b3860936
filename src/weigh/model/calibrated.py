"""Calibrated models: another model, and the map that makes its scores probabilities one can rely on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Level
from weigh.model.base import DisplayTable, Model
from weigh.model.calibration import Calibration, plot_calibration, read_calibration
from weigh.model.decision import equalise_ties
from weigh.model.evidence.evidence import Evidence, EvidenceRow, exact_sum
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.file import store
from weigh.model.joint_bayes import JointModel
from weigh.model.linear import LinearModel, read_floats
from weigh.model.logistic import LogisticModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.threshold import ThresholdModel
from weigh.source import Chunk
from weigh.text import format_probability, truncate

CLASSIFIER_TYPES: dict[str, Any] = {
    model.type_name: model
    for model in (
        BayesModel,
        JointModel,
        LinearModel,
        LogisticModel,
        PerceptronModel,
        ThresholdModel,
        VotedModel,
    )
}
INNER_KEY = "uncalibrated"


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedModel(Model):
    """score(class) = log q(class): what `calibration` makes of the scores of the model inside.

    `uncalibrated` is that model, as it was learned. `shares` are the shares of the classes among the rows of
    the calibration, (n_class + 1) / (n + C), which another class prior is weighed against. The scores are
    probabilities also where those of the model inside are none, as a perceptron's.
    """

    type_name: ClassVar[str] = "calibrated"

    _inner: Model
    calibration: Calibration
    shares: Floats

    def __post_init__(self) -> None:
        if not self.calibration.supports_n_classes(len(self.classes)):
            must = f"a map of the model's {len(self.classes)} classes"
            raise errors.parameter_error("CalibratedModel", "calibration", must, self.calibration)

    def __repr__(self) -> str:
        return f"<CalibratedModel by {self.calibration} of a {repr(self.uncalibrated)[1:]}"

    @property
    def uncalibrated(self) -> Model:
        """The model inside, as it was learned."""
        return self._inner

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        """Names and kinds of the columns."""
        return self.uncalibrated.schema

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.uncalibrated.classes

    @property
    def levels(self) -> Mapping[str, Sequence[Level]]:
        """The values that columns of categories are known to have."""
        return self.uncalibrated.levels

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's share among the rows of the calibration."""
        return np.log(self.shares)

    @property
    def tie(self) -> str:
        """Which class wins at a tie: that of the model inside."""
        return self.uncalibrated.tie

    @property
    def is_generative(self) -> bool:
        """Calibrated scores are probabilities of classes, not of rows."""
        return False

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the log-probabilities of a chunk in the schema's names."""
        scores = self.uncalibrated.compute_scores(chunk)
        return self.calibration.apply(
            equalise_ties(scores) if self.uncalibrated.has_probabilities else scores
        )

    def impossible_row_error(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        return self.uncalibrated.impossible_row_error(chunk, row)

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row: that of the model inside, scaled, and what calibration adds."""
        logs = self.score_chunk(chunk)
        verdicts = self.best(logs).tolist()
        found = self.uncalibrated.explain_chunk(chunk)
        for evidence, row, verdict in zip(found, logs, verdicts, strict=True):
            yield self._calibrate_evidence(evidence, row, verdict)

    def _calibrate_evidence(self, evidence: Evidence, logs: Floats, verdict: int) -> Evidence:
        rest = [c for c in range(len(logs)) if c != verdict]
        second = max(rest, key=lambda c: (logs[c], -c)) if rest else None
        first, runner_up = self.classes[verdict], None if second is None else self.classes[second]
        lead = float(logs[verdict]) - (0.0 if second is None else float(logs[second]))
        return replace(
            evidence,
            verdict=first,
            runner_up=runner_up,
            probabilities=dict(zip(self.classes, np.exp(logs).tolist(), strict=True)),
            table=self._calibrate_rows(evidence.rows_between(first, runner_up), lead),
            unit="nats",
            _class_products=_refuse_exact_products,
            _pairwise_rows=None,
        )

    def _calibrate_rows(self, told: Sequence[EvidenceRow], lead: float) -> tuple[EvidenceRow, ...]:
        """Return the rows times the slope, and one of all that the map adds beside it."""
        rows = tuple(replace(row, nats=row.nats * self.calibration.slope) for row in told)
        total = exact_sum([row.nats for row in rows])
        if self.calibration.preserves_verdicts and len(self.classes) > 1:
            return rows
        if not np.isfinite(total):
            # What is certain has no finite part that could be told apart from the rest.
            return rows if total == lead else (EvidenceRow("calibration", "", lead),)
        return (*rows, EvidenceRow("calibration", "", lead - total))

    def merge(self, other: Any) -> NoReturn:
        """Refuse: more rows need another calibration."""
        raise self._recalibration_error("merge")

    def learn(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: more rows need another calibration."""
        raise self._recalibration_error("learn")

    def forget(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: fewer rows need another calibration."""
        raise self._recalibration_error("forget")

    def left_out_scores(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: without a row the model would have another calibration."""
        raise errors.Unsupported(
            "A calibration holds for the model with all its rows, so a calibrated model cannot leave one "
            "out. Ask model.uncalibrated.left_out_scores(rows)."
        )

    def _recalibration_error(self, verb: str) -> errors.Unsupported:
        return errors.Unsupported(
            f"A calibration holds for the model that it was made for, so a calibrated model cannot {verb}. "
            f"Let model.uncalibrated {verb}, then calibrate again: weigh.calibrate(model, rows)."
        )

    def linear(self) -> Any:
        """Return the linear function that decides alike, where the map leaves all verdicts as they were."""
        if self.calibration.preserves_verdicts:
            return self.uncalibrated.linear()
        raise errors.Unsupported(
            f"Calibration by {self.calibration.method} moves the cuts between the classes. Ask "
            f"model.uncalibrated.linear() for the weights as they were learned."
        )

    def display_tables(self) -> Iterator[DisplayTable]:
        """Yield what the model inside is as small tables, and what becomes of its probabilities."""
        yield from self.uncalibrated.display_tables()
        if self.uncalibrated.has_probabilities and len(self.classes) == 2:
            shares = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
            after = np.exp(self.calibration.apply(np.log(np.column_stack([1.0 - shares, shares]))))[:, 1]
            rows = [
                [format_probability(p), format_probability(q)]
                for p, q in zip(shares.tolist(), after.tolist(), strict=True)
            ]
            yield DisplayTable(
                f"Calibration: P({truncate(self.classes[1], 30)})", [["before", "after"], *rows], 0
            )

    def plot(self) -> Any:
        """Draw the map: the probability of each class before and after, or after its score."""
        return plot_calibration(self.calibration, self.classes, self.uncalibrated.has_probabilities)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds: the file of the model inside, nested, and the map."""
        inner, held = self.uncalibrated.to_store()
        meta: dict[str, Any] = {"schema": inner.pop("schema")}
        meta[INNER_KEY] = {"model": self.uncalibrated.type_name, **inner}
        arrays: dict[str, Any] = {f"{INNER_KEY}.{name}": array for name, array in held.items()}
        arrays["shares"] = self.shares
        self.calibration.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> CalibratedModel:
        """Return the model that `to_store` described."""
        meta = stored.meta[INNER_KEY]
        kind = CLASSIFIER_TYPES.get(str(meta["model"]))
        if kind is None:
            raise store.damaged_file_error(
                stored.path, f"it calibrates an unknown kind of model, {meta['model']!r}"
            )
        prefix = f"{INNER_KEY}."
        held = {
            name.removeprefix(prefix): array
            for name, array in stored.arrays.items()
            if name.startswith(prefix)
        }
        inner: Model = kind.from_store(store.FileContent(meta, held, stored.path), schema)
        shares = read_floats(stored, "shares", len(inner.classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged_file_error(stored.path, "its class shares are no shares")
        return cls(inner, read_calibration(stored, len(inner.classes)), shares)


def _refuse_exact_products() -> list[ClassProduct]:
    raise errors.Unsupported(
        "Calibrated probabilities are no product of fractions. Ask model.uncalibrated for its evidence and "
        "work that out."
    )
