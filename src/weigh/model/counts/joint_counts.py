"""The counts of a joint table: how often each combination of levels occurred in each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.features import Category, CategoryBlock, Flag, Kind, Level, Number, Schema, SparseBlock
from weigh.features.blocks import Ints, Longs
from weigh.model.counts.bayes_counts import BayesCounts, encode_labels
from weigh.model.counts.count_table import (
    CountArray,
    CountTable,
    RowClasses,
    align_rows,
    canonical_order_key,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.file import store
from weigh.source import Chunk

# Cells of added chunks wait side by side until they are this many, or twice as many as before.
MIN_CELLS_TO_GROUP = 4_096


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts [classes, cells] of the cells that occurred; the same algebra as a tally.

    A cell is a row of `codes`, one per column: `levels[j][codes[i, j]]`, or -1 where the value was
    missing. Equal cells may stand side by side until `canonical`, which makes them one, sorts
    them, and drops cells and levels that no row has any more.
    """

    levels: list[list[Level]]
    codes: Ints
    table: CountArray
    n_distinct: int

    @classmethod
    def of(cls, columns: Sequence[CategoryBlock], by: RowClasses) -> CellCounts:
        """Count the combinations of several columns."""
        codes = np.array([column.codes for column in columns]).T
        index = CellIndex.of(codes, [len(column.levels) for column in columns])
        numbered = CategoryBlock(index.ids.astype(np.int32), list(range(index.n)))
        table = CountTable.of_codes(numbered, by).table
        return cls(
            [list(column.levels) for column in columns], codes[index.first_positions()], table, index.n
        )

    @property
    def sizes(self) -> list[int]:
        """How many levels each column has."""
        return [len(levels) for levels in self.levels]

    def plus(self, other: CellCounts, sign: int = 1) -> CellCounts:
        """Return the sum or difference over the same classes; levels are matched by name."""
        levels, theirs = [], []
        for ours, names, codes in zip(self.levels, other.levels, other.codes.T, strict=True):
            place = {name: at for at, name in enumerate(ours)}
            for name in names:
                place.setdefault(name, len(place))
            levels.append(list(place))
            theirs.append(_remap_codes(codes, [place[name] for name in names]))
        codes = np.concatenate([self.codes, np.array(theirs).T])
        table = np.concatenate([self.table, sign * other.table], axis=1)
        total = CellCounts(levels, codes, table, max(self.n_distinct, other.n_distinct))
        return (
            total._merge_equal_cells()
            if len(codes) > 2 * max(total.n_distinct, MIN_CELLS_TO_GROUP)
            else total
        )

    def _merge_equal_cells(self) -> CellCounts:
        index = CellIndex.of(self.codes, self.sizes)
        return CellCounts(
            self.levels, self.codes[index.first_positions()], index.sum_equal_cells(self.table), index.n
        )

    def align_classes(self, places: Longs, classes: int) -> CellCounts:
        """Return the counts with class c moved to places[c] among `classes` classes."""
        return replace(self, table=align_rows(self.table, places, classes))

    def select_classes(self, classes: Longs) -> CellCounts:
        """Return the counts of some classes."""
        return replace(self, table=self.table[classes])

    def canonical(self) -> CellCounts:
        """Return the one form that equal counts have."""
        one = self._merge_equal_cells()
        kept = one.table.any(axis=0)
        levels, columns = [], []
        for names, codes in zip(one.levels, one.codes[kept].T, strict=True):
            used = np.unique(codes[codes >= 0]).tolist()
            levels.append(sorted((names[at] for at in used), key=canonical_order_key))
            place = {name: at for at, name in enumerate(levels[-1])}
            columns.append(_remap_codes(codes, [place.get(name, -1) for name in names]))
        codes = np.array(columns).T
        order = CellIndex.of(codes, [len(names) for names in levels]).first_positions()
        table = to_integers_if_whole(one.table[:, kept][:, order])
        return CellCounts(levels, np.ascontiguousarray(codes[order]), table, len(order))

    def minimum(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self._merge_equal_cells().table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        arrays[f"{key}.codes"], arrays[f"{key}.table"] = self.codes, self.table
        for j, names in enumerate(self.levels):
            store.write_names(arrays, meta, f"{key}.levels{j}", names)

    @classmethod
    def read_arrays(cls, stored: store.FileContent, key: str, classes: int, columns: int) -> CellCounts:
        """Return the counts that `put` added."""
        levels: Any = [store.read_distinct_names(stored, f"{key}.levels{j}") for j in range(columns)]
        codes = stored.arrays.get(f"{key}.codes")
        if codes is None or codes.dtype != np.int32 or codes.ndim != 2 or codes.shape[1] != columns:
            raise store.damaged_file_error(stored.path, "its cells are missing or of the wrong shape")
        if ((codes < -1) | (codes >= [len(names) for names in levels])).any():
            raise store.damaged_file_error(stored.path, "its cells name levels that do not exist")
        table = read_counts_array(stored, f"{key}.table", (classes, len(codes)))
        return cls(levels, codes, table, len(codes))


def count_joint_chunk(chunk: Chunk, schema: Schema) -> BayesCounts:
    """Count one chunk for a joint table: rows per class, and cells."""
    classes, names = encode_labels(chunk)
    by = RowClasses(classes, len(names), chunk.weights)
    return BayesCounts(names, by.class_totals(), [CellCounts.of(encode_cells(chunk, schema), by)])


def read_joint_counts(stored: store.FileContent, schema: Schema) -> BayesCounts:
    """Return the counts of a joint table from a model file."""
    classes = store.read_distinct_names(stored, "classes")
    part = CellCounts.read_arrays(stored, "part0", len(classes), len(joint_columns(schema)))
    rows = read_counts_array(stored, "rows", (len(classes),))
    return BayesCounts(classes, rows, [part], tuple(store.read_distinct_names(stored, "declared")))


def joint_columns(schema: Schema) -> dict[str, Kind]:
    """Return the columns of a joint table with their kinds, in the schema's order.

    Only columns with countable values fit: categories, flags and numbers in bins.
    """
    kinds = {name: part.kind for part in schema.column_groups for name in part.names}
    for name, kind in kinds.items():
        if not isinstance(kind, Flag | Category) and kind.family != "categorical":
            raise errors.ColumnError(
                f"Column {name!r} is of kind {kind.name!r}, which a joint table cannot hold: it needs "
                f"columns with a few values each. {_unsuitable_kind_advice(name, kind)}"
            )
    return {name: kinds[name] for name in [*schema.names, *schema.made] if name in kinds}


def _unsuitable_kind_advice(name: str, kind: Kind) -> str:
    if isinstance(kind, Number):
        return f"Give it bins, columns={{{name!r}: weigh.Number(bins=10)}}, or use NaiveBayes."
    return f"Leave it out, columns={{{name!r}: 'skip'}}, or use NaiveBayes."


def encode_cells(chunk: Chunk, schema: Schema) -> list[CategoryBlock]:
    """Return the codes of every column of a joint table."""
    columns = chunk.columns
    if chunk.sparse is not None:
        dense = chunk.sparse.toarray()
        columns = {name: dense[:, j] for j, name in enumerate(schema.names)}
    found = []
    for name, kind in joint_columns(schema).items():
        block = kind.encode(columns, [name], schema.missing)
        found.append(_flag_codes(block) if isinstance(block, SparseBlock) else block)
    return [block for block in found if isinstance(block, CategoryBlock)]


def _flag_codes(block: SparseBlock) -> CategoryBlock:
    codes = np.diff(block.indptr).astype(np.int32)
    if block.missing is not None:
        codes[np.diff(block.missing.indptr) > 0] = -1
    return CategoryBlock(codes, [0, 1])


def _remap_codes(codes: Ints, places: Sequence[int]) -> Ints:
    # The last entry is what the code -1, a missing value, finds.
    return np.array([*places, -1], dtype=np.int32)[codes]


# Columns are packed into one number while they fit beside the number of a row.
MAX_PACKED_CODE = 2**31

NumericTable = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellIndex:
    """The distinct rows of a matrix of codes, numbered in lexicographic order.

    Codes go from -1 (missing) to below `sizes[j]`. Columns are taken a few at a time: `steps` holds
    the sorted pairs (number of the row so far, next columns), so that no number grows too large
    however many columns there are.
    """

    sizes: tuple[int, ...]
    steps: list[tuple[Longs, int]]
    ids: Longs

    @classmethod
    def of(cls, codes: Ints, sizes: Sequence[int]) -> CellIndex:
        """Number the rows; `ids` are their numbers."""
        steps: list[tuple[Longs, int]] = []
        ids = np.zeros(len(codes), dtype=np.int64)
        for column, size in _pack_columns(codes, sizes):
            keys, ids = np.unique(ids * size + column, return_inverse=True)
            steps.append((keys, size))
        return cls(tuple(sizes), steps, ids)

    @property
    def n(self) -> int:
        """How many distinct rows there are."""
        return len(self.steps[-1][0])

    def first_positions(self) -> Longs:
        """Return, for every distinct row, where in the matrix it stands."""
        places = np.zeros(self.n, dtype=np.int64)
        places[self.ids] = np.arange(len(self.ids))
        return places

    def find(self, codes: Ints) -> Longs:
        """Return the numbers of other rows; -1 for a row that is not among the indexed ones."""
        ids = np.zeros(len(codes), dtype=np.int64)
        if not self.n:
            return ids - 1
        for (keys, size), (column, _) in zip(self.steps, _pack_columns(codes, self.sizes), strict=True):
            wanted = np.where(ids < 0, -1, ids * size + column)
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            ids = np.where(keys[at] == wanted, at, -1)
        return ids

    def sum_equal_cells(self, table: NumericTable) -> NumericTable:
        """Return a table [rows of it, rows of the matrix] with equal rows of the matrix added."""
        if not self.n:
            return table[:, :0]
        order = np.argsort(self.ids, kind="stable")
        starts = np.searchsorted(self.ids[order], np.arange(self.n))
        return np.asarray(np.add.reduceat(table[:, order], starts, axis=1))


def _pack_columns(codes: Ints, sizes: Sequence[int]) -> Iterator[tuple[Longs, int]]:
    column, size = np.zeros(len(codes), dtype=np.int64), 1
    for j, levels in enumerate(sizes):
        if size > 1 and size * (levels + 1) > MAX_PACKED_CODE:
            yield column, size
            column, size = np.zeros(len(codes), dtype=np.int64), 1
        column = column * (levels + 1) + (codes[:, j] + 1)
        size *= levels + 1
    yield column, size
