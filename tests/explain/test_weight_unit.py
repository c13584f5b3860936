"""The weight of a row is recovered from counts if all weights are alike, and only then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.explain.weight_unit import WeightUnit, find_weight_unit

N = 300


def make_rows(rng: np.random.Generator, n: int) -> dict[str, Any]:
    return {
        "level": [f"v{min(k, 10**6)}" for k in rng.zipf(1.6, n)],
        "number": rng.standard_cauchy(n),
    }


def fit(weights: Any, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    rows, y = make_rows(rng, N), rng.choice(["p", "q"], N)
    return weigh.NaiveBayes().fit(rows, y, sample_weight=weights), make_rows(rng, 2000)


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize("weight", [0.1, 1 / 3, 2.0, 10.0])
def test_equal_weights_change_neither_the_rate_nor_the_rows(weight: float) -> None:
    plain, later = fit(None)
    weighted, _ = fit(np.full(N, weight))
    expected, found = weigh.unfamiliar(plain, later), weigh.unfamiliar(weighted, later)
    assert find_weight_unit(weighted.model_).value == pytest.approx(weight)
    assert found.false_alarm_rate == pytest.approx(expected.false_alarm_rate)
    assert [row.row for row in found.rows] == [row.row for row in expected.rows]
    assert [str(reason) for row in found.rows for reason in row.reasons] == [
        str(reason) for row in expected.rows for reason in row.reasons
    ]


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_rate_of_different_weights_is_not_known(scale: float) -> None:
    shares = []
    for seed in range(5):
        model, later = fit(scale * np.random.default_rng(seed).uniform(0.5, 1.5, N), seed)
        found = weigh.unfamiliar(model, later)
        assert found.false_alarm_rate is None
        assert found.headline.endswith("(false alarms: not known for weighted rows).")
        assert found.to_dict()["false_alarm_rate"] is None
        shares.append(len(found.rows) / found.n_rows)
    assert np.mean(shares) < 0.02


@pytest.mark.parametrize(
    "rows",
    [
        {"a": ["x", "y"] * 100, "y": ["p", "p", "q", "q"] * 50},
        {"t": ["a b", "b c"] * 50, "y": ["p", "p", "q", "q"] * 25},
        dict.fromkeys([f"f{k}" for k in range(40)], [True, False] * 50) | {"y": ["p", "p", "q", "q"] * 25},
    ],
    ids=["balanced levels", "balanced texts", "balanced flags"],
)
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_a_balanced_table_is_not_taken_for_a_weighted_one(rows: dict[str, Any]) -> None:
    assert find_weight_unit(weigh.NaiveBayes().fit(rows, "y").model_) == WeightUnit(1.0)


def test_arrays_of_numbers_have_no_unit() -> None:
    X = np.random.default_rng(0).normal(size=(100, 60))
    assert find_weight_unit(weigh.NaiveBayes().fit(X, ["p", "q"] * 50).model_) == WeightUnit(1.0)
