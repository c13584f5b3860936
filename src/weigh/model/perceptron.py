"""Perceptrons: a plane for two classes, a weight vector for each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Ints, Longs
from weigh.model.base import Model
from weigh.model.decision import Decision, best_class
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.file import store
from weigh.model.fit import Certificate
from weigh.model.linear import (
    LinearModel,
    TrainableTerm,
    read_floats,
    read_trainable_terms,
    refuse_exact_products,
)
from weigh.source import Chunk


class ScoreOnlyModel(Model):
    """A classifier without probabilities; only scores that are equal are a tie."""

    has_probabilities: ClassVar[bool] = False

    @property
    def tie(self) -> str:
        """The second of two classes wins at a tie, as a score of zero speaks for it; else the first."""
        return "last" if len(self.classes) == 2 else "first"

    @property
    def is_generative(self) -> bool:
        """Scores are no joint probabilities."""
        return False

    @property
    def log_prior(self) -> Floats:
        """Refuse: there is no prior in scores."""
        raise self._no_probabilities_error()

    def log_proba(self, rows: Any) -> Floats:
        """Refuse: scores are no probabilities."""
        raise self._no_probabilities_error()

    def _no_probabilities_error(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A perceptron's scores are no probabilities, only their order has a meaning. Ask for predict or "
            "scores, or train NaiveBayes for probabilities."
        )

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        if decision is not None:
            raise self._no_probabilities_error()
        return super()._verdicts(None, chunk)

    def compute_scores(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk, refused where they decide nothing."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.score_chunk(chunk)
        wrong = ~np.isfinite(scores).all(axis=1)
        if wrong.any():
            raise errors.DataError(
                f"Row {chunk.first_row + int(np.argmax(wrong)):,} has values so large that its score is no "
                f"number any more. Divide the columns by their largest values, as in training."
            )
        return scores

    def best(self, scores: Floats) -> Any:
        """Return the number of the best class of each row; equal scores are a tie."""
        return best_class(scores, self.tie, 0.0)

    def leads(self, scores: Floats) -> Floats:
        """Return by how much each row's best class leads the next."""
        if scores.shape[1] < 2:
            return scores[:, 0]
        two = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(two[:, 1] - two[:, 0])


