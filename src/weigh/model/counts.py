"""The counts of flags and of numbers, with the same algebra as a tally."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features.blocks import Entries, Longs, Numbers
from weigh.model import store
from weigh.model.sums import ExactSum, sums_of
from weigh.model.tally import Counting, Table, Tally, get_table, placed, whole
from weigh.model.word_tally import WordTally


@dataclass(frozen=True, eq=False)
class FlagCounts:
    """How often each flag was present, and in how many rows it was known at all.

    `known` has one column for all flags while no single cell was missing, else one per flag.
    """

    present: Tally | WordTally
    known: Table

    @classmethod
    def of(cls, block: Entries, by: Counting, fixed: bool) -> FlagCounts:
        """Count the present flags of a block."""
        present = Tally.of_entries(block, by, fixed)
        known = by.rows(block.known)[:, None]
        if block.missing is not None:
            known = known - Tally.of_entries(block.missing, by, fixed).table
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

    def placed(self, places: Longs, classes: int) -> FlagCounts:
        """Return the counts with class c moved to places[c]."""
        return FlagCounts(self.present.placed(places, classes), placed(self.known, places, classes))

    def taken(self, classes: Longs) -> FlagCounts:
        """Return the counts of some classes."""
        return FlagCounts(self.present.taken(classes), self.known[classes])

    def canonical(self) -> FlagCounts:
        """Return the one form that equal counts have."""
        known = self.known
        if known.shape[1] > 1 and (known == known[:, :1]).all():
            known = known[:, :1]
        return FlagCounts(self.present.canonical(), whole(known))

    def least(self) -> float:
        """Return the smallest count."""
        return min(self.present.least(), float(self.known.min(initial=0)))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        self.present.put(arrays, meta, f"{key}.present")
        arrays[f"{key}.known"] = self.known

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int, present: Tally | WordTally) -> FlagCounts:
        """Return the counts that `put` added; the present ones, under the key "present", are read before."""
        found = stored.arrays.get(f"{key}.known")
        width = found.shape[1] if found is not None and found.ndim == 2 else 1
        if width not in (1, len(present.names)):
            raise store.damaged(stored.path, f"its table {key}.known has the wrong width")
        return cls(present, get_table(stored, f"{key}.known", (classes, width)))


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How many values of a number were known, their sum and the sum of their squares, exactly.

    Under weights `known` is the sum of the weights, rounded, and `weight` the same sum exactly: a
    spread that is small against the mean would drown in the rounding of Σw.
    """

    known: Table
    first: ExactSum
    second: ExactSum
    weight: ExactSum | None = None

    @classmethod
    def of(cls, block: Numbers, by: Counting) -> NumberCounts:
        """Sum the values of a block."""
        known, first, second = sums_of(block.values, by.classes, by.n_classes, by.weights)
        if by.weights is None:
            return cls(known, first, second)
        ones = np.where(np.isnan(block.values), np.nan, 1.0)
        return cls(known, first, second, sums_of(ones, by.classes, by.n_classes, by.weights)[1])

    @property
    def totals(self) -> list[Fraction]:
        """The number, or exact weight, of the known values of each class."""
        if self.weight is None:
            return [Fraction(n) for n in self.known.tolist()]
        whole_parts, exponent = self.weight.integers()
        return [n * Fraction(2) ** exponent for n in whole_parts]

    def plus(self, other: NumberCounts, sign: int = 1) -> NumberCounts:
        """Return the sum or difference over the same classes."""
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = self._exact_weight().plus(other._exact_weight(), sign)
        first, second = self.first.plus(other.first, sign), self.second.plus(other.second, sign)
        return NumberCounts(self.known + sign * other.known, first, second, weight)

    def _exact_weight(self) -> ExactSum:
        return ExactSum.of([int(n) for n in self.known.tolist()], 0) if self.weight is None else self.weight

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.known)

    def placed(self, places: Longs, classes: int) -> NumberCounts:
        """Return the counts with class c moved to places[c]."""
        first, second = self.first.placed(places, classes), self.second.placed(places, classes)
        weight = None if self.weight is None else self.weight.placed(places, classes)
        return NumberCounts(placed(self.known, places, classes), first, second, weight)

    def taken(self, classes: Longs) -> NumberCounts:
        """Return the counts of some classes."""
        first, second = self.first.taken(classes), self.second.taken(classes)
        weight = None if self.weight is None else self.weight.taken(classes)
        return NumberCounts(self.known[classes], first, second, weight)

    def canonical(self) -> NumberCounts:
        """Return the one form that equal counts have."""
        if self.weight is None:
            return NumberCounts(whole(self.known), self.first, self.second)
        totals = self.totals
        known = whole(np.array([float(n) for n in totals]))
        is_whole = all(n.denominator == 1 for n in totals) and known.dtype == np.int64
        return NumberCounts(known, self.first, self.second, None if is_whole else self.weight)

    def least(self) -> float:
        """Return the smallest count; sums that no values can have count as less than nothing."""
        (first, e1), (second, e2) = self.first.integers(), self.second.integers()
        totals = self.totals
        unit = Fraction(2) ** (e2 - 2 * e1)
        for n, x, xx in zip(totals, first, second, strict=True):
            # n Σx² ≥ (Σx)² for any values, they are equal for a single row, and no rows have no squares.
            spread = n * xx * unit - x * x
            if spread < 0 or (spread and n <= 1 and self.weight is None) or (xx and not n):
                return -1.0
        return float(min(totals, default=0))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        arrays[f"{key}.known"] = self.known
        for name, part in (("first", self.first), ("second", self.second), ("weight", self.weight)):
            if part is not None:
                arrays[f"{key}.{name}"] = part.limbs
                meta[f"{key}.{name}"] = part.base

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int) -> NumberCounts:
        """Return the counts that `put` added."""
        first, second = (_get_sum(stored, f"{key}.{name}", classes) for name in ("first", "second"))
        weight = _get_sum(stored, f"{key}.weight", classes) if f"{key}.weight" in stored.meta else None
        return cls(get_table(stored, f"{key}.known", (classes,)), first, second, weight)


def _get_sum(stored: store.Stored, key: str, classes: int) -> ExactSum:
    limbs, base = stored.arrays.get(key), stored.meta.get(key)
    if limbs is None or limbs.dtype != np.int64 or limbs.ndim != 2 or len(limbs) != classes:
        raise store.damaged(stored.path, f"its sums {key!r} are missing or of the wrong shape")
    if not isinstance(base, int) or not -200 <= base <= 200 or limbs.shape[1] > 400:
        raise store.damaged(stored.path, f"its sums {key!r} lie outside the range of numbers")
    return ExactSum(limbs, base)
