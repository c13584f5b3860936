"""Linear models: one weight per feature and class, whoever found them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model import store
from weigh.model.base import Model
from weigh.model.display import Told, by_class, weight_table
from weigh.model.evidence import Evidence, weighed
from weigh.model.linear_sums import LinearSums
from weigh.model.term_store import Weights, get_floats, get_terms, put_terms
from weigh.model.weights import Contribution
from weigh.model.worked import ClassWork
from weigh.source import Chunk


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Model, LinearSums):
    """score(class) = base(class) + Σ weight(feature, class) · feature.

    A category is one feature per level (0 or 1), a flag one feature; missing values add nothing.
    For two classes `coef` and `intercept` are those of the second class against the first, so a
    positive score speaks for the second; a tie goes to the first.
    """

    type_name: ClassVar[str] = "linear"

    schema: Schema
    class_list: list[Any]
    base: Floats
    terms: Sequence[Weights]

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.class_list

    @property
    def log_prior(self) -> Floats:
        """What every row's scores start from."""
        return self.base

    @property
    def generative(self) -> bool:
        """Linear scores are not joint probabilities."""
        return False

    @cached_property
    def coef(self) -> Floats:
        """The weights: [features] for two classes, else [classes, features]."""
        return self._against(self.table()[0].T)

    @cached_property
    def intercept(self) -> Floats:
        """The score when all features are zero: a number for two classes, else one per class."""
        return self._against(self.table()[1])

    def _against(self, table: Floats) -> Floats:
        if len(self.class_list) != 2:
            return np.asarray(table)
        with np.errstate(invalid="ignore"):
            difference = np.asarray(table[1] - table[0])
        if not np.isfinite(difference).all():
            raise errors.Unsupported(
                "A probability of zero has no finite weight. Train with a prior above 0 (prior=1)."
            )
        return difference

    def tables(self) -> Iterator[Told]:
        """Yield what the model is as small tables: of two classes, positive weights speak for the second."""
        yield from super().tables()
        try:
            weights, names = self.coef.ravel(), self.features
        except errors.Unsupported:
            # Zero probabilities, and votes, have no weights to show.
            return
        many = len(self.class_list) != 2
        title = "Heaviest weights" + ("" if many else f": positive for {self.class_list[-1]}")
        yield weight_table(title, list(by_class(names, self.class_list)) if many else names, weights)

    def linear(self) -> LinearModel:
        """Return the model itself, which is linear."""
        return self

    def irrelevant(self, tolerance: float = 1e-12) -> list[str]:
        """Return the features whose weight is zero: they speak for no class."""
        spread = np.abs(self.coef) if self.coef.ndim == 1 else np.ptp(self.coef, axis=0)
        return [name for name, w in zip(self.features, spread, strict=True) if w <= tolerance]

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk in the schema's names."""
        return self.sums(chunk)

    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk."""
        verdicts = self.best(self.score_chunk(chunk)).tolist()
        for found, verdict in zip(self.contributions(chunk), verdicts, strict=True):
            yield self.weighed(found, verdict)

    def weighed(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        return weighed(self.class_list, self.base, found, no_work, verdict=verdict)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        arrays: dict[str, Any] = {"base": self.base}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        store.put_names(arrays, meta, "classes", self.class_list)
        put_terms(self.terms, arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> LinearModel:
        """Return the model that `to_store` described."""
        classes = store.get_distinct(stored, "classes")
        base = get_floats(stored, "base", len(classes))
        return cls(schema, classes, base, get_terms(stored, schema, len(classes)))


def no_work() -> list[ClassWork]:
    """Refuse to work out fractions."""
    raise errors.Unsupported("A linear model keeps weights, not counts: there are no fractions to work out.")
