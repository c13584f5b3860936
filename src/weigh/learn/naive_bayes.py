"""The task of naive Bayes: infer the schema, count, merge, build the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.advice import set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.inference.schema import infer_schema
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn.class_prior import check_class_prior
from weigh.learn.diagnostics import find_dependent_columns, warn_zero_variance_columns
from weigh.model.counts.bayes_counts import BayesCounter, BayesCounts, count_rows
from weigh.model.distributions.prior_settings import check_priors_fit_columns
from weigh.model.naive_bayes import BayesModel
from weigh.parameters.learners import NAIVE_BAYES
from weigh.source.base import Source
from weigh.source.chunk import Chunk


@dataclass(frozen=True)
class BayesTask:
    """Counts rows for a `BayesModel`; with `warns`, zero-variance columns cause a warning."""

    schema: Schema
    prior: Any = NAIVE_BAYES.defaults["prior"]
    class_prior: Any = NAIVE_BAYES.defaults["class_prior"]
    complement: bool = NAIVE_BAYES.defaults["complement"]
    warns: bool = True

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> BayesTask:
        """Return the task for a source: check the parameters, infer the kinds, warn of dependent columns."""
        check_class_prior(NAIVE_BAYES.owner, parameters.get("class_prior"), source)
        values = NAIVE_BAYES.check(parameters)
        schema = infer_schema(source, columns, values["number"], values["missing"])
        if not schema.column_groups:
            raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
        check_priors_fit_columns(schema.column_groups, values["prior"], values["complement"])
        task = cls(schema, values["prior"], values["class_prior"], values["complement"])
        task.warn_dependent_columns(source)
        return task

    def warn_dependent_columns(self, source: Source) -> None:
        """Warn about columns that repeat each other in the first rows; words are not compared."""
        groups = self.schema.column_groups
        if sum(len(g.names) for g in groups if not isinstance(g.kind, BagOfWordsKind)) < 2:
            return
        pairs = find_dependent_columns(self.schema, self.schema.first_rows(source))
        if pairs:
            listed = "; ".join(str(pair) for pair in pairs[:3])
            more = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
            warn(
                errors.DependentColumns(
                    "Some columns repeat each other, so naive Bayes counts the same evidence twice and is "
                    f"overconfident: {listed}{more}.",
                    hint=("Leave out one of each pair, for example ", set_kind(pairs[0].second, "skip"), "."),
                ),
                [name for pair in pairs for name in (pair.first, pair.second)],
            )

    def count(self, chunk: Chunk) -> BayesCounts:
        """Count one chunk."""
        return count_rows([chunk], self.schema)

    def counter(self) -> BayesCounter:
        """Return an empty counter."""
        return BayesCounter(self.schema)

    def merge(self, first: BayesCounts, second: BayesCounts) -> BayesCounts:
        """Return the sum of two counts."""
        return first.plus(second)

    def finish(self, counts: BayesCounts) -> BayesModel:
        """Build the model; classes named by the class prior exist even without rows."""
        if isinstance(self.class_prior, Mapping):
            counts = counts.with_declared_classes(self.class_prior)
        model = BayesModel(self.schema, counts.canonical(), self.prior, self.class_prior, self.complement)
        model.class_distribution.check()
        if self.warns:
            warn_zero_variance_columns(model)
        return model
