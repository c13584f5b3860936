"""The mistakes of a perceptron are bounded by R²/γ², as an inequality that was checked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh


def test_the_bound_of_the_five_mails_is_105_quarters(mails: Any) -> None:
    perceptron = weigh.Perceptron(keep="last", shuffle=False).fit(mails, "spam")
    found = weigh.mistake_bound(mails, "spam", learner=perceptron)
    margin = weigh.margin(mails, "spam")
    assert margin.exact.radius == 3
    assert margin.exact.augmented.square == Fraction(4, 35)
    assert found.bound == pytest.approx(float(Fraction(105, 4)), rel=1e-12)
    assert found.mistakes == 9
    assert found.holds
    assert "Checked: the learner made 9 mistakes, 9 ≤ 26.25." in str(found)


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_holds_in_any_order(mails: Any, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(5)
    mixed = {name: [values[i] for i in order] for name, values in mails.items()}
    perceptron = weigh.Perceptron(keep="last", shuffle=True, random_state=seed).fit(mixed, "spam")
    found = weigh.mistake_bound(mixed, "spam", learner=perceptron)
    assert perceptron.mistakes_ == found.mistakes
    assert found.mistakes <= 105 / 4
    assert found.holds


def test_classes_that_no_plane_separates_have_a_bound_per_run_instead() -> None:
    line = {"x": [float(x) for x in range(-50, 50)], "positive": [x >= 0 for x in range(-50, 50)]}
    line["positive"][48], line["positive"][52] = True, False
    assert not weigh.margin(line, "positive").separable
    perceptron = weigh.Perceptron(max_iter=5).fit(line, "positive")
    found = weigh.mistake_bound(line, "positive", learner=perceptron)
    assert found.form == "hinge"
    assert found.passes == 5
    assert found.mistakes <= found.bound
    assert found.holds
