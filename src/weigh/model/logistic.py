"""The logistic regression model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.names import join_names
from weigh.features.schema import Schema
from weigh.model.base import ClassWeightNames, Model
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.file import store
from weigh.model.file.terms import read_floats, read_online_settings, read_trainable_terms
from weigh.model.fit import Fit, OnlineSettings, Optimality
from weigh.model.inference import MAX_SAVED_FEATURES, Posterior, PosteriorSource, Summary, build_summary
from weigh.model.linear import LinearModel, refuse_exact_products, standardisation_of
from weigh.model.training_rows import TrainingRows
from weigh.result import Table
from weigh.text import format_percent

if TYPE_CHECKING:
    from weigh.model.row_gradients import Gradient
    from weigh.model.scorecard import Scorecard


@dataclass(frozen=True, eq=False, repr=False)
class LogisticModel(LinearModel):
    """P(class | row) = softmax of score(class) = base(class) + Σ weight(feature, class) · feature.

    With two classes, the first has the score 0 and the score of the second is its log-odds. `shares` are the
    class frequencies of the training rows; a `Decision` with another class prior divides by them.
    """

    type_name: ClassVar[str] = "logistic"
    learner: ClassVar[str] = "LogisticRegression"

    shares: Floats
    fit: Fit
    certificate: Optimality | None = None
    posterior_source: PosteriorSource | None = None
    online: OnlineSettings | None = None  # None if the passes cannot be made again, or there were none

    @property
    def log_prior(self) -> Floats:
        """The log share of each class among the training rows."""
        return np.log(self.shares)

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """The share of each class among the training rows."""
        return {"share of rows": [format_percent(share) for share in self.shares.tolist()]}

    @cached_property
    def posterior(self) -> Posterior:
        """The Laplace approximation of the weights' posterior; raises Unsupported if there is none."""
        return self.training_posterior.rescale(*standardisation_of(self.terms))

    @cached_property
    def training_posterior(self) -> Posterior:
        """The posterior of the weights of the numbers as standardised for training."""
        if self.posterior_source is not None:
            return self.posterior_source.posterior().with_names(self.features)
        raise errors.Unsupported(
            "This logistic regression has no posterior: only the exact method with two classes and a Normal "
            "prior, or none, has one, and it is kept for up to 1,000 features."
        )

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the model's HTML display; curves have effects instead of weights."""
        # Imported here because predictions need no effects.
        from weigh.model.effects.term_effects import effect_table, has_curves

        if has_curves(self.terms):
            yield from Model.display_tables(self)
            yield effect_table(self)
        else:
            yield from super().display_tables()

    def linear(self) -> LogisticModel:
        """Return the model itself, which is already linear."""
        return self

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
        """Return the weights with standard errors and intervals, and the equivalent penalties.

        With more than two classes there is one line per class and feature.

        `errors="hc3"` allows the variance to differ between rows; `errors="clustered"` allows rows of the
        same group to be correlated, with one value of `groups` per row. Both need the training rows, and
        their weights if they had any: `data`, `y` and `weights`.
        """
        robust = self.robust_errors(data, y, weights, errors, groups)
        posterior = None if self.posterior_source is None else self.posterior
        names, coef, intercept = self.feature_names, self.coef, self.intercept
        if len(self.class_list) == 2:
            title = f"Logistic regression: log-odds of {self.class_list[1]} against {self.class_list[0]}"
            bias = float(intercept) if self.fit.bias else None
            return build_summary(
                title, names, coef, bias, self.fit, self.certificate, posterior, level, robust
            )
        title = f"Logistic regression of {len(self.class_list):,} classes"
        names = ClassWeightNames(join_names([["bias"], names]), self.class_list)
        weights = np.column_stack([intercept, coef]).ravel()
        return build_summary(title, names, weights, None, self.fit, self.certificate, None, level)

    def gradient(
        self, data: Any, y: Any = None, *, weights: Any = None, coef: Any = None, intercept: Any = None
    ) -> Gradient:
        """Return the gradient of the log-likelihood of labelled rows, Σ s (y − p) x, in the original units.

        It points to where the rows become more probable, and is minus the gradient of the log loss; the prior
        is no part of it. `coef` and `intercept` are the weights to compute it at, numbers or arrays like the
        model's, and the model's own by default. At the optimum without a prior all components are zero.

        >>> import weigh
        >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "late": ["no", "yes", "no", "yes"]}
        >>> model = weigh.LogisticRegression(1, scale=None).fit(table, "late").model_
        >>> model.gradient(table, coef=0, intercept=0).coef.tolist()
        [1.0]
        """
        # Imported here because predictions need no gradients.
        from weigh.model.row_gradients import sum_gradients

        return sum_gradients(self, data, y, weights, coef, intercept)

    def scorecard(self, points: float = 20, odds: float = 2) -> Scorecard:
        """Return the contributions as whole points: `points` more points multiply the odds by `odds`.

        For two classes, whose second one the points speak for, and models of curves, levels and flags.
        """
        # Imported here because predictions need no scorecard.
        from weigh.model.scorecard import build_scorecard

        return build_scorecard(self, points, odds)

    def make_evidence(self, contributions: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from the contributions of its features."""
        return build_evidence(
            self.class_list,
            self.base,
            contributions,
            refuse_exact_products,
            verdict=verdict,
            base_name="bias",
        )

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        meta, arrays = super().to_store()
        meta["fit"] = self.fit.to_dict()
        arrays["shares"] = self.shares
        if self.certificate is not None:
            meta["certificate"] = asdict(self.certificate)
        if self.posterior_source is not None and len(self.feature_names) <= MAX_SAVED_FEATURES:
            self.training_posterior.write_arrays(arrays, meta)
        if self.online is not None:
            meta["online"] = self.online.to_dict()
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> LogisticModel:
        """Read a model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        base = read_floats(stored, "base", len(classes))
        terms = read_trainable_terms(stored, schema, len(classes), base, "logistic regression")
        shares = read_floats(stored, "shares", len(classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged_file_error(stored.path, "its class shares are not between 0 and 1")
        fit = Fit.from_dict(stored.meta["fit"])
        certificate_data = stored.meta.get("certificate")
        certificate = None if certificate_data is None else Optimality.from_dict(certificate_data)
        width = sum(len(term.features().names) for term in terms)
        posterior, rows = Posterior.read_arrays(stored, width), TrainingRows.read_arrays(stored, schema)
        details = shares, fit, certificate, posterior, read_online_settings(stored, classes)
        return cls(schema, classes, base, terms, *details, training_rows=rows)
