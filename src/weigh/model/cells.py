"""Cells: rows of codes, one code per column, that are told apart and found again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Ints, Longs

# Columns are packed into one number while they fit beside the number of a row.
PACKED = 2**31

Tables = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Index:
    """The distinct rows of a matrix of codes, numbered in lexicographic order.

    Codes go from -1 (missing) to below `sizes[j]`. Columns are taken a few at a time: `steps` holds
    the sorted pairs (number of the row so far, next columns), so that no number grows too large
    however many columns there are.
    """

    sizes: tuple[int, ...]
    steps: list[tuple[Longs, int]]
    ids: Longs

    @classmethod
    def of(cls, codes: Ints, sizes: Sequence[int]) -> Index:
        """Number the rows; `ids` are their numbers."""
        steps: list[tuple[Longs, int]] = []
        ids = np.zeros(len(codes), dtype=np.int64)
        for column, size in _packed(codes, sizes):
            keys, ids = np.unique(ids * size + column, return_inverse=True)
            steps.append((keys, size))
        return cls(tuple(sizes), steps, ids)

    @property
    def n(self) -> int:
        """How many distinct rows there are."""
        return len(self.steps[-1][0])

    def first(self) -> Longs:
        """Return, for every distinct row, where in the matrix it stands."""
        places = np.zeros(self.n, dtype=np.int64)
        places[self.ids] = np.arange(len(self.ids))
        return places

    def find(self, codes: Ints) -> Longs:
        """Return the numbers of other rows; -1 for a row that is not among the indexed ones."""
        ids = np.zeros(len(codes), dtype=np.int64)
        if not self.n:
            return ids - 1
        for (keys, size), (column, _) in zip(self.steps, _packed(codes, self.sizes), strict=True):
            wanted = np.where(ids < 0, -1, ids * size + column)
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            ids = np.where(keys[at] == wanted, at, -1)
        return ids

    def sums(self, table: Tables) -> Tables:
        """Return a table [rows of it, rows of the matrix] with equal rows of the matrix added."""
        if not self.n:
            return table[:, :0]
        order = np.argsort(self.ids, kind="stable")
        starts = np.searchsorted(self.ids[order], np.arange(self.n))
        return np.asarray(np.add.reduceat(table[:, order], starts, axis=1))


def _packed(codes: Ints, sizes: Sequence[int]) -> Iterator[tuple[Longs, int]]:
    column, size = np.zeros(len(codes), dtype=np.int64), 1
    for j, levels in enumerate(sizes):
        if size > 1 and size * (levels + 1) > PACKED:
            yield column, size
            column, size = np.zeros(len(codes), dtype=np.int64), 1
        column = column * (levels + 1) + (codes[:, j] + 1)
        size *= levels + 1
    yield column, size
