"""The counts of a joint table: how often each combination of levels (a cell) occurred in each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.advice import Call, Setting, Step, set_kind
from weigh.features.blocks import CategoryBlock, Ints, Level, Longs, SparseBlock
from weigh.features.kinds import Category, Flag, Kind, Number
from weigh.features.schema import Schema
from weigh.immutable import ImmutablePart
from weigh.model.counts.bayes_counts import BayesCounts, encode_labels
from weigh.model.counts.count_table import (
    CountArray,
    CountTable,
    RowClasses,
    align_rows,
    canonical_order_key,
    read_counts_array,
    read_levels,
    to_integers_if_whole,
)
from weigh.model.file import store
from weigh.source.chunk import Chunk

# Adding appends cells and merges equal ones only when their number has doubled, and is at least twice this.
MIN_CELLS_TO_GROUP = 4_096


@dataclass(frozen=True, eq=False)
class CellCounts(ImmutablePart):
    """Counts [classes, cells] of the cells that occurred, with the operations of `CountTable`.

    Cell i has the level `levels[j][codes[i, j]]` in column j, or code -1 if the value was missing. A cell may
    occur several times until `canonical`, which merges equal cells, sorts them, and drops cells and levels
    without counts.
    """

    levels: list[list[Level]]
    codes: Ints
    table: CountArray
    n_distinct: int

    @classmethod
    def from_columns(cls, columns: Sequence[CategoryBlock], by: RowClasses) -> CellCounts:
        """Count the combinations of levels by class."""
        codes = np.array([column.codes for column in columns]).T
        index = CellIndex.from_codes(codes, [len(column.levels) for column in columns])
        cell_ids = CategoryBlock(index.ids.astype(np.int32), list(range(index.n_distinct)))
        table = CountTable.from_codes(cell_ids, by).table
        levels = [list(column.levels) for column in columns]
        return cls(levels, codes[index.row_positions()], table, index.n_distinct)

    @property
    def sizes(self) -> list[int]:
        """Number of levels of each column."""
        return [len(levels) for levels in self.levels]

    def plus(self, other: CellCounts, sign: int = 1) -> CellCounts:
        """Return the sum or difference over the same classes; levels are matched by name."""
        levels, remapped = [], []
        for ours, theirs, codes in zip(self.levels, other.levels, other.codes.T, strict=True):
            index = {level: k for k, level in enumerate(ours)}
            for level in theirs:
                index.setdefault(level, len(index))
            levels.append(list(index))
            remapped.append(_remap_codes(codes, [index[level] for level in theirs]))
        codes = np.concatenate([self.codes, np.array(remapped).T])
        table = np.concatenate([self.table, sign * other.table], axis=1)
        total = CellCounts(levels, codes, table, max(self.n_distinct, other.n_distinct))
        is_large = len(codes) > 2 * max(total.n_distinct, MIN_CELLS_TO_GROUP)
        return total._merge_equal_cells() if is_large else total

    def _merge_equal_cells(self) -> CellCounts:
        index = CellIndex.from_codes(self.codes, self.sizes)
        codes = self.codes[index.row_positions()]
        return CellCounts(self.levels, codes, index.sum_equal_cells(self.table), index.n_distinct)

    def align_classes(self, indices: Longs, n_classes: int) -> CellCounts:
        """Return the counts with class c moved to row indices[c] of `n_classes` rows."""
        return replace(self, table=align_rows(self.table, indices, n_classes))

    def select_classes(self, classes: Longs) -> CellCounts:
        """Return the counts restricted to the given classes, in this order."""
        return replace(self, table=self.table[classes])

    def canonical(self) -> CellCounts:
        """Return the canonical form: distinct, sorted cells; cells and levels without counts dropped."""
        merged = self._merge_equal_cells()
        kept = merged.table.any(axis=0)
        levels, columns = [], []
        for old_levels, codes in zip(merged.levels, merged.codes[kept].T, strict=True):
            used = np.unique(codes[codes >= 0]).tolist()
            levels.append(sorted((old_levels[k] for k in used), key=canonical_order_key))
            index = {level: k for k, level in enumerate(levels[-1])}
            columns.append(_remap_codes(codes, [index.get(level, -1) for level in old_levels]))
        codes = np.array(columns).T
        order = CellIndex.from_codes(codes, [len(names) for names in levels]).row_positions()
        table = to_integers_if_whole(merged.table[:, kept][:, order])
        return CellCounts(levels, np.ascontiguousarray(codes[order]), table, len(order))

    def minimum(self) -> float:
        """Return the smallest count; it is negative if more was subtracted than added."""
        return float(self._merge_equal_cells().table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to the content of a model file."""
        arrays[f"{key}.codes"], arrays[f"{key}.table"] = self.codes, self.table
        for j, names in enumerate(self.levels):
            store.write_names(arrays, meta, f"{key}.levels{j}", names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, kinds: Iterable[Kind]
    ) -> CellCounts:
        """Read the counts that `write_arrays` added."""
        levels: Any = [read_levels(stored, f"{key}.levels{j}", kind) for j, kind in enumerate(kinds)]
        codes = store.read_array(stored, f"{key}.codes", (None, len(levels)), [np.int32])
        if ((codes < -1) | (codes >= [len(names) for names in levels])).any():
            raise store.damaged_file_error(stored.path, "its cells name levels that do not exist")
        table = read_counts_array(stored, f"{key}.table", (n_classes, len(codes)))
        return cls(levels, codes, table, len(codes))


def count_joint_chunk(chunk: Chunk, schema: Schema) -> BayesCounts:
    """Count the rows per class and the cells of one chunk for a joint table."""
    codes, labels = encode_labels(chunk)
    by = RowClasses(codes, len(labels), chunk.weights)
    return BayesCounts(labels, by.class_totals(), [CellCounts.from_columns(encode_cells(chunk, schema), by)])


