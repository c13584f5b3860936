"""Calibrated models: another model, and the map that makes its scores probabilities one can rely on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Level
from weigh.model import store
from weigh.model.base import Model
from weigh.model.bayes import BayesModel
from weigh.model.calibration import Calibration, get_calibration
from weigh.model.calibration_plot import drawn
from weigh.model.decision import levelled
from weigh.model.display import Told
from weigh.model.evidence import Evidence, Row, exact_sum
from weigh.model.joint import JointModel
from weigh.model.linear import LinearModel
from weigh.model.logistic import LogisticModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.term_store import get_floats
from weigh.model.threshold import ThresholdModel
from weigh.model.worked import ClassWork
from weigh.source import Chunk
from weigh.text import cut, probable

CLASSIFIERS: dict[str, Any] = {
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
INNER = "uncalibrated"


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
        if not self.calibration.fits(len(self.classes)):
            must = f"a map of the model's {len(self.classes)} classes"
            raise errors.parameter("CalibratedModel", "calibration", must, self.calibration)

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
    def generative(self) -> bool:
        """Calibrated scores are probabilities of classes, not of rows."""
        return False

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the log-probabilities of a chunk in the schema's names."""
        scores = self.uncalibrated.checked(chunk)
        return self.calibration.apply(levelled(scores) if self.uncalibrated.probable else scores)

    def impossible(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        return self.uncalibrated.impossible(chunk, row)

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row: that of the model inside, scaled, and what calibration adds."""
        logs = self.score_chunk(chunk)
        verdicts = self.best(logs).tolist()
        found = self.uncalibrated.explain_chunk(chunk)
        for evidence, row, verdict in zip(found, logs, verdicts, strict=True):
            yield self._weighed(evidence, row, verdict)

    def _weighed(self, evidence: Evidence, logs: Floats, verdict: int) -> Evidence:
        rest = [c for c in range(len(logs)) if c != verdict]
        second = max(rest, key=lambda c: (logs[c], -c)) if rest else None
        first, runner_up = self.classes[verdict], None if second is None else self.classes[second]
        lead = float(logs[verdict]) - (0.0 if second is None else float(logs[second]))
        return replace(
            evidence,
            verdict=first,
            runner_up=runner_up,
            probabilities=dict(zip(self.classes, np.exp(logs).tolist(), strict=True)),
            table=self._rows(evidence.rows_between(first, runner_up), lead),
            unit="nats",
            _work=_no_work,
            _rows=None,
        )

    def _rows(self, told: Sequence[Row], lead: float) -> tuple[Row, ...]:
        """Return the rows times the slope, and one of all that the map adds beside it."""
        rows = tuple(replace(row, nats=row.nats * self.calibration.slope) for row in told)
        total = exact_sum([row.nats for row in rows])
        if self.calibration.keeps_verdicts and len(self.classes) > 1:
            return rows
        if not np.isfinite(total):
            # What is certain has no finite part that could be told apart from the rest.
            return rows if total == lead else (Row("calibration", "", lead),)
        return (*rows, Row("calibration", "", lead - total))

    def merge(self, other: Any) -> NoReturn:
        """Refuse: more rows need another calibration."""
        raise self._stale("merge")

    def learn(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: more rows need another calibration."""
        raise self._stale("learn")

    def forget(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: fewer rows need another calibration."""
        raise self._stale("forget")

    def left_out_scores(self, rows: Any, y: Any = None) -> NoReturn:
        """Refuse: without a row the model would have another calibration."""
        raise errors.Unsupported(
            "A calibration holds for the model with all its rows, so a calibrated model cannot leave one "
            "out. Ask model.uncalibrated.left_out_scores(rows)."
        )

    def _stale(self, verb: str) -> errors.Unsupported:
        return errors.Unsupported(
            f"A calibration holds for the model that it was made for, so a calibrated model cannot {verb}. "
            f"Let model.uncalibrated {verb}, then calibrate again: weigh.calibrate(model, rows)."
        )

    def linear(self) -> Any:
        """Return the linear function that decides alike, where the map leaves all verdicts as they were."""
        if self.calibration.keeps_verdicts:
            return self.uncalibrated.linear()
        raise errors.Unsupported(
            f"Calibration by {self.calibration.method} moves the cuts between the classes. Ask "
            f"model.uncalibrated.linear() for the weights as they were learned."
        )

    def tables(self) -> Iterator[Told]:
        """Yield what the model inside is as small tables, and what becomes of its probabilities."""
        yield from self.uncalibrated.tables()
        if self.uncalibrated.probable and len(self.classes) == 2:
            shares = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
            after = np.exp(self.calibration.apply(np.log(np.column_stack([1.0 - shares, shares]))))[:, 1]
            rows = [[probable(p), probable(q)] for p, q in zip(shares.tolist(), after.tolist(), strict=True)]
            yield Told(f"Calibration: P({cut(self.classes[1], 30)})", [["before", "after"], *rows], 0)

    def plot(self) -> Any:
        """Draw the map: the probability of each class before and after, or after its score."""
        return drawn(self.calibration, self.classes, self.uncalibrated.probable)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds: the file of the model inside, nested, and the map."""
        inner, held = self.uncalibrated.to_store()
        meta: dict[str, Any] = {"schema": inner.pop("schema")}
        meta[INNER] = {"model": self.uncalibrated.type_name, **inner}
        arrays: dict[str, Any] = {f"{INNER}.{name}": array for name, array in held.items()}
        arrays["shares"] = self.shares
        self.calibration.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> CalibratedModel:
        """Return the model that `to_store` described."""
        meta = stored.meta[INNER]
        kind = CLASSIFIERS.get(str(meta["model"]))
        if kind is None:
            raise store.damaged(stored.path, f"it calibrates an unknown kind of model, {meta['model']!r}")
        prefix = f"{INNER}."
        held = {
            name.removeprefix(prefix): array
            for name, array in stored.arrays.items()
            if name.startswith(prefix)
        }
        inner: Model = kind.from_store(store.Stored(meta, held, stored.path), schema)
        shares = get_floats(stored, "shares", len(inner.classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged(stored.path, "its class shares are no shares")
        return cls(inner, get_calibration(stored, len(inner.classes)), shares)


def _no_work() -> list[ClassWork]:
    raise errors.Unsupported(
        "Calibrated probabilities are no product of fractions. Ask model.uncalibrated for its evidence and "
        "work that out."
    )
