"""What all classifiers share: one scoring hook, and everything that follows from scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.decision import Decision, best, normalised, to_labels
from weigh.model.display import Told, class_table
from weigh.model.evidence import Evidence
from weigh.model.explained import Explained
from weigh.model.row_model import RowModel
from weigh.source import Chunk
from weigh.source.base import Piece


class Model(RowModel):
    """A frozen classifier: reads rows, gives scores; knows no training rows.

    Scores are logarithms: the greatest wins, and at a tie the class that `tie` names ("first" or
    "last" in the order of `classes`). `generative` says whether a score is log p(x, class).
    """

    probable: ClassVar[bool] = True  # whether scores, normalised, are probabilities

    @property
    @abstractmethod
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""

    @property
    @abstractmethod
    def log_prior(self) -> Floats:
        """The logarithm of each class's prior probability."""

    @abstractmethod
    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores [rows, classes] of a chunk in the schema's names."""

    @abstractmethod
    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk."""

    def __repr__(self) -> str:
        columns = f"{len(self.schema.names):,} column" + "s" * (len(self.schema.names) != 1)
        label = "" if self.label is None else f" of {self.label!r}"
        return f"<{type(self).__name__}: {columns}, classes{label} {errors.listing(self.classes)}>"

    @property
    def class_facts(self) -> dict[str, list[str]]:
        """What the display tells of each class, by the title of its column."""
        return {}

    def tables(self) -> Iterator[Told]:
        """Yield what the model is as small tables, for its display."""
        yield class_table(self.classes, self.class_facts)
        yield from super().tables()

    @property
    def tie(self) -> str:
        """Which class wins at a tie, in the order of `classes`."""
        return "first"

    @property
    def generative(self) -> bool:
        """Whether scores are joint log-probabilities."""
        return True

    @property
    def results(self) -> int:
        """A row has one score per class."""
        return len(self.classes)

    @property
    def named_labels(self) -> Mapping[str, Sequence[Any]]:
        """The classes under the name of their column."""
        return {} if self.label is None else {self.label: self.classes}

    @cached_property
    def labels(self) -> Any:
        """The classes as an array of their own type."""
        return to_labels(self.classes)

    def _pieces(self, rows: Any) -> Iterator[Piece]:
        if not self.classes:
            raise errors.Unsupported(
                "This model knows no class, because it has forgotten all its rows. Let it learn some first."
            )
        return super()._pieces(rows)

    def scores(self, rows: Any) -> Floats:
        """Return the score of every class for every row."""
        return np.concatenate(list(self.worked(self.checked, rows)))

    def checked(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk, refused where they decide nothing."""
        scores = self.score_chunk(chunk)
        impossible = scores.max(axis=1) == -np.inf
        if impossible.any():
            raise self.impossible(chunk, int(np.argmax(impossible)))
        return scores

    def impossible(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        return errors.ImpossibleEvidence(
            f"Row {chunk.first_row + row:,} has probability 0 in every class. Train with a prior above 0."
        )

    def log_proba(self, rows: Any) -> Floats:
        """Return the logarithm of every class's posterior probability."""
        return normalised(self.scores(rows))

    def predict_proba(self, rows: Any) -> Floats:
        """Return every class's posterior probability."""
        return np.exp(self.log_proba(rows))

    def predict(self, rows: Any, decision: Decision | None = None) -> Any:
        """Return one verdict per row: the best class, or what `decision` says."""
        return np.concatenate(list(self.worked(partial(self._verdicts, decision), rows)))

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        scores = self.checked(chunk)
        if decision is None:
            return self.labels[self.best(scores)]
        return decision.verdicts(scores, self.log_prior, self.classes)

    def best(self, scores: Floats) -> Any:
        """Return the number of the best class of each row."""
        return best(scores, self.tie)

    def linear(self) -> Any:
        """Return the linear function that decides alike, where there is one."""
        raise errors.Unsupported(f"A {type(self).__name__} is no linear function of its features.")

    def explain(self, rows: Any) -> Explained:
        """Return the evidence for each row: named contributions that sum to the score."""
        found = Explained()
        for chunk in self.chunks(rows):
            self.checked(chunk)  # what no class can have is refused here as in predict
            found.extend(evidence.settled() for evidence in self.explain_chunk(chunk))
        return found
