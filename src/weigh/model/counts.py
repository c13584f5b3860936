"""The counts of flags and of numbers, with the same algebra as a tally."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Entries, Longs, Numbers
from weigh.model import store
from weigh.model.sums import ExactSum, sums_of
from weigh.model.tally import Counting, Table, Tally, get_table, placed, whole


@dataclass(frozen=True, eq=False)
class FlagCounts:
    """How often each flag was present, and in how many rows it was known at all.

    `known` has one column for all flags while no single cell was missing, else one per flag.
    """

    present: Tally
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
        return FlagCounts(self.present.plus(other.present, sign), self.known + sign * other.known)

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
    def get(cls, stored: store.Stored, key: str, classes: int, columns: Sequence[str] | None) -> FlagCounts:
        """Return the counts that `put` added."""
        present = Tally.get(stored, f"{key}.present", classes, columns)
        found = stored.arrays.get(f"{key}.known")
        width = found.shape[1] if found is not None and found.ndim == 2 else 1
        if width not in (1, len(present.names)):
            raise store.damaged(stored.path, f"its table {key}.known has the wrong width")
        return cls(present, get_table(stored, f"{key}.known", (classes, width)))


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How many values of a number were known, their sum and the sum of their squares, exactly."""

    known: Table
    first: ExactSum
    second: ExactSum

    @classmethod
    def of(cls, block: Numbers, by: Counting) -> NumberCounts:
        """Sum the values of a block."""
        return cls(*sums_of(block.values, by.classes, by.n_classes, by.weights))

    def plus(self, other: NumberCounts, sign: int = 1) -> NumberCounts:
        """Return the sum or difference over the same classes."""
        known = self.known + sign * other.known
        return NumberCounts(known, self.first.plus(other.first, sign), self.second.plus(other.second, sign))

    def placed(self, places: Longs, classes: int) -> NumberCounts:
        """Return the counts with class c moved to places[c]."""
        first, second = self.first.placed(places, classes), self.second.placed(places, classes)
        return NumberCounts(placed(self.known, places, classes), first, second)

    def taken(self, classes: Longs) -> NumberCounts:
        """Return the counts of some classes."""
        return NumberCounts(self.known[classes], self.first.taken(classes), self.second.taken(classes))

    def canonical(self) -> NumberCounts:
        """Return the one form that equal counts have."""
        return NumberCounts(whole(self.known), self.first, self.second)

    def least(self) -> float:
        """Return the smallest count; a sum of squares below zero or without values counts too."""
        squares, _ = self.second.integers()
        if any(s < 0 or (s and not n) for s, n in zip(squares, self.known.tolist(), strict=True)):
            return -1.0
        return float(self.known.min(initial=0))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to what a model file will hold."""
        arrays[f"{key}.known"] = self.known
        for name, part in (("first", self.first), ("second", self.second)):
            arrays[f"{key}.{name}"] = part.limbs
            meta[f"{key}.{name}"] = part.base

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int) -> NumberCounts:
        """Return the counts that `put` added."""
        first, second = (_get_sum(stored, f"{key}.{name}", classes) for name in ("first", "second"))
        return cls(get_table(stored, f"{key}.known", (classes,)), first, second)


def _get_sum(stored: store.Stored, key: str, classes: int) -> ExactSum:
    limbs, base = stored.arrays.get(key), stored.meta.get(key)
    if limbs is None or limbs.dtype != np.int64 or limbs.ndim != 2 or len(limbs) != classes:
        raise store.damaged(stored.path, f"its sums {key!r} are missing or of the wrong shape")
    if not isinstance(base, int) or not -200 <= base <= 200 or limbs.shape[1] > 400:
        raise store.damaged(stored.path, f"its sums {key!r} lie outside the range of numbers")
    return ExactSum(limbs, base)
