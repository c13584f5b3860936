"""Numbers without one row: means and spreads from the exact sums, the row's own value taken out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from weigh.features import Numbers
from weigh.features.blocks import Floats
from weigh.model.leaving.leaving import Leaving
from weigh.model.normal import LOG_ROOT_TWO_PI, Normal, moments

FAR = 1e150  # beyond this the square of a distance may not exist


def add_numbers(column: Normal, block: Numbers, rows: Leaving, scores: Floats) -> None:
    """Add to each row's scores the log density of its number where the row was never counted."""
    known = np.flatnonzero(~np.isnan(block.values))
    if not len(known):
        return
    rows = rows.taken(known)
    triples = np.column_stack([rows.classes.astype(np.float64), rows.weights, block.values[known]])
    each, where = np.unique(triples, axis=0, return_inverse=True)
    mean, deviation = _curves(column, each)
    # What never varies, or is known of no other row, says nothing.
    says = np.asarray((deviation > 0).all(axis=1) & (column.counts.known.sum() - each[:, 1] > 0))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        steepness = np.minimum(1.0 / deviation, np.finfo(np.float64).max)
        logs = -np.log(deviation) - LOG_ROOT_TWO_PI - _penalty((each[:, 2:] - mean) * steepness)
    logs[~says] = 0.0
    scores[known] += logs[where.reshape(-1)]


def _curves(column: Normal, each: Floats) -> tuple[Floats, Floats]:
    """Return the means and deviations [cases, classes] for each (class, weight, value) taken out."""
    means, deviations, *_ = column.measured
    case = np.arange(len(each)), each[:, 0].astype(np.int64)
    mean, own, whole, spread = _moments_without(column, each)
    means, deviations = (np.tile(base, (len(each), 1)) for base in (means, deviations))
    means[case], deviations[case] = mean, own
    means = np.where(np.isnan(means), whole[:, None], means)
    if not isinstance(column.kind.spread, str):
        return means, np.full_like(means, float(column.kind.spread))
    if column.kind.spread == "shared":
        known = np.tile(column.counts.known.astype(np.float64), (len(each), 1))
        known[case] -= each[:, 1]
        deviations = np.repeat(_pooled(deviations, known), deviations.shape[1], axis=1)
    floor = column.kind.floor * spread[:, None]
    return means, np.where(np.isnan(deviations), spread[:, None], np.maximum(deviations, floor))


def _moments_without(column: Normal, each: Floats) -> Floats:
    """Return mean and deviation of the own class, then of the whole column, [4, cases]."""
    counts = column.counts
    (first, e1), (second, e2) = counts.first.integers(), counts.second.integers()
    sums = list(zip(counts.totals, first, second, strict=True))
    everything = sum(counts.totals, Fraction(0)), sum(first), sum(second)
    found = np.empty((4, len(each)))
    for at, (label, weight, value) in enumerate(each.tolist()):
        w, x = weight.as_integer_ratio(), value.as_integer_ratio()
        light, small = w[1].bit_length() - 1, x[1].bit_length() - 1
        f1, f2 = min(e1, -small - light), min(e2, -2 * small - light)
        one = w[0] * x[0] << (-small - light - f1)
        two = w[0] * x[0] * x[0] << (-2 * small - light - f2)
        for start, (n, a, b) in ((0, sums[int(label)]), (2, everything)):
            left = n - Fraction(*w), (a << (e1 - f1)) - one, (b << (e2 - f2)) - two
            found[start : start + 2, at] = moments(*left, f1, f2)
    return found


def _pooled(deviations: Floats, known: Floats) -> Floats:
    """Return the root of the mean squared deviation from each class's own mean, case by case."""
    largest = np.nanmax(np.where(np.isnan(deviations), 0.0, deviations), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(largest > 0, deviations / largest, 0.0)
        squares = np.nansum(known * ratio**2, axis=1, keepdims=True)
        pooled = largest * np.sqrt(squares / known.sum(axis=1, keepdims=True))
    return np.where(known.any(axis=1, keepdims=True), pooled, np.nan)


def _penalty(z: Floats) -> Floats:
    """Return ½ z², and beyond any square something that still grows, as the native code does."""
    distance = np.minimum(np.abs(z), np.finfo(np.float64).max)
    far = 0.5 * FAR * FAR * (1.0 + np.log(np.maximum(distance, FAR) / FAR))
    return np.where(distance <= FAR, 0.5 * distance * distance, far)
