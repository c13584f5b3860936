"""Logistic regression: scores whose softmax are the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model.distributions.weights import Contribution
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.file import store
from weigh.model.fit import Fit, Optimality
from weigh.model.inference import MAX_SAVED_FEATURES, Posterior, PosteriorSource, Summary, build_summary
from weigh.model.linear import LinearModel, read_floats, read_trainable_terms, refuse_exact_products
from weigh.text import format_percent


@dataclass(frozen=True, eq=False, repr=False)
class LogisticModel(LinearModel):
    """log P(class | row) = base(class) + Σ weight(feature, class) · feature − log of the sum over classes.

    Of two classes the first has the score 0, so that the other's score is its log-odds. `shares` are the
    shares of the classes among the training rows, which another class prior is weighed against.
    """

    type_name: ClassVar[str] = "logistic"

    shares: Floats
    fit: Fit
    certificate: Optimality | None = None
    posterior_source: PosteriorSource | None = None

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's share among the training rows."""
        return np.log(self.shares)

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """The share of each class among the training rows."""
        return {"share of rows": [format_percent(share) for share in self.shares.tolist()]}

    @cached_property
    def posterior(self) -> Posterior:
        """How sure the weights are, by Laplace's approximation; refused where nothing tells it."""
        if self.posterior_source is not None:
            return self.posterior_source.posterior().with_names(self.features)
        raise errors.Unsupported(
            "This logistic regression has no posterior: only the exact method with two classes and a Normal "
            "prior, or none, has one, and it is kept for up to 1,000 features."
        )

    def linear(self) -> LogisticModel:
        """Return the linear form, which a logistic regression has."""
        return self

    def summary(self, level: float = 0.95) -> Summary:
        """Return the weights with their errors and intervals, and the penalties by other names.

        Of more than two classes every class has its own lines.
        """
        known = None if self.posterior_source is None else self.posterior
        names, coef, intercept = self.features, self.coef, self.intercept
        if len(self.class_list) == 2:
            title = f"Logistic regression: log-odds of {self.class_list[1]} against {self.class_list[0]}"
            bias = float(intercept) if self.fit.bias else None
            return build_summary(title, names, coef, bias, self.fit, self.certificate, known, level)
        title = f"Logistic regression of {len(self.class_list):,} classes"
        named = [f"{label}: {name}" for label in self.class_list for name in ("bias", *names)]
        weights = np.column_stack([intercept, coef]).ravel()
        return build_summary(title, named, weights, None, self.fit, self.certificate, None, level)

    def make_evidence(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        return build_evidence(
            self.class_list, self.base, found, refuse_exact_products, verdict=verdict, base="bias"
        )

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        meta, arrays = super().to_store()
        meta["fit"] = self.fit.to_dict()
        arrays["shares"] = self.shares
        if self.certificate is not None:
            meta["certificate"] = self.certificate.to_dict()
        if self.posterior_source is not None and len(self.features) <= MAX_SAVED_FEATURES:
            self.posterior.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> LogisticModel:
        """Return the model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        base = read_floats(stored, "base", len(classes))
        terms = read_trainable_terms(stored, schema, len(classes), base, "logistic regression")
        shares = read_floats(stored, "shares", len(classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged_file_error(stored.path, "its class shares are no shares")
        fit = Fit.from_dict(stored.meta["fit"])
        proof = stored.meta.get("certificate")
        certificate = None if proof is None else Optimality.from_dict(proof)
        width = sum(len(term.features().names) for term in terms)
        known = Posterior.read_arrays(stored, width)
        return cls(schema, classes, base, terms, shares, fit, certificate, known)
