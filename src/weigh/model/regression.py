"""Linear regression: a number for every row, as a sum of weighted features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model import store
from weigh.model.dense import dense_rows
from weigh.model.display import Told, weight_table
from weigh.model.evidence import Evidence, weighed
from weigh.model.explained import Explained
from weigh.model.fit import Fit
from weigh.model.linear import no_work
from weigh.model.linear_sums import LinearSums
from weigh.model.optimality import Optimality
from weigh.model.posterior import MOST_SAVED, Posterior, PosteriorMaker
from weigh.model.summary import Summary, summarised
from weigh.model.term_store import Learned, get_floats, get_learned, put_terms
from weigh.source import Chunk
from weigh.text import short


@dataclass(frozen=True, eq=False, repr=False)
class RegressionModel(LinearSums):
    """predicted = base + Σ weight(feature) · feature.

    `fit` tells loss, prior and noise, `certificate` the proof that the weights are optimal, `knowledge`,
    where there is some, how sure they are.
    """

    type_name: ClassVar[str] = "regression"

    schema: Schema
    base: Floats
    terms: Sequence[Learned]
    fit: Fit
    certificate: Optimality
    knowledge: PosteriorMaker | None = None

    def __repr__(self) -> str:
        columns = f"{len(self.schema.names):,} column" + "s" * (len(self.schema.names) != 1)
        label = "" if self.label is None else f" of {self.label!r}"
        return f"<{type(self).__name__}{label}: {columns}, {len(self.coef):,} weights>"

    @cached_property
    def coef(self) -> Floats:
        """The weights, one per feature."""
        return np.ascontiguousarray(self.table()[0][:, 0])

    @cached_property
    def intercept(self) -> float:
        """What is predicted when all features are zero."""
        return float(self.table()[1][0])

    def linear(self) -> RegressionModel:
        """Return the linear form, which a regression is."""
        return self

    def predict(self, rows: Any, return_std: bool = False) -> Any:
        """Return one number per row; with `return_std` also the predictive standard deviations."""
        if not return_std:
            return np.concatenate(list(self.worked(self._predicted, rows)))
        posterior = self.posterior

        def both(chunk: Chunk) -> tuple[Floats, Floats]:
            return self._predicted(chunk), posterior.predictive_sd(self.rows_of(chunk))

        found = list(self.worked(both, rows))
        return tuple(np.concatenate(each) for each in zip(*found, strict=True))

    @cached_property
    def posterior(self) -> Posterior:
        """How sure the weights are; refused with the reason where nothing tells it."""
        if self.knowledge is not None:
            return self.knowledge.posterior().named(self.features)
        raise errors.Unsupported(
            "This regression has no posterior: only squared loss with a Normal prior, or with none and more "
            "rows than weights, has one in closed form, and it is kept for up to 5,000 features (saved for "
            "up to 1,000)."
        )

    @cached_property
    def _known(self) -> Posterior | None:
        # Rows that are fitted exactly tell nothing of the noise: that is refused where it is asked for, and
        # must not keep a model from being told or saved.
        try:
            return None if self.knowledge is None else self.posterior
        except errors.DataError:
            return None

    def rows_of(self, chunk: Chunk) -> Floats:
        """Return a chunk's rows with all their zeros, in the order of `coef`."""
        return dense_rows(self.terms, self.schema.encode(chunk), chunk.n_rows)

    def _predicted(self, chunk: Chunk) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.sums(chunk)[:, 0]
        wrong = ~np.isfinite(found)
        if wrong.any():
            raise errors.DataError(
                f"Row {chunk.first_row + int(np.argmax(wrong)):,} has values so large that what is predicted "
                f"is no number any more. Divide the columns by their largest values, as in training."
            )
        return found

    def tables(self) -> Iterator[Told]:
        """Yield what the model is as small tables, for its display."""
        yield from super().tables()
        yield weight_table(f"Heaviest weights, bias {short(self.intercept)}", self.features, self.coef)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the weights with their errors and intervals, the noise, the penalties by other names."""
        title = f"Linear regression of {self.label or 'y'}, {self.fit.loss} loss"
        bias = self.intercept if self.fit.bias else None
        parts = (title, self.features, self.coef, bias, self.fit, self.certificate, self._known, level)
        return summarised(*parts)

    def explain(self, rows: Any) -> Explained:
        """Return for each row what its features add to the number that is predicted."""
        return Explained(evidence for chunk in self.chunks(rows) for evidence in self.explain_chunk(chunk))

    def explain_chunk(self, chunk: Chunk) -> list[Evidence]:
        """Return the evidence for each row of a chunk."""
        name = self.label or "predicted"
        made = (
            weighed([name], self.base, found, no_work, unit="predicted", verdict=0)
            for found in self.contributions(chunk)
        )
        return [replace(evidence.settled(), verdict=evidence.total) for evidence in made]

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        arrays: dict[str, Any] = {"base": self.base}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        put_terms(self.terms, arrays, meta)
        meta |= {"fit": self.fit.to_dict(), "certificate": self.certificate.to_dict()}
        if len(self.features) <= MOST_SAVED and self._known is not None:
            self._known.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> RegressionModel:
        """Return the model that `to_store` described."""
        base = get_floats(stored, "base", 1)
        terms = get_learned(stored, schema, 1, base, "regression")
        fit = Fit.from_dict(stored.meta["fit"])
        certificate = Optimality.from_dict(stored.meta["certificate"])
        width = sum(len(term.features().names) for term in terms)
        return cls(schema, base, terms, fit, certificate, Posterior.get(stored, width))
