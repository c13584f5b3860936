"""Some features of rows by themselves: for descent along them."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from weigh import _core
from weigh.features.blocks import Ints, Longs
from weigh.learn.regress.matrix import Matrix, SparseMatrix
from weigh.model.pipeline import cores


def places_of(which: Longs, width: int) -> Ints:
    """Return where each feature stands among the chosen ones; −1 if it is not one of them."""
    places = np.full(width, -1, np.int32)
    places[which] = np.arange(len(which), dtype=np.int32)
    return places


@singledispatch
def chosen_columns(X: Matrix, which: Longs) -> _core.ColumnSubset:
    """Return some features for descent along columns."""
    size = len(which)
    values = np.ascontiguousarray(X.columns(which)).ravel()
    indptr = np.arange(0, len(values) + 1, max(size, 1), dtype=np.int64)
    every = np.arange(size, dtype=np.int32)
    if not size:
        indptr = np.zeros(X.n_rows + 1, np.int64)
    return _core.ColumnSubset(indptr, np.tile(every, X.n_rows), values, every, size, cores())


@chosen_columns.register
def _(X: SparseMatrix, which: Longs) -> _core.ColumnSubset:
    return _core.ColumnSubset(X.indptr, X.indices, X.values, places_of(which, X.width), len(which), cores())
