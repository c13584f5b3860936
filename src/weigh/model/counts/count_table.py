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

from weigh import _core, errors
from weigh.features import BagOfWordsKind, Kind, NameArray
from weigh.features.blocks import CategoryBlock, Floats, Ints, Longs, NumberedNames, SparseBlock
from weigh.model.file import store

CountArray = npt.NDArray[Any]  # int64, or float64 where weights are fractional; of words, narrower
MAX_EXACT_INTEGER = 2.0**53
FILE_DTYPES = (np.int64, np.float64)  # the types of tables in model files
NARROW_DTYPES = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, eq=False)
class RowClasses:
    """What a chunk's rows are counted by: their classes and weights."""

    classes: Ints
    n_classes: int
    weights: Floats | None = None

    def class_totals(self, known: npt.NDArray[np.bool_] | None = None) -> CountArray:
        """Return the number (or weight) of rows of each class, of the known ones if asked."""
        codes = np.zeros(len(self.classes), dtype=np.int32) if known is None else known.astype(np.int32) - 1
        return _count_codes(self, codes, 1)[:, 0]


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts by class and name; `fixed` names are columns of the schema and never vanish."""

    names: Sequence[Any]
    table: CountArray
    fixed: bool = False

    @classmethod
    def of_codes(cls, block: CategoryBlock, by: RowClasses) -> CountTable:
        """Count the levels of a categorical column."""
        return cls(block.levels, _count_codes(by, block.codes, len(block.levels)))

    @classmethod
    def of_entries(cls, block: SparseBlock, by: RowClasses, fixed: bool) -> CountTable:
        """Sum the entries of sparse columns."""
        table = np.zeros((by.n_classes, len(block.names)))
        _core.count_sparse(by.classes, block.indptr, block.indices, block.values, by.weights, table)
        return cls(block.names, table, fixed)

    def plus(self, other: CountTable, sign: int = 1) -> CountTable:
        """Return the sum or difference of two tallies over the same classes."""
        if self.fixed:
            return CountTable(self.names, self.table + sign * other.table, True)
        place = {name: at for at, name in enumerate(self.names)}
        fresh = [name for name in other.names if name not in place]
        names = [*self.names, *fresh]
        place.update((name, len(self.names) + at) for at, name in enumerate(fresh))
        table = np.zeros((len(self.table), len(names)), dtype=np.result_type(self.table, other.table))
        table[:, : len(self.names)] = self.table
        table[:, [place[name] for name in other.names]] += sign * other.table
        return CountTable(names, table)

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.table)

    def align_classes(self, places: Longs, classes: int) -> CountTable:
        """Return the tally with class c moved to places[c] among `classes` classes."""
        return CountTable(self.names, align_rows(self.table, places, classes), self.fixed)

    def select_classes(self, classes: Longs) -> CountTable:
        """Return the tally of some classes."""
        return CountTable(self.names, self.table[classes], self.fixed)

    def canonical(self) -> CountTable:
        """Return the one form that equal counts have."""
        if self.fixed:
            return CountTable(self.names, to_integers_if_whole(self.table), True)
        kept = np.flatnonzero(self.table.any(axis=0)).tolist()
        order = sorted(kept, key=lambda at: canonical_order_key(self.names[at]))
        return CountTable([self.names[at] for at in order], to_integers_if_whole(self.table[:, order]))

    def minimum(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self.table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the tally to what a model file will hold."""
        arrays[f"{key}.table"] = self.table
        if not self.fixed:
            store.write_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, classes: int, columns: Sequence[str] | None
    ) -> CountTable:
        """Return the tally that `put` added; `columns` are the names of a fixed one."""
        names = store.read_distinct_names(stored, f"{key}.names") if columns is None else columns
        table = read_counts_array(stored, f"{key}.table", (classes, len(names)))
        return cls(names, table, columns is not None)


