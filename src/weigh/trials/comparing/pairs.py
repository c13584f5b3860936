"""Two learners side by side: how far their losses are apart, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.measures.losses import Floats
from weigh.text import plain
from weigh.trials.resampled_test import CorrectedMean, holm

ROUNDING = 1e-9  # of a loss: nearer losses are taken for equal


@dataclass(frozen=True)
class Pair:
    """The difference of two mean losses, first less second: below zero the first is better.

    `p_value` is that of the corrected resampled t-test, `adjusted` the same by Holm among all pairs.
    `better` is the probability that the first has the smaller loss. With the region of practical equivalence,
    `first_better`, `equal` and `second_better` are the probabilities that the difference is below −rope,
    within ±rope, and above.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    adjusted: float
    better: float
    first_better: float
    equal: float
    second_better: float

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        return {name: plain(value) for name, value in self.__dict__.items()}


def pairs_of(
    losses: Mapping[str, Floats], chosen: Iterable[tuple[str, str]], ratio: float, level: float, rope: float
) -> tuple[Pair, ...]:
    """Test the chosen pairs, from one mean loss per split."""
    found = [
        (first, second, CorrectedMean.of(_apart(losses[first], losses[second]), ratio))
        for first, second in chosen
    ]
    adjusted = holm([mean.p_value for _, _, mean in found])
    return tuple(
        _pair(first, second, mean, p, level, rope)
        for (first, second, mean), p in zip(found, adjusted, strict=True)
    )


def _apart(first: Floats, second: Floats) -> Floats:
    """Return the differences; what only rounding tells apart is equal, and two infinities cannot be told."""
    with np.errstate(invalid="ignore"):
        apart = first - second
        is_rounding = np.abs(apart) <= ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(is_rounding & np.isfinite(apart), 0.0, apart)


def _pair(first: str, second: str, mean: CorrectedMean, adjusted: float, level: float, rope: float) -> Pair:
    low, high = mean.interval(level)
    before, after = mean.below(-rope), 1.0 - mean.below(rope)
    return Pair(
        first,
        second,
        mean.mean,
        low,
        high,
        mean.statistic,
        mean.p_value,
        adjusted,
        mean.below(0.0),
        before,
        1.0 - before - after,
        after,
    )
