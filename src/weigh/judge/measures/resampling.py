"""Measures of errors, and their intervals by the bootstrap over rows.

All measures are functions of a few means over rows: of 1, e, |e|, e², y and y², times the rows' weights. A
sample of n rows with replacement is n rows' counts, so its means are counts · columns. Of very many rows the
means follow their normal curve, and are drawn from it.
"""

from __future__ import annotations

import math

import numpy as np

from weigh.judge.measures.losses import Floats

SAMPLES = 2_000
SEED = 0
EXACT_ROWS = 10_000
BLOCK = 1 << 22  # counts held at once


def resampled(error: Floats, true: Floats, weight: Floats, level: float) -> tuple[Floats, Floats]:
    """Return r2, rmse, mae and mean error, and their limits [2, 4]; fewer than two rows have none."""
    away = true - np.average(true, weights=weight)
    table = weight[:, None] * np.column_stack(
        [np.ones_like(error), error, np.abs(error), np.square(error), away, np.square(away)]
    )
    # Sums along rows of memory are made pairwise, and lose next to nothing.
    found = _measures(np.ascontiguousarray(table.T).mean(axis=1)[None, :])[0]
    if len(error) < 2:
        return np.array([math.nan, *found[1:]]), np.full((2, 4), np.nan)
    tail = (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        return found, np.nanquantile(_measures(_means(table)), [tail, 1.0 - tail], axis=0)


def _measures(means: Floats) -> Floats:
    """Return r2, rmse, mae and mean error [k, 4] from k means of the columns."""
    total, error, size, square, away, spread = means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = np.maximum(spread - np.square(away) / total, 0.0)
        # A constant has nothing to explain: it is met, or it is not.
        r2 = np.where(scatter > 0, 1.0 - square / scatter, np.where(square > 0, 0.0, 1.0))
        return np.column_stack([r2, np.sqrt(square / total), size / total, error / total])


def _means(table: Floats) -> Floats:
    """Return the columns' means of samples of as many rows, drawn with replacement."""
    rng, n = np.random.default_rng(SEED), len(table)
    if n > EXACT_ROWS:
        return np.asarray(rng.multivariate_normal(table.mean(axis=0), np.cov(table.T) / n, SAMPLES))
    step = max(1, BLOCK // n)
    sizes = [min(step, SAMPLES - start) for start in range(0, SAMPLES, step)]
    return np.concatenate([_counts(rng, size, n) @ table / n for size in sizes])


def _counts(rng: np.random.Generator, size: int, n: int) -> Floats:
    """Return how often each of n rows is in each of some samples of n rows."""
    drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
