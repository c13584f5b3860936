"""The log-linear law is the line of least squares, and its error is that of the sets' slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress, sem

from weigh.apps.spelling.trial.law import log_law

WORDS = (10_000, 20_000, 50_000, 100_000, 1_000_000)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_the_law_is_that_of_least_squares(seed: int, sets: int) -> None:
    accuracies = np.random.default_rng(seed).random((len(WORDS), sets))
    law = log_law(WORDS, accuracies)
    assert law is not None
    line = linregress(np.log10(WORDS), accuracies.mean(axis=1))
    slopes = [linregress(np.log10(WORDS), one).slope for one in accuracies.T]
    found = (law.a, law.b, law.r2, law.error)
    assert found == pytest.approx((line.intercept, line.slope, line.rvalue**2, sem(slopes)), abs=1e-10)
    assert law.at(10_000) == pytest.approx(line.intercept + 4 * line.slope)


def test_a_straight_line_is_found_again_and_printed() -> None:
    straight = np.stack([0.3 + 0.1 * np.log10(WORDS), 0.5 + 0.06 * np.log10(WORDS)], axis=1)
    law = log_law(WORDS, straight)
    assert str(law) == "0.400 + 0.0800 (± 0.0200) · log10(words), R² 1.000"
    assert law is not None
    assert law.to_dict() == pytest.approx({"a": 0.4, "b": 0.08, "error": 0.02, "r2": 1.0})


def test_a_falling_law_has_one_sign() -> None:
    falling = log_law(WORDS, (0.9 - 0.1 * np.log10(WORDS))[:, None])
    assert str(falling) == "0.900 − 0.1000 · log10(words), R² 1.000"


def test_one_set_has_no_error_over_sets() -> None:
    law = log_law(WORDS, np.linspace(0.5, 0.9, 5)[:, None])
    assert law is not None
    assert math.isnan(law.error)
    assert law.to_dict()["error"] is None


def test_what_does_not_change_has_no_share_to_explain() -> None:
    flat = log_law(WORDS, np.full((5, 2), 0.7))
    assert str(flat) == "0.700 + 0.0000 (± 0.0000) · log10(words)"
    assert flat is not None
    assert flat.gain == "+0.0 ± 0.0"
    assert flat.to_dict()["r2"] is None


def test_two_sizes_have_no_law() -> None:
    assert log_law(WORDS[:2], np.ones((2, 3))) is None
