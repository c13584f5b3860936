"""Sufficient statistics of flags and numbers, with the operations of `CountTable`; exact sums of floats."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, NumberBlock, SparseBlock
from weigh.immutable import ImmutablePart
from weigh.model.counts.count_table import (
    CountArray,
    CountTable,
    RowClasses,
    WordCountTable,
    align_rows,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.counts.value_grid import GridCounts
from weigh.model.file import store

WEIGHT_TOLERANCE = 1e-9  # of sums of weights, relative to the largest


@dataclass(frozen=True, eq=False)
class FlagCounts(ImmutablePart):
    """How often each flag was present, and in how many rows it was known (not missing).

    `known` is [classes, 1] if all flags were known in the same rows, otherwise [classes, flags].
    """

    present: CountTable | WordCountTable
    known: CountArray

    @classmethod
    def from_block(cls, block: SparseBlock, by: RowClasses, fixed: bool) -> FlagCounts:
        """Count the present flags of a block by class."""
        present = CountTable.from_sparse(block, by, fixed)
        known = by.class_totals(block.known)[:, None]
        if block.missing is not None:
            known = known - CountTable.from_sparse(block.missing, by, fixed).table
        return cls(present, known)

    def plus_block(self, block: SparseBlock, by: RowClasses) -> FlagCounts:
        """Add a block of the same flags to these counts, in place unless cells are missing."""
        if block.missing is not None or not isinstance(self.present, CountTable):
            return self.plus(FlagCounts.from_block(block, by, self.present.fixed))
        return FlagCounts(
            self.present.plus_block(block, by), self.known + by.class_totals(block.known)[:, None]
        )

    def plus(self, other: FlagCounts, sign: int = 1) -> FlagCounts:
        """Return the sum or difference over the same classes."""
        present: Any = other.present  # of the same type: both parts have the same kind
        return FlagCounts(self.present.plus(present, sign), self.known + sign * other.known)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.known)

    def align_classes(self, indices: Longs, n_classes: int) -> FlagCounts:
        """Return the counts with class c moved to row indices[c] of `n_classes` rows."""
        present = self.present.align_classes(indices, n_classes)
        return FlagCounts(present, align_rows(self.known, indices, n_classes))

    def select_classes(self, classes: Longs) -> FlagCounts:
        """Return the counts restricted to the given classes, in this order."""
        return FlagCounts(self.present.select_classes(classes), self.known[classes])

    def canonical(self) -> FlagCounts:
        """Return the canonical form."""
        known = self.known
        if known.shape[1] > 1 and (known == known[:, :1]).all():
            known = known[:, :1]
        return FlagCounts(self.present.canonical(), to_integers_if_whole(known))

    def minimum(self) -> float:
        """Return the smallest count; it is negative if more was subtracted than added."""
        return min(self.present.minimum(), float(self.known.min(initial=0)))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to the content of a model file."""
        self.present.write_arrays(arrays, meta, f"{key}.present")
        arrays[f"{key}.known"] = self.known

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, present: CountTable | WordCountTable
    ) -> FlagCounts:
        """Read the counts that `write_arrays` added; the caller has read `present`."""
        known = read_counts_array(stored, f"{key}.known", (n_classes, None))
        if known.shape[1] not in (1, len(present.names)):
            raise store.damaged_file_error(stored.path, f"its table {key}.known has the wrong width")
        # Sums of weights are rounded, and differences of such sums keep their rounding errors.
        is_weighted = np.float64 in (known.dtype, present.table.dtype)
        tolerance = WEIGHT_TOLERANCE * max(1.0, float(known.max(initial=0))) if is_weighted else 0.0
        if (present.table - known > tolerance).any():
            raise store.damaged_file_error(
                stored.path, f"its flags {key!r} are present in more rows than known"
            )
        return cls(present, known)


