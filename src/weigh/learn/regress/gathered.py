"""The rows of a source gathered for solvers: one matrix, targets, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features import Schema
from weigh.features.blocks import Floats, Longs
from weigh.learn.preparation import needs_preparation, prepare
from weigh.learn.reading import Encoded, Progress, Reading
from weigh.learn.regress.joined import joined
from weigh.learn.regress.matrix import DenseMatrix, Matrix, SparseMatrix
from weigh.learn.space import Space
from weigh.source import Source


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rows in memory over the features of a space; `y` are numbers, or places among the classes.

    Features have the numbers of the space, which are not in the order of a model.
    """

    schema: Schema
    space: Space
    X: Matrix
    y: Any
    weights: Floats | None
    classes: list[Any]
    gaps: int
    held: list[Encoded]  # the pieces that the matrix may be a view of

    @property
    def orders(self) -> list[Longs]:
        """The numbers of each part's features in the order of a model."""
        return self.space.orders()

    @property
    def names(self) -> list[str]:
        """The features' names by their numbers."""
        orders, found = self.orders, [""] * self.space.width
        terms = self.space.terms(orders, np.zeros((sum(map(len, orders)), 1)))
        for term, order in zip(terms, orders, strict=True):
            for at, name in zip(order.tolist(), term.features().names, strict=True):
                found[at] = name
        return found

    @property
    def columns(self) -> list[tuple[str, Longs]]:
        """Which features each column of the table has."""
        found: list[tuple[str, Longs]] = []
        for part, own in zip(self.schema.parts, self.orders, strict=True):
            together = part.kind.gathers and len(part.names) == len(own)
            names = part.names if together else [part.title]
            places = own.reshape(-1, 1) if together else [own]
            found += list(zip(names, places, strict=True))
        return found


def read(
    schema: Schema, source: Source, *, measured: bool, keeps: bool = True, progress: Progress | None = None
) -> Reading:
    """Read all rows of a source for the first time; unless it `keeps` them a large file's are not held."""
    prepared = prepare(schema, schema.chunks(source)) if needs_preparation(schema) else {}
    space = Space(schema, prepared, dense=True)
    return Reading(schema, source, space, measured=measured, keeps=keeps).first(progress)


def gathered(schema: Schema, source: Source, *, measured: bool, progress: Progress | None = None) -> Gathered:
    """Read all rows of a source into memory."""
    return held_rows(schema, read(schema, source, measured=measured, progress=progress), measured=measured)


def held_rows(schema: Schema, reading: Reading, *, measured: bool) -> Gathered:
    """Return the rows that a reading has kept."""
    space, held = reading.space, list(reading.chunks())
    classes = [] if measured else reading.classes()
    places = None if measured else reading.places(classes)
    targets = [part.codes if places is None else places[part.codes] for part in held]
    weights = None
    if reading.is_weighted:
        weights = np.concatenate([_ones_for(part) if part.weights is None else part.weights for part in held])
    X = matrix_of(held, space.width)
    return Gathered(schema, space, X, joined(targets), weights, classes, reading.gaps, held)


def _ones_for(part: Encoded) -> Floats:
    return np.ones(len(part.codes))


def matrix_of(held: list[Encoded], width: int) -> Matrix:
    """Return encoded rows as one matrix, a view of them where they lie one after the other."""
    if held[0].grid is not None:
        return DenseMatrix(joined([part.grid for part in held]))
    rows = [part.rows for part in held]
    sizes = np.concatenate([np.diff(each.indptr) for each in rows])
    indptr: Longs = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=indptr[1:])
    indices = [each.indices[each.indptr[0] : each.indptr[-1]] for each in rows]
    values: list[Any] = [
        None if each.values is None else each.values[each.indptr[0] : each.indptr[-1]] for each in rows
    ]
    if all(each is None for each in values):
        return SparseMatrix(indptr, joined(indices), None, width)
    filled = [
        np.ones(len(index)) if each is None else each for each, index in zip(values, indices, strict=True)
    ]
    return SparseMatrix(indptr, joined(indices), joined(filled), width)
