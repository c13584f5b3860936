"""Models made of counts: merging adds them, forgetting takes them away."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.model.base import Model
from weigh.model.bayes_counts import BayesCounts
from weigh.source import Chunk, Source
from weigh.source import rows as rows_of

KEPT: Any = object()  # None is a prior too, so that "not given" needs a value of its own


def given(**settings: Any) -> dict[str, Any]:
    """Return the settings that were given."""
    return {name: value for name, value in settings.items() if value is not KEPT}


class Counted(Model):
    """A model that follows from counts and priors; `title` names it in messages."""

    title: ClassVar[str]
    counts: BayesCounts

    @abstractmethod
    def count(self, chunks: Iterable[Chunk]) -> BayesCounts:
        """Count the rows of some chunks, of one at least."""

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

    def merge(self, other: Self) -> Self:
        """Return the model of both models' rows together."""
        self._check_same(other, "merge")
        return self.with_counts(self.counts.plus(other.counts).canonical())

    def learn(self, rows: Any, y: Any = None) -> Self:
        """Return the model that has also seen these rows."""
        return self.with_counts(self._counted(rows, y, 1).canonical())

    def forget(self, rows: Any, y: Any = None) -> Self:
        """Return the model that has never seen these rows, which it must have seen."""
        counts = self._counted(rows, y, -1)
        # Judged before a class without rows vanishes, and what it owes with it. Fractional weights
        # leave traces of rounding; whole counts leave none.
        if counts.least() < (0 if counts.rows.dtype == np.int64 else -1e-9):
            raise errors.MergeError(
                "These rows were not all learned by this model: taking them away leaves less than nothing. "
                "The model is as it was."
            )
        return self.with_counts(counts.canonical())

    def _counted(self, rows: Any, y: Any, sign: int) -> BayesCounts:
        if not self.has_rows:
            raise errors.MergeError("A model from stated numbers has no rows; fit one from rows instead.")
        if not (isinstance(rows, Source) and y is None):
            rows = rows_of(rows, self.label if y is None else y, missing=self.schema.missing)
        chunks = self.schema.chunks(rows.marked(self.schema.missing).stored(self.storage))
        return self.counts.plus(self.count(chunks), sign)

    def _check_same(self, other: Self, verb: str) -> None:
        if not isinstance(other, type(self)):
            raise errors.MergeError(f"A {self.title} can {verb} only another, got {type(other).__name__}.")
        if not (self.has_rows and other.has_rows):
            raise errors.MergeError(f"A model from stated numbers has no rows, so it cannot {verb}.")
        if self.schema.to_json() != other.schema.to_json():
            raise errors.MergeError(
                f"The models cannot {verb}: {_difference(self.schema, other.schema)}. Train the second with "
                f"the columns of the first: columns=first.schema."
            )


def _difference(first: Schema, second: Schema) -> str:
    """Word what two schemas disagree on."""
    if len(first.names) != len(second.names):
        return f"the first has {len(first.names):,} columns, the second {len(second.names):,}"
    ours, theirs = ({**dict(zip(s.names, s.kinds, strict=True)), **s.made} for s in (first, second))
    for name in [*ours, *theirs]:
        one, other = (kinds.get(name, "not there") for kinds in (ours, theirs))
        if one != other:
            return f"column {name!r} is {one} in the first and {other} in the second"
    return "they differ in the order of their columns, their label column or what counts as missing"
