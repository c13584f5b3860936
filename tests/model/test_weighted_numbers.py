"""Numbers under fractional weights: no digits are lost, and merging stays exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh

TIME = 1.6e9


def rows(n: int = 500) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(TIME, 1.0, (n, 1))
    X[::17] = np.nan
    return X, np.arange(n) % 2, rng.uniform(0.1, 3, n)


def fit(*data: Any) -> Any:
    return weigh.NaiveBayes(columns=weigh.Number(floor=0)).fit(*data).model_


def test_a_small_spread_far_from_zero_is_the_exact_one() -> None:
    X, y, w = rows()
    found = fit(X, y, w).distributions[0]
    for c in (0, 1):
        kept = [
            (Fraction(x), Fraction(v)) for x, v, k in zip(X[:, 0], w, y, strict=True) if k == c and x == x
        ]
        total = sum(v for _, v in kept)
        mean = sum(v * x for x, v in kept) / total
        variance = sum(v * (x - mean) ** 2 for x, v in kept) / total
        assert found.mean[c] == float(mean)
        assert found.deviation[c] == pytest.approx(float(variance) ** 0.5, rel=1e-15)


def test_merging_weighted_numbers_is_exact_in_any_order() -> None:
    X, y, w = rows()
    whole = fit(X, y, w).counts.parts[0]
    parts = [fit(X[at], y[at], w[at]) for at in np.array_split(np.arange(len(y)), 5)]
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]):
        merged = parts[order[0]]
        for at in order[1:]:
            merged = merged.merge(parts[at])
        found = merged.counts.parts[0]
        assert found.totals == whole.totals
        assert found.known.tolist() == whole.known.tolist()


def test_forgetting_weighted_numbers_leaves_none_of_them() -> None:
    X, y, w = rows(60)
    learned = weigh.NaiveBayes(columns=weigh.Number(floor=0)).fit(X, y, w)
    before = learned.model_.counts.parts[0]
    learned.partial_fit(X[:7] + 1, y[:7], sample_weight=w[:7]).forget(X[:7] + 1, y[:7], w[:7])
    after = learned.model_.counts.parts[0]
    assert after.totals == before.totals
    assert after.first.integers() == before.first.integers()
    assert after.second.integers() == before.second.integers()


def test_whole_weights_leave_no_trace() -> None:
    X, y, _ = rows(60)
    weighted = fit(X, y, np.full(60, 2.0))
    repeated = fit(np.concatenate([X, X]), np.concatenate([y, y]))
    assert weighted.to_bytes() == repeated.to_bytes()


def test_fractional_weights_that_add_up_to_whole_ones_leave_no_trace() -> None:
    X, y, _ = rows(60)
    halves = fit(np.concatenate([X, X]), np.concatenate([y, y]), np.full(120, 0.5))
    assert halves.to_bytes() == fit(X, y).to_bytes()


def test_weighted_numbers_are_saved_and_opened_to_the_same_bytes(tmp_path: Any) -> None:
    model = fit(*rows())
    model.save(tmp_path / "m.weigh")
    assert weigh.load(tmp_path / "m.weigh").to_bytes() == model.to_bytes()
