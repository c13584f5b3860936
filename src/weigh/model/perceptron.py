"""Perceptrons: a plane for two classes, a weight vector for each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh import _core, errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model import store
from weigh.model.certificate import Certificate
from weigh.model.evidence import Evidence, weighed
from weigh.model.linear import LinearModel, no_work
from weigh.model.record import KEPT, Record, check_kept
from weigh.model.scored import ScoredModel
from weigh.model.term_store import Learned, get_floats, get_learned
from weigh.model.weights import Contribution
from weigh.source import Chunk


@dataclass(frozen=True, eq=False, repr=False)
class PerceptronModel(ScoredModel, LinearModel):
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

    terms: Sequence[Learned]
    kept: str
    certificate: Certificate
    rate: float = 1.0
    divisor: float = 1.0
    record: Record | None = None

    def keep(self, how: str) -> PerceptronModel:
        """Return the same run's last, averaged, lazy or voted hypothesis."""
        check_kept(how)
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
        table, biases = as_classes(table), as_classes(biases)[0]
        terms, first = [], 0
        for term in self.terms:
            size = len(term.features().names)
            terms.append(term.reweighed(np.ascontiguousarray(table[first : first + size])))
            first += size
        facts = how, self.certificate, self.rate, divisor, self.record
        return PerceptronModel(self.schema, self.class_list, biases, terms, *facts)

    def linear(self) -> PerceptronModel:
        """Return the linear form, which a perceptron is."""
        return self

    @property
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._scaled(super().coef)

    @property
    def intercept(self) -> Floats:
        """The bias: a number for two classes, else one per class."""
        return self._scaled(super().intercept)

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self._scaled(super().score_chunk(chunk))

    def _scaled(self, held: Floats) -> Floats:
        return np.asarray(held * self.rate / self.divisor)

    def weighed(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        evidence = weighed(self.class_list, self.base, found, no_work, unit="points", verdict=verdict)
        return evidence.scaled(self.rate, self.divisor)

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
            self.record.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> PerceptronModel:
        """Return the model that `to_store` described."""
        classes = store.get_distinct(stored, "classes")
        base = get_floats(stored, "base", len(classes))
        terms = get_learned(stored, schema, len(classes), base, "perceptron")
        certificate = Certificate.from_dict(stored.meta["certificate"])
        width = sum(len(term.features().names) for term in terms)
        record = Record.get(stored, width, 1 if len(classes) == 2 else len(classes))
        kept, rate, divisor = (stored.meta[name] for name in ("kept", "rate", "divisor"))
        if (
            (kept == "voted") != (cls is VotedModel)
            or kept not in KEPT
            or (kept == "voted" and record is None)
        ):
            raise store.damaged(stored.path, f"its hypothesis is {kept!r}, which does not suit it")
        if not (0.0 < rate < np.inf and 1.0 <= divisor < np.inf):
            raise store.damaged(stored.path, "its weights have an impossible rate or divisor")
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
            term.put_rows(assembly, block, first)
            first += len(term.features().names)
        return as_classes(self.record.votes(*assembly.build()))

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row: all votes together, for hypotheses share no features."""
        assert self.record is not None
        lives = self.record.lives
        title = f"{len(lives):,} hypotheses, {int(lives.sum()):,} votes"
        none, scores = np.zeros(len(self.class_list)), self.score_chunk(chunk)
        for votes, verdict in zip(scores, self.best(scores).tolist(), strict=True):
            found = [Contribution(title, "", votes)]
            yield weighed(self.class_list, none, found, no_work, unit="votes", verdict=verdict)

    def linear(self) -> PerceptronModel:
        """Refuse: votes are no linear function."""
        raise self._no_plane()

    def _no_plane(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A vote of many planes has no weights of its own. Ask keep('averaged') or keep('last') for some."
        )

    @property
    def coef(self) -> Floats:
        """Refuse: votes are no linear function."""
        raise self._no_plane()

    @property
    def intercept(self) -> Floats:
        """Refuse: votes are no linear function."""
        return self.coef


def as_classes(table: Floats) -> Floats:
    """Return columns as classes: one column is the second of two, and the first has nothing."""
    table = np.atleast_2d(table)
    if table.shape[1] != 1:
        return np.ascontiguousarray(table)
    return np.hstack([np.zeros_like(table), table])
