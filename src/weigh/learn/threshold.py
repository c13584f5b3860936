"""Finding a threshold: the numeric columns are gathered, and the best one is cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Derived, Flag, Kind, Lag, Number, Schema, Skip, find_schema
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import encode, is_gap
from weigh.learn.stump import best_cut, tolerance
from weigh.learn.task import Folded
from weigh.model import ThresholdModel
from weigh.model.bayes_counts import Label, encode_labels
from weigh.model.tally import Table, name_key, whole
from weigh.model.threshold import LEFT, MISSING, RIGHT
from weigh.source import Chunk, Source
from weigh.source.base import Piece
from weigh.source.missing import Marker


@dataclass(frozen=True, eq=False)
class Gathered:
    """The numbers [columns, rows] of one chunk with classes and weights; rows of no weight are gone."""

    first_row: int
    values: Floats
    codes: Ints
    classes: list[Label]
    weights: Floats | None


@dataclass(frozen=True)
class ThresholdTask:
    """The best single cut over all numeric columns.

    Sorting needs all values, so that, unlike counting, this keeps every numeric column in memory
    while it learns; the model keeps none.
    """

    schema: Schema

    @classmethod
    def over(
        cls, source: Source, columns: object = "auto", *, missing: Sequence[Marker] = ()
    ) -> ThresholdTask:
        """Return the task for a source: its numeric columns found, the others left out."""
        if isinstance(columns, str) and columns == "auto" and not source.names:
            columns = Number()
        schema = find_schema(source, columns, missing=missing)
        first = source.prefix().columns
        if not source.named:
            first = dict(zip(schema.names, first.values(), strict=False))
        given = columns if isinstance(columns, Mapping) else {}
        pairs = zip(schema.names, schema.kinds, strict=True)
        kinds = [_as_number(kind, None if name in given else first.get(name)) for name, kind in pairs]
        schema = replace(schema, kinds=kinds, made=_made_numbers(schema.made))
        if not schema.parts:
            raise errors.DataError(
                f"There is no numeric column to cut; the columns are {errors.listing(schema.names)}. Give a "
                f"column of numbers, or use NaiveBayes."
            )
        return cls(schema)

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.pieces(source)

    def count(self, chunk: Chunk) -> list[Gathered]:
        """Gather the numbers of one chunk."""
        codes, classes = encode_labels(chunk)
        blocks: list[Any] = self.schema.encode(chunk)
        values, weights = np.array([block.values for block in blocks]), chunk.weights
        if weights is not None and not weights.all():
            kept = weights > 0
            values, codes, weights = values[:, kept], codes[kept], weights[kept]
        return [Gathered(chunk.first_row, values, codes, classes, weights)]

    def counter(self) -> Folded[list[Gathered]]:
        """Return what gathers the counts of many chunks."""
        return Folded(self.count, self.merge)

    def merge(self, first: list[Gathered], second: list[Gathered]) -> list[Gathered]:
        """Return the numbers of both together."""
        return first + second

    def finish(self, counts: list[Gathered]) -> ThresholdModel:
        """Return the model of the best cut; of equally good columns the first."""
        # Whichever thread was faster: rows are taken in their order.
        pieces = sorted(counts, key=lambda piece: piece.first_row)
        classes, codes = _joined_classes(pieces)
        weights = _joined_weights(pieces)
        columns = range(len(pieces[0].values))
        cuts = [best_cut(_column(pieces, j), codes, weights, len(classes)) for j in columns]
        least = min(cut.errors for cut in cuts) + (0.0 if weights is None else tolerance(weights))
        j = next(j for j in columns if cuts[j].errors <= least)
        cut, values = cuts[j], _column(pieces, j)
        sides = np.where(values <= cut.middle, LEFT, np.where(np.isnan(values), MISSING, RIGHT))
        counted = np.bincount(sides * len(classes) + codes, weights, 3 * len(classes))
        table = whole(counted.astype(np.float64).reshape(3, len(classes)))
        return ThresholdModel(self._only(j), list(classes), cut.middle, cut.low, cut.high, table)

    def _only(self, j: int) -> Schema:
        """Return the schema with all columns but one left out."""
        name = self.schema.parts[j].names[0]
        pairs = zip(self.schema.names, self.schema.kinds, strict=True)
        kinds = [kind if own == name else Skip() for own, kind in pairs]
        made = {own: kind for own, kind in self.schema.made.items() if own == name}
        return replace(self.schema, kinds=kinds, made=made)


def _as_number(kind: Kind, column: Any) -> Kind:
    """Return a number for a column of numbers, also if they look like codes or flags; else skip it."""
    if isinstance(kind, Number | Flag):
        return Number()
    if isinstance(kind, Category) and column is not None:
        values = [value for value in encode(column, "")[1] if not is_gap(value)]
        if all(isinstance(value, int | float) for value in values):
            return Number()
    return Skip()


def _made_numbers(made: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the derived columns that are numbers or flags, as numbers."""
    return {
        name: replace(kind, kind=Number())
        for name, kind in made.items()
        if isinstance(kind, Derived | Lag) and isinstance(kind.kind, Number | Flag)
    }


def _joined_classes(pieces: Sequence[Gathered]) -> tuple[list[Label], Ints]:
    """Return the classes that occur, in canonical order, and every row's."""
    seen = {piece.classes[code] for piece in pieces for code in np.unique(piece.codes).tolist()}
    classes = sorted(seen, key=name_key)
    place = {label: at for at, label in enumerate(classes)}
    codes = []
    for piece in pieces:
        lookup = np.array([place.get(label, -1) for label in piece.classes], dtype=np.int32)
        codes.append(lookup[piece.codes])
    return classes, np.concatenate(codes)


def _column(pieces: Sequence[Gathered], j: int) -> Floats:
    return np.concatenate([piece.values[j] for piece in pieces])


def _joined_weights(pieces: Sequence[Gathered]) -> Table | None:
    """Return every row's weight, whole numbers as integers, or None if all are one."""
    given = [piece.weights for piece in pieces if piece.weights is not None]
    return whole(np.concatenate(given)) if given else None
