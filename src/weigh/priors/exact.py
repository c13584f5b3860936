"""Exact numbers: how they are read, written and shared out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

Number = int | float | Fraction
Json = int | str

# Beyond these a parameter would be zero or infinite as a float.
SMALLEST = Fraction(1, 10**300)
LARGEST = Fraction(10**300)

# Bounded, because a short text such as 1e999999999 would take all memory to read.
_TEXT = re.compile(r"(\d{1,4000})(?:/(\d{1,4000})|\.(\d{1,4000}))?", re.ASCII)


def fraction(value: object) -> Fraction | None:
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


def positive(value: object) -> Fraction | None:
    """The exact value of a number above zero that a float can hold, else None."""
    number = fraction(value)
    return number if number is not None and SMALLEST <= number <= LARGEST else None


def count(value: object) -> Fraction | None:
    """The exact value of a count, whole or fractional, zero allowed, else None."""
    number = fraction(value)
    return number if number is not None and 0 <= number <= LARGEST else None


def parse(text: object) -> Fraction | None:
    """The number that a text such as '3/2' or '0.15' means, else None."""
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    whole, denominator, decimals = match.groups()
    if decimals is not None:
        return Fraction(int(whole + decimals), 10 ** len(decimals))
    if denominator is not None:
        return Fraction(int(whole), int(denominator)) if int(denominator) else None
    return Fraction(int(whole))


def to_json(number: Fraction) -> Json:
    """A whole number as itself, any other as text 'p/q'."""
    return number.numerator if number.denominator == 1 else str(number)


def from_json(data: object) -> Fraction | None:
    """The positive number that `to_json` wrote, or a plain JSON number; else None."""
    return positive(parse(data) if isinstance(data, str) else data)


def as_text(number: Fraction) -> str:
    """A short exact text for people: '2', '0.05' or '1/3'."""
    return _decimal(number) or str(number)


def as_source(number: Fraction) -> str:
    """A short exact text that Python reads back: '2', '0.05' or 'Fraction(1, 3)'."""
    return _decimal(number) or repr(number)


def shares(weights: Sequence[Fraction]) -> list[Fraction] | None:
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


def _decimal(number: Fraction) -> str | None:
    if number.denominator == 1:
        return str(number.numerator)
    if number and not SMALLEST <= abs(number) <= LARGEST:
        return None
    text = repr(float(number))
    return text if Fraction(text) == number else None