@dataclass(frozen=True, eq=False)
class NumberCounts(ImmutablePart):
    """The number of known values of a column per class, their exact sum, and the exact sum of their squares.

    With weights, `known` is the rounded sum of the weights and `weight` the exact one: rounding Σw would
    swamp a variance that is small compared with the squared mean. `grid` has the counts that show the shape
    of the distribution, for columns whose shape is not stated to be normal.
    """

    known: CountArray
    sum_x: ExactSum
    sum_xx: ExactSum
    weight: ExactSum | None = None
    grid: GridCounts | None = None

    @classmethod
    def from_block(cls, block: NumberBlock, by: RowClasses, has_grid: bool = False) -> NumberCounts:
        """Sum the values of a block by class, and with `has_grid` count them on the grid."""
        known, sum_x, sum_xx = class_sums(block.values, by.classes, by.n_classes, by.weights)
        grid = GridCounts.from_block(block, by) if has_grid else None
        if by.weights is None:
            return cls(known, sum_x, sum_xx, None, grid)
        ones = np.where(np.isnan(block.values), np.nan, 1.0)
        return cls(known, sum_x, sum_xx, class_sums(ones, by.classes, by.n_classes, by.weights)[1], grid)

    @property
    def totals(self) -> list[Fraction]:
        """The number, or the exact total weight, of the known values of each class."""
        if self.weight is None:
            return [Fraction(n) for n in self.known.tolist()]
        integers, exponent = self.weight.to_integers()
        return [n * Fraction(2) ** exponent for n in integers]

    def plus(self, other: NumberCounts, sign: int = 1) -> NumberCounts:
        """Return the sum or difference over the same classes."""
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = self._exact_weight().plus(other._exact_weight(), sign)
        sum_x, sum_xx = self.sum_x.plus(other.sum_x, sign), self.sum_xx.plus(other.sum_xx, sign)
        grid = None if self.grid is None or other.grid is None else self.grid.plus(other.grid, sign)
        return NumberCounts(self.known + sign * other.known, sum_x, sum_xx, weight, grid)

    def _exact_weight(self) -> ExactSum:
        return (
            ExactSum.from_integers([int(n) for n in self.known.tolist()], 0)
            if self.weight is None
            else self.weight
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.known)

    def align_classes(self, indices: Longs, n_classes: int) -> NumberCounts:
        """Return the counts with class c moved to row indices[c] of `n_classes` rows."""
        sum_x = self.sum_x.align_classes(indices, n_classes)
        sum_xx = self.sum_xx.align_classes(indices, n_classes)
        weight = None if self.weight is None else self.weight.align_classes(indices, n_classes)
        grid = None if self.grid is None else self.grid.align_classes(indices, n_classes)
        return NumberCounts(align_rows(self.known, indices, n_classes), sum_x, sum_xx, weight, grid)

    def select_classes(self, classes: Longs) -> NumberCounts:
        """Return the counts restricted to the given classes, in this order."""
        sum_x, sum_xx = self.sum_x.select_classes(classes), self.sum_xx.select_classes(classes)
        weight = None if self.weight is None else self.weight.select_classes(classes)
        grid = None if self.grid is None else self.grid.select_classes(classes)
        return NumberCounts(self.known[classes], sum_x, sum_xx, weight, grid)

    def canonical(self) -> NumberCounts:
        """Return the canonical form, without `weight` where all total weights are whole numbers."""
        grid = None if self.grid is None else self.grid.canonical()
        if self.weight is None:
            return NumberCounts(to_integers_if_whole(self.known), self.sum_x, self.sum_xx, None, grid)
        totals = self.totals
        known = to_integers_if_whole(np.array([float(n) for n in totals]))
        is_whole = all(n.denominator == 1 for n in totals) and known.dtype == np.int64
        return NumberCounts(known, self.sum_x, self.sum_xx, None if is_whole else self.weight, grid)

    def minimum(self) -> float:
        """Return the smallest count, or -1 if no values can have these sums."""
        (sums, e1), (square_sums, e2) = self.sum_x.to_integers(), self.sum_xx.to_integers()
        totals = self.totals
        unit = Fraction(2) ** (e2 - 2 * e1)
        for n, x, xx in zip(totals, sums, square_sums, strict=True):
            # n Σx² ≥ (Σx)², with equality for a single row; without rows Σx² = 0.
            scatter = n * xx * unit - x * x
            if scatter < 0 or (scatter and n <= 1 and self.weight is None) or (xx and not n):
                return -1.0
        return float(min([*totals, 0 if self.grid is None else self.grid.minimum()], default=0))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the counts to the content of a model file."""
        arrays[f"{key}.known"] = self.known
        for name, part in (("first", self.sum_x), ("second", self.sum_xx), ("weight", self.weight)):
            if part is not None:
                arrays[f"{key}.{name}"] = part.limbs
                meta[f"{key}.{name}"] = part.base
        if self.grid is not None:
            self.grid.write_arrays(arrays, f"{key}.grid")

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, has_grid: bool = False
    ) -> NumberCounts:
        """Read the counts that `write_arrays` added."""
        sum_x, sum_xx = (_read_exact_sum(stored, f"{key}.{name}", n_classes) for name in ("first", "second"))
        has_weight = f"{key}.weight" in stored.meta
        weight = _read_exact_sum(stored, f"{key}.weight", n_classes) if has_weight else None
        known = read_counts_array(stored, f"{key}.known", (n_classes,))
        if not has_grid:
            return cls(known, sum_x, sum_xx, weight)
        grid = GridCounts.read_arrays(stored, f"{key}.grid", n_classes)
        tolerance = WEIGHT_TOLERANCE * max(1.0, float(known.max(initial=0)))
        if (np.abs(grid.table.sum(axis=1) - known) > tolerance).any():
            raise store.damaged_file_error(stored.path, f"its cells {key!r} do not add up to the values")
        return cls(known, sum_x, sum_xx, weight, grid)


def _read_exact_sum(stored: store.FileContent, key: str, n_classes: int) -> ExactSum:
    limbs, base = store.read_array(stored, key, (n_classes, None), [np.int64]), stored.meta.get(key)
    if not isinstance(base, int) or not -200 <= base <= 200 or limbs.shape[1] > 400:
        raise store.damaged_file_error(stored.path, f"its sums {key!r} are outside the range of floats")
    return ExactSum(limbs, base)


LIMB_BITS = 32


@dataclass(frozen=True)
class ExactSum(ImmutablePart):
    """One exact sum of floats per class: Σₖ limbs[c, k] · 2^(32 (base + k)), in canonical form."""

    limbs: Longs
    base: int

    @classmethod
    def from_integers(cls, values: list[int], exponent: int) -> ExactSum:
        """Return the sums values[c] · 2^exponent."""
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
        """Return the sum, or with sign=-1 the difference, over the same classes."""
        base = min(self.base, other.base)
        top = max(self.base + self.limbs.shape[1], other.base + other.limbs.shape[1])
        limbs = np.zeros((len(self.limbs), top - base), dtype=np.int64)
        _limb_window(limbs, base, self)[...] += self.limbs
        _limb_window(limbs, base, other)[...] += sign * other.limbs
        return _canonical(limbs, base)

    def align_classes(self, indices: Longs, n_classes: int) -> ExactSum:
        """Return the sums with class c moved to row indices[c] of `n_classes` rows."""
        return ExactSum(align_rows(self.limbs, indices, n_classes), self.base)

    def select_classes(self, classes: Longs) -> ExactSum:
        """Return the sums restricted to the given classes, in this order."""
        return _canonical(self.limbs[classes], self.base)

    def to_integers(self) -> tuple[list[int], int]:
        """Return Python integers and the exponent e with sum = integer · 2^e."""
        return [limbs_to_integer(limbs) for limbs in self.limbs.tolist()], LIMB_BITS * self.base


def limbs_to_integer(limbs: list[int]) -> int:
    """Return Σₖ limbs[k] · 2^(32 k)."""
    total = 0
    for limb in reversed(limbs):
        total = (total << LIMB_BITS) + limb
    return total


def class_sums(
    values: Floats, classes: Ints, n_classes: int, weights: Floats | None
) -> tuple[Floats, ExactSum, ExactSum]:
    """Return Σ w, Σ w x and Σ w x² per class over the known values, the last two exactly."""
    known, sum_x, sum_xx = _core.class_sums(classes, n_classes, values, weights)
    return known, ExactSum(*sum_x), ExactSum(*sum_xx)


def _limb_window(limbs: Longs, base: int, part: ExactSum) -> Longs:
    start = part.base - base
    return limbs[:, start : start + part.limbs.shape[1]]


def _canonical(limbs: Longs, base: int) -> ExactSum:
    return ExactSum(*_core.propagate_carries(np.ascontiguousarray(limbs), base))
