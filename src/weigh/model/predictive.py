"""Naive Bayes with its parameters integrated out: posterior predictive scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.words import Block
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.evidence.exact_products import ClassProduct
from weigh.model.naive_bayes import BayesModel
from weigh.priors.smoothing import posterior_mean_prior
from weigh.source.chunk import Chunk


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveBayesModel(BayesModel):
    """score(class) = log P(class | rows) + Σ log P(column's value | class, rows), given the training rows.

    The parameters are integrated out: levels and flags have their posterior mean, the words of a row a
    Dirichlet-multinomial, and numbers Student's t. Counts and priors are those of the model that it comes
    from, which is the one to save.
    """

    @cached_property
    def class_distribution(self) -> ClassPrior:
        """The posterior mean of the class probabilities."""
        return ClassPrior(self.counts.classes, self.counts.rows, posterior_mean_prior(self.class_prior))

    @cached_property
    def terms(self) -> list[Any]:
        """The posterior predictive terms of the scores, one per column group."""
        return [distribution.predictive() for distribution in self.distributions]

    def predictive(self) -> PredictiveBayesModel:
        """Return the model itself."""
        return self

    def _class_products(self, blocks: Sequence[Block]) -> list[ClassProduct]:
        raise _plug_in_error("calculation in fractions", "model.explain(rows)[0].worked()")

    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Raise Unsupported: leave-one-out scores are those of the estimated parameters."""
        raise _plug_in_error("leave-one-out scores", "model.left_out_scores(rows)")

    def linear(self) -> NoReturn:
        """Raise Unsupported: Student's t and the Dirichlet-multinomial are not linear."""
        raise _plug_in_error("linear form", "model.linear()")

    def to_store(self) -> NoReturn:
        """Raise Unsupported: the file of the original model has the same counts and priors."""
        raise _plug_in_error("file of its own", "model.save(path), then weigh.load(path).predictive()")


def _plug_in_error(what: str, call: str) -> errors.Unsupported:
    return errors.Unsupported(
        f"A model with its parameters integrated out has no {what}. Use the model that it comes from: {call}."
    )
