"""Exact sums against fractions, and their one canonical form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.model.sums import ExactSum, sums_of

values = st.lists(st.floats(allow_nan=True, allow_infinity=False, width=64), min_size=0, max_size=30)


def fractions(total: ExactSum) -> list[Fraction]:
    integers, exponent = total.integers()
    return [integer * Fraction(2) ** exponent for integer in integers]


def sums(x, c, classes=2, w=None):
    weights = None if w is None else np.asarray(w, dtype=np.float64)
    return sums_of(np.asarray(x, dtype=np.float64), np.asarray(c, dtype=np.int32), classes, weights)


@given(values)
@settings(max_examples=150, deadline=None)
def test_sums_are_those_of_fractions(x):
    c = [i % 2 for i in range(len(x))]
    known, first, second = sums(x, c)
    for k in (0, 1):
        mine = [Fraction(v) for v, kk in zip(x, c, strict=True) if kk == k and v == v]
        assert known[k] == len(mine)
        assert fractions(first)[k] == sum(mine, Fraction(0))
        assert fractions(second)[k] == sum((v * v for v in mine), Fraction(0))


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0.0, 100.0)), max_size=20))
@settings(max_examples=80, deadline=None)
def test_weighted_sums_are_exact_too(pairs):
    x, w = [v for v, _ in pairs], [u for _, u in pairs]
    _, first, second = sums(x, [0] * len(x), 1, w)
    assert fractions(first)[0] == sum((Fraction(v) * Fraction(u) for v, u in pairs), Fraction(0))
    assert fractions(second)[0] == sum((Fraction(v) ** 2 * Fraction(u) for v, u in pairs), Fraction(0))


@given(values, st.randoms())
@settings(max_examples=100, deadline=None)
def test_any_order_and_any_cut_give_the_same_bytes(x, random):
    c = [i % 2 for i in range(len(x))]
    whole = sums(x, c)[1:]
    order = list(range(len(x)))
    random.shuffle(order)
    cut = random.randint(0, len(x))
    parts = [sums([x[i] for i in half], [c[i] for i in half])[1:] for half in (order[:cut], order[cut:])]
    for total, a, b in zip(whole, *parts, strict=True):
        joined = a.plus(b)
        assert joined.base == total.base
        assert joined.limbs.tobytes() == total.limbs.tobytes()
        back = joined.plus(b, -1)
        assert back.base == a.base
        assert back.limbs.tobytes() == a.limbs.tobytes()


def test_a_sum_of_stated_integers_is_the_sum_of_rows():
    _, first, _ = sums([0.75, -3.0], [0, 1])
    stated = ExactSum.of([3, -12], -2)
    assert stated.base == first.base
    assert stated.limbs.tolist() == first.limbs.tolist()


@pytest.mark.parametrize("spread", [1e-300, 1.0, 1e300])
def test_both_ways_through_the_core_agree(spread):
    # A narrow column is summed in 128-bit integers, the same column with one tiny value in limbs.
    rng = np.random.default_rng(0)
    x = spread * rng.uniform(1, 2, 100)
    narrow = fractions(sums(x, [0] * 100, 1)[2])[0]
    wide = fractions(sums([*x, spread * 1e-30], [0] * 101, 1)[2])[0]
    assert wide - narrow == Fraction(spread * 1e-30) ** 2
