"""What is asked of a prior of weights: numbers, levels and steps, checked alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weigh import errors
from weigh.priors import exact

Floats = NDArray[np.float64]


def numbers(given: ArrayLike, owner: str, name: str) -> Floats:
    """Return numbers as floats; refuse what is none, nan too."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(math.nan)
    if np.isnan(found).any():
        raise errors.parameter(owner, name, "a number or an array of numbers", given)
    return found


def plain(found: Floats) -> Any:
    """Return a single number as a float, an array as it is."""
    return float(found) if found.ndim == 0 else found


def level(given: float) -> float:
    """Return the probability of an interval; refuse what is not between 0 and 1."""
    number = exact.fraction(given)
    if number is None or not 0 < number < 1:
        raise errors.parameter("interval", "level", "between 0 and 1, both excluded", given)
    return float(number)


def step(given: float) -> float:
    """Return the step of a prox; refuse what is below zero or no number."""
    number = exact.count(given)
    if number is None:
        raise errors.parameter("prox", "step", "a number of zero or more", given)
    return float(number)
