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
from weigh.model import store
from weigh.model.evidence import Evidence, weighed
from weigh.model.fit import Fit
from weigh.model.linear import LinearModel, no_work
from weigh.model.optimality import Optimality
from weigh.model.posterior import MOST_SAVED, Posterior, PosteriorMaker
from weigh.model.summary import Summary, summarised
from weigh.model.term_store import get_floats, get_learned
from weigh.model.weights import Contribution
from weigh.text import percent


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
    knowledge: PosteriorMaker | None = None

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's share among the training rows."""
        return np.log(self.shares)

    @property
    def class_facts(self) -> dict[str, list[str]]:
        """The share of each class among the training rows."""
        return {"share of rows": [percent(share) for share in self.shares.tolist()]}

    @cached_property
    def posterior(self) -> Posterior:
        """How sure the weights are, by Laplace's approximation; refused where nothing tells it."""
        if self.knowledge is not None:
            return self.knowledge.posterior().named(self.features)
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
        known = None if self.knowledge is None else self.posterior
        names, coef, intercept = self.features, self.coef, self.intercept
        if len(self.class_list) == 2:
            title = f"Logistic regression: log-odds of {self.class_list[1]} against {self.class_list[0]}"
            bias = float(intercept) if self.fit.bias else None
            return summarised(title, names, coef, bias, self.fit, self.certificate, known, level)
        title = f"Logistic regression of {len(self.class_list):,} classes"
        named = [f"{label}: {name}" for label in self.class_list for name in ("bias", *names)]
        weights = np.column_stack([intercept, coef]).ravel()
        return summarised(title, named, weights, None, self.fit, self.certificate, None, level)

    def weighed(self, found: Sequence[Contribution], verdict: int) -> Evidence:
        """Return the evidence for a row's verdict from what its features add."""
        return weighed(self.class_list, self.base, found, no_work, verdict=verdict, base="bias")

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds."""
        meta, arrays = super().to_store()
        meta["fit"] = self.fit.to_dict()
        arrays["shares"] = self.shares
        if self.certificate is not None:
            meta["certificate"] = self.certificate.to_dict()
        if self.knowledge is not None and len(self.features) <= MOST_SAVED:
            self.posterior.put(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.Stored, schema: Schema) -> LogisticModel:
        """Return the model that `to_store` described."""
        classes = store.get_distinct(stored, "classes")
        base = get_floats(stored, "base", len(classes))
        terms = get_learned(stored, schema, len(classes), base, "logistic regression")
        shares = get_floats(stored, "shares", len(classes))
        if not ((shares > 0) & (shares <= 1)).all():
            raise store.damaged(stored.path, "its class shares are no shares")
        fit = Fit.from_dict(stored.meta["fit"])
        proof = stored.meta.get("certificate")
        certificate = None if proof is None else Optimality.from_dict(proof)
        width = sum(len(term.features().names) for term in terms)
        known = Posterior.get(stored, width)
        return cls(schema, classes, base, terms, shares, fit, certificate, known)
