"""Checks of a kind's settings: of the right type and within bounds, or a refusal."""

from __future__ import annotations

import math
import operator
from typing import Any

from weigh import errors


def whole(owner: str, name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.parameter(owner, name, f"a whole number of at least {least}", value) from None
    if number < least:
        raise errors.parameter(owner, name, f"at least {least}", value)
    return number


def truth(owner: str, name: str, value: Any) -> bool:
    """Return True or False, and take nothing else for them."""
    if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise errors.parameter(owner, name, "True or False", value)


def finite(owner: str, name: str, value: Any, must: str) -> float:
    """Return a number that a float can hold; `must` words what it should have been."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise errors.parameter(owner, name, must, value) from None
    if not math.isfinite(number):
        raise errors.parameter(owner, name, must, value)
    return number
