"""Power laws a + b n^(−c) by weighted least squares, many at once.

For a fixed exponent c the law is linear in a and b, and its best a, b ≥ 0 have a closed form. The sum of
squares that is left is searched over c alone: on a grid, then ever finer around its best place.
"""

from __future__ import annotations

import numpy as np

from weigh.judge.measures.losses import Floats

LEAST, MOST = 0.02, 2.0  # exponents
COARSE, FINE, STAGES = 48, 9, 12


def fit_laws(sizes: Floats, losses: Floats, weights: Floats) -> Floats:
    """Return a, b, c [k, 3] of the laws nearest to losses [k, sizes], all with the same weights [sizes]."""
    # Sizes around one keep the columns of the least squares alike in length.
    middle = float(np.exp(np.log(sizes).mean()))
    logs = np.log(sizes / middle)
    grid = np.geomspace(LEAST, MOST, COARSE)
    exponents = np.tile(grid, (len(losses), 1))
    step = np.log(grid[1] / grid[0])
    best = _best(logs, losses, weights, exponents)
    for _ in range(STAGES):
        around = np.exp(np.log(best[:, 2:]) + step * np.linspace(-1.0, 1.0, FINE))
        best = _best(logs, losses, weights, np.clip(around, LEAST, MOST))
        step *= 2.5 / (FINE - 1)
    best[:, 1] *= middle ** best[:, 2]
    return best


def _best(logs: Floats, losses: Floats, weights: Floats, exponents: Floats) -> Floats:
    """Return the best a, b, c [k, 3] among exponents [k, tries] of sizes given by their logarithms."""
    powers = np.exp(-exponents[:, :, None] * logs)
    a, b = _linear(powers, losses[:, None, :], weights)
    left = losses[:, None, :] - a[:, :, None] - b[:, :, None] * powers
    at = np.argmin((weights * np.square(left)).sum(axis=2), axis=1)
    rows = np.arange(len(losses))
    return np.column_stack([a[rows, at], b[rows, at], exponents[rows, at]])


def _linear(powers: Floats, losses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the a and b, both ≥ 0, of least squares on powers [k, tries, sizes]."""
    total = weights.sum()
    mean_power = (weights * powers).sum(axis=2) / total
    mean_loss = (weights * losses).sum(axis=2) / total
    centred = powers - mean_power[:, :, None]
    spread = (weights * np.square(centred)).sum(axis=2)
    b = np.maximum((weights * centred * losses).sum(axis=2) / spread, 0.0)
    a = mean_loss - b * mean_power
    # The objective is convex: where the free optimum has a < 0, the best one has a = 0.
    alone = (weights * powers * losses).sum(axis=2) / (weights * np.square(powers)).sum(axis=2)
    return np.where(a < 0.0, 0.0, a), np.where(a < 0.0, np.maximum(alone, 0.0), b)
