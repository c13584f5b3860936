"""Which of many weights a summary prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model.inference import MAX_DISPLAY_WEIGHTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 60))


def printed(learner: Any, y: Any) -> tuple[list[str], list[str]]:
    """Return the features that are printed, and all of them from the strongest to the weakest."""
    found = learner.fit(X, y).model_.summary()
    rows = [line.split() for line in str(found).split("\n\n")[1].splitlines()[1:]]
    strength = {line.feature: abs(line.ratio or line.weight) for line in found.lines}
    names = [" ".join(row[:2]) if row[0].endswith(":") else row[0] for row in rows[:-1]]
    assert rows[-1][:4] == ["…", "and", str(len(found.lines) - MAX_DISPLAY_WEIGHTS), "more"]
    assert len(names) == MAX_DISPLAY_WEIGHTS
    return names, sorted(strength, key=lambda name: -strength[name])


# The first feature and the bias are the weakest.
TARGETS = X[:, 1:] @ RNG.uniform(1, 2, 59) + 0.1 * RNG.normal(size=200)


def test_the_bias_is_printed_however_weak_it_is() -> None:
    names, strongest = printed(weigh.LinearRegression(None), TARGETS - 1e-4)
    assert "bias" not in strongest[: MAX_DISPLAY_WEIGHTS - 1]
    assert names == ["bias", *[name for name in strongest if name != "bias"][: MAX_DISPLAY_WEIGHTS - 1]]


def test_without_a_bias_only_the_strongest_are_printed() -> None:
    names, strongest = printed(weigh.LinearRegression(None, bias=False), TARGETS)
    assert names == strongest[:MAX_DISPLAY_WEIGHTS]
    assert strongest[-1] not in names


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_of_several_classes_only_the_strongest_are_printed(shift: float) -> None:
    y = np.digitize(X[:, 0] + shift, [-0.5, 0.5])
    names, strongest = printed(weigh.LogisticRegression(weigh.Normal(1.0)), y)
    assert names == strongest[:MAX_DISPLAY_WEIGHTS]
