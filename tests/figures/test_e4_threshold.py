"""E4: the threshold classifier."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weigh

TABLE = {"x": [1.5, 2.2, 1.8, 1.2, 0.9], "y": [True, True, True, False, False]}


def test_optimal_cuts_range_from_1_2_to_1_5_with_midpoint_1_35() -> None:
    stump = weigh.Threshold().fit(TABLE, "y")
    assert stump.column_ == "x"
    assert stump.interval_ == (1.2, 1.5)
    assert stump.threshold_ == 1.35
    assert stump.score(TABLE, "y") == 1


@pytest.mark.parametrize(("cut", "right"), [(1.19, 4), (1.2, 5), (1.3, 5), (1.4999, 5), (1.5, 4)])
def test_the_interval_includes_its_lower_end_only(cut: float, right: int) -> None:
    said = [x > cut for x in TABLE["x"]]
    assert sum(a == b for a, b in zip(said, TABLE["y"], strict=True)) == right


def test_the_probabilities_are_smoothed_frequencies_of_the_side(worked: Any) -> None:
    model = weigh.Threshold().fit(TABLE, "y").model_
    found = worked(model, {"x": 2})
    assert found["P(class | x > 1.35)"] == {"False": Fraction(1, 5), "True": Fraction(4, 5)}
    assert model.predict_proba({"x": [1.0, 2.0]}).ravel() == pytest.approx([3 / 4, 1 / 4, 1 / 5, 4 / 5])
