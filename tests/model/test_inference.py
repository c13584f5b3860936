"""The weights that a summary prints if there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model import inference
from weigh.model.inference import MAX_DISPLAY_WEIGHTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 60))


def printed_features(learner: Any, y: Any) -> tuple[list[str], list[str]]:
    """Return the printed features, and all features from the strongest to the weakest."""
    summary = learner.fit(X, y).model_.summary()
    rows = [line.split() for line in str(summary).split("\n\n")[1].splitlines()[1:]]
    strength = {line.feature: abs(line.ratio or line.weight) for line in summary.lines}
    names = [" ".join(row[:2]) if row[0].endswith(":") else row[0] for row in rows[:-1]]
    assert rows[-1][:4] == ["…", "and", str(len(summary.lines) - MAX_DISPLAY_WEIGHTS), "more"]
    assert len(names) == MAX_DISPLAY_WEIGHTS
    return names, sorted(strength, key=lambda name: -strength[name])


# The first feature and the bias are the weakest.
TARGETS = X[:, 1:] @ RNG.uniform(1, 2, 59) + 0.1 * RNG.normal(size=200)


def test_a_weak_bias_is_printed() -> None:
    names, strongest = printed_features(weigh.LinearRegression(None), TARGETS - 1e-4)
    assert "bias" not in strongest[: MAX_DISPLAY_WEIGHTS - 1]
    assert names == ["bias", *[name for name in strongest if name != "bias"][: MAX_DISPLAY_WEIGHTS - 1]]


def test_without_a_bias_only_the_strongest_weights_are_printed() -> None:
    names, strongest = printed_features(weigh.LinearRegression(None, bias=False), TARGETS)
    assert names == strongest[:MAX_DISPLAY_WEIGHTS]
    assert strongest[-1] not in names


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_with_several_classes_only_the_strongest_weights_are_printed(shift: float) -> None:
    y = np.digitize(X[:, 0] + shift, [-0.5, 0.5])
    names, strongest = printed_features(weigh.LogisticRegression(weigh.Normal(1.0)), y)
    assert names == strongest[:MAX_DISPLAY_WEIGHTS]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_summary_lists_the_strongest_of_very_many_weights(
    monkeypatch: pytest.MonkeyPatch, sign: int
) -> None:
    model = weigh.LinearRegression(None).fit(X, sign * TARGETS).model_
    every = model.summary()
    monkeypatch.setattr(inference, "MAX_LISTED_WEIGHTS", 50)
    summary = model.summary()
    weakest = sorted(every.lines[1:], key=lambda line: abs(line.weight))[:10]
    assert summary.lines == tuple(line for line in every.lines if line not in weakest)
    assert summary.n_unlisted == summary.to_dict()["n_unlisted"] == 10
    assert "n_unlisted" not in every.to_dict()
    assert f"… and {61 - MAX_DISPLAY_WEIGHTS} more" in str(summary)
