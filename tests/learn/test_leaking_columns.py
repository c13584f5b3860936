"""Columns whose presence nearly tells the class are named; other missing values are not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors


def make_table(share_inside: float, share_outside: float) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    is_fraud = np.arange(1_000) < 200
    has_value = draw.random(1_000) < np.where(is_fraud, share_inside, share_outside)
    return {
        "amount": draw.normal(size=1_000),
        "refund": [f"type {row % 4}" if present else None for row, present in enumerate(has_value)],
        "fraud": np.where(is_fraud, "yes", "no"),
    }


@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.LogisticRegression(), weigh.Perceptron()])
def test_a_column_with_values_in_one_class_is_named(learner: Any) -> None:
    with pytest.warns(errors.LeakingColumns) as caught:
        learner.fit(make_table(1.0, 0.0), "fraud")
    assert [str(each.message) for each in caught] == [
        "Column 'refund' has a value in 100 % of the rows of class 'yes' and in 0 % of the others, so it "
        "nearly tells the class. Is it known at the time of the prediction? If not, use columns={'refund': "
        "'skip'}."
    ]


@pytest.mark.parametrize(("inside", "outside"), [(0.9, 0.1), (0.5, 0.0), (0.3, 0.3)])
def test_other_missing_values_are_not_named(inside: float, outside: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes().fit(make_table(inside, outside), "fraud")


def test_a_skipped_column_is_not_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes(columns={"refund": "skip"}).fit(make_table(1.0, 0.0), "fraud")
