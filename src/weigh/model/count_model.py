"""Models made of counts: merging adds them, forgetting takes them away."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model.base import Model
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.source import Chunk, Source
from weigh.source import rows as rows_of
from weigh.text import format_count, format_percent

UNCHANGED: Any = object()  # None is a prior too, so that "not given" needs a value of its own


def explicit_settings(**settings: Any) -> dict[str, Any]:
    """Return the settings that were given."""
    return {name: value for name, value in settings.items() if value is not UNCHANGED}


class CountModel(Model):
    """A model that follows from counts and priors; `title` names it in messages."""

    title: ClassVar[str]
    counts: BayesCounts

    @abstractmethod
    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of some chunks, of one at least."""

    @abstractmethod
    def leave_one_out_chunk(self, chunk: Chunk) -> Floats:
        """Return each row's scores from the model without it, for labelled rows that it has learned."""

    @abstractmethod
    def with_counts(self, counts: BayesCounts) -> Self:
        """Return the same model with other counts."""

    @property
    def has_rows(self) -> bool:
        """Whether the counts are those of rows, and not stated numbers."""
        return True

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.counts.classes

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """Rows and prior probability of each class."""
        rows = {"rows": [format_count(n) for n in self.counts.rows.tolist()]} if self.has_rows else {}
        return (
            {**rows, "prior": [format_percent(p) for p in np.exp(self.log_prior).tolist()]}
            if self.classes
            else {}
        )

    def merge(self, other: Self) -> Self:
        """Return the model of both models' rows together."""
        self._check_compatible(other, "merge")
        return self.with_counts(self.counts.plus(other.counts).canonical())

    def learn(self, rows: Any, y: Any = None) -> Self:
        """Return the model that has also seen these rows."""
        return self.with_counts(self._updated_counts(self._source(rows, y), 1).canonical())

    def forget(self, rows: Any, y: Any = None) -> Self:
        """Return the model that has never seen these rows, which it must have seen."""
        return self.with_counts(self._counts_without(self._source(rows, y)).canonical())

    def left_out_scores(self, rows: Any, y: Any = None) -> Floats:
        """Return for each row, all of them learned, the scores of the model that never saw it.

        Row i is that of `forget(row i).scores(row i)`, from the counts and without learning anew: the
        same bits for levels, counts and numbers, and to 1e-12 of the score for words and flags, which may
        be added up in another order, for fractional weights, and for pseudo-counts such as 0.1. A
        class whose only row it is has gone with it and scores −inf; where nothing is left at all, or
        where all classes have probability zero, every score is −inf.
        """
        source = self._source(rows, y)
        self._counts_without(source)
        chunks = (part for chunk in self.schema.chunks(source) for part in self._split_chunk(chunk))
        return np.concatenate([self.leave_one_out_chunk(chunk) for chunk in chunks])

    def has_learned(self, rows: Any, y: Any = None) -> bool | None:
        """Whether these rows were learned, as far as counts can prove it.

        True where they are all that was learned: taking them away leaves nothing. False where it leaves less
        than nothing. None where something is left, for other rows may have the same counts.
        """
        if not self.has_rows:
            return False
        theirs = self.count(self.schema.chunks(self._source(rows, y)))
        if _has_negative_counts(self.counts.plus(theirs, -1)):
            return False
        return None if _has_negative_counts(theirs.plus(self.counts, -1)) else True

    def _counts_without(self, source: Source) -> BayesCounts:
        counts = self._updated_counts(source, -1)
        if _has_negative_counts(counts):
            raise errors.MergeError(
                "These rows were not all learned by this model: taking them away leaves less than nothing. "
                "The model is as it was."
            )
        return counts

    def _source(self, rows: Any, y: Any) -> Source:
        """Return labelled rows as they were read when they were learned."""
        if not (isinstance(rows, Source) and y is None):
            rows = rows_of(rows, self.label if y is None else y, missing=self.schema.missing)
        source: Source = rows.with_missing(self.schema.missing).with_storage(self.storage)
        return source

    def _updated_counts(self, source: Source, sign: int) -> BayesCounts:
        if not self.has_rows:
            raise errors.MergeError("A model from stated numbers has no rows; fit one from rows instead.")
        return self.counts.plus(self.count(self.schema.chunks(source)), sign)

    def _check_compatible(self, other: Self, verb: str) -> None:
        if not isinstance(other, type(self)):
            raise errors.MergeError(f"A {self.title} can {verb} only another, got {type(other).__name__}.")
        if not (self.has_rows and other.has_rows):
            raise errors.MergeError(f"A model from stated numbers has no rows, so it cannot {verb}.")
        if self.schema.to_json() != other.schema.to_json():
            raise errors.MergeError(
                f"The models cannot {verb}: {_schema_difference(self.schema, other.schema)}. Train the second with "
                f"the columns of the first: columns=first.schema."
            )


def _has_negative_counts(counts: BayesCounts) -> bool:
    """Whether a difference of counts is below zero somewhere."""
    # Judged before a class without rows vanishes, and what it owes with it. Fractional weights
    # leave traces of rounding; whole counts leave none.
    return counts.minimum() < (0 if counts.rows.dtype == np.int64 else -1e-9)


def _schema_difference(first: Schema, second: Schema) -> str:
    """Word what two schemas disagree on."""
    if len(first.names) != len(second.names):
        return f"the first has {len(first.names):,} columns, the second {len(second.names):,}"
    ours, theirs = ({**dict(zip(s.names, s.kinds, strict=True)), **s.made} for s in (first, second))
    for name in [*ours, *theirs]:
        one, other = (kinds.get(name, "not there") for kinds in (ours, theirs))
        if one != other:
            return f"column {name!r} is {one} in the first and {other} in the second"
    return "they differ in the order of their columns, their label column or what counts as missing"