def read_joint_counts(stored: store.FileContent, schema: Schema) -> BayesCounts:
    """Read the counts of a joint table from a model file."""
    classes = store.read_distinct_names(stored, "classes")
    part = CellCounts.read_arrays(stored, "part0", len(classes), joint_columns(schema).values())
    rows = read_counts_array(stored, "rows", (len(classes),))
    return BayesCounts(classes, rows, [part], tuple(store.read_distinct_names(stored, "declared")))


def joint_columns(schema: Schema) -> dict[str, Kind]:
    """Return the columns of a joint table with their kinds, in the schema's order.

    Raises a ColumnError for columns without a finite set of levels; categories, flags and binned numbers fit.
    """
    kinds = {name: group.kind for group in schema.column_groups for name in group.names}
    for name, kind in kinds.items():
        if not isinstance(kind, Flag | Category) and kind.family != "categorical":
            raise errors.ColumnError(
                f"Column {name!r} is of kind {kind.name!r}, which a joint table cannot hold: it needs "
                "columns with a few values each.",
                hint=(
                    *_unsuitable_kind_advice(name, kind),
                    ", or use ",
                    Step("naive Bayes", "NaiveBayes"),
                    ".",
                ),
            )
    return {name: kinds[name] for name in schema.feature_columns if name in kinds}


def _unsuitable_kind_advice(name: str, kind: Kind) -> tuple[str, Setting]:
    if isinstance(kind, Number):
        return "Give it bins, ", set_kind(name, Call("Number", bins=10))
    return "Leave it out, ", set_kind(name, "skip")


def encode_cells(chunk: Chunk, schema: Schema) -> list[CategoryBlock]:
    """Return the columns of a joint table as level codes."""
    columns = chunk.columns if chunk.sparse is None else chunk.with_names(schema.names).columns
    blocks = []
    for name, kind in joint_columns(schema).items():
        block = kind.encode(columns, [name], schema.missing)
        blocks.append(_flag_codes(block) if isinstance(block, SparseBlock) else block)
    return [block for block in blocks if isinstance(block, CategoryBlock)]


def _flag_codes(block: SparseBlock) -> CategoryBlock:
    codes = np.diff(block.rows.indptr).astype(np.int32)
    if block.missing is not None:
        codes[np.diff(block.missing.rows.indptr) > 0] = -1
    return CategoryBlock(codes, [0, 1])


def _remap_codes(codes: Ints, new_codes: Sequence[int]) -> Ints:
    # The code -1 of a missing value selects the last entry.
    return np.array([*new_codes, -1], dtype=np.int32)[codes]


MAX_PACKED_CODE = 2**31  # so that id · size + code of `CellIndex` fits into 64 bits

NumericTable = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellIndex:
    """The distinct rows of a code matrix, numbered in lexicographic order.

    Codes of column j are between -1 (missing) and `sizes[j]` − 1. Columns are packed into groups; one step
    per group maps (id of the columns before it, packed code) to a new id, so that no number overflows however
    many columns there are. `steps` holds the sorted keys of each step and the size of its group; `ids` the
    id of each row.
    """

    sizes: tuple[int, ...]
    steps: list[tuple[Longs, int]]
    ids: Longs

    @classmethod
    def from_codes(cls, codes: Ints, sizes: Sequence[int]) -> CellIndex:
        """Index the rows of a code matrix."""
        steps: list[tuple[Longs, int]] = []
        ids = np.zeros(len(codes), dtype=np.int64)
        for column, size in _pack_columns(codes, sizes):
            keys, ids = np.unique(ids * size + column, return_inverse=True)
            steps.append((keys, size))
        return cls(tuple(sizes), steps, ids)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows."""
        return len(self.steps[-1][0])

    def row_positions(self) -> Longs:
        """Return a position in the matrix of each distinct row."""
        positions = np.zeros(self.n_distinct, dtype=np.int64)
        positions[self.ids] = np.arange(len(self.ids))
        return positions

    def find(self, codes: Ints) -> Longs:
        """Return the ids of other rows, -1 for rows that are not indexed."""
        ids = np.zeros(len(codes), dtype=np.int64)
        if not self.n_distinct:
            return ids - 1
        for (keys, size), (column, _) in zip(self.steps, _pack_columns(codes, self.sizes), strict=True):
            targets = np.where(ids < 0, -1, ids * size + column)
            candidates = np.minimum(np.searchsorted(keys, targets), len(keys) - 1)
            ids = np.where(keys[candidates] == targets, candidates, -1)
        return ids

    def sum_equal_cells(self, table: NumericTable) -> NumericTable:
        """Sum the columns of a table [n, matrix rows] over equal matrix rows, giving [n, distinct rows]."""
        if not self.n_distinct:
            return table[:, :0]
        order = np.argsort(self.ids, kind="stable")
        starts = np.searchsorted(self.ids[order], np.arange(self.n_distinct))
        return np.asarray(np.add.reduceat(table[:, order], starts, axis=1))


def _pack_columns(codes: Ints, sizes: Sequence[int]) -> Iterator[tuple[Longs, int]]:
    """Yield groups of columns, each packed into one code per row, and the number of possible codes."""
    packed, size = np.zeros(len(codes), dtype=np.int64), 1
    for j, n_levels in enumerate(sizes):
        if size > 1 and size * (n_levels + 1) > MAX_PACKED_CODE:
            yield packed, size
            packed, size = np.zeros(len(codes), dtype=np.int64), 1
        packed = packed * (n_levels + 1) + (codes[:, j] + 1)
        size *= n_levels + 1
    yield packed, size
