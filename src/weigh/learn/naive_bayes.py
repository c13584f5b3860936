"""The task of naive Bayes: infer the schema, count, merge, build the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from weigh import errors
from weigh.features.columns import encode_column
from weigh.features.inference.schema import infer_schema
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Kind, Number
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn.class_prior import check_class_prior
from weigh.learn.diagnostics import warn_zero_variance_columns
from weigh.learn.redundancy import warn_dependent_columns
from weigh.learn.row_sample import RowSample, sample_rows
from weigh.model.counts.bayes_counts import BayesCounter, BayesCounts, write_canonical
from weigh.model.distributions.prior_settings import check_priors_fit_columns
from weigh.model.file.store import FileContent
from weigh.model.naive_bayes import BayesModel
from weigh.parameters.learners import NAIVE_BAYES
from weigh.source.base import Source
from weigh.source.chunk import Chunk

MAX_SHAPED_CLASSES = 256  # the counts of a number's shape take memory for each class
MAX_COLUMNS = 2_000  # wider tables are not sampled


@dataclass(frozen=True)
class BayesTask:
    """Counts rows for a `BayesModel`; with `warns`, columns that break its assumptions cause warnings."""

    schema: Schema
    prior: Any = NAIVE_BAYES.defaults["prior"]
    class_prior: Any = NAIVE_BAYES.defaults["class_prior"]
    complement: bool = NAIVE_BAYES.defaults["complement"]
    warns: bool = True

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> BayesTask:
        """Return the task for a source: check the parameters and infer the kinds."""
        check_class_prior(NAIVE_BAYES.owner, parameters.get("class_prior"), source)
        values = NAIVE_BAYES.check(parameters)
        schema = infer_schema(source, columns, values["number"], values["missing"])
        if not schema.column_groups:
            raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
        check_priors_fit_columns(schema.column_groups, values["prior"], values["complement"])
        has_numbers = any(isinstance(group.kind, Number) for group in schema.column_groups)
        if has_numbers and not isinstance(columns, Schema) and _has_few_classes(source):
            schema = choose_shapes(schema)
        return cls(schema, values["prior"], values["class_prior"], values["complement"])

    def count(self, chunk: Chunk) -> SampledCounts:
        """Count one chunk."""
        counter = self.counter()
        counter.add(chunk)
        return counter.counts()

    def counter(self) -> SampledCounter:
        """Return an empty counter, which samples the rows if there are columns to compare."""
        groups = self.schema.column_groups
        n_columns = sum(len(g.names) for g in groups if not isinstance(g.kind, BagOfWordsKind))
        return SampledCounter(
            self.schema, RowSample() if self.warns and 1 < n_columns <= MAX_COLUMNS else None
        )

    def merge(self, first: SampledCounts, second: SampledCounts) -> SampledCounts:
        """Return the sum of two counts."""
        return first.plus(second)

    def write_counts(self, sampled: SampledCounts) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return counts as JSON metadata and arrays."""
        meta, arrays = write_canonical(sampled.counts)
        if sampled.sample is not None:
            sampled.sample.write_arrays(arrays, meta, self.schema)
        return meta, arrays

    def read_counts(self, stored: FileContent) -> SampledCounts:
        """Return the counts that `write_counts` wrote."""
        return SampledCounts(BayesCounts.read_arrays(stored, self.schema), RowSample.read_arrays(stored))

    def finish(self, sampled: SampledCounts) -> BayesModel:
        """Build the model; classes named by the class prior exist even without rows."""
        counts = sampled.counts
        if isinstance(self.class_prior, Mapping):
            counts = counts.with_declared_classes(self.class_prior)
        model = BayesModel(self.schema, counts.canonical(), self.prior, self.class_prior, self.complement)
        model.class_distribution.check()
        if self.warns:
            warn_zero_variance_columns(model)
        if sampled.sample is not None:
            warn_dependent_columns(model, sampled.sample)
        return model


@dataclass(frozen=True)
class SampledCounts:
    """The counts of rows, and a sample of the rows if their columns are compared."""

    counts: BayesCounts
    sample: RowSample | None = None

    def plus(self, other: SampledCounts) -> SampledCounts:
        """Return the counts and the sample of both sets of rows."""
        counts = self.counts.plus(other.counts)
        if self.sample is None or other.sample is None:
            return SampledCounts(counts)
        return SampledCounts(counts, self.sample.plus(other.sample))


class SampledCounter:
    """Counts rows and keeps a sample of them."""

    def __init__(self, schema: Schema, sample: RowSample | None) -> None:
        self._counter, self._sample = BayesCounter(schema), sample

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""
        counted = self._counter.add(chunk)
        if self._sample is not None and chunk.sparse is None:
            self._sample = self._sample.plus(
                sample_rows(self._counter.schema, chunk, counted, self._sample.limit)
            )

    def merge(self, other: SampledCounter) -> None:
        """Add the counts and the sample of another counter."""
        self._counter.merge(other._counter)
        if self._sample is not None and other._sample is not None:
            self._sample = self._sample.plus(other._sample)

    def counts(self) -> SampledCounts:
        """Return the counts and the sample."""
        return SampledCounts(self._counter.counts(), self._sample)


def _has_few_classes(source: Source) -> bool:
    """Whether the classes of the first rows are few enough to count each number's values in each of them."""
    labels = source.prefix().labels
    try:
        return labels is None or len(encode_column(labels, "")[1]) <= MAX_SHAPED_CLASSES
    except errors.ColumnError:
        return False  # labels that are no classes are refused when they are counted


def choose_shapes(schema: Schema) -> Schema:
    """Return a schema in which the shapes of numbers are chosen from the rows where nothing is stated.

    Bare arrays keep normal distributions, like the learners for them in other libraries.
    """
    if not schema.named:
        return schema
    made: dict[str, Any] = {}
    for name, kind in schema.made.items():
        made[name] = replace(kind, kind=_choose_shape(kind.kind)) if isinstance(kind, Derived | Lag) else kind
    return replace(schema, kinds=[_choose_shape(kind) for kind in schema.kinds], made=made)


def _choose_shape(kind: Kind) -> Kind:
    return replace(kind, shape="auto") if isinstance(kind, Number) and kind.has_default_distribution else kind
