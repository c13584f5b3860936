"""Exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.priors import exact


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_json_and_source_lose_nothing(number: Fraction) -> None:
    assert exact.fraction_from_json(exact.fraction_to_json(number)) == number
    assert exact.to_fraction(eval(exact.fraction_repr(number), {"Fraction": Fraction})) == number


@given(st.floats(min_value=1e-290, max_value=1e290))
def test_a_float_is_its_decimal_text(number: float) -> None:
    assert exact.positive_fraction(number) == Fraction(repr(number))
    assert Fraction(exact.format_fraction(Fraction(repr(number)))) == Fraction(repr(number))


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.15", "3/20"), ("3/2", "3/2"), ("7", "7"), ("1/0", None), ("-1", None), ("1e5", None)],
)
def test_texts_of_numbers(text: str, number: str | None) -> None:
    assert exact.parse_fraction(text) == (None if number is None else Fraction(number))


def test_what_is_no_number_is_none() -> None:
    for given_value in (True, "1", None, float("nan"), float("inf"), np.bool_(True), 1j):
        assert exact.to_fraction(given_value) is None
    assert exact.parse_fraction(3) is None
    assert exact.parse_fraction("٣") is None


def test_tiny_and_huge_numbers_are_shown_as_fractions() -> None:
    tiny = Fraction(1, 10**400)
    assert exact.format_fraction(tiny) == str(tiny)
    assert exact.format_fraction(Fraction(0)) == "0"
