"""A summary of the inputs of the training rows, column by column, from which unlike rows are recognised.

Levels, flags and words are counted; numbers are counted in cells. Counts of several batches add up, in any
order. Classes are not distinguished.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from weigh import _core
from weigh.features.blocks import (
    CategoryBlock,
    DenseBlock,
    Floats,
    Ints,
    Longs,
    Mask,
    NumberBlock,
    SparseBlock,
)
from weigh.features.kinds import Flag
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import as_sparse_block
from weigh.immutable import Immutable
from weigh.model.counts.count_table import CountTable, RowClasses, read_counts_array
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.counts.value_grid import MAX_CELL, cell_bounds
from weigh.model.file import store
from weigh.source.sparse_rows import SparseRows

MAX_CELLS = 256  # per number: at most 3 kilobytes
MAX_NUMBERS = 256  # wider blocks are not summarised, which would take as long as a regression
KEY = "inputs"


@dataclass(frozen=True, eq=False)
class NumberCells(Immutable):
    """How many numbers of a column lie in each cell of the fixed grid (`counts.value_grid`).

    `coarseness` is the number of times that the width of the cells was doubled, until there were at most
    `MAX_CELLS`. It depends on the numbers alone, because a part of them never needs wider cells than all.
    """

    cells: Ints
    counts: Longs
    coarseness: int = 0

    @classmethod
    def from_values(cls, values: Floats, n_zeros: int = 0) -> NumberCells:
        """Count numbers and further zeros; missing ones are left out."""
        counted = cls.from_matrix(values[:, None])[0]
        return counted.plus(cls(np.zeros(1, np.int32), np.full(1, n_zeros))) if n_zeros else counted

    @classmethod
    def from_matrix(cls, values: Floats) -> tuple[NumberCells, ...]:
        """Count the numbers of each column; missing ones are left out."""
        sizes, cells, counts = _core.count_coarse_cells(values, MAX_CELLS)
        ends = np.cumsum(sizes[:, 0])[:-1]
        parts = zip(np.split(cells, ends), np.split(counts, ends), sizes[:, 1].tolist(), strict=True)
        return tuple(cls(*part) for part in parts)

    def plus(self, other: NumberCells) -> NumberCells:
        """Return the counts of both."""
        coarseness = max(self.coarseness, other.coarseness)
        first, second = (each._coarsen(coarseness - each.coarseness) for each in (self, other))
        cells, counts = np.concatenate([first, second]), np.concatenate([self.counts, other.counts])
        order = np.argsort(cells, kind="stable")
        return NumberCells(cells[order], counts[order], coarseness)._merge_equal_cells()

    def _coarsen(self, steps: int) -> Ints:
        magnitude = ((np.abs(self.cells) - 1) >> steps) + 1
        return np.where(self.cells == 0, 0, np.sign(self.cells) * magnitude).astype(np.int32)

    def _merge_equal_cells(self) -> NumberCells:
        """Merge equal neighbours of ascending cells, and widen the cells until there are few."""
        starts = np.flatnonzero(np.diff(self.cells, prepend=np.iinfo(np.int32).min))
        counts = np.add.reduceat(self.counts, starts) if len(starts) else self.counts
        merged = replace(self, cells=self.cells[starts], counts=counts)
        if len(starts) <= MAX_CELLS:
            return merged
        # Doubling the width at most halves the number of cells, so that fewer steps would leave too many.
        steps = math.ceil(math.log2(len(starts) / MAX_CELLS))
        return replace(
            merged, cells=merged._coarsen(steps), coarseness=self.coarseness + steps
        )._merge_equal_cells()

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The smallest and the largest number that each cell may hold."""
        magnitude, sign = np.abs(self.cells).astype(np.int64), np.sign(self.cells)
        near = np.where(magnitude == 0, 0, ((magnitude - 1) << self.coarseness) + 1)
        far = np.minimum(magnitude << self.coarseness, MAX_CELL)
        ends = [cell_bounds((sign * end).astype(np.int32)) for end in (near, far)]
        return np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])