@dataclass(frozen=True, eq=False, repr=False)
class PerceptronModel(ScoreOnlyModel, LinearModel):
    """score(class) = bias(class) + Σ weight(feature, class) · feature; the greatest score wins.

    Of two classes the first has the score 0, so that the other's score is that of the plane: zero or
    more speaks for it. `kept` says which hypothesis of the run this is: the "last", the mean of all
    ("averaged"), or the mean of those that followed an error ("lazy"). With a `record` of the run,
    `keep` gives the others too, and "voted".

    Base and terms are held in units of the `rate` and undivided: weights and scores are theirs times the
    rate by `divisor`, the number of hypotheses that a mean is over, so that sums of whole numbers are
    exact and ties are ties.
    """

    type_name: ClassVar[str] = "perceptron"

    terms: Sequence[TrainableTerm]
    kept: str
    certificate: Certificate
    rate: float = 1.0
    divisor: float = 1.0
    record: PerceptronRecord | None = None

    def keep(self, how: str) -> PerceptronModel:
        """Return the same run's last, averaged, lazy or voted hypothesis."""
        check_hypothesis(how)
        if how == self.kept:
            return self
        if self.record is None:
            raise errors.Unsupported(
                f"Only the {self.kept} hypothesis of the run was kept. Train with record=True to have all of "
                f"them."
            )
        if how == "voted":
            last = self.keep("last")
            facts = how, self.certificate, self.rate, 1.0, self.record
            return VotedModel(self.schema, self.class_list, last.base, last.terms, *facts)
        table, biases, divisor = self.record.weights(how)
        table, biases = to_class_columns(table), to_class_columns(biases)[0]
        terms, first = [], 0
        for term in self.terms:
            size = len(term.features().names)
            terms.append(term.with_weights(np.ascontiguousarray(table[first : first + size])))
            first += size
        facts = how, self.certificate, self.rate, divisor, self.record
        return PerceptronModel(self.schema, self.class_list, biases, terms, *facts)

    def linear(self) -> PerceptronModel:
        """Return the linear form, which a perceptron is."""
        return self

    @property
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._rescale(super().coef)

    @property
    def intercept(self) -> Floats:
        """The bias: a number for two classes, else one per class."""
        return self._rescale(super().intercept)

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self._rescale(super().score_chunk(chunk))

    def _rescale(self, held: Floats) -> Floats:
        return np.asarray(held * self.rate / self.divisor)

    def make_evidence(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        evidence = build_evidence(
            self.class_list, self.base, found, refuse_exact_products, unit="points", verdict=verdict
        )
        return evidence.rescale(self.rate, self.divisor)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        meta, arrays = super().to_store()
        meta |= {
            "kept": self.kept,
            "rate": self.rate,
            "divisor": self.divisor,
            "certificate": self.certificate.to_dict(),
        }
        if self.record is not None:
            self.record.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> PerceptronModel:
        """Return the model that `to_store` described."""
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
            raise store.damaged_file_error(stored.path, f"its hypothesis is {kept!r}, which does not suit it")
        if not (0.0 < rate < np.inf and 1.0 <= divisor < np.inf):
            raise store.damaged_file_error(stored.path, "its weights have an impossible rate or divisor")
        return cls(schema, classes, base, terms, kept, certificate, float(rate), float(divisor), record)


@dataclass(frozen=True, eq=False, repr=False)
class VotedModel(PerceptronModel):
    """Every hypothesis of a run decides, and its vote counts as long as it lived.

    Scores are votes: of two classes those for the second minus those against it. The weights are
    those of the run's last hypothesis.
    """

    type_name: ClassVar[str] = "voted"

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the votes on a chunk's rows."""
        assert self.record is not None
        assembly, first = _core.CsrBuilder(chunk.n_rows), 0
        blocks: list[Any] = self.schema.encode(chunk)
        for term, block in zip(self.terms, blocks, strict=True):
            term.append_rows(assembly, block, first)
            first += len(term.features().names)
        return to_class_columns(self.record.votes(*assembly.build()))

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row: all votes together, for hypotheses share no features."""
        assert self.record is not None
        lives = self.record.lives
        title = f"{len(lives):,} hypotheses, {int(lives.sum()):,} votes"
        none, scores = np.zeros(len(self.class_list)), self.score_chunk(chunk)
        for votes, verdict in zip(scores, self.best(scores).tolist(), strict=True):
            found = [Contribution(title, "", votes)]
            yield build_evidence(
                self.class_list, none, found, refuse_exact_products, unit="votes", verdict=verdict
            )

    def linear(self) -> PerceptronModel:
        """Refuse: votes are no linear function."""
        raise self._no_weights_error()

    def _no_weights_error(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A vote of many planes has no weights of its own. Ask keep('averaged') or keep('last') for some."
        )

    @property
    def coef(self) -> Floats:
        """Refuse: votes are no linear function."""
        raise self._no_weights_error()

    @property
    def intercept(self) -> Floats:
        """Refuse: votes are no linear function."""
        return self.coef


def to_class_columns(table: Floats) -> Floats:
    """Return columns as classes: one column is the second of two, and the first has nothing."""
    table = np.atleast_2d(table)
    if table.shape[1] != 1:
        return np.ascontiguousarray(table)
    return np.hstack([np.zeros_like(table), table])


HYPOTHESES = ("averaged", "last", "voted", "lazy")
RECORD_DTYPES = {
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float64,
    "plus": np.int32,
    "minus": np.int32,
    "amounts": np.float64,
    "lives": np.int64,
}


@dataclass(frozen=True, eq=False)
class PerceptronRecord:
    """All hypotheses of a run, as the changes that lead from one to the next.

    Update k adds `amounts[k]` times row k to the weights of column `plus[k]` and takes it from
    column `minus[k]`; a negative column is none. The hypothesis before the first update decided on
    `lives[0]` examples, the one after update k on `lives[k + 1]`, the example that made it included.
    Two classes are one column; `separate` columns are classes against the rest.
    """

    indptr: Longs
    indices: Ints
    values: Floats
    plus: Ints
    minus: Ints
    amounts: Floats
    lives: Longs
    width: int
    columns: int
    bias: bool = True
    separate: bool = False

    def weights(self, how: str) -> tuple[Floats, Floats, float]:
        """Return the last, averaged or lazy weights [features, columns] and biases, and their divisor."""
        table, biases = np.zeros((self.width, self.columns)), np.zeros(self.columns)
        for columns, sign in ((self.plus, 1.0), (self.minus, -1.0)):
            shares = sign * self.amounts * self._update_multiplicities(how, columns)
            here = columns >= 0
            rows = np.repeat(np.arange(len(columns)), np.diff(self.indptr))
            entries = here[rows]
            at = (self.indices[entries], columns[rows[entries]])
            np.add.at(table, at, shares[rows[entries]] * self.values[entries])
            np.add.at(biases, columns[here], shares[here])
        biases = biases if self.bias else np.zeros(self.columns)
        total = self._divisor(how)
        if isinstance(total, float):
            return table, biases, total
        return table / total, biases / total, 1.0

    def _update_multiplicities(self, how: str, columns: Ints) -> Floats:
        """Return in how many of the hypotheses that are added up each update is."""
        if how == "averaged":
            return np.asarray(self.lives[1:][::-1].cumsum()[::-1], dtype=np.float64)
        if how == "last":
            return np.ones(len(columns))
        if not self.separate:
            return np.arange(len(columns), 0, -1, dtype=np.float64)
        shares = np.zeros(len(columns))
        for column in range(self.columns):
            own = columns == column
            after = (self.plus == column) | (self.minus == column)
            shares[own] = after[::-1].cumsum()[::-1][own]
        return shares

    def _divisor(self, how: str) -> Any:
        if how == "averaged":
            return float(max(1, self.lives.sum()))
        if how == "last":
            return 1.0
        if not self.separate:
            return float(max(1, len(self.amounts)))
        touched = np.concatenate([self.plus[self.plus >= 0], self.minus[self.minus >= 0]])
        ticks = np.maximum(1, np.bincount(touched, minlength=self.columns)).astype(np.float64)
        return float(ticks[0]) if (ticks == ticks[0]).all() else ticks

    def votes(self, indptr: Longs, indices: Ints, values: Floats | None) -> Floats:
        """Return the votes [rows, columns] of all hypotheses on rows of the same features."""
        votes = np.zeros((len(indptr) - 1, self.columns))
        _core.add_perceptron_votes(
            self.indptr,
            self.indices,
            self.values,
            self.plus,
            self.minus,
            self.amounts,
            self.lives,
            self.bias,
            self.separate,
            indptr,
            indices,
            values,
            self.width,
            votes,
        )
        return votes

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the record to what a model file will hold."""
        for name in RECORD_DTYPES:
            arrays[f"record.{name}"] = getattr(self, name)
        meta["record"] = [self.width, self.columns, self.bias, self.separate]

    @classmethod
    def read_arrays(cls, stored: store.FileContent, width: int, columns: int) -> PerceptronRecord | None:
        """Return the record that `put` added, if there is one."""
        if "record" not in stored.meta:
            return None
        found, own, bias, separate = stored.meta["record"]
        arrays = {name: stored.arrays[f"record.{name}"] for name in RECORD_DTYPES}
        right = all(
            arrays[name].dtype == kind and arrays[name].ndim == 1 for name, kind in RECORD_DTYPES.items()
        )
        if (found, own) != (width, columns) or not right:
            raise store.damaged_file_error(stored.path, "its record is of the wrong shape")
        record = cls(**arrays, width=width, columns=columns, bias=bool(bias), separate=bool(separate))
        record._check(stored)
        return record

    def _check(self, stored: store.FileContent) -> None:
        updates = len(self.amounts)
        sizes = len(self.plus) == len(self.minus) == updates == len(self.lives) - 1 == len(self.indptr) - 1
        finite = np.isfinite(self.amounts).all() and np.isfinite(self.values).all()
        if not sizes or self.lives.min(initial=0) < 0 or not finite:
            raise store.damaged_file_error(stored.path, "its record does not fit together")
        try:
            # The native code checks every index before it reads anything.
            self.votes(np.zeros(1, np.int64), np.zeros(0, np.int32), None)
        except ValueError as cause:
            raise store.damaged_file_error(stored.path, f"its record is contradictory ({cause})") from cause


def check_hypothesis(how: object) -> str:
    """Return which hypothesis is asked for, checked."""
    if not isinstance(how, str) or how not in HYPOTHESES:
        raise errors.parameter_error("Perceptron", "keep", "'averaged', 'last', 'voted' or 'lazy'", how)
    return how
