"""The order in which an online learner meets its rows."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Longs


def pass_order(n: int, seed: int, number: int) -> Longs:
    """Return the shuffled order of n rows in pass `number`, which counts from 0.

    It depends on nothing else, so that a pass can be repeated without those before it.
    """
    return np.random.default_rng([seed, number]).permutation(n)
