"""Naive Bayes as a task: find the kinds, count, add up, finish."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Number, Schema, infer_schema
from weigh.learn.diagnostics import find_dependent_columns, warn_zero_variance_columns
from weigh.model import BayesCounts, BayesModel
from weigh.model.counts.bayes_counts import BayesCounter, count_rows
from weigh.source import Chunk, Source
from weigh.source.base import ChunkReader
from weigh.source.missing import Marker


@dataclass(frozen=True)
class BayesTask:
    """Counting rows for a `BayesModel` with given priors; `warns` says whether flat columns are told of."""

    schema: Schema
    prior: Any = 1.0
    class_prior: Any = None
    complement: bool = False
    warns: bool = True

    @classmethod
    def for_source(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = 1.0,
        class_prior: Any = None,
        complement: bool = False,
        number: Number | None = None,
        missing: Sequence[Marker] = (),
    ) -> BayesTask:
        """Return the task for a source: kinds found, parameters checked, dependence warned of."""
        schema = infer_schema(source, columns, number, missing)
        if not schema.column_groups:
            raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
        task = cls(schema, prior, class_prior, complement)
        # Parameters are refused before the rows are read, and not after.
        task.build_model(BayesCounts([], np.zeros(0), []))
        task.warn_dependent_columns(source)
        return task

    def warn_dependent_columns(self, source: Source) -> None:
        """Warn of columns that repeat each other, judged by the first rows."""
        pairs = find_dependent_columns(self.schema, next(self.chunks(source)))
        if pairs:
            told = "; ".join(str(pair) for pair in pairs[:3])
            more = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
            warnings.warn(
                f"Some columns repeat each other, so naive Bayes counts the same evidence twice and is "
                f"over-sure: {told}{more}. Leave one of each out, for example "
                f"columns={{{pairs[0].second!r}: 'skip'}}.",
                errors.DependentColumns,
                stacklevel=2,
            )

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[ChunkReader]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.chunk_readers(source)

    def count(self, chunk: Chunk) -> BayesCounts:
        """Count one chunk."""
        return count_rows([chunk], self.schema)

    def counter(self) -> BayesCounter:
        """Return what gathers the counts of many chunks."""
        return BayesCounter(self.schema)

    def merge(self, first: BayesCounts, second: BayesCounts) -> BayesCounts:
        """Return the counts of both together."""
        return first.plus(second)

    def finish(self, counts: BayesCounts) -> BayesModel:
        """Return the model of all counts; classes that the prior names exist without rows too."""
        if isinstance(self.class_prior, Mapping):
            counts = counts.with_declared_classes(self.class_prior)
        model = self.build_model(counts.canonical())
        model.class_distribution.check()
        if self.warns:
            warn_zero_variance_columns(model)
        return model

    def build_model(self, counts: BayesCounts) -> BayesModel:
        """Return the model of counts, its parameters checked as far as they concern no class."""
        model = BayesModel(self.schema, counts, self.prior, self.class_prior, self.complement)
        _ = model.class_distribution
        return model
