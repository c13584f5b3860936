"""Joint Bayes as a task: find the kinds, count cells, add up, finish."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Kind, Number, Schema, infer_schema
from weigh.features.columns import to_numbers
from weigh.features.schema_inference import find_cuts
from weigh.learn.task import MergingCounter
from weigh.model import BayesCounts, JointModel
from weigh.model.counts.joint_counts import count_joint_chunk, joint_columns
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.joint_bayes import format_cell_count
from weigh.source import Chunk, Source
from weigh.source.base import PREFIX_ROWS, ChunkReader
from weigh.source.missing import Marker

DEFAULT_BINS = 10  # what a number whose kind was not given is cut into


@dataclass(frozen=True)
class JointTask:
    """Counting rows for a `JointModel`; `warns` says whether an unfilled table is told of."""

    schema: Schema
    prior: Any = 1.0
    class_prior: Any = None
    warns: bool = True

    @classmethod
    def for_source(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = 1.0,
        class_prior: Any = None,
        missing: Sequence[Marker] = (),
    ) -> JointTask:
        """Return the task for a source: kinds found, numbers cut into bins, parameters checked."""
        # Numbers that are found are this very object; numbers that the user gave are others.
        found = Number()
        schema = infer_schema(source, columns, found, missing)
        if not schema.column_groups:
            raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
        schema = _bin_numbers(schema, source, found)
        joint_columns(schema)
        task = cls(schema, prior, class_prior)
        # Wrong priors are refused before all rows are read.
        JointModel(schema, task.count(next(task.chunks(source)).slice(0, 1)), prior)
        ClassPrior((), (), class_prior, "JointBayes")
        return task

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[ChunkReader]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.chunk_readers(source)

    def count(self, chunk: Chunk) -> BayesCounts:
        """Count one chunk."""
        return count_joint_chunk(chunk, self.schema)

    def counter(self) -> MergingCounter[BayesCounts]:
        """Return what gathers the counts of many chunks."""
        return MergingCounter(self.count, self.merge)

    def merge(self, first: BayesCounts, second: BayesCounts) -> BayesCounts:
        """Return the counts of both together."""
        return first.plus(second)

    def finish(self, counts: BayesCounts) -> JointModel:
        """Return the model of all counts, with a warning if its table has more cells than rows.

        Classes that the class prior names exist without rows too.
        """
        if isinstance(self.class_prior, Mapping):
            counts = counts.with_declared_classes(self.class_prior)
        model = JointModel(self.schema, counts.canonical(), self.prior, self.class_prior)
        model.class_distribution.check()
        rows = float(model.counts.rows.sum())
        if self.warns and model.n_cells > rows:
            warnings.warn(
                f"The table has {format_cell_count(model.n_cells)} cells per class but there are {rows:,.10g} rows, so "
                f"most cells are empty. Use fewer columns or bins, or NaiveBayes, which has "
                f"{format_cell_count(model.n_parameters_naive)} parameters here, not {format_cell_count(model.n_parameters)}.",
                errors.UnfilledTable,
                stacklevel=2,
            )
        return model


def _bin_numbers(schema: Schema, source: Source, found: Number) -> Schema:
    """Return the schema with every found number cut into bins of about equally many first rows."""
    if not any(kind is found for kind in schema.kinds):
        return schema
    if source.named:
        prefix = source.prefix(PREFIX_ROWS, schema.storage())
    else:
        prefix = next(schema.chunks(source)).slice(0, PREFIX_ROWS)

    def cut(name: str, kind: Kind) -> Kind:
        if kind is not found:
            return kind
        values = to_numbers(prefix.columns[name], name, schema.missing)
        distinct = np.unique(values[~np.isnan(values)])
        # A column that does not vary has no quantiles: it is cut at its value.
        return Number(
            bins=find_cuts(values, DEFAULT_BINS, name) if len(distinct) > 1 else (float(distinct[0]),)
        )

    return replace(schema, kinds=[cut(*pair) for pair in zip(schema.names, schema.kinds, strict=True)])
