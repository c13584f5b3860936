"""Checks of numbers that are weighed: their squares must be numbers, too."""

from __future__ import annotations

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Entries, Floats

HUGE = 1e100  # what can still be squared, times a weight
TINY = 1e-100


def refuse_extreme(bound: float, values: Floats) -> None:
    """Refuse numbers whose squares are none any more, or nothing; `bound` is just above them all."""
    if not len(values) or TINY * 2 < bound < HUGE / 2:
        return
    largest = float(np.abs(values).max())
    if largest > HUGE:
        raise errors.DataError(
            f"A value is {values[int(np.argmax(np.abs(values)))]:.6g}; beyond {HUGE:g} the square of a number "
            f"is none any more. Divide the columns by their largest values."
        )
    if 0 < largest < TINY:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {TINY:g} the square of a number is nothing any "
            f"more. Multiply the columns by a power of ten."
        )


def checked(entries: Entries) -> Entries:
    """Return entries that can be weighed."""
    if entries.values is not None:
        refuse_extreme(_core.extent(entries.values)[0], entries.values)
    return entries
