"""Count tables, one row per class, that add and subtract exactly; and the choice of the vocabulary.

All counts of this package have the same operations:

- `a.plus(b)` adds and `a.plus(b, -1)` subtracts; names are matched, new ones are appended;
- `align_classes` and `select_classes` reorder, extend and drop classes;
- `canonical` sorts the names, drops those without counts, and stores whole numbers as integers, so that
  equal counts have equal bytes whatever their history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.advice import set_kind
from weigh.features.blocks import CategoryBlock, Floats, Ints, Level, Longs, NumberedNames, SparseBlock
from weigh.features.columns import bin_names
from weigh.features.kinds import Flag, Kind, Number
from weigh.features.names import NameArray
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.width import check_table_memory
from weigh.immutable import ImmutablePart
from weigh.model.file import store

CountArray = npt.NDArray[Any]  # int64; float64 for fractional weights; NARROW_DTYPES for words
MAX_EXACT_INTEGER = 2.0**53
MAX_TOTAL_WEIGHT = 1e100  # of the rows of a model
MAX_STORED_COUNT = 1e150  # a count is at most 2^53 in each row
FILE_DTYPES = (np.int64, np.float64)  # dtypes of count tables in model files
NARROW_DTYPES = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The class code and the weight of each row of a chunk."""

    classes: Ints
    n_classes: int
    weights: Floats | None = None

    def class_totals(self, known: npt.NDArray[np.bool_] | None = None) -> CountArray:
        """Return the number (or total weight) of rows per class, only those in the mask `known` if given."""
        codes = np.zeros(len(self.classes), dtype=np.int32) if known is None else known.astype(np.int32) - 1
        return _count_codes(self, codes, 1)[:, 0]


