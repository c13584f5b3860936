"""Learning, unlearning and merging are exact, over mixed columns and in any order."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import weigh

KINDS = {"plan": "category", "new": "flag", "visits": "count", "minutes": "number", "subject": "text"}
Rows = list[dict[str, Any]]


@pytest.fixture
def rows() -> Rows:
    """Forty rows of categories, flags, counts, numbers and texts, some cells missing."""
    rng = np.random.default_rng(0)
    words = np.array(["invoice", "password", "reset", "refund", "login"])
    return [
        {
            "plan": None if i % 11 == 0 else ["free", "pro", "team"][i % 3],
            "new": None if i % 7 == 0 else bool(rng.integers(2)),
            "visits": int(rng.poisson(3)),
            "minutes": None if i % 5 == 0 else float(rng.normal(10, 3)) * 1e-3,
            "subject": " ".join(rng.choice(words, size=4)),
            "topic": ["billing", "access", "other"][int(rng.integers(3))],
        }
        for i in range(40)
    ]


@pytest.fixture
def whole(rows: Rows) -> weigh.NaiveBayes:
    """A model of all rows."""
    return weigh.NaiveBayes(columns=KINDS).fit(rows, "topic")


@pytest.mark.parametrize("seed", range(5))
def test_rows_learned_in_any_order_and_pieces_give_the_same_bytes(
    rows: Rows, whole: weigh.NaiveBayes, seed: int
) -> None:
    order = random.Random(seed).sample(rows, len(rows))
    cut = 5 + seed
    model = weigh.NaiveBayes(columns=whole.schema_).fit(order[:cut], "topic")
    for row in order[cut:]:
        model.partial_fit([row], "topic")
    assert model.model_.to_bytes() == whole.model_.to_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_unlearned_rows_leave_no_trace(rows: Rows, whole: weigh.NaiveBayes, seed: int) -> None:
    order = random.Random(seed).sample(rows, len(rows))
    gone, kept = order[:15], order[15:]
    without = weigh.NaiveBayes(columns=whole.schema_).fit(kept, "topic").model_.to_bytes()
    assert whole.model_.to_bytes() != without
    assert whole.forget(gone, "topic").model_.to_bytes() == without


def test_models_of_parts_merge_to_the_model_of_all(rows: Rows, whole: weigh.NaiveBayes) -> None:
    parts = [weigh.NaiveBayes(columns=whole.schema_).fit(rows[k::3], "topic") for k in range(3)]
    for first, second, third in ((0, 1, 2), (2, 0, 1)):
        merged = parts[first].model_.merge(parts[second].model_).merge(parts[third].model_)
        assert merged.to_bytes() == whole.model_.to_bytes()


def test_a_late_class_and_a_late_level_change_nothing(rows: Rows, whole: weigh.NaiveBayes) -> None:
    late = {**rows[1], "plan": "enterprise", "topic": "sales"}
    before = whole.model_.to_bytes()
    assert whole.partial_fit([late], "topic").classes_.tolist() == ["access", "billing", "other", "sales"]
    assert whole.forget([late], "topic").model_.to_bytes() == before
