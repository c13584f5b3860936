"""Perceptron models, and the record of all hypotheses of a training run.

Two classes have one hyperplane, several classes have one weight vector each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.advice import Setting, Step
from weigh.features.blocks import Floats, Ints, Longs
from weigh.features.schema import Schema
from weigh.immutable import Immutable, make_read_only
from weigh.model.base import EncodedRows, Model, overflow_error
from weigh.model.decision import Decision, best_class
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.file import store
from weigh.model.file.terms import TrainableTerm, read_floats, read_online_settings, read_trainable_terms
from weigh.model.fit import Certificate, OnlineSettings
from weigh.model.linear import LinearModel, design_rows, refuse_exact_products
from weigh.model.training_rows import TrainingRows
from weigh.parameters.learners import HYPOTHESES, PERCEPTRON
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows


class ScoreOnlyModel(Model):
    """A classifier without probabilities; only exactly equal scores tie."""

    has_probabilities: ClassVar[bool] = False

    @property
    def tie(self) -> str:
        """Which class wins a tie: the last of two (a score of 0 counts as positive), the first of more."""
        return "last" if len(self.classes) == 2 else "first"

    @property
    def is_generative(self) -> bool:
        """Perceptron scores are not joint log-probabilities."""
        return False

    @property
    def log_prior(self) -> Floats:
        """Raise Unsupported: perceptron scores contain no class prior."""
        raise self._no_probabilities_error()

    def log_proba(self, rows: Any) -> Floats:
        """Raise Unsupported: perceptron scores are not probabilities."""
        raise self._no_probabilities_error()

    def _no_probabilities_error(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A perceptron's scores are not probabilities; only their order is meaningful.",
            hint=(
                "Use predict or scores; for probabilities, ",
                Step("probabilities", "calibrate the model with weigh.calibrate or train NaiveBayes"),
                ".",
            ),
        )

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        if decision is not None:
            raise self._no_probabilities_error()
        return super()._verdicts(None, chunk)

    def finite_scores(self, rows: EncodedRows) -> Floats:
        """Return `score_rows`, or raise DataError if a score overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.score_rows(rows)
        overflows = ~np.isfinite(scores).all(axis=1)
        if overflows.any():
            raise overflow_error("score", rows, int(np.argmax(overflows)))
        return scores

    def best(self, scores: Floats) -> Any:
        """Return the index of each row's best class; only exactly equal scores tie."""
        return best_class(scores, self.tie, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class PerceptronModel(ScoreOnlyModel, LinearModel):
    """score(class) = bias(class) + Σ weight(feature, class) · feature; the highest score wins.

    With two classes, the first has the score 0 and the second that of the hyperplane; it wins if its score
    is ≥ 0. `kept` names the hypothesis of the training run: the "last", the mean of all ("averaged"), or the
    mean of those after an error ("lazy"). With a `record` of the run, `keep` returns the others and "voted".

    Base and terms are stored as undivided sums in units of the `rate`, so integer sums stay exact and ties
    stay ties. Weights and scores are these sums times `rate` / `divisor`, where `divisor` is the number of
    averaged hypotheses.
    """

    type_name: ClassVar[str] = "perceptron"
    learner: ClassVar[str] = "Perceptron"

    terms: Sequence[TrainableTerm]
    kept: str
    certificate: Certificate
    rate: float = 1.0
    divisor: float = 1.0
    record: PerceptronRecord | None = None
    online: OnlineSettings | None = None  # None if the passes cannot be made again

    def keep(self, how: str) -> PerceptronModel:
        """Return the last, averaged, lazy or voted hypothesis of the same training run."""
        PERCEPTRON.check_value("keep", how)
        if how == self.kept:
            return self
        if self.record is None:
            raise errors.Unsupported(
                f"Only the {self.kept} hypothesis of the run was kept.",
                hint=("Train with ", Setting("record", True), " to keep all of them."),
            )
        if how == "voted":
            last = self.keep("last")
            settings = how, self.certificate, self.rate, 1.0, self.record, self.online
            return VotedModel(
                self.schema,
                self.class_list,
                last.base,
                last.terms,
                *settings,
                training_rows=self.training_rows,
            )
        weights, biases, divisor = self.record.weights(how)
        weights, biases = to_class_columns(weights), to_class_columns(biases)[0]
        terms, start = [], 0
        for term in self.terms:
            size = len(term.features().names)
            terms.append(term.with_weights(np.ascontiguousarray(weights[start : start + size])))
            start += size
        settings = how, self.certificate, self.rate, divisor, self.record, self.online
        rows = self.training_rows
        return PerceptronModel(self.schema, self.class_list, biases, terms, *settings, training_rows=rows)

    def linear(self) -> PerceptronModel:
        """Return the model itself, which is already linear."""
        return self

    @property
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._rescale(super().coef)

    @property
    def intercept(self) -> Floats:
        """The bias: a number for two classes, else one per class."""
        return self._rescale(super().intercept)

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""
        return self._rescale(self.linear_predictor(rows))

    def _rescale(self, sums: Floats) -> Floats:
        return np.asarray(sums * self.rate / self.divisor)

    def make_evidence(self, contributions: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from the contributions of its features."""
        evidence = build_evidence(
            self.class_list, self.base, contributions, refuse_exact_products, unit="points", verdict=verdict
        )
        return evidence.rescale(self.rate, self.divisor)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        meta, arrays = super().to_store()
        meta |= {
            "kept": self.kept,
            "rate": self.rate,
            "divisor": self.divisor,
            "certificate": self.certificate.to_dict(),
        }
        if self.record is not None:
            self.record.write_arrays(arrays, meta)
        if self.online is not None:
            meta["online"] = self.online.to_dict()
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> PerceptronModel:
        """Read a model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        base = read_floats(stored, "base", len(classes))
        terms = read_trainable_terms(stored, schema, len(classes), base, "perceptron")
        certificate = Certificate.from_dict(stored.meta["certificate"])
        width = sum(len(term.features().names) for term in terms)
        record = PerceptronRecord.read_arrays(stored, width, 1 if len(classes) == 2 else len(classes))
        kept, rate, divisor = (stored.meta[name] for name in ("kept", "rate", "divisor"))
        if (
            (kept == "voted") != (cls is VotedModel)
            or kept not in HYPOTHESES
            or (kept == "voted" and record is None)
        ):
            raise store.damaged_file_error(
                stored.path, f"its hypothesis {kept!r} does not match its model type"
            )
        if not (0.0 < rate < np.inf and 1.0 <= divisor < np.inf):
            raise store.damaged_file_error(stored.path, "its weights have an invalid rate or divisor")
        details = (
            kept,
            certificate,
            float(rate),
            float(divisor),
            record,
            read_online_settings(stored, classes),
        )
        rows = TrainingRows.read_arrays(stored, schema)
        return cls(schema, classes, base, terms, *details, training_rows=rows)


@dataclass(frozen=True, eq=False, repr=False)
class VotedModel(PerceptronModel):
    """A voted perceptron: every hypothesis votes with the number of examples it survived.

    Scores are votes; with two classes, those for the second class minus those against it. The stored weights
    are those of the last hypothesis.
    """

    type_name: ClassVar[str] = "voted"

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the votes [rows, classes]."""
        assert self.record is not None
        return to_class_columns(self.record.votes(design_rows(self.terms, rows.blocks, rows.n_rows)))

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row: one contribution of all votes, which do not add by feature."""
        assert self.record is not None
        lives = self.record.lives
        title = f"{len(lives):,} hypotheses, {int(lives.sum()):,} votes"
        base = np.zeros(len(self.class_list))
        for votes, verdict in zip(scores, self.best(scores).tolist(), strict=True):
            contributions = [Contribution(title, "", votes)]
            yield build_evidence(
                self.class_list, base, contributions, refuse_exact_products, unit="votes", verdict=verdict
            )

    def linear(self) -> PerceptronModel:
        """Raise Unsupported: votes are not a linear function of the features."""
        raise self._no_weights_error()

    def _no_weights_error(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A voted perceptron has no single weight vector. Use keep('averaged') or keep('last') to get one."
        )

    @property
    def coef(self) -> Floats:
        """Raise Unsupported: votes have no single weight vector."""
        raise self._no_weights_error()

    @property
    def intercept(self) -> Floats:
        """Raise Unsupported: votes have no single weight vector."""
        return self.coef


def to_class_columns(table: Floats) -> Floats:
    """Return one column per class: a single column becomes that of the second of two classes."""
    table = np.atleast_2d(table)
    if table.shape[1] != 1:
        return np.ascontiguousarray(table)
    return np.hstack([np.zeros_like(table), table])


RECORD_DTYPES: dict[str, type[np.generic]] = {
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float64,
    "plus": np.int32,
    "minus": np.int32,
    "amounts": np.float64,
    "lives": np.int64,
}


@dataclass(frozen=True, eq=False)
class PerceptronRecord(Immutable):
    """All hypotheses of a training run, stored as the updates between them.

    Update k adds `amounts[k]` times row k to the weights of column `plus[k]` and subtracts it
    from column `minus[k]`; a negative column number means no column. The hypothesis before the first update
    classified `lives[0]` examples, the one after update k `lives[k + 1]`, including the updating example.
    Two classes have one column; `separate` columns are trained one-vs-rest.
    """

    rows: SparseRows
    plus: Ints
    minus: Ints
    amounts: Floats
    lives: Longs
    columns: int
    bias: bool = True
    separate: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        make_read_only(self.rows.csr)

    def weights(self, how: str) -> tuple[Floats, Floats, float]:
        """Return the last, averaged or lazy weights [features, columns], biases [columns] and the divisor."""
        weights, biases = np.zeros((self.rows.width, self.columns)), np.zeros(self.columns)
        entry_updates, values = self.rows.entry_rows(), self.rows.entry_values()
        for columns, sign in ((self.plus, 1.0), (self.minus, -1.0)):
            steps = sign * self.amounts * self._update_multiplicities(how, columns)
            has_column = columns >= 0
            mask = has_column[entry_updates]
            update = entry_updates[mask]
            np.add.at(weights, (self.rows.indices[mask], columns[update]), steps[update] * values[mask])
            np.add.at(biases, columns[has_column], steps[has_column])
        biases = biases if self.bias else np.zeros(self.columns)
        divisor = self._divisor(how)
        if isinstance(divisor, float):
            return weights, biases, divisor
        return weights / divisor, biases / divisor, 1.0

    def _update_multiplicities(self, how: str, columns: Ints) -> Floats:
        """Return the number of summed hypotheses that contain each update."""
        if how == "averaged":
            return np.asarray(self.lives[1:][::-1].cumsum()[::-1], dtype=np.float64)
        if how == "last":
            return np.ones(len(columns))
        if not self.separate:
            return np.arange(len(columns), 0, -1, dtype=np.float64)
        multiplicities = np.zeros(len(columns))
        for column in range(self.columns):
            in_column = columns == column
            updates_column = (self.plus == column) | (self.minus == column)
            multiplicities[in_column] = updates_column[::-1].cumsum()[::-1][in_column]
        return multiplicities

    def _divisor(self, how: str) -> Any:
        """Return the number of summed hypotheses: a float, or one per column where these differ."""
        if how == "averaged":
            return float(max(1, self.lives.sum()))
        if how == "last":
            return 1.0
        if not self.separate:
            return float(max(1, len(self.amounts)))
        updated = np.concatenate([self.plus[self.plus >= 0], self.minus[self.minus >= 0]])
        n_updates = np.maximum(1, np.bincount(updated, minlength=self.columns)).astype(np.float64)
        return float(n_updates[0]) if (n_updates == n_updates[0]).all() else n_updates

    def votes(self, rows: SparseRows) -> Floats:
        """Return the votes [rows, columns] of all hypotheses on rows."""
        votes = np.zeros((rows.n_rows, self.columns))
        _core.add_perceptron_votes(
            self.rows.indptr,
            self.rows.indices,
            self.rows.entry_values(),
            self.plus,
            self.minus,
            self.amounts,
            self.lives,
            self.bias,
            self.separate,
            *rows.csr,
            self.rows.width,
            votes,
        )
        return votes

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the record to the content of a model file."""
        vectors = (*self.rows.csr, self.plus, self.minus, self.amounts, self.lives)
        arrays |= {f"record.{name}": vector for name, vector in zip(RECORD_DTYPES, vectors, strict=True)}
        meta["record"] = [self.rows.width, self.columns, self.bias, self.separate]

    @classmethod
    def read_arrays(cls, stored: store.FileContent, width: int, columns: int) -> PerceptronRecord | None:
        """Read the record that `write_arrays` added; None if there is none."""
        if "record" not in stored.meta:
            return None
        stored_width, stored_columns, bias, separate = stored.meta["record"]
        arrays = {
            name: store.read_array(stored, f"record.{name}", (None,), [dtype])
            for name, dtype in RECORD_DTYPES.items()
        }
        if (stored_width, stored_columns) != (width, columns):
            raise store.damaged_file_error(stored.path, "its record has the wrong shape")
        rows = SparseRows(arrays.pop("indptr"), arrays.pop("indices"), arrays.pop("values"), width)
        record = cls(rows, **arrays, columns=columns, bias=bool(bias), separate=bool(separate))
        record._check(stored)
        return record

    def _check(self, stored: store.FileContent) -> None:
        lengths = {len(self.plus), len(self.minus), len(self.lives) - 1, self.rows.n_rows}
        is_finite = np.isfinite(self.amounts).all() and np.isfinite(self.rows.entry_values()).all()
        if lengths != {len(self.amounts)} or self.lives.min(initial=0) < 0 or not is_finite:
            raise store.damaged_file_error(stored.path, "its record has invalid lengths or numbers")
        try:
            # The native code checks every index before it reads anything.
            self.votes(SparseRows(np.zeros(1, np.int64), np.zeros(0, np.int32), None, self.rows.width))
        except ValueError as cause:
            raise store.damaged_file_error(stored.path, f"its record is inconsistent ({cause})") from cause
