"""Exact numbers: how they are read, written and shared out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weigh import errors
from weigh.priors import exact

Number = int | float | Fraction
Json = int | str

# Beyond these a parameter would be zero or infinite as a float.
MIN_MAGNITUDE = Fraction(1, 10**300)
MAX_MAGNITUDE = Fraction(10**300)

# Bounded, because a short text such as 1e999999999 would take all memory to read.
_NUMBER_PATTERN = re.compile(r"(\d{1,4000})(?:/(\d{1,4000})|\.(\d{1,4000}))?", re.ASCII)


def to_fraction(value: object) -> Fraction | None:
    """The exact value of a finite number, a float by its decimal text; None for all else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real | Decimal):
        try:
            return Fraction(str(value))
        except ValueError:
            return None
    return None


def positive_fraction(value: object) -> Fraction | None:
    """The exact value of a number above zero that a float can hold, else None."""
    number = to_fraction(value)
    return number if number is not None and MIN_MAGNITUDE <= number <= MAX_MAGNITUDE else None


def nonnegative_fraction(value: object) -> Fraction | None:
    """The exact value of a count, whole or fractional, zero allowed, else None."""
    number = to_fraction(value)
    return number if number is not None and 0 <= number <= MAX_MAGNITUDE else None


def parse_fraction(text: object) -> Fraction | None:
    """The number that a text such as '3/2' or '0.15' means, else None."""
    match = _NUMBER_PATTERN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    whole, denominator, decimals = match.groups()
    if decimals is not None:
        return Fraction(int(whole + decimals), 10 ** len(decimals))
    if denominator is not None:
        return Fraction(int(whole), int(denominator)) if int(denominator) else None
    return Fraction(int(whole))


def fraction_to_json(number: Fraction) -> Json:
    """A whole number as itself, any other as text 'p/q'."""
    return number.numerator if number.denominator == 1 else str(number)


def fraction_from_json(data: object) -> Fraction | None:
    """The positive number that `to_json` wrote, or a plain JSON number; else None."""
    return positive_fraction(parse_fraction(data) if isinstance(data, str) else data)


def format_fraction(number: Fraction) -> str:
    """A short exact text for people: '2', '0.05' or '1/3'."""
    return _exact_decimal(number) or str(number)


def fraction_repr(number: Fraction) -> str:
    """A short exact text that Python reads back: '2', '0.05' or 'Fraction(1, 3)'."""
    return _exact_decimal(number) or repr(number)


def normalise_weights(weights: Sequence[Fraction]) -> list[Fraction] | None:
    """Share out the whole in proportion to the weights, none below zero.

    These are the probabilities that maximise the product of p_k ** weight_k: the mode of a
    Dirichlet whose parameters are weight_k + 1. A negative weight is cut off at zero. Without a
    positive weight the whole goes to the only zero among negative ones; None where no single
    answer exists.
    """
    clipped = [max(weight, Fraction(0)) for weight in weights]
    total = sum(clipped, Fraction(0))
    if total:
        return [weight / total for weight in clipped]
    if len(weights) > 1 and sum(weight == 0 for weight in weights) == 1:
        return [Fraction(weight == 0) for weight in weights]
    return None


def _exact_decimal(number: Fraction) -> str | None:
    if number.denominator == 1:
        return str(number.numerator)
    if number and not MIN_MAGNITUDE <= abs(number) <= MAX_MAGNITUDE:
        return None
    text = repr(float(number))
    return text if Fraction(text) == number else None


Floats = NDArray[np.float64]


def check_numbers(given: ArrayLike, owner: str, name: str) -> Floats:
    """Return numbers as floats; refuse what is none, nan too."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(math.nan)
    if np.isnan(found).any():
        raise errors.parameter_error(owner, name, "a number or an array of numbers", given)
    return found


def unwrap_scalar(found: Floats) -> Any:
    """Return a single number as a float, an array as it is."""
    return float(found) if found.ndim == 0 else found


def check_level(given: float) -> float:
    """Return the probability of an interval; refuse what is not between 0 and 1."""
    number = exact.to_fraction(given)
    if number is None or not 0 < number < 1:
        raise errors.parameter_error("interval", "level", "between 0 and 1, both excluded", given)
    return float(number)


def check_step(given: float) -> float:
    """Return the step of a prox; refuse what is below zero or no number."""
    number = exact.nonnegative_fraction(given)
    if number is None:
        raise errors.parameter_error("prox", "step", "a number of zero or more", given)
    return float(number)
