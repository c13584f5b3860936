"""Correct digits on NIST's reference sets for linear regression, and where their rounding limits them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.certificates.rivals import solve_exactly
from tests.figures.nist import Floats, ReferenceSet, correct_digits, reference_sets
from weigh import LinearRegression

# At least, rounded down. Filip's powers are rounded to doubles, which leaves these of their certified digits.
MIN_DIGITS = {
    "Norris": 13.0,
    "Pontius": 12.5,
    "Filip": 7.4,
    "Longley": 13.5,
    "Wampler1": 14.5,
    "Wampler2": 13.0,
    "Wampler3": 14.5,
    "Wampler4": 14.5,
    "Wampler5": 14.5,
}


def fit(data: ReferenceSet) -> Floats:
    model = LinearRegression(columns="number").fit(data.X, data.y)
    return np.append(model.intercept_, model.coef_)


def solve_in_fractions(data: ReferenceSet) -> Floats:
    """Return the least-squares weights of the doubles as they are."""
    columns = [
        [Fraction(v) for v in column] for column in np.column_stack([np.ones(len(data.y)), data.X]).T.tolist()
    ]
    y = [Fraction(v) for v in data.y.tolist()]
    system = [[sum(map(Fraction.__mul__, a, c)) for c in (*columns, y)] for a in columns]
    return np.array([float(v) for v in solve_exactly(system)])


@pytest.mark.parametrize("name", MIN_DIGITS)
def test_the_weights_have_the_certified_digits(name: str) -> None:
    data = reference_sets()[name]
    assert correct_digits(fit(data), data.certified) >= MIN_DIGITS[name]


@pytest.mark.parametrize("name", MIN_DIGITS)
def test_the_weights_are_those_of_the_rounded_rows(name: str) -> None:
    data = reference_sets()[name]
    assert correct_digits(fit(data), solve_in_fractions(data)) >= 13


def test_rounding_the_powers_of_filip_costs_the_digits_that_are_missing() -> None:
    data = reference_sets()["Filip"]
    assert 7 < correct_digits(solve_in_fractions(data), data.certified) < 9


def test_the_noise_of_wampler_is_orthogonal_to_all_powers() -> None:
    sets = reference_sets()
    noise = (sets["Wampler3"].y - sets["Wampler1"].y).astype(int).tolist()
    assert all(sum(e * i**k for i, e in enumerate(noise)) == 0 for k in range(6))
