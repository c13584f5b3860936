"""McDonald, Hall & Mann (2010): perceptrons may separate two shards while no mixture separates all rows.

Four examples over three flags, labels 0 and 1, one weight per flag and label. A binary perceptron over
f(x, 1) − f(x, 0), without bias, is theirs: w·(f(x, 1) − f(x, 0)) ≥ 0 says label 1, ties included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh

SHARDS = [([[1, 1, 0], [0, 0, 1]], [0, 1]), ([[0, 1, 1], [1, 0, 0]], [0, 1])]
SOLUTIONS = [(1, 1, 0, -1, -1, 0), (0, 1, 1, 0, -1, -1)]
SEPARATOR = (-1, 2, -1, 1, -2, 1)


def features(flags: Any) -> Any:
    """Return f(x, 1) − f(x, 0), where f(x, y) has the flags in the three components of label y."""
    x = np.array(flags, dtype=float)
    none = np.zeros_like(x)
    return np.hstack([none, x]) - np.hstack([x, none])


def learned(flags: Any, labels: Any) -> weigh.Perceptron:
    learner = weigh.Perceptron(keep="last", shuffle=False, bias=False)
    return learner.fit(features(flags), labels)


def errors(w: Any) -> int:
    """Return how many of the four examples the weights get wrong."""
    return sum(
        int((features([x]) @ np.array(w) >= 0)[0]) != label
        for flags, labels in SHARDS
        for x, label in zip(flags, labels, strict=True)
    )


@pytest.mark.parametrize("shard", [0, 1])
def test_the_perceptron_of_a_shard_separates_it(shard: int) -> None:
    flags, labels = SHARDS[shard]
    found = learned(flags, labels)
    assert tuple(found.coef_[0]) == SOLUTIONS[shard]
    assert found.intercept_ == 0
    assert found.converged_
    assert found.predict(features(flags)).tolist() == labels


def test_no_mixture_of_the_two_separates_all_four() -> None:
    first, second = (np.array(w, dtype=float) for w in SOLUTIONS)
    for share in np.linspace(0, 1, 101):
        assert errors(share * first + (1 - share) * second) >= 1


def test_the_whole_is_separable() -> None:
    assert errors(SEPARATOR) == 0
    (first, few), (second, others) = SHARDS
    found = learned([*first, *second], [*few, *others])
    assert found.converged_
    assert errors(found.coef_[0]) == 0