@dataclass(frozen=True, eq=False)
class CountTable(ImmutablePart):
    """Counts [classes, names]; `fixed` names are columns of the schema and are never dropped."""

    weighting: ClassVar[None] = None  # counts are not weighted
    names: Sequence[Any]
    table: CountArray
    fixed: bool = False

    @classmethod
    def from_codes(cls, block: CategoryBlock, by: RowClasses) -> CountTable:
        """Count the levels of a categorical column."""
        return cls(block.levels, _count_codes(by, block.codes, len(block.levels)))

    @classmethod
    def from_sparse(cls, block: SparseBlock, by: RowClasses, fixed: bool) -> CountTable:
        """Sum the entries of sparse columns by class."""
        check_table_memory(len(block.names), by.n_classes)
        return cls(block.names, np.zeros((by.n_classes, len(block.names))), fixed).plus_block(block, by)

    @property
    def frequencies(self) -> CountArray:
        """The counts by which a vocabulary is pruned."""
        return self.table

    def plus_block(self, block: SparseBlock, by: RowClasses) -> CountTable:
        """Add the entries of sparse columns of the same names to this table, in place, and return it.

        The time does not depend on the number of columns, unlike that of `plus`.
        """
        _core.count_sparse(by.classes, *block.rows.csr, by.weights, self.table)
        return self

    def plus(self, other: CountTable, sign: int = 1) -> CountTable:
        """Return the sum or difference of two tables over the same classes."""
        if self.fixed:
            return CountTable(self.names, self.table + sign * other.table, True)
        index = dict(zip(self.names, range(len(self.names)), strict=True))
        places = [index.setdefault(name, len(index)) for name in other.names]
        table = np.zeros((len(self.table), len(index)), dtype=np.result_type(self.table, other.table))
        table[:, : len(self.names)] = self.table
        table[:, places] += sign * other.table
        return CountTable(list(index), table)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.table)

    def align_classes(self, indices: Longs, n_classes: int) -> CountTable:
        """Return the table with class c moved to row indices[c] of `n_classes` rows."""
        return CountTable(self.names, align_rows(self.table, indices, n_classes), self.fixed)

    def select_classes(self, classes: Longs) -> CountTable:
        """Return the table restricted to the given classes, in this order."""
        return CountTable(self.names, self.table[classes], self.fixed)

    def canonical(self) -> CountTable:
        """Return the canonical form: names sorted, those without counts dropped."""
        if self.fixed:
            return CountTable(self.names, to_integers_if_whole(self.table), True)
        used = np.flatnonzero(self.table.any(axis=0)).tolist()
        # Strings alone are sorted without a key of two parts, in a fifth of the time.
        are_strings = {*map(type, self.names)} == {str}
        key = self.names.__getitem__ if are_strings else lambda j: canonical_order_key(self.names[j])
        order = sorted(used, key=key)
        return CountTable([self.names[j] for j in order], to_integers_if_whole(self.table[:, order]))

    def minimum(self) -> float:
        """Return the smallest count; it is negative if more was subtracted than added."""
        return float(self.table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the table to the content of a model file."""
        arrays[f"{key}.table"] = self.table
        if not self.fixed:
            store.write_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, kind: Kind, columns: Sequence[str]
    ) -> CountTable:
        """Read the table that `write_arrays` added, of levels or of columns that share a block."""
        names = columns if kind.shares_block else read_levels(stored, f"{key}.names", kind)
        table = read_counts_array(stored, f"{key}.table", (n_classes, len(names)))
        return cls(names, table, kind.shares_block)


def _count_codes(by: RowClasses, codes: Ints, width: int) -> CountArray:
    """Count codes by class, in integers, or in floats if the rows have weights."""
    if by.weights is None:
        table: CountArray = np.zeros((by.n_classes, width), dtype=np.int64)
        _core.count_codes(by.classes, codes, table)
    else:
        table = np.zeros((by.n_classes, width))
        _core.count_weighted_codes(by.classes, codes, by.weights, table)
    return table


def align_rows(table: CountArray, indices: Longs, n_rows: int) -> CountArray:
    """Return an array with row c moved to row indices[c] of `n_rows` rows; the other rows are zero."""
    aligned = np.zeros((n_rows, *table.shape[1:]), dtype=table.dtype)
    aligned[indices] = table
    return aligned


def is_identity(indices: Longs, n: int) -> bool:
    """Whether the indices are 0, 1, …, n − 1."""
    return len(indices) == n and bool((indices == np.arange(n)).all())


def to_narrowest_dtype(table: CountArray) -> CountArray:
    """Return non-negative integers in the narrowest dtype that holds them; other tables unchanged."""
    if table.dtype == np.float64 or (table.dtype == np.int64 and table.min(initial=0) < 0):
        return table
    largest = int(table.max(initial=0))
    dtype = next(dtype for dtype in (*NARROW_DTYPES, np.int64) if largest <= np.iinfo(dtype).max)
    return table.astype(dtype, copy=False)


def to_integers_if_whole(table: CountArray) -> CountArray:
    """Return the table as int64 if its numbers are whole and their sum is exact as a float.

    Other tables become float64, so that no sum of integers overflows; unsigned ones stay as they are.
    """
    if table.dtype.kind != "u":
        is_exact = table.sum(dtype=np.float64) < MAX_EXACT_INTEGER
        is_whole = table.dtype == np.int64 or (np.rint(table) == table).all()
        table = table.astype(np.int64 if is_exact and is_whole else np.float64, copy=False)
    return np.ascontiguousarray(table)


def read_counts_array(
    stored: store.FileContent,
    name: str,
    shape: Sequence[int | None],
    dtypes: Sequence[type[np.generic]] = FILE_DTYPES,
) -> CountArray:
    """Read an array of counts from a model file and check its shape, dtype and values."""
    table = store.read_array(stored, name, shape, dtypes)
    is_wide = table.dtype.kind != "u" and table.size > 0
    limit = MAX_EXACT_INTEGER if table.dtype == np.int64 else MAX_STORED_COUNT
    with np.errstate(over="ignore"):
        is_possible = not is_wide or (table.min() >= 0 and table.sum(dtype=np.float64) < limit)
    if not is_possible:
        raise store.damaged_file_error(stored.path, f"its table {name!r} holds impossible counts")
    return table


def fixed_levels(kind: Kind) -> list[Level] | None:
    """Return the levels of flags and binned numbers, which are the same for all rows, else None."""
    if isinstance(kind, Number) and isinstance(kind.bins, tuple):
        return bin_names(kind.bins)
    return [0, 1] if isinstance(kind, Flag) else None


def read_levels(stored: store.FileContent, key: str, kind: Kind) -> Sequence[Any]:
    """Read the levels of a column from a model file; the kind must allow them."""
    levels, allowed = store.read_distinct_names(stored, key), fixed_levels(kind)
    if allowed is not None and not set(levels) <= set(allowed):
        raise store.damaged_file_error(stored.path, f"its list of names {key!r} has levels of another kind")
    return levels


def canonical_order_key(name: object) -> tuple[int, Any]:
    """Return the sort key of the canonical order: booleans, numbers, then strings."""
    return (0 if isinstance(name, bool) else 2 if isinstance(name, str) else 1, name)


def have_same_names(first: Iterable[Any], second: Iterable[Any]) -> bool:
    """Whether two lists of names are equal; lists of numbered columns are compared without expanding them."""
    if isinstance(first, NumberedNames) and isinstance(second, NumberedNames):
        return first == second
    return first is second or list(first) == list(second)


@dataclass(frozen=True, eq=False)
class WordCountTable(ImmutablePart):
    """Counts [classes, words] with sorted words, or [classes, buckets] if the words are hashed.

    Vocabularies are large, so whole counts are stored in the narrowest dtype; sums are computed in 64 bits.

    A bucket is named after the shortest word of at most 63 bytes ever seen in it (ties: smallest hash), so
    that the name does not depend on the order of the rows. The name may remain after its row is forgotten.
    """

    weighting: ClassVar[None] = None  # counts are not weighted
    names: NameArray
    table: CountArray
    is_hashed: bool = False
    fixed: bool = False  # as in CountTable: words are dropped when their counts become zero

    @property
    def frequencies(self) -> CountArray:
        """The counts by which a vocabulary is pruned."""
        return self.table

    @classmethod
    def from_unsorted(cls, names: Sequence[str], table: CountArray) -> WordCountTable:
        """Return the table of words given in any order."""
        packed = NameArray.from_strings(names)
        order = packed.argsort()
        return cls(packed.take(order), table[:, order])

    def plus(self, other: WordCountTable, sign: int = 1) -> WordCountTable:
        """Return the sum or difference of two tables over the same classes."""
        ours, theirs = _to_64_bits(self.table), _to_64_bits(other.table)
        if self.is_hashed:
            names = self.names
            if sign > 0:
                text, offsets = _core.select_shorter_names(
                    names.text, names.offsets, other.names.text, other.names.offsets
                )
                names = NameArray(text, offsets)
            return WordCountTable(names, ours + sign * theirs, True)
        names, our_columns, their_columns = self.names.merge_sorted(other.names)
        table = np.zeros((len(ours), len(names)), dtype=np.result_type(ours, theirs))
        table[:, our_columns] = ours
        table[:, their_columns] += sign * theirs
        return WordCountTable(names, table)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.table)

    def align_classes(self, indices: Longs, n_classes: int) -> WordCountTable:
        """Return the table with class c moved to row indices[c] of `n_classes` rows."""
        return WordCountTable(self.names, align_rows(self.table, indices, n_classes), self.is_hashed)

    def select_classes(self, classes: Longs) -> WordCountTable:
        """Return the table restricted to the given classes, in this order."""
        if is_identity(classes, len(self.table)):
            return self
        return WordCountTable(self.names, self.table[classes], self.is_hashed)

    def canonical(self) -> WordCountTable:
        """Return the canonical form: words without counts dropped, empty buckets without a name."""
        used = np.asarray(self.table.any(axis=0))
        names, table = self.names, self.table
        if not used.all() and not self.is_hashed:
            kept = np.flatnonzero(used)
            names, table = names.take(kept), table[:, kept]
        elif np.diff(names.offsets)[~used].any():
            # Append an empty name and assign it to every empty bucket.
            indices = np.where(used, np.arange(len(used)), len(used))
            names = NameArray(names.text, np.append(names.offsets, names.offsets[-1])).take(indices)
        return WordCountTable(names, to_narrowest_dtype(to_integers_if_whole(table)), self.is_hashed)

    def minimum(self) -> float:
        """Return the smallest count; it is negative if more was subtracted than added."""
        return float(self.table.min(initial=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the table to the content of a model file."""
        arrays[f"{key}.table"] = self.table
        store.write_packed_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, buckets: int | None
    ) -> WordCountTable:
        """Read the table that `write_arrays` added."""
        names = store.read_packed_names(stored, f"{key}.names")
        if not (names.are_sorted if buckets is None else len(names) == buckets):
            raise store.damaged_file_error(stored.path, f"its list of names {key!r} is not in order")
        shape = n_classes, len(names)
        table = read_counts_array(stored, f"{key}.table", shape, (*FILE_DTYPES, *NARROW_DTYPES))
        if table.dtype == np.int64:
            # Only the oldest files have int64 tables. Narrow ones stay mapped and are not read here.
            table = to_narrowest_dtype(table)
        return cls(names, table, buckets is not None)