def _count_codes(by: RowClasses, codes: Ints, width: int) -> CountArray:
    """Count codes by class: integers, or floats where rows have weights."""
    if by.weights is None:
        table: CountArray = np.zeros((by.n_classes, width), dtype=np.int64)
        _core.count_codes(by.classes, codes, table)
    else:
        table = np.zeros((by.n_classes, width))
        _core.count_weighted_codes(by.classes, codes, by.weights, table)
    return table


def align_rows(table: CountArray, places: Longs, classes: int) -> CountArray:
    """Return a table whose row c stands in row places[c] of `classes` rows."""
    moved = np.zeros((classes, *table.shape[1:]), dtype=table.dtype)
    moved[places] = table
    return moved


def is_identity(places: Longs, n: int) -> bool:
    """Whether places leave all of n things where they are."""
    return len(places) == n and bool((places == np.arange(n)).all())


def to_narrowest_dtype(table: CountArray) -> CountArray:
    """Return whole numbers in the narrowest type that holds them; negative ones stay as they are."""
    if table.dtype == np.float64 or (table.dtype == np.int64 and table.min(initial=0) < 0):
        return table
    largest = int(table.max(initial=0))
    kind = next(kind for kind in (*NARROW_DTYPES, np.int64) if largest <= np.iinfo(kind).max)
    return table.astype(kind, copy=False)


def to_integers_if_whole(table: CountArray) -> CountArray:
    """Return whole numbers as integers; fractional weights leave floats."""
    if table.dtype == np.float64 and np.isfinite(table).all():
        rounded = np.rint(table)
        if (rounded == table).all() and (np.abs(table) < MAX_EXACT_INTEGER).all():
            return np.ascontiguousarray(rounded.astype(np.int64))
    return np.ascontiguousarray(table)


def read_counts_array(
    stored: store.FileContent, name: str, shape: tuple[int, ...], types: Sequence[type] = FILE_DTYPES
) -> CountArray:
    """Return a table of counts from a model file, its shape and values checked."""
    table = stored.arrays.get(name)
    if table is None or table.shape != shape or table.dtype not in types:
        raise store.damaged_file_error(stored.path, f"its table {name!r} is missing or of the wrong shape")
    is_wide = table.dtype.kind != "u" and table.size > 0
    # Sums of counts are exact as floats too: no rows give more.
    if is_wide and not (table.min() >= 0 and table.sum(dtype=np.float64) < MAX_EXACT_INTEGER):
        raise store.damaged_file_error(stored.path, f"its table {name!r} holds impossible counts")
    return table


def canonical_order_key(name: object) -> tuple[int, Any]:
    """Return the key of the canonical order: booleans, numbers, then strings."""
    return (0 if isinstance(name, bool) else 2 if isinstance(name, str) else 1, name)


def have_same_names(first: Iterable[Any], second: Iterable[Any]) -> bool:
    """Whether two lists of names are the same, without spelling out numbered ones."""
    if isinstance(first, NumberedNames) and isinstance(second, NumberedNames):
        return first == second
    return first is second or list(first) == list(second)


