"""Exact fractions: parsing, formatting and normalising them; checks of numeric arguments."""

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

Number = int | float | Fraction
Json = int | str
Floats = NDArray[np.float64]

# Limits of parameters, so that they are neither zero nor infinite as floats.
MIN_MAGNITUDE = Fraction(1, 10**300)
MAX_MAGNITUDE = Fraction(10**300)

# Bounded lengths and no exponents, because parsing 1e999999999 would exhaust memory.
_NUMBER_PATTERN = re.compile(r"(\d{1,4000})(?:/(\d{1,4000})|\.(\d{1,4000}))?", re.ASCII)


def to_fraction(value: object) -> Fraction | None:
    """Return the exact value of a finite number, a float as its decimal representation; otherwise None."""
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
    """Return the exact value of a positive number in the range of floats, otherwise None."""
    number = to_fraction(value)
    return number if number is not None and MIN_MAGNITUDE <= number <= MAX_MAGNITUDE else None


def nonnegative_fraction(value: object) -> Fraction | None:
    """Return the exact value of a number of zero or more, otherwise None."""
    number = to_fraction(value)
    return number if number is not None and 0 <= number <= MAX_MAGNITUDE else None


def parse_fraction(text: object) -> Fraction | None:
    """Parse a string such as '3/2' or '0.15'; return None if it is not a number."""
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
    """Return a whole number as an integer, any other as the string 'p/q'."""
    return number.numerator if number.denominator == 1 else str(number)


def fraction_from_json(data: object) -> Fraction | None:
    """Return the positive number that `fraction_to_json` wrote, or a JSON number; otherwise None."""
    return positive_fraction(parse_fraction(data) if isinstance(data, str) else data)


def format_fraction(number: Fraction) -> str:
    """Format a fraction exactly for display: '2', '0.05' or '1/3'."""
    return _exact_decimal(number) or str(number)


def fraction_repr(number: Fraction) -> str:
    """Format a fraction exactly as a Python expression: '2', '0.05' or 'Fraction(1, 3)'."""
    return _exact_decimal(number) or repr(number)


def normalise_weights(weights: Sequence[Fraction]) -> list[Fraction] | None:
    """Return probabilities proportional to the weights, with negative weights clipped at zero.

    They maximise Π p_k ** weight_k: the mode of a Dirichlet with the parameters weight_k + 1. Without a
    positive weight, a single zero among negative ones gets probability 1; None if the maximum is not unique.
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


def check_numbers(values: ArrayLike, owner: str, name: str) -> Floats:
    """Return numbers as a float array; raise a ParameterError for NaN and other types."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    if np.isnan(array).any():
        raise errors.parameter_error(owner, name, "a number or an array of numbers", values)
    return array


def unwrap_scalar(array: Floats) -> Any:
    """Return a zero-dimensional array as a float, any other unchanged."""
    return float(array) if array.ndim == 0 else array


def check_level(level: float) -> float:
    """Return the level of an interval; raise a ParameterError if it is not between 0 and 1."""
    number = to_fraction(level)
    if number is None or not 0 < number < 1:
        raise errors.parameter_error("interval", "level", "between 0 and 1, both excluded", level)
    return float(number)


def check_step(step: float) -> float:
    """Return the step of a proximal operator; raise a ParameterError if it is negative."""
    number = nonnegative_fraction(step)
    if number is None:
        raise errors.parameter_error("prox", "step", "a number of zero or more", step)
    return float(number)