def _to_64_bits(table: CountArray) -> CountArray:
    return table.astype(np.int64) if table.dtype.kind == "u" else table


def select_vocabulary(kind: Kind, table: CountArray) -> Longs | None:
    """Return the indices of the words that a model keeps, in order; None if it keeps all of them.

    `min_count` and `max_words` apply to the counts over all classes; unused hash buckets are dropped.
    """
    if not isinstance(kind, BagOfWordsKind) or (
        not kind.buckets and kind.min_count <= 1 and kind.max_words is None
    ):
        return None
    if kind.buckets:
        # Smoothing over unused buckets would leave little probability for the used ones.
        return np.flatnonzero(table.any(axis=0))
    totals = table.sum(axis=0, dtype=np.float64 if table.dtype == np.float64 else np.int64)
    kept = np.flatnonzero(totals >= kind.min_count)
    if kind.max_words is not None and len(kept) > kind.max_words:
        # The sort is stable: among equally frequent words the first in alphabetical order are kept.
        kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[: kind.max_words]])
    return None if len(kept) == table.shape[1] else kept


def select_names(names: Sequence[str], kept: Longs | None) -> Sequence[str]:
    """Return the names at the indices `kept`; None selects all."""
    if kept is None:
        return names
    return names.take(kept) if isinstance(names, NameArray) else [names[j] for j in kept.tolist()]


def weighted_words_error(column: str, purpose: str) -> errors.Unsupported:
    """Return the error for a use of words that needs counts, not values."""
    return errors.Unsupported(
        f"The words of column {column!r} have values (weighting or norm), not counts, so {purpose}.",
        hint=("Train with plain counts, ", set_kind(column, "text"), "."),
    )


def hashed_sampling_error(column: str) -> errors.Unsupported:
    """Return the error for sampling texts from hashed words."""
    return errors.Unsupported(
        f"The words of column {column!r} were hashed into buckets, so no texts can be sampled from the "
        f"model. Train without buckets."
    )
