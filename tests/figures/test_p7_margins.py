"""P7, P8: margins of the spam table and of XOR, their radii, bounds and proofs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from weigh.judge.margins.margin import margin
from weigh.judge.margins.mistake_bound import mistake_bound

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def test_the_distance_margin_of_the_spam_table_is_the_root_of_3_20(spam_table: Any) -> None:
    found = margin(spam_table, "spam")
    assert found.separable
    assert found.exact is not None
    assert found.exact.distance.square == Fraction(3, 20)
    assert found.distance.lower <= math.sqrt(3 / 20) <= found.distance.upper
    assert found.distance.upper == pytest.approx(0.3873, abs=5e-5)


def test_the_augmented_margin_and_the_radius_of_the_spam_table(spam_table: Any) -> None:
    found = margin(spam_table, "spam")
    assert found.exact.augmented.square == Fraction(4, 35)
    assert (found.exact.radius, found.exact.radius_plain) == (3, 2)
    assert (found.radius, found.radius_plain) == (math.sqrt(3), math.sqrt(2))


def test_the_plane_that_the_perceptron_finds_is_narrower(spam_table: Any) -> None:
    found = margin(spam_table, "spam")
    # w = (−1, 2, 0, −2, 1), b = −1, of norm √10: every mail scores at least 1 on its side.
    assert 1 / math.sqrt(10) < found.distance.lower
    assert 1 / math.sqrt(11) < found.augmented.lower


def test_the_mistake_bound_of_the_spam_table_is_105_4(spam_table: Any) -> None:
    found = mistake_bound(spam_table, "spam")
    assert (found.exact, found.bound, found.form) == (Fraction(105, 4), 26.25, "margin")
    assert found.bound >= 9


def test_xor_is_proved_inseparable_by_weights_of_one_half() -> None:
    found = margin(XOR, [0, 1, 1, 0], columns="number")
    half = Fraction(1, 2)
    assert found.separable is False
    assert found.proof is not None
    assert found.proof.exact
    assert (found.proof.first, found.proof.second) == ({0: half, 3: half}, {1: half, 2: half})


def test_xor_with_the_product_is_separated_by_1_1_minus_2() -> None:
    rows = np.column_stack([XOR, XOR[:, 0] * XOR[:, 1]])
    found = margin(rows, [0, 1, 1, 0], columns="number").exact.distance
    # Twice (1, 1, −2) with b = −½, so that the nearest rows score ±1; its margin is ½/√6.
    assert list(found.w.values()) == [2, 2, -4]
    assert found.b == -1
    assert found.square == Fraction(1, 24)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (5, 3), (7, 3)])
def test_at_least_k_of_n_has_equal_weights_and_the_bias_one_half_minus_k(n: int, k: int) -> None:
    rows = np.array([[row >> bit & 1 for bit in range(n)] for row in range(2**n)])
    found = margin(rows, rows.sum(axis=1) >= k, columns="number").exact.distance
    assert list(found.w.values()) == [2] * n
    assert found.b == 1 - 2 * k
    assert found.square == Fraction(1, 4 * n)
