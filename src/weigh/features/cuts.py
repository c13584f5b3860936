"""Cuts: where a number's histogram is divided into bins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats


def find_cuts(values: Floats, bins: int, name: str) -> tuple[float, ...]:
    """Return the cuts of a column into about equally filled bins, from its first values.

    A value that would fill a whole bin gets one of its own (a column that is mostly zero keeps its
    zeros apart); the others are cut into equal counts. Cuts lie midway between neighbours.
    """
    distinct, times = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(distinct) < 2:
        raise errors.ColumnError(
            f"Column {name!r} has {len(distinct)} distinct value in the first rows, too few for "
            f"{bins} bins. Give the cuts themselves, or columns={{{name!r}: 'number'}}."
        )
    heavy, share = _heavy(times, bins)
    # Halves first: the sum of two large numbers may not exist.
    return tuple(float(distinct[i] / 2 + distinct[i + 1] / 2) for i in _ends(times, heavy, share))


def _ends(times: Any, heavy: Any, share: float) -> Iterator[int]:
    """Yield the last value of every bin but the last: where a bin is full, or a heavy one begins."""
    filled = np.cumsum(np.where(heavy, 0, times))
    borders = np.append(np.flatnonzero(heavy[:-1] | heavy[1:]), len(times))
    end, before = -1, 0
    while True:
        full = int(np.searchsorted(filled, before + share))
        end = min(full, int(borders[np.searchsorted(borders, end, side="right")]))
        if end >= len(times) - 1:
            return
        yield end
        before = int(filled[end])


def _heavy(times: Any, bins: int) -> tuple[Any, float]:
    """Return which values fill a bin alone, and how many rows each other bin shall hold."""
    heavy = np.zeros(len(times), dtype=bool)
    while True:
        left = max(bins - int(heavy.sum()), 1)
        share = float(times[~heavy].sum() / left)
        new = ~heavy & (times >= share)
        if left == 1 or not new.any():
            # With every value in a bin of its own nothing is left to share.
            return heavy, share or np.inf
        heavy |= new
