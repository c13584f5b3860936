"""The linear regression model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.schema import Schema
from weigh.immutable import read_only
from weigh.model.base import EncodedRows, overflow_error, weight_table
from weigh.model.evidence.evidence import Explained, build_evidence
from weigh.model.file import store
from weigh.model.file.terms import TrainableTerm, read_floats, read_trainable_terms, write_terms
from weigh.model.fit import Fit, Optimality
from weigh.model.inference import MAX_SAVED_FEATURES, Posterior, PosteriorSource, Summary, build_summary
from weigh.model.linear import LinearPredictor, design_rows, refuse_exact_products, standardisation_of
from weigh.model.training_rows import TrainingRows
from weigh.result import Table
from weigh.source.chunk import Chunk
from weigh.text import format_float


@dataclass(frozen=True, eq=False, repr=False)
class RegressionModel(LinearPredictor):
    """prediction = base + Σ weight(feature) · feature.

    `fit` records loss, prior and noise, `certificate` bounds the distance of the objective from its minimum,
    and `posterior_source` computes the posterior of the weights if there is one.
    """

    type_name: ClassVar[str] = "regression"
    learner: ClassVar[str] = "LinearRegression"

    schema: Schema
    base: Floats
    terms: Sequence[TrainableTerm]
    fit: Fit
    certificate: Optimality
    posterior_source: PosteriorSource | None = None
    training_rows: TrainingRows | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        columns = f"{len(self.schema.names):,} column" + "s" * (len(self.schema.names) != 1)
        label = "" if self.label is None else f" of {self.label!r}"
        return f"<{type(self).__name__}{label}: {columns}, {len(self.coef):,} weights>"

    @cached_property
    @read_only
    def coef(self) -> Floats:
        """The weights, one per feature."""
        return np.ascontiguousarray(self.coefficients()[0][:, 0])

    @cached_property
    def intercept(self) -> float:
        """The prediction when all features are zero."""
        return float(self.coefficients()[1][0])

    def linear(self) -> RegressionModel:
        """Return the model itself, which is already linear."""
        return self

    def predict(self, rows: Any, return_std: bool = False) -> Any:
        """Return one prediction per row; with `return_std` also the predictive standard deviations."""
        posterior = self.training_posterior if return_std else None

        def predict_chunk(chunk: Chunk) -> tuple[Floats, ...]:
            encoded = self.encode(chunk)
            predicted = self._predict_rows(encoded)
            if posterior is None:
                return (predicted,)
            features = design_rows(self.terms, encoded.blocks, encoded.n_rows).to_dense()
            return predicted, posterior.predictive_sd(features)

        chunks = list(self.map_chunks(predict_chunk, rows))
        columns = tuple(np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
        return columns if return_std else columns[0]

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the weights; raises Unsupported if the fit has none in closed form."""
        return self.training_posterior.rescale(*standardisation_of(self.terms))

    @cached_property
    def training_posterior(self) -> Posterior:
        """The posterior of the weights of the numbers as standardised for training."""
        if self.posterior_source is not None:
            return self.posterior_source.posterior().with_names(self.features)
        raise errors.Unsupported(
            "This regression has no posterior: only squared loss with a Normal prior, or with none and more "
            "rows than weights, has one in closed form, and it is kept for up to 5,000 features (saved for "
            "up to 1,000)."
        )

    @cached_property
    def _available_posterior(self) -> Posterior | None:
        # If the rows are fitted exactly, the noise cannot be estimated and `posterior` raises DataError. The
        # summary and saving must still work.
        try:
            return None if self.posterior_source is None else self.training_posterior
        except errors.DataError:
            return None

    def _predict_rows(self, rows: EncodedRows) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = self.linear_predictor(rows)[:, 0]
        overflows = ~np.isfinite(predicted)
        if overflows.any():
            raise overflow_error("prediction", rows, int(np.argmax(overflows)))
        return predicted

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the model's HTML display; curves have effects instead of weights."""
        # Imported here because predictions need no effects.
        from weigh.model.effects.term_effects import effect_table, has_curves

        yield from super().display_tables()
        if has_curves(self.terms):
            yield effect_table(self)
            return
        yield weight_table(
            f"Largest weights, bias {format_float(self.intercept)}", self.feature_names, self.coef
        )

    def summary(
        self,
        level: float = 0.95,
        *,
        data: Any = None,
        y: Any = None,
        weights: Any = None,
        errors: str | None = None,
        groups: Any = None,
    ) -> Summary:
        """Return the weights with standard errors and intervals, the noise and the equivalent penalties.

        `errors="hc3"` allows the variance to differ between rows; `errors="clustered"` allows rows of the
        same group to be correlated, with one value of `groups` per row. Both need the training rows, and
        their weights if they had any: `data`, `y` and `weights`.
        """
        robust = self.robust_errors(data, y, weights, errors, groups)
        title = f"Linear regression of {self.label or 'y'}, {self.fit.loss} loss"
        bias = self.intercept if self.fit.bias else None
        posterior = None if self._available_posterior is None else self.posterior
        return build_summary(
            title, self.feature_names, self.coef, bias, self.fit, self.certificate, posterior, level, robust
        )

    def scorecard(self, points: float = 20, odds: float = 2) -> Any:
        """Raise Unsupported: points add up to odds, which a regression of numbers does not have."""
        del points, odds
        raise errors.Unsupported(
            "A scorecard adds up points to the odds of a class, but a linear regression predicts numbers.",
            hint="Train LogisticRegression on two classes.",
        )

    def explain(self, rows: Any) -> Explained:
        """Return the evidence for each row: the contributions that sum to its prediction."""
        name = self.label or "predicted"
        explained = Explained()
        for chunk in self.chunks(rows):
            encoded = self.encode(chunk)
            self._predict_rows(encoded)  # refuses rows whose prediction overflows
            for row, contributions in enumerate(self.contributions(encoded)):
                evidence = build_evidence(
                    [name], self.base, contributions, refuse_exact_products, unit="predicted", verdict=0
                )
                evidence = evidence.detach().with_flag_words(self.schema.flag_words)
                evidence = evidence.with_unknown_words(self.unknown_words(encoded, row))
                explained.append(replace(evidence, verdict=evidence.total))
        return explained

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        arrays: dict[str, Any] = {"base": self.base}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        write_terms(self.terms, arrays, meta)
        meta |= {"fit": self.fit.to_dict(), "certificate": asdict(self.certificate)}
        if len(self.feature_names) <= MAX_SAVED_FEATURES and self._available_posterior is not None:
            self._available_posterior.write_arrays(arrays, meta)
        if self.training_rows is not None:
            self.training_rows.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> RegressionModel:
        """Read a model that `to_store` described."""
        base = read_floats(stored, "base", 1)
        terms = read_trainable_terms(stored, schema, 1, base, "regression")
        fit = Fit.from_dict(stored.meta["fit"])
        certificate = Optimality.from_dict(stored.meta["certificate"])
        width = sum(len(term.features().names) for term in terms)
        posterior, rows = Posterior.read_arrays(stored, width), TrainingRows.read_arrays(stored, schema)
        return cls(schema, base, terms, fit, certificate, posterior, training_rows=rows)
