"""Features of a working set with their Gram matrix, which grows with them."""

from __future__ import annotations

from functools import singledispatch
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.centred import CentredRows
from weigh.learn.regress.chosen import places_of
from weigh.learn.regress.gram_lasso import Quadratic
from weigh.learn.regress.matrix import Matrix, SparseMatrix
from weigh.model.pipeline import cores

# A feature whose squares around the mean are so small a part of all its squares is constant but for rounding.
_CONSTANT = 1e-13


class Held(Protocol):
    """Features in the order in which they came."""

    which: Longs

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero but for the features held."""

    def loss(self, which: Longs) -> Quadratic:
        """Return the squared loss of some of the features; constant ones have no part in it."""


class HeldDense:
    """Features as columns around their means, side by side."""

    def __init__(self, rows: CentredRows) -> None:
        self.which: Longs = np.zeros(0, np.int64)
        self._rows = rows
        self._columns = np.zeros((0, rows.X.n_rows))
        self._gram = np.zeros((0, 0))

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""
        rows = self._rows
        columns = np.asarray(rows.X.columns(new).T - rows.mean_x[new, None])
        weighted = rows.weighted(columns)
        own = weighted @ columns.T
        around, middle = np.diagonal(own), rows.total * rows.mean_x[new] ** 2
        constant = around <= _CONSTANT * (around + middle)
        if rows.bias and constant.any():
            columns[constant], own[constant], own[:, constant] = 0.0, 0.0, 0.0
            weighted = rows.weighted(columns)
        between = self._columns @ weighted.T
        self._gram = np.block([[self._gram, between], [between.T, own]])
        self._columns = np.concatenate([self._columns, columns])
        self.which = np.concatenate([self.which, new])

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero but for the features held."""
        return np.asarray(w[self.which] @ self._columns)

    def loss(self, which: Longs) -> Quadratic:
        """Return the squared loss of some of the features; constant ones have no part in it."""
        return _part(self.which, which, self._gram, self._rows)


class HeldSparse:
    """Features that stay where they are; the matrix is made anew when there are more."""

    def __init__(self, rows: CentredRows) -> None:
        self.which: Longs = np.zeros(0, np.int64)
        self._rows = rows
        self._gram: Floats | None = None

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""
        self.which = np.concatenate([self.which, new])
        self._gram = None

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w."""
        return self._rows.times(w)

    def loss(self, which: Longs) -> Quadratic:
        """Return the squared loss of some of the features; constant ones have no part in it."""
        if self._gram is None:
            self._gram = self._made()
        return _part(self.which, which, self._gram, self._rows)

    def _made(self) -> Floats:
        rows, size = self._rows, len(self.which)
        X, mean, gram = rows.X, rows.mean_x[self.which], np.empty((size, size))
        assert isinstance(X, SparseMatrix)
        places = places_of(self.which, X.width)
        _core.sparse_weighted_gram(X.indptr, X.indices, X.values, places, rows.weights, cores(), gram)
        if rows.bias:
            raw = np.diagonal(gram).copy()
            gram -= rows.total * np.outer(mean, mean)
            constant = np.diagonal(gram) <= _CONSTANT * raw
            gram[constant], gram[:, constant] = 0.0, 0.0
        return gram


@singledispatch
def held(X: Matrix, rows: CentredRows) -> Held:
    """Return an empty set of features of rows."""
    return HeldDense(rows)


@held.register
def _(X: SparseMatrix, rows: CentredRows) -> Held:
    return HeldSparse(rows)


def _part(held: Longs, which: Longs, gram: Floats, rows: CentredRows) -> Quadratic:
    if which is not held:
        place = np.argsort(held)[np.searchsorted(np.sort(held), which)]
        gram = gram[np.ix_(place, place)]
    cross = np.where(np.diagonal(gram) > 0, rows.cross[which], 0.0)
    return Quadratic(gram, cross, rows.yy)
