"""The counts of a joint table: how often each combination of levels occurred in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Codes, Entries, Flag, Kind, Level, Number, Schema
from weigh.features.blocks import Ints, Longs
from weigh.model import store
from weigh.model.bayes_counts import BayesCounts, encode_labels
from weigh.model.cells import Index
from weigh.model.tally import Counting, Table, Tally, get_table, name_key, placed, whole
from weigh.source import Chunk

# Cells of added chunks wait side by side until they are this many, or twice as many as before.
WAITING = 4_096


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts [classes, cells] of the cells that occurred; the same algebra as a tally.

    A cell is a row of `codes`, one per column: `levels[j][codes[i, j]]`, or -1 where the value was
    missing. Equal cells may stand side by side until `canonical`, which makes them one, sorts
    them, and drops cells and levels that no row has any more.
    """

    levels: list[list[Level]]
    codes: Ints
    table: Table
    distinct: int

    @classmethod
    def of(cls, columns: Sequence[Codes], by: Counting) -> CellCounts:
        """Count the combinations of several columns."""
        codes = np.array([column.codes for column in columns]).T
        index = Index.of(codes, [len(column.levels) for column in columns])
        numbered = Codes(index.ids.astype(np.int32), list(range(index.n)))
        table = Tally.of_codes(numbered, by).table
        return cls([list(column.levels) for column in columns], codes[index.first()], table, index.n)

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
            theirs.append(_looked_up(codes, [place[name] for name in names]))
        codes = np.concatenate([self.codes, np.array(theirs).T])
        table = np.concatenate([self.table, sign * other.table], axis=1)
        total = CellCounts(levels, codes, table, max(self.distinct, other.distinct))
        return total._grouped() if len(codes) > 2 * max(total.distinct, WAITING) else total

    def _grouped(self) -> CellCounts:
        index = Index.of(self.codes, self.sizes)
        return CellCounts(self.levels, self.codes[index.first()], index.sums(self.table), index.n)

    def placed(self, places: Longs, classes: int) -> CellCounts:
        """Return the counts with class c moved to places[c] among `classes` classes."""
        return replace(self, table=placed(self.table, places, classes))

    def taken(self, classes: Longs) -> CellCounts:
        """Return the counts of some classes."""
        return replace(self, table=self.table[classes])

    def canonical(self) -> CellCounts:
        """Return the one form that equal counts have."""
        one = self._grouped()
        kept = one.table.any(axis=0)
        levels, columns = [], []
        for names, codes in zip(one.levels, one.codes[kept].T, strict=True):
            used = np.unique(codes[codes >= 0]).tolist()
            levels.append(sorted((names[at] for at in used), key=name_key))
            place = {name: at for at, name in enumerate(levels[-1])}
            columns.append(_looked_up(codes, [place.get(name, -1) for name in names]))
        codes = np.array(columns).T
        order = Index.of(codes, [len(names) for names in levels]).first()
        table = whole(one.table[:, kept][:, order])
        return CellCounts(levels, np.ascontiguousarray(codes[order]), table, len(order))

    def least(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self._grouped().table.min(initial=0))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        arrays[f"{key}.codes"], arrays[f"{key}.table"] = self.codes, self.table
        for j, names in enumerate(self.levels):
            store.put_names(arrays, meta, f"{key}.levels{j}", names)

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int, columns: int) -> CellCounts:
        """Return the counts that `put` added."""
        levels: Any = [store.get_distinct(stored, f"{key}.levels{j}") for j in range(columns)]
        codes = stored.arrays.get(f"{key}.codes")
        if codes is None or codes.dtype != np.int32 or codes.ndim != 2 or codes.shape[1] != columns:
            raise store.damaged(stored.path, "its cells are missing or of the wrong shape")
        if ((codes < -1) | (codes >= [len(names) for names in levels])).any():
            raise store.damaged(stored.path, "its cells name levels that do not exist")
        table = get_table(stored, f"{key}.table", (classes, len(codes)))
        return cls(levels, codes, table, len(codes))


def count_joint(chunk: Chunk, schema: Schema) -> BayesCounts:
    """Count one chunk for a joint table: rows per class, and cells."""
    classes, names = encode_labels(chunk)
    by = Counting(classes, len(names), chunk.weights)
    return BayesCounts(names, by.rows(), [CellCounts.of(encode_cells(chunk, schema), by)])


def get_joint(stored: store.Stored, schema: Schema) -> BayesCounts:
    """Return the counts of a joint table from a model file."""
    classes = store.get_distinct(stored, "classes")
    part = CellCounts.get(stored, "part0", len(classes), len(joint_columns(schema)))
    rows = get_table(stored, "rows", (len(classes),))
    return BayesCounts(classes, rows, [part], tuple(store.get_distinct(stored, "declared")))


def joint_columns(schema: Schema) -> dict[str, Kind]:
    """Return the columns of a joint table with their kinds, in the schema's order.

    Only columns with countable values fit: categories, flags and numbers in bins.
    """
    kinds = {name: part.kind for part in schema.parts for name in part.names}
    for name, kind in kinds.items():
        if not isinstance(kind, Flag | Category) and kind.family != "categorical":
            raise errors.ColumnError(
                f"Column {name!r} is of kind {kind.name!r}, which a joint table cannot hold: it needs "
                f"columns with a few values each. {_advice(name, kind)}"
            )
    return {name: kinds[name] for name in [*schema.names, *schema.made] if name in kinds}


def _advice(name: str, kind: Kind) -> str:
    if isinstance(kind, Number):
        return f"Give it bins, columns={{{name!r}: weigh.Number(bins=10)}}, or use NaiveBayes."
    return f"Leave it out, columns={{{name!r}: 'skip'}}, or use NaiveBayes."


def encode_cells(chunk: Chunk, schema: Schema) -> list[Codes]:
    """Return the codes of every column of a joint table."""
    columns = chunk.columns
    if chunk.wide is not None:
        dense = chunk.wide.toarray()
        columns = {name: dense[:, j] for j, name in enumerate(schema.names)}
    found = []
    for name, kind in joint_columns(schema).items():
        block = kind.encode(columns, [name], schema.missing)
        found.append(_flag_codes(block) if isinstance(block, Entries) else block)
    return [block for block in found if isinstance(block, Codes)]


def _flag_codes(block: Entries) -> Codes:
    codes = np.diff(block.indptr).astype(np.int32)
    if block.missing is not None:
        codes[np.diff(block.missing.indptr) > 0] = -1
    return Codes(codes, [0, 1])


def _looked_up(codes: Ints, places: Sequence[int]) -> Ints:
    # The last entry is what the code -1, a missing value, finds.
    return np.array([*places, -1], dtype=np.int32)[codes]
