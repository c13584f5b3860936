"""The best cut of one number: fewest errors when each side says its most frequent class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints
from weigh.model.tally import Table


@dataclass(frozen=True)
class Cut:
    """An interval [low, high) between neighbouring values, and the errors of a cut in it."""

    low: float
    high: float
    errors: float

    @property
    def middle(self) -> float:
        """The middle of the interval; its low end where no number lies between."""
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            return self.low if np.isfinite(self.low) else 0.0
        # Halves first: the sum of two large numbers may not exist.
        middle = self.low / 2 + self.high / 2
        return middle if self.low < middle < self.high else self.low


def best_cut(values: Floats, classes: Ints, weights: Table | None, n_classes: int) -> Cut:
    """Return the cut with the fewest errors; of several the widest, of several such the lowest.

    Missing values (NaN) count as a third side, with a most frequent class of their own. A column
    without two different values is cut above all of them.
    """
    counted: Table = np.ones(len(values), dtype=np.int64) if weights is None else weights
    gaps = np.isnan(values)
    base = counted.sum() - _most(classes[gaps], counted[gaps], n_classes)
    order = np.argsort(values)[: len(values) - int(gaps.sum())]
    ordered, codes, counted = values[order], classes[order], counted[order]
    ends = np.flatnonzero(ordered[:-1] < ordered[1:])
    if not len(ends):
        low = float(ordered[0]) if len(ordered) else -np.inf
        return Cut(low, np.inf, float(base - _most(codes, counted, n_classes)))
    left, right = _running_most(codes, counted)
    errors = base - left[ends] - right[ends + 1]
    widths = ordered[ends + 1] / 2 - ordered[ends] / 2
    near = np.flatnonzero(errors <= errors.min() + tolerance(counted))
    best = int(near[np.argmax(widths[near])])
    low, high = ordered[ends[best]], ordered[ends[best] + 1]
    return Cut(float(low), float(high), float(errors[best]))


def tolerance(weights: Table) -> float:
    """Return how far apart sums of these weights may be and still be equal: 0 for whole numbers."""
    return 0.0 if weights.dtype == np.int64 else 1e-9 * float(weights.sum())


def _most(classes: Ints, weights: Table, n_classes: int) -> Any:
    """Return the weight of the most frequent class."""
    return np.bincount(classes, weights, n_classes).max(initial=0)


def _running_most(classes: Ints, weights: Table) -> tuple[Table, Table]:
    """Return the weight of the most frequent class up to each row, and from each row on.

    A class is the most frequent one at the row where its own count has just grown, so that the
    running maximum over all rows' own counts is enough: no table of rows × classes is needed.
    """
    grouped = np.argsort(classes, kind="stable")
    running = np.cumsum(weights[grouped])
    starts = np.flatnonzero(np.diff(classes[grouped], prepend=-1))
    sizes = np.diff(starts, append=len(classes))
    before = np.repeat(running[starts] - weights[grouped][starts], sizes)
    totals = np.repeat(np.add.reduceat(weights[grouped], starts), sizes)
    up_to, from_on = np.empty_like(weights), np.empty_like(weights)
    up_to[grouped] = running - before
    from_on[grouped] = totals - (running - before) + weights[grouped]
    return np.maximum.accumulate(up_to), np.maximum.accumulate(from_on[::-1])[::-1]