@dataclass(frozen=True, eq=False)
class WordCountTable:
    """Counts [classes, words]; the names are sorted, or, if words were hashed, stand by bucket.

    Whole counts are held in the narrowest type, for a table may be long: sums are made in 64 bits.

    A bucket's name is the shortest word of at most 63 bytes ever seen in it (of equally short ones
    that of the smallest hash): whatever the order of the rows, the same. It may outlive a row that
    was taken away.
    """

    names: NameArray
    table: CountArray
    is_hashed: bool = False
    fixed: bool = False  # words come and go

    @classmethod
    def of(cls, names: Sequence[str], table: CountArray) -> WordCountTable:
        """Return a tally of words in any order."""
        packed = NameArray.from_strings(names)
        order = packed.argsort()
        return cls(packed.take(order), table[:, order])

    def plus(self, other: WordCountTable, sign: int = 1) -> WordCountTable:
        """Return the sum or difference of two tallies over the same classes."""
        ours, theirs = _to_64_bits(self.table), _to_64_bits(other.table)
        if self.is_hashed:
            names = self.names
            if sign > 0:
                text, offsets = _core.select_shorter_names(
                    names.text, names.offsets, other.names.text, other.names.offsets
                )
                names = NameArray(text, offsets)
            return WordCountTable(names, ours + sign * theirs, True)
        names, places, others = self.names.merge_sorted(other.names)
        table = np.zeros((len(ours), len(names)), dtype=np.result_type(ours, theirs))
        table[:, places] = ours
        table[:, others] += sign * theirs
        return WordCountTable(names, table)

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.table)

    def align_classes(self, places: Longs, classes: int) -> WordCountTable:
        """Return the tally with class c moved to places[c] among `classes` classes."""
        return WordCountTable(self.names, align_rows(self.table, places, classes), self.is_hashed)

    def select_classes(self, classes: Longs) -> WordCountTable:
        """Return the tally of some classes."""
        if is_identity(classes, len(self.table)):
            return self
        return WordCountTable(self.names, self.table[classes], self.is_hashed)

    def canonical(self) -> WordCountTable:
        """Return the one form that equal counts have: without the names of what has no counts."""
        used = np.asarray(self.table.any(axis=0))
        if used.all():
            return WordCountTable(
                self.names, to_narrowest_dtype(to_integers_if_whole(self.table)), self.is_hashed
            )
        if not self.is_hashed:
            kept = np.flatnonzero(used)
            return WordCountTable(
                self.names.take(kept), to_narrowest_dtype(to_integers_if_whole(self.table[:, kept]))
            )
        names = self.names
        if np.diff(names.offsets)[~used].any():
            # An unused bucket takes an empty name from behind the last one.
            numbers = np.where(used, np.arange(len(used)), len(used))
            names = NameArray(names.text, np.append(names.offsets, names.offsets[-1])).take(numbers)
        return WordCountTable(names, to_narrowest_dtype(to_integers_if_whole(self.table)), True)

    def minimum(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self.table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the tally to what a model file will hold."""
        arrays[f"{key}.table"] = self.table
        store.write_packed_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, classes: int, buckets: int | None
    ) -> WordCountTable:
        """Return the tally that `put` added."""
        names = store.read_packed_names(stored, f"{key}.names")
        if not (names.are_sorted if buckets is None else len(names) == buckets):
            raise store.damaged_file_error(stored.path, f"its list of names {key!r} is not in order")
        table = read_counts_array(
            stored, f"{key}.table", (classes, len(names)), (*FILE_DTYPES, *NARROW_DTYPES)
        )
        # Only files of the first kind hold wide tables; to look at a narrow one would read all of it.
        return cls(
            names, to_narrowest_dtype(table) if table.dtype == np.int64 else table, buckets is not None
        )


def _to_64_bits(table: CountArray) -> CountArray:
    return table.astype(np.int64) if table.dtype.kind == "u" else table


def select_vocabulary(kind: Kind, table: CountArray) -> Longs | None:
    """Return the numbers of the words to keep, in order; None if all are kept."""
    if not isinstance(kind, BagOfWordsKind) or (
        not kind.buckets and kind.min_count <= 1 and kind.max_words is None
    ):
        return None
    if kind.buckets:
        # Buckets that nothing fell into are no words: to smooth over them would drown those that are.
        return np.flatnonzero(table.any(axis=0))
    totals = table.sum(axis=0, dtype=np.float64 if table.dtype == np.float64 else np.int64)
    kept = np.flatnonzero(totals >= kind.min_count)
    if kind.max_words is not None and len(kept) > kind.max_words:
        # Of words that are equally frequent the first in the alphabet stay.
        kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[: kind.max_words]])
    return None if len(kept) == table.shape[1] else kept


def select_names(names: Sequence[str], kept: Longs | None) -> Sequence[str]:
    """Return the kept names."""
    if kept is None:
        return names
    return names.take(kept) if isinstance(names, NameArray) else [names[at] for at in kept.tolist()]


def hashed_sampling_error(column: str) -> errors.Unsupported:
    """Word the refusal to draw texts from buckets."""
    return errors.Unsupported(
        f"The words of column {column!r} were hashed into buckets, and a bucket is no word that could be "
        f"drawn. Train without buckets."
    )
