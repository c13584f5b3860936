"""The task of joint Bayes: infer the schema, count cells, merge, build the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.deduplicated_warnings import warn
from weigh.features.columns import to_numbers
from weigh.features.dates.kind import Date, part_name
from weigh.features.inference.schema import find_cuts, infer_schema
from weigh.features.kinds import Kind, Number
from weigh.features.schema import Schema
from weigh.features.width import check_separate_columns
from weigh.learn.class_prior import check_class_prior
from weigh.learn.task import MergingCounter
from weigh.model.counts.bayes_counts import BayesCounts, write_canonical
from weigh.model.counts.joint_counts import count_joint_chunk, joint_columns, read_joint_counts
from weigh.model.file.store import FileContent
from weigh.model.joint_bayes import JointModel, format_cell_count
from weigh.parameters.learners import JOINT_BAYES
from weigh.source.base import Source
from weigh.source.chunk import Chunk

DEFAULT_BINS = 10  # for numbers whose kind was inferred


@dataclass(frozen=True)
class JointTask:
    """Counts rows for a `JointModel`; with `warns`, a mostly empty table causes a warning."""

    schema: Schema
    prior: Any = JOINT_BAYES.defaults["prior"]
    class_prior: Any = JOINT_BAYES.defaults["class_prior"]
    warns: bool = True

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> JointTask:
        """Return the task for a source: check the parameters, infer the kinds and bin the numbers."""
        check_class_prior(JOINT_BAYES.owner, parameters.get("class_prior"), source)
        values = JOINT_BAYES.check(parameters)
        hint = "Use fewer columns, or ", Step("naive Bayes", "NaiveBayes"), "."
        check_separate_columns(source.n_entries, source.width, hint)
        # Inferred numbers are this very object, which tells them from numbers given by the user.
        inferred = Number()
        schema = infer_schema(source, columns, inferred, values["missing"])
        if not schema.column_groups:
            raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
        schema = _bin_numbers(schema, source, inferred)
        joint_columns(schema)
        return cls(schema, values["prior"], values["class_prior"])

    def count(self, chunk: Chunk) -> BayesCounts:
        """Count one chunk."""
        return count_joint_chunk(chunk, self.schema)

    def counter(self) -> MergingCounter[BayesCounts]:
        """Return an empty counter."""
        return MergingCounter(self.count, self.merge)

    def merge(self, first: BayesCounts, second: BayesCounts) -> BayesCounts:
        """Return the sum of two counts."""
        return first.plus(second)

    def write_counts(self, counts: BayesCounts) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return counts as JSON metadata and arrays."""
        return write_canonical(counts)

    def read_counts(self, stored: FileContent) -> BayesCounts:
        """Return the counts that `write_counts` wrote."""
        return read_joint_counts(stored, self.schema)

    def finish(self, counts: BayesCounts) -> JointModel:
        """Build the model; classes named by the class prior exist even without rows.

        Warns if the table has more cells than there are rows.
        """
        if isinstance(self.class_prior, Mapping):
            counts = counts.with_declared_classes(self.class_prior)
        model = JointModel(self.schema, counts.canonical(), self.prior, self.class_prior)
        model.class_distribution.check()
        n_rows = float(model.counts.rows.sum())
        if self.warns and model.n_cells > n_rows:
            warn(
                errors.UnfilledTable(
                    f"The table has {format_cell_count(model.n_cells)} cells per class but there are "
                    f"{n_rows:,.10g} rows, so most cells are empty.",
                    hint=(
                        "Use fewer columns or bins, or ",
                        Step("naive Bayes", "NaiveBayes"),
                        f", which has {format_cell_count(model.n_parameters_naive)} parameters here, not "
                        f"{format_cell_count(model.n_parameters)}.",
                    ),
                )
            )
        return model


def _has_days(kind: Kind) -> bool:
    return isinstance(kind, Date) and kind.bins is None and "days" in (kind.parts or ())


def _bin_numbers(schema: Schema, source: Source, inferred: Number) -> Schema:
    """Return the schema with every inferred number, and the days of dates, binned at quantiles."""
    if not any(kind is inferred or _has_days(kind) for kind in schema.kinds):
        return schema
    first_rows = schema.first_rows(source)

    def cuts(name: str) -> tuple[float, ...]:
        values = to_numbers(first_rows.columns[name], name, schema.missing)
        distinct = np.unique(values[~np.isnan(values)])
        # A constant column has no quantiles; cut it at its value.
        return find_cuts(values, DEFAULT_BINS, name) if len(distinct) > 1 else (float(distinct[0]),)

    def choose_bins(name: str, kind: Kind) -> Kind:
        if isinstance(kind, Date) and _has_days(kind):
            return replace(kind, bins=cuts(part_name(name, "days")))
        return Number(bins=cuts(name)) if kind is inferred else kind

    pairs = zip(schema.names, schema.kinds, strict=True)
    return replace(schema, kinds=[choose_bins(name, kind) for name, kind in pairs])
