"""The counts of flags and of numbers, with the same algebra as a tally."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, NumberBlock, SparseBlock
from weigh.model.counts.count_table import (
    CountArray,
    CountTable,
    RowClasses,
    WordCountTable,
    align_rows,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.file import store


@dataclass(frozen=True, eq=False)
class FlagCounts:
    """How often each flag was present, and in how many rows it was known at all.

    `known` has one column for all flags while no single cell was missing, else one per flag.
    """

    present: CountTable | WordCountTable
    known: CountArray

    @classmethod
    def of(cls, block: SparseBlock, by: RowClasses, fixed: bool) -> FlagCounts:
        """Count the present flags of a block."""
        present = CountTable.of_entries(block, by, fixed)
        known = by.class_totals(block.known)[:, None]
        if block.missing is not None:
            known = known - CountTable.of_entries(block.missing, by, fixed).table
        return cls(present, known)

    def plus(self, other: FlagCounts, sign: int = 1) -> FlagCounts:
        """Return the sum or difference over the same classes."""
        # Both are words, or both are columns: kinds of models that merge agree.
        added: Any = other.present
        return FlagCounts(self.present.plus(added, sign), self.known + sign * other.known)

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.known)

    def align_classes(self, places: Longs, classes: int) -> FlagCounts:
        """Return the counts with class c moved to places[c]."""
        return FlagCounts(
            self.present.align_classes(places, classes), align_rows(self.known, places, classes)
        )

    def select_classes(self, classes: Longs) -> FlagCounts:
        """Return the counts of some classes."""
        return FlagCounts(self.present.select_classes(classes), self.known[classes])

    def canonical(self) -> FlagCounts:
        """Return the one form that equal counts have."""
        known = self.known
        if known.shape[1] > 1 and (known == known[:, :1]).all():
            known = known[:, :1]
        return FlagCounts(self.present.canonical(), to_integers_if_whole(known))

    def minimum(self) -> float:
        """Return the smallest count."""
        return min(self.present.minimum(), float(self.known.min(initial=0)))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        self.present.write_arrays(arrays, meta, f"{key}.present")
        arrays[f"{key}.known"] = self.known

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, classes: int, present: CountTable | WordCountTable
    ) -> FlagCounts:
        """Return the counts that `put` added; the present ones, under the key "present", are read before."""
        found = stored.arrays.get(f"{key}.known")
        width = found.shape[1] if found is not None and found.ndim == 2 else 1
        if width not in (1, len(present.names)):
            raise store.damaged_file_error(stored.path, f"its table {key}.known has the wrong width")
        return cls(present, read_counts_array(stored, f"{key}.known", (classes, width)))


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How many values of a number were known, their sum and the sum of their squares, exactly.

    Under weights `known` is the sum of the weights, rounded, and `weight` the same sum exactly: a
    spread that is small against the mean would drown in the rounding of Σw.
    """

    known: CountArray
    sum_x: ExactSum
    sum_xx: ExactSum
    weight: ExactSum | None = None

    @classmethod
    def of(cls, block: NumberBlock, by: RowClasses) -> NumberCounts:
        """Sum the values of a block."""
        known, first, second = class_sums(block.values, by.classes, by.n_classes, by.weights)
        if by.weights is None:
            return cls(known, first, second)
        ones = np.where(np.isnan(block.values), np.nan, 1.0)
        return cls(known, first, second, class_sums(ones, by.classes, by.n_classes, by.weights)[1])

    @property
    def totals(self) -> list[Fraction]:
        """The number, or exact weight, of the known values of each class."""
        if self.weight is None:
            return [Fraction(n) for n in self.known.tolist()]
        whole_parts, exponent = self.weight.to_integers()
        return [n * Fraction(2) ** exponent for n in whole_parts]

    def plus(self, other: NumberCounts, sign: int = 1) -> NumberCounts:
        """Return the sum or difference over the same classes."""
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = self._exact_weight().plus(other._exact_weight(), sign)
        first, second = self.sum_x.plus(other.sum_x, sign), self.sum_xx.plus(other.sum_xx, sign)
        return NumberCounts(self.known + sign * other.known, first, second, weight)

    def _exact_weight(self) -> ExactSum:
        return ExactSum.of([int(n) for n in self.known.tolist()], 0) if self.weight is None else self.weight

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.known)

    def align_classes(self, places: Longs, classes: int) -> NumberCounts:
        """Return the counts with class c moved to places[c]."""
        first, second = self.sum_x.align_classes(places, classes), self.sum_xx.align_classes(places, classes)
        weight = None if self.weight is None else self.weight.align_classes(places, classes)
        return NumberCounts(align_rows(self.known, places, classes), first, second, weight)

    def select_classes(self, classes: Longs) -> NumberCounts:
        """Return the counts of some classes."""
        first, second = self.sum_x.select_classes(classes), self.sum_xx.select_classes(classes)
        weight = None if self.weight is None else self.weight.select_classes(classes)
        return NumberCounts(self.known[classes], first, second, weight)

    def canonical(self) -> NumberCounts:
        """Return the one form that equal counts have."""
        if self.weight is None:
            return NumberCounts(to_integers_if_whole(self.known), self.sum_x, self.sum_xx)
        totals = self.totals
        known = to_integers_if_whole(np.array([float(n) for n in totals]))
        is_whole = all(n.denominator == 1 for n in totals) and known.dtype == np.int64
        return NumberCounts(known, self.sum_x, self.sum_xx, None if is_whole else self.weight)

    def minimum(self) -> float:
        """Return the smallest count; sums that no values can have count as less than nothing."""
        (first, e1), (second, e2) = self.sum_x.to_integers(), self.sum_xx.to_integers()
        totals = self.totals
        unit = Fraction(2) ** (e2 - 2 * e1)
        for n, x, xx in zip(totals, first, second, strict=True):
            # n Σx² ≥ (Σx)² for any values, they are equal for a single row, and no rows have no squares.
            spread = n * xx * unit - x * x
            if spread < 0 or (spread and n <= 1 and self.weight is None) or (xx and not n):
                return -1.0
        return float(min(totals, default=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        arrays[f"{key}.known"] = self.known
        for name, part in (("first", self.sum_x), ("second", self.sum_xx), ("weight", self.weight)):
            if part is not None:
                arrays[f"{key}.{name}"] = part.limbs
                meta[f"{key}.{name}"] = part.base

    @classmethod
    def read_arrays(cls, stored: store.FileContent, key: str, classes: int) -> NumberCounts:
        """Return the counts that `put` added."""
        first, second = (_read_exact_sum(stored, f"{key}.{name}", classes) for name in ("first", "second"))
        weight = _read_exact_sum(stored, f"{key}.weight", classes) if f"{key}.weight" in stored.meta else None
        return cls(read_counts_array(stored, f"{key}.known", (classes,)), first, second, weight)


def _read_exact_sum(stored: store.FileContent, key: str, classes: int) -> ExactSum:
    limbs, base = stored.arrays.get(key), stored.meta.get(key)
    if limbs is None or limbs.dtype != np.int64 or limbs.ndim != 2 or len(limbs) != classes:
        raise store.damaged_file_error(stored.path, f"its sums {key!r} are missing or of the wrong shape")
    if not isinstance(base, int) or not -200 <= base <= 200 or limbs.shape[1] > 400:
        raise store.damaged_file_error(stored.path, f"its sums {key!r} lie outside the range of numbers")
    return ExactSum(limbs, base)


LIMB_BITS = 32


@dataclass(frozen=True)
class ExactSum:
    """One exact sum per class."""

    limbs: Longs
    base: int

    @classmethod
    def of(cls, values: list[int], exponent: int) -> ExactSum:
        """Return the sums values[c] · 2^exponent of Python integers."""
        base = exponent // LIMB_BITS
        shifted = [value << (exponent - LIMB_BITS * base) for value in values]
        length = max(value.bit_length() for value in shifted) // LIMB_BITS + 2 if shifted else 0
        limbs = np.zeros((len(shifted), length), dtype=np.int64)
        for c, value in enumerate(shifted):
            for k in range(length - 1):
                limbs[c, k] = value & (2**LIMB_BITS - 1)
                value >>= LIMB_BITS
            limbs[c, -1] = value
        return _canonical(limbs, base)

    def plus(self, other: ExactSum, sign: int = 1) -> ExactSum:
        """Return the sum (or, with sign=-1, the difference) of two sums over the same classes."""
        base = min(self.base, other.base)
        top = max(self.base + self.limbs.shape[1], other.base + other.limbs.shape[1])
        limbs = np.zeros((len(self.limbs), top - base), dtype=np.int64)
        _limb_window(limbs, base, self)[...] += self.limbs
        _limb_window(limbs, base, other)[...] += sign * other.limbs
        return _canonical(limbs, base)

    def align_classes(self, places: Longs, classes: int) -> ExactSum:
        """Return the sums with class c moved to places[c] among `classes` classes."""
        limbs = np.zeros((classes, self.limbs.shape[1]), dtype=np.int64)
        limbs[places] = self.limbs
        return ExactSum(limbs, self.base)

    def select_classes(self, classes: Longs) -> ExactSum:
        """Return the sums of some classes."""
        return _canonical(self.limbs[classes], self.base)

    def to_integers(self) -> tuple[list[int], int]:
        """Return Python integers and the exponent e with sum = integer · 2^e."""
        total = np.zeros(len(self.limbs), dtype=object)
        for k in range(self.limbs.shape[1]):
            total = total + (self.limbs[:, k].astype(object) << (LIMB_BITS * k))
        return [int(value) for value in total], LIMB_BITS * self.base


def class_sums(
    values: Floats, classes: Ints, n_classes: int, weights: Floats | None
) -> tuple[Floats, ExactSum, ExactSum]:
    """Return Σ w, Σ w x and Σ w x² per class over the known values, the last two exactly."""
    known, first, second = _core.class_sums(classes, n_classes, values, weights)
    return known, ExactSum(*first), ExactSum(*second)


def _limb_window(limbs: Longs, base: int, part: ExactSum) -> Longs:
    start = part.base - base
    return limbs[:, start : start + part.limbs.shape[1]]


def _canonical(limbs: Longs, base: int) -> ExactSum:
    return ExactSum(*_core.propagate_carries(np.ascontiguousarray(limbs), base))
