"""Numbers without an end, which no axis can show, brought to where they can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

BEYOND = 1.15  # how far past the farthest number what has no end is drawn


def bounded(numbers: Sequence[float]) -> list[float]:
    """Return numbers with infinite ones a little beyond the farthest of the others, and nan as zero."""
    farthest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0) or 1.0
    return [
        number
        if math.isfinite(number)
        else math.copysign(BEYOND * farthest, number)
        if number == number
        else 0.0
        for number in numbers
    ]
