"""Base class of models that follow from counts: merging adds counts, forgetting subtracts them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.features.blocks import Floats
from weigh.features.schema import Schema
from weigh.model.base import BaseModel, Model
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.model.counts.count_table import MAX_TOTAL_WEIGHT
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.priors.dirichlet import Dirichlet
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_count, format_percent

UNCHANGED: Any = object()  # None is a valid prior, so an omitted argument needs its own sentinel
MAX_LISTED_DIFFERENCES = 3

# What a model that does not follow from counts would need instead.
_REASONS = {
    "perceptron": "its file has the weights and not the state of their training",
    "voted": "its file has the hypotheses and not the state of their training",
    "logistic": "its weights depend on all rows together",
    "regression": "its weights depend on all rows together",
    "threshold": "its cut depends on all rows together",
    "calibrated": "its calibration is valid only for the rows it was fitted to",
}


def explicit_settings(**settings: Any) -> dict[str, Any]:
    """Return the settings that differ from the sentinel `UNCHANGED`."""
    return {name: value for name, value in settings.items() if value is not UNCHANGED}


class CountModel(Model):
    """A model computed from counts and priors; `title` names it in messages."""

    title: ClassVar[str]
    counts: BayesCounts
    prior: Any

    @property
    @abstractmethod
    def class_distribution(self) -> ClassPrior:
        """The prior distribution of the classes."""

    @abstractmethod
    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of one or more chunks."""

    @abstractmethod
    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's leave-one-out scores [rows, classes]; the rows are labelled and were learned."""

    def class_posterior(self) -> Dirichlet:
        """Return the posterior of the class probabilities: mean, mode, interval, predictive."""
        self.check_has_outputs()
        return self.class_distribution.posterior()

    @abstractmethod
    def predictive(self) -> CountModel:
        """Return the model with its parameters integrated out."""

    def predictive_proba(self, rows: Any) -> Any:
        """Return posterior predictive probabilities [rows, classes]: the parameters are integrated out."""
        return self.predictive().predict_proba(rows)

    @abstractmethod
    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""

    def with_fewer_counts(self, counts: BayesCounts) -> Self:
        """Return the same model without some rows, as leave-one-out scores see it."""
        return self.with_counts(counts)

    @property
    def has_rows(self) -> bool:
        """Whether the counts come from rows rather than from stated parameters."""
        return True

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.counts.classes

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """Number of rows and prior probability of each class."""
        if not self.classes:
            return {}
        rows = {"rows": [format_count(n) for n in self.counts.rows.tolist()]} if self.has_rows else {}
        return {**rows, "prior": [format_percent(p) for p in np.exp(self.log_prior).tolist()]}

    def merge(self, other: Self) -> Self:
        """Return the model of the rows of both models."""
        self.check_mergeable(other)
        return self.plus_counts(other.counts)

    def learn(self, rows: Any, y: Any = None) -> Self:
        """Return the model that has also learned these rows."""
        return self.plus_counts(self._count_source(self._source(rows, y)))

    def plus_counts(self, added: BayesCounts) -> Self:
        """Return the model that has also learned rows with these counts."""
        counts = self.counts.plus(added)
        total = float(counts.rows.sum(dtype=np.float64))
        if total > MAX_TOTAL_WEIGHT:
            raise errors.MergeError(
                f"The rows would have a total weight of {total:.6g}, more than {MAX_TOTAL_WEIGHT:g}. "
                "The model is unchanged. Divide the weights by their mean."
            )
        return self.with_counts(counts.canonical())

    def forget(self, rows: Any, y: Any = None) -> Self:
        """Return the model without these rows, which it must have learned."""
        return self.minus_counts(self._count_source(self._source(rows, y)))

    def minus_counts(self, removed: BayesCounts) -> Self:
        """Return the model without rows with these counts, which it must have learned."""
        return self.with_counts(self._subtract(removed).canonical())

    def count_batches(self, batches: Iterable[Any], *, is_repeated: bool = False) -> BayesCounts:
        """Count batches of labelled rows, each read as `learn` reads it.

        `is_repeated` says that the rows were counted before, so odd cells are not reported again.
        """
        self._check_has_rows()
        is_training = None if is_repeated else False
        sources = (self._source(rows, None) for rows in batches)
        return self.count(
            chunk for source in sources for chunk in self.schema.chunks(source, is_training=is_training)
        )

    def left_out_scores(self, rows: Any, y: Any = None) -> Floats:
        """Return the leave-one-out scores [rows, classes] of rows that the model has learned.

        Row i equals `forget(row i).scores(row i)`, computed from the counts without refitting. The result is
        bit-identical for levels and bins, and agrees to a relative 1e-12 otherwise. A class whose only row is
        left out scores −inf. All scores are −inf if no rows remain or all classes have probability zero.
        Shapes of numbers that are chosen from the rows are those of all rows, with bins and priors.
        """
        source = self._source(rows, y)
        self._subtract(self._count_source(source))
        return np.concatenate([self.leave_one_out_chunk(chunk) for chunk in self.chunks(source)])

    def has_learned(self, rows: Any, y: Any = None) -> bool | None:
        """Return whether the model learned these rows, as far as the counts can prove it.

        True if the rows have the same counts as the model, False if subtracting them gives negative counts,
        and None otherwise, because other rows may have the same counts.
        """
        if not self.has_rows:
            return False
        row_counts = self.count(self.schema.chunks(self._source(rows, y)))
        if _has_negative_counts(self.counts.plus(row_counts, -1), self.counts):
            return False
        return None if _has_negative_counts(row_counts.plus(self.counts, -1), row_counts) else True

    def _subtract(self, removed: BayesCounts) -> BayesCounts:
        counts = self.counts.plus(removed, -1)
        if _has_negative_counts(counts, self.counts):
            raise errors.MergeError(
                "These rows were not all learned by this model: subtracting them makes some counts negative. "
                "The model is unchanged."
            )
        return counts

    def _source(self, rows: Any, y: Any) -> Source:
        """Return labelled rows, read as the training rows were."""
        if not (isinstance(rows, Source) and y is None):
            rows = rows_of(rows, self.label if y is None else y, missing=self.schema.missing)
        source: Source = rows.with_missing(self.schema.missing).with_storage(self.storage)
        return source

    def _count_source(self, source: Source) -> BayesCounts:
        self._check_has_rows()
        return self.count(self.schema.chunks(source))

    def _check_has_rows(self) -> None:
        if not self.has_rows:
            raise errors.MergeError("A model from stated numbers has no rows; fit one from rows instead.")

    def check_mergeable(self, other: Self) -> None:
        """Raise MergeError if the counts of two models cannot be added."""
        if not isinstance(other, type(self)):
            raise errors.MergeError(
                f"A {self.title} can merge only with another {self.title}, got {type(other).__name__}."
            )
        if not (self.has_rows and other.has_rows):
            raise errors.MergeError("A model from stated numbers has no rows, so it cannot merge.")
        if self.schema.without_dialect().to_json() != other.schema.without_dialect().to_json():
            raise errors.MergeError(
                f"The models cannot merge: {_schema_difference(self.schema, other.schema)}.",
                hint=Step(
                    "same columns",
                    "Train the second with the columns of the first: columns=first.schema.",
                ),
            )


