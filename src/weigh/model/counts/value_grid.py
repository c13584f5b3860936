"""Counts of numbers on a fixed grid: the shape of a distribution, from counts that add and subtract exactly.

The grid has 1024 cells between neighbouring powers of two (see core/include/weigh/value_grid.h), so that
whole numbers up to 2047 have cells of their own and others are known to three digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, NumberBlock
from weigh.immutable import ImmutablePart
from weigh.model.counts.count_table import (
    CountArray,
    RowClasses,
    align_rows,
    is_identity,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.file import store

DROPPED_BITS = 42  # of the 52 bits of a float's fraction
CELL_RESOLUTION = 2.0**-10  # relative width of the widest cells
MAX_CELL = 2047 << 10  # the cell of the largest floats


@dataclass(frozen=True, eq=False)
class GridCounts(ImmutablePart):
    """Counts [classes, cells] of the numbers in each cell of the grid; `cells` ascend."""

    cells: Ints
    table: CountArray

    @classmethod
    def from_block(cls, block: NumberBlock, by: RowClasses) -> GridCounts:
        """Count the values of a block by class and cell."""
        return cls(*_core.count_cells(by.classes, by.n_classes, block.values, by.weights))

    def plus(self, other: GridCounts, sign: int = 1) -> GridCounts:
        """Return the sum or difference over the same classes."""
        dtype = np.result_type(self.table, other.table)
        first, second = (np.ascontiguousarray(grid.table, dtype=dtype) for grid in (self, other))
        return GridCounts(*_core.add_cells(self.cells, first, other.cells, second, subtracts=sign < 0))

    def align_classes(self, indices: Longs, n_classes: int) -> GridCounts:
        """Return the counts with class c moved to row indices[c] of `n_classes` rows."""
        return GridCounts(self.cells, align_rows(self.table, indices, n_classes))

    def select_classes(self, classes: Longs) -> GridCounts:
        """Return the counts restricted to the given classes, in this order."""
        return self if is_identity(classes, len(self.table)) else GridCounts(self.cells, self.table[classes])

    def canonical(self) -> GridCounts:
        """Return the canonical form, without empty cells."""
        used = np.asarray(self.table.any(axis=0))
        cells, table = (self.cells, self.table) if used.all() else (self.cells[used], self.table[:, used])
        return GridCounts(cells, to_integers_if_whole(table))

    def minimum(self) -> float:
        """Return the smallest count; it is negative if more was subtracted than added."""
        return float(self.table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], key: str) -> None:
        """Add the counts to the content of a model file."""
        arrays[f"{key}.cells"] = self.cells
        arrays[f"{key}.table"] = self.table

    @classmethod
    def read_arrays(cls, stored: store.FileContent, key: str, n_classes: int) -> GridCounts:
        """Read the counts that `write_arrays` added."""
        cells = store.read_array(stored, f"{key}.cells", (None,), [np.int32])
        is_possible = not len(cells) or (np.abs(cells).max() <= MAX_CELL and (np.diff(cells) > 0).all())
        if not is_possible:
            raise store.damaged_file_error(stored.path, f"its cells {key!r} are not in ascending order")
        return cls(cells, read_counts_array(stored, f"{key}.table", (n_classes, len(cells))))


def cell_bounds(cells: Ints) -> tuple[Floats, Floats]:
    """Return the smallest and the largest float of each cell."""
    magnitude = np.abs(cells.astype(np.int64))
    first = np.maximum(magnitude - 1, 0) << DROPPED_BITS
    # The cell next to zero does not contain zero.
    near = np.where(magnitude == 0, 0, np.maximum(first, 1)).view(np.float64)
    far = np.where(magnitude == 0, 0, (magnitude << DROPPED_BITS) - 1).view(np.float64)
    return np.where(cells < 0, -far, near), np.where(cells < 0, -near, far)


def cell_centres(cells: Ints) -> Floats:
    """Return the number in the middle of each cell."""
    low, high = cell_bounds(cells)
    return np.asarray(low / 2 + high / 2)


def round_to_centres(values: Floats) -> Floats:
    """Return the middle of the cell of each positive number; others are NaN."""
    with np.errstate(invalid="ignore"):
        is_positive = (values > 0) & np.isfinite(values)
    bits = np.where(is_positive, values, 1.0).view(np.int64) >> DROPPED_BITS
    return np.where(is_positive, cell_centres((bits + 1).astype(np.int32)), np.nan)