@dataclass(frozen=True, eq=False)
class WordFrequencies(Immutable):
    """In how many rows each word or bucket occurred, in the order of the weights of the model."""

    counts: Longs


Numbers = tuple[NumberCells, ...]
Part = Numbers | CountTable | FlagCounts | WordFrequencies | None


@dataclass(frozen=True, eq=False)
class InputSummary(Immutable):
    """The number of rows, and a summary of each column group of the schema; None where there is none.

    `frequencies` counts the rows with each feature until `finish` knows which of them are words.
    """

    n: int
    parts: tuple[Part, ...]
    frequencies: Longs = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def from_blocks(
        cls, schema: Schema, blocks: Sequence[Any], n_rows: int, mask: Mask | None = None
    ) -> Self:
        """Summarise the encoded rows of a chunk, or only those in a mask."""
        used = np.ones(n_rows, dtype=bool) if mask is None else mask
        pairs = zip(schema.column_groups, blocks, strict=True)
        return cls(int(used.sum()), tuple(_summarise(group, block, used) for group, block in pairs))

    def with_frequencies(self, rows: SparseRows) -> InputSummary:
        """Return the summary with the features of its rows, if some are words."""
        if not any(isinstance(part, WordFrequencies) for part in self.parts):
            return self
        return replace(self, frequencies=np.bincount(rows.indices, minlength=rows.width))

    def plus(self, other: InputSummary) -> InputSummary:
        """Return the summary of the rows of both."""
        parts = tuple(map(_add, self.parts, other.parts))
        return InputSummary(self.n + other.n, parts, _add_counts(self.frequencies, other.frequencies))

    def finish(self, orders: Sequence[Longs]) -> InputSummary:
        """Return the summary for a model that has the features of each column group in these orders."""
        width = 1 + max((int(order.max()) for order in orders if len(order)), default=-1)
        frequencies = _add_counts(self.frequencies, np.zeros(width, dtype=np.int64))
        parts = [
            WordFrequencies(frequencies[order]) if isinstance(part, WordFrequencies) else _canonical(part)
            for part, order in zip(self.parts, orders, strict=True)
        ]
        return InputSummary(self.n, tuple(parts))

    def number_cells(self, schema: Schema, part: int, column: str) -> NumberCells | None:
        """Return the cells of a column of numbers in a column group; None if it has none."""
        numbers, group = self.parts[part], schema.column_groups[part]
        if not isinstance(numbers, tuple):
            return None
        return numbers[list(group.features).index(column) if group.kind.shares_block else 0]

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the summary to the content of a model file."""
        meta[KEY] = {"n": self.n, "parts": [_type_name(part) for part in self.parts]}
        for i, part in enumerate(self.parts):
            _write_part(part, arrays, meta, f"{KEY}{i}")

    @classmethod
    def read_arrays(cls, stored: store.FileContent, schema: Schema) -> InputSummary | None:
        """Read the summary that `write_arrays` added; None if there is none."""
        if KEY not in stored.meta:
            return None
        n, names, groups = stored.meta[KEY]["n"], stored.meta[KEY]["parts"], schema.column_groups
        if not isinstance(n, int) or isinstance(n, bool) or n < 0 or len(names) > len(groups):
            raise store.damaged_file_error(stored.path, "its summary of the inputs is inconsistent")
        parts = [
            _read_part(stored, f"{KEY}{i}", name, group)
            for i, (name, group) in enumerate(zip(names, groups, strict=False))
        ]
        return cls(n, tuple(parts))


def _summarise(group: ColumnGroup, block: Any, used: Mask) -> Part:
    by = RowClasses(np.zeros(len(used), dtype=np.int32), 1, None if used.all() else used.astype(np.float64))
    if isinstance(block, NumberBlock):
        return (NumberCells.from_values(block.values[used]),)
    if isinstance(block, CategoryBlock):
        return CountTable.from_codes(block, by)
    if isinstance(group.kind, BagOfWordsKind):
        return WordFrequencies(np.zeros(0, dtype=np.int64))
    if not isinstance(block, SparseBlock | DenseBlock):
        return None  # a pair, whose columns have summaries of their own
    if isinstance(group.kind, Flag):
        return FlagCounts.from_block(as_sparse_block(block), by, True)
    return _summarise_numbers(block, used) if len(group.features) <= MAX_NUMBERS else None


def _summarise_numbers(block: SparseBlock | DenseBlock, used: Mask) -> Numbers:
    if isinstance(block, DenseBlock):
        return NumberCells.from_matrix(block.matrix if used.all() else block.matrix[used])
    rows = block.rows.select(used)
    order = np.argsort(rows.indices, kind="stable")
    ends = np.cumsum(np.bincount(rows.indices, minlength=len(block.names)))
    columns = np.split(rows.entry_values()[order].astype(np.float64), ends[:-1])
    return tuple(NumberCells.from_values(column, rows.n_rows - len(column)) for column in columns)


def _add(first: Any, second: Any) -> Part:
    if isinstance(first, tuple):
        return tuple(a.plus(b) for a, b in zip(first, second, strict=True))
    return first if first is None or isinstance(first, WordFrequencies) else first.plus(second)


def _add_counts(first: Longs, second: Longs) -> Longs:
    total = np.zeros(max(len(first), len(second)), dtype=np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total


def _canonical(part: Any) -> Part:
    return part.canonical() if isinstance(part, CountTable | FlagCounts) else part


def _type_name(part: Part) -> str | None:
    types = {tuple: "numbers", CountTable: "levels", FlagCounts: "flags", WordFrequencies: "words"}
    return types.get(type(part))


def _write_part(part: Part, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
    if isinstance(part, tuple):
        arrays[f"{key}.sizes"] = np.array([[len(each.cells), each.coarseness] for each in part])
        arrays[f"{key}.cells"] = np.concatenate([each.cells for each in part])
        arrays[f"{key}.counts"] = np.concatenate([each.counts for each in part])
    elif isinstance(part, WordFrequencies):
        arrays[f"{key}.counts"] = part.counts
    elif part is not None:
        part.write_arrays(arrays, meta, key)


def _read_part(stored: store.FileContent, key: str, name: object, group: ColumnGroup) -> Part:
    match name:
        case "numbers":
            return _read_numbers(stored, key, len(group.features) if group.kind.shares_block else 1)
        case "levels":
            levels = store.read_distinct_names(stored, f"{key}.names")
            return CountTable(levels, read_counts_array(stored, f"{key}.table", (1, len(levels))))
        case "flags":
            table = CountTable.read_arrays(stored, f"{key}.present", 1, group.kind, group.names)
            return FlagCounts.read_arrays(stored, key, 1, table)
        case "words":
            return WordFrequencies(read_counts_array(stored, f"{key}.counts", (None,)))
        case None:
            return None
    raise store.damaged_file_error(stored.path, f"its summary {key!r} is of an unknown type")


def _read_numbers(stored: store.FileContent, key: str, width: int) -> Numbers:
    sizes = store.read_array(stored, f"{key}.sizes", (width, 2), [np.int64])
    n_cells = int(sizes[:, 0].sum())
    cells = store.read_array(stored, f"{key}.cells", (n_cells,), [np.int32])
    counts = read_counts_array(stored, f"{key}.counts", (n_cells,))
    is_possible = (sizes >= 0).all() and (sizes <= MAX_CELLS).all() and (np.abs(cells) <= MAX_CELL).all()
    ends = np.cumsum(sizes[:, 0])[:-1]
    parts = zip(np.split(cells, ends), np.split(counts, ends), sizes[:, 1].tolist(), strict=True)
    numbers = tuple(NumberCells(*part) for part in parts)
    if not is_possible or not all((np.diff(each.cells) > 0).all() for each in numbers) or (counts == 0).any():
        raise store.damaged_file_error(stored.path, f"its summary {key!r} has invalid cells")
    return numbers
