"""Tallies: tables of counts, one row per class, that add and subtract exactly.

The algebra of every count in this package:

- `a.plus(b)` adds, `a.plus(b, -1)` takes away; names are matched, new ones appended;
- `placed` and `taken` move and drop classes;
- `canonical` sorts the names, drops those that no row has any more, and stores whole numbers as
  integers, so that equal counts have equal bytes whatever their history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.features.blocks import Codes, Entries, Floats, Ints, Longs, Numbered
from weigh.model import store

Table = npt.NDArray[Any]  # int64, or float64 where weights are fractional; of words, narrower
LARGEST_WHOLE = 2.0**53
STORED = (np.int64, np.float64)  # the types of tables in model files
NARROW = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, eq=False)
class Counting:
    """What a chunk's rows are counted by: their classes and weights."""

    classes: Ints
    n_classes: int
    weights: Floats | None = None

    def rows(self, known: npt.NDArray[np.bool_] | None = None) -> Table:
        """Return the number (or weight) of rows of each class, of the known ones if asked."""
        codes = np.zeros(len(self.classes), dtype=np.int32) if known is None else known.astype(np.int32) - 1
        return _count(self, codes, 1)[:, 0]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by class and name; `fixed` names are columns of the schema and never vanish."""

    names: Sequence[Any]
    table: Table
    fixed: bool = False

    @classmethod
    def of_codes(cls, block: Codes, by: Counting) -> Tally:
        """Count the levels of a categorical column."""
        return cls(block.levels, _count(by, block.codes, len(block.levels)))

    @classmethod
    def of_entries(cls, block: Entries, by: Counting, fixed: bool) -> Tally:
        """Sum the entries of sparse columns."""
        table = np.zeros((by.n_classes, len(block.names)))
        _core.count_sparse(by.classes, block.indptr, block.indices, block.values, by.weights, table)
        return cls(block.names, table, fixed)

    def plus(self, other: Tally, sign: int = 1) -> Tally:
        """Return the sum or difference of two tallies over the same classes."""
        if self.fixed:
            return Tally(self.names, self.table + sign * other.table, True)
        place = {name: at for at, name in enumerate(self.names)}
        fresh = [name for name in other.names if name not in place]
        names = [*self.names, *fresh]
        place.update((name, len(self.names) + at) for at, name in enumerate(fresh))
        table = np.zeros((len(self.table), len(names)), dtype=np.result_type(self.table, other.table))
        table[:, : len(self.names)] = self.table
        table[:, [place[name] for name in other.names]] += sign * other.table
        return Tally(names, table)

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.table)

    def placed(self, places: Longs, classes: int) -> Tally:
        """Return the tally with class c moved to places[c] among `classes` classes."""
        return Tally(self.names, placed(self.table, places, classes), self.fixed)

    def taken(self, classes: Longs) -> Tally:
        """Return the tally of some classes."""
        return Tally(self.names, self.table[classes], self.fixed)

    def canonical(self) -> Tally:
        """Return the one form that equal counts have."""
        if self.fixed:
            return Tally(self.names, whole(self.table), True)
        kept = np.flatnonzero(self.table.any(axis=0)).tolist()
        order = sorted(kept, key=lambda at: name_key(self.names[at]))
        return Tally([self.names[at] for at in order], whole(self.table[:, order]))

    def least(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self.table.min(initial=0))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the tally to what a model file will hold."""
        arrays[f"{key}.table"] = self.table
        if not self.fixed:
            store.put_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int, columns: Sequence[str] | None) -> Tally:
        """Return the tally that `put` added; `columns` are the names of a fixed one."""
        names = store.get_distinct(stored, f"{key}.names") if columns is None else columns
        table = get_table(stored, f"{key}.table", (classes, len(names)))
        return cls(names, table, columns is not None)


def _count(by: Counting, codes: Ints, width: int) -> Table:
    """Count codes by class: integers, or floats where rows have weights."""
    if by.weights is None:
        table: Table = np.zeros((by.n_classes, width), dtype=np.int64)
        _core.count_codes(by.classes, codes, table)
    else:
        table = np.zeros((by.n_classes, width))
        _core.count_weighted_codes(by.classes, codes, by.weights, table)
    return table


def placed(table: Table, places: Longs, classes: int) -> Table:
    """Return a table whose row c stands in row places[c] of `classes` rows."""
    moved = np.zeros((classes, *table.shape[1:]), dtype=table.dtype)
    moved[places] = table
    return moved


def is_identity(places: Longs, n: int) -> bool:
    """Whether places leave all of n things where they are."""
    return len(places) == n and bool((places == np.arange(n)).all())


def narrow(table: Table) -> Table:
    """Return whole numbers in the narrowest type that holds them; negative ones stay as they are."""
    if table.dtype == np.float64 or (table.dtype == np.int64 and table.min(initial=0) < 0):
        return table
    largest = int(table.max(initial=0))
    kind = next(kind for kind in (*NARROW, np.int64) if largest <= np.iinfo(kind).max)
    return table.astype(kind, copy=False)


def whole(table: Table) -> Table:
    """Return whole numbers as integers; fractional weights leave floats."""
    if table.dtype == np.float64 and np.isfinite(table).all():
        rounded = np.rint(table)
        if (rounded == table).all() and (np.abs(table) < LARGEST_WHOLE).all():
            return np.ascontiguousarray(rounded.astype(np.int64))
    return np.ascontiguousarray(table)


def get_table(
    stored: store.Stored, name: str, shape: tuple[int, ...], types: Sequence[type] = STORED
) -> Table:
    """Return a table of counts from a model file, its shape and values checked."""
    table = stored.arrays.get(name)
    if table is None or table.shape != shape or table.dtype not in types:
        raise store.damaged(stored.path, f"its table {name!r} is missing or of the wrong shape")
    is_wide = table.dtype.kind != "u" and table.size > 0
    # Sums of counts are exact as floats too: no rows give more.
    if is_wide and not (table.min() >= 0 and table.sum(dtype=np.float64) < LARGEST_WHOLE):
        raise store.damaged(stored.path, f"its table {name!r} holds impossible counts")
    return table


def name_key(name: object) -> tuple[int, Any]:
    """Return the key of the canonical order: booleans, numbers, then strings."""
    return (0 if isinstance(name, bool) else 2 if isinstance(name, str) else 1, name)


def same_names(first: Iterable[Any], second: Iterable[Any]) -> bool:
    """Whether two lists of names are the same, without spelling out numbered ones."""
    if isinstance(first, Numbered) and isinstance(second, Numbered):
        return first == second
    return first is second or list(first) == list(second)
