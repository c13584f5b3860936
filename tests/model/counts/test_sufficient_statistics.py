"""Exact sums compared with fractions, their canonical form, and weighted numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh.model.counts.sufficient_statistics import ExactSum, class_sums

values = st.lists(st.floats(allow_nan=True, allow_infinity=False, width=64), min_size=0, max_size=30)


def fractions(total: ExactSum) -> list[Fraction]:
    integers, exponent = total.to_integers()
    return [integer * Fraction(2) ** exponent for integer in integers]


def sums(x, c, classes=2, w=None):
    weights = None if w is None else np.asarray(w, dtype=np.float64)
    return class_sums(np.asarray(x, dtype=np.float64), np.asarray(c, dtype=np.int32), classes, weights)


@given(values)
@settings(max_examples=150, deadline=None)
def test_sums_equal_those_of_fractions(x):
    c = [i % 2 for i in range(len(x))]
    known, first, second = sums(x, c)
    for k in (0, 1):
        class_values = [Fraction(v) for v, kk in zip(x, c, strict=True) if kk == k and v == v]
        assert known[k] == len(class_values)
        assert fractions(first)[k] == sum(class_values, Fraction(0))
        assert fractions(second)[k] == sum((v * v for v in class_values), Fraction(0))


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0.0, 100.0)), max_size=20))
@settings(max_examples=80, deadline=None)
def test_weighted_sums_are_exact(pairs):
    x, w = [v for v, _ in pairs], [u for _, u in pairs]
    _, first, second = sums(x, [0] * len(x), 1, w)
    assert fractions(first)[0] == sum((Fraction(v) * Fraction(u) for v, u in pairs), Fraction(0))
    assert fractions(second)[0] == sum((Fraction(v) ** 2 * Fraction(u) for v, u in pairs), Fraction(0))


@given(values, st.randoms())
@settings(max_examples=100, deadline=None)
def test_order_and_chunking_do_not_change_the_bytes(x, random):
    c = [i % 2 for i in range(len(x))]
    whole = sums(x, c)[1:]
    order = list(range(len(x)))
    random.shuffle(order)
    cut = random.randint(0, len(x))
    parts = [sums([x[i] for i in half], [c[i] for i in half])[1:] for half in (order[:cut], order[cut:])]
    for total, a, b in zip(whole, *parts, strict=True):
        merged_sum = a.plus(b)
        assert merged_sum.base == total.base
        assert merged_sum.limbs.tobytes() == total.limbs.tobytes()
        back = merged_sum.plus(b, -1)
        assert back.base == a.base
        assert back.limbs.tobytes() == a.limbs.tobytes()


def test_a_sum_of_integers_equals_the_sum_of_rows():
    _, first, _ = sums([0.75, -3.0], [0, 1])
    from_integers = ExactSum.from_integers([3, -12], -2)
    assert from_integers.base == first.base
    assert from_integers.limbs.tolist() == first.limbs.tolist()


@pytest.mark.parametrize("spread", [1e-300, 1.0, 1e300])
def test_the_128_bit_and_the_limb_summation_agree(spread):
    # The native code sums a narrow range in 128-bit integers, and one with a tiny value in limbs.
    rng = np.random.default_rng(0)
    x = spread * rng.uniform(1, 2, 100)
    narrow = fractions(sums(x, [0] * 100, 1)[2])[0]
    wide = fractions(sums([*x, spread * 1e-30], [0] * 101, 1)[2])[0]
    assert wide - narrow == Fraction(spread * 1e-30) ** 2


TIMESTAMP = 1.6e9


def rows(n: int = 500) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(TIMESTAMP, 1.0, (n, 1))
    X[::17] = np.nan
    return X, np.arange(n) % 2, rng.uniform(0.1, 3, n)


def fit(*data: Any) -> Any:
    return weigh.NaiveBayes(columns=weigh.Number(floor=0)).fit(*data).model_


def test_a_small_spread_around_a_large_mean_is_exact() -> None:
    X, y, w = rows()
    distribution = fit(X, y, w).distributions[0]
    for c in (0, 1):
        rows_of_class = [
            (Fraction(x), Fraction(v)) for x, v, k in zip(X[:, 0], w, y, strict=True) if k == c and x == x
        ]
        total = sum(v for _, v in rows_of_class)
        mean = sum(v * x for x, v in rows_of_class) / total
        variance = sum(v * (x - mean) ** 2 for x, v in rows_of_class) / total
        assert distribution.mean[c] == float(mean)
        assert distribution.deviation[c] == pytest.approx(float(variance) ** 0.5, rel=1e-15)


def test_weighted_numbers_merge_exactly_in_any_order() -> None:
    X, y, w = rows()
    whole = fit(X, y, w).counts.parts[0]
    parts = [fit(X[at], y[at], w[at]) for at in np.array_split(np.arange(len(y)), 5)]
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]):
        merged = parts[order[0]]
        for at in order[1:]:
            merged = merged.merge(parts[at])
        counts = merged.counts.parts[0]
        assert counts.totals == whole.totals
        assert counts.known.tolist() == whole.known.tolist()


def test_forgetting_weighted_numbers_restores_the_sums() -> None:
    X, y, w = rows(60)
    learned = weigh.NaiveBayes(columns=weigh.Number(floor=0)).fit(X, y, w)
    before = learned.model_.counts.parts[0]
    learned.partial_fit(X[:7] + 1, y[:7], sample_weight=w[:7]).forget(X[:7] + 1, y[:7], w[:7])
    after = learned.model_.counts.parts[0]
    assert after.totals == before.totals
    assert after.sum_x.to_integers() == before.sum_x.to_integers()
    assert after.sum_xx.to_integers() == before.sum_xx.to_integers()


def test_whole_weights_equal_repeated_rows() -> None:
    X, y, _ = rows(60)
    weighted = fit(X, y, np.full(60, 2.0))
    repeated = fit(np.concatenate([X, X]), np.concatenate([y, y]))
    assert weighted.to_bytes() == repeated.to_bytes()


def test_fractional_weights_with_whole_sums_equal_whole_weights() -> None:
    X, y, _ = rows(60)
    halves = fit(np.concatenate([X, X]), np.concatenate([y, y]), np.full(120, 0.5))
    assert halves.to_bytes() == fit(X, y).to_bytes()


def test_weighted_numbers_survive_saving(tmp_path: Any) -> None:
    model = fit(*rows())
    model.save(tmp_path / "m.weigh")
    assert weigh.load(tmp_path / "m.weigh").to_bytes() == model.to_bytes()


def test_flags_whose_weights_were_forgotten_up_to_rounding_can_be_saved_and_loaded(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        table: dict[str, Any] = {
            name: [None if u < 0.2 else bool(u < 0.6) for u in rng.random(30)] for name in "fg"
        }
        table["y"] = rng.choice(["a", "b"], 30).tolist()
        weights = rng.random(30) * 10.0 ** rng.integers(-6, 6, 30)
        flags = weigh.NaiveBayes(columns="flag").fit(table, "y", sample_weight=weights)
        first = {name: column[:20] for name, column in table.items()}
        flags.forget(first, "y", sample_weight=weights[:20])
        flags.model_.save(tmp_path / "flags.weigh")
        again = weigh.load(tmp_path / "flags.weigh")
        assert again.predict_proba(first).tolist() == flags.model_.predict_proba(first).tolist()
        for evidence in again.explain(first):
            evidence.worked()