def not_from_counts_error(model: BaseModel, subject: str, verb: str) -> errors.Unsupported:
    """Return the error for a model that cannot do what `verb` says, such as "learn more rows"."""
    reason = _REASONS.get(model.type_name, "it does not follow from counts")
    return errors.Unsupported(
        f"{subject} is a {model.type_name} model, which cannot {verb}: {reason}.",
        hint="Train one that can, on the rows that it should know: weigh fit DATA... "
        "--learner naive-bayes (or joint).",
    )


def _has_negative_counts(difference: BayesCounts, minuend: BayesCounts) -> bool:
    """Return whether a difference of counts is negative anywhere.

    Call this before `canonical`, which drops classes without rows.
    """
    # Fractional weights leave rounding errors, in proportion to the weights; whole counts do not.
    has_rounding = difference.rows.dtype != np.int64
    return difference.minimum() < (-1e-10 * float(minuend.rows.sum()) if has_rounding else 0)


def _schema_difference(first: Schema, second: Schema) -> str:
    """Describe the first differences between two schemas."""
    if len(first.names) != len(second.names):
        return f"the first has {len(first.names):,} columns, the second {len(second.names):,}"
    kinds = [{**dict(zip(s.names, s.kinds, strict=True)), **s.made} for s in (first, second)]
    differences = []
    for name in dict.fromkeys([*kinds[0], *kinds[1]]):
        a, b = (kind_by_name.get(name, "missing") for kind_by_name in kinds)
        if a == b:
            a, b = (_describe_reading(schema, name) for schema in (first, second))
        if a != b:
            differences.append(f"column {name!r} is {a} in the first and {b} in the second")
    if differences:
        more = len(differences) - MAX_LISTED_DIFFERENCES
        listed = "; ".join(differences[:MAX_LISTED_DIFFERENCES])
        return f"{listed}; and {more:,} more differ" if more > 0 else listed
    return "they differ in the order of their columns, their label column or their missing-value markers"


def _describe_reading(schema: Schema, name: str) -> str:
    reading = schema.readings.get(name)
    return "read without a format" if reading is None else f"read as {reading}"
