"""Exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.priors import exact


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_json_and_repr_are_lossless(number: Fraction) -> None:
    assert exact.fraction_from_json(exact.fraction_to_json(number)) == number
    assert exact.to_fraction(eval(exact.fraction_repr(number), {"Fraction": Fraction})) == number


@given(st.floats(min_value=1e-290, max_value=1e290))
def test_a_float_is_read_by_its_decimal_representation(number: float) -> None:
    assert exact.positive_fraction(number) == Fraction(repr(number))
    assert Fraction(exact.format_fraction(Fraction(repr(number)))) == Fraction(repr(number))


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.15", "3/20"), ("3/2", "3/2"), ("7", "7"), ("1/0", None), ("-1", None), ("1e5", None)],
)
def test_strings_are_parsed_as_fractions(text: str, number: str | None) -> None:
    assert exact.parse_fraction(text) == (None if number is None else Fraction(number))


def test_values_that_are_not_numbers_give_none() -> None:
    for value in (True, "1", None, float("nan"), float("inf"), np.bool_(True), 1j):
        assert exact.to_fraction(value) is None
    assert exact.parse_fraction(3) is None
    assert exact.parse_fraction("٣") is None


def test_numbers_beyond_the_range_of_floats_are_shown_as_fractions() -> None:
    tiny = Fraction(1, 10**400)
    assert exact.format_fraction(tiny) == str(tiny)
    assert exact.format_fraction(Fraction(0)) == "0"
