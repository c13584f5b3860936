"""Checks of numbers that are weighed: their squares must be numbers, too."""

from __future__ import annotations

from weigh import _core, errors
from weigh.features.blocks import Entries

HUGE = 1e100  # what can still be squared, times a weight
TINY = 1e-100


def refuse_extreme(largest: float) -> None:
    """Refuse numbers whose largest magnitude has a square that is none any more, or nothing."""
    if largest > HUGE:
        raise errors.DataError(
            f"A value has the size {largest:.6g}; beyond {HUGE:g} the square of a number is none any more. "
            f"Divide the columns by their largest values."
        )
    if 0 < largest < TINY:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {TINY:g} the square of a number is nothing any "
            f"more. Multiply the columns by a power of ten."
        )


def checked(entries: Entries) -> Entries:
    """Return entries that can be weighed."""
    if entries.values is not None:
        refuse_extreme(_core.extent(entries.values)[0])
    return entries
