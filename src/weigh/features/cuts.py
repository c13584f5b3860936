"""Cuts: where a number's histogram is divided into bins."""

from __future__ import annotations

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
    cuts, filled = [], 0
    for i in range(len(distinct) - 1):
        filled += 0 if heavy[i] else int(times[i])
        if heavy[i] or heavy[i + 1] or filled >= share:
            # Halves first: the sum of two large numbers may not exist.
            cuts.append(float(distinct[i] / 2 + distinct[i + 1] / 2))
            filled = 0
    return tuple(cuts)


def _heavy(times: Any, bins: int) -> tuple[Any, float]:
    """Return which values fill a bin alone, and how many rows each other bin shall hold."""
    heavy = np.zeros(len(times), dtype=bool)
    while True:
        left = max(bins - int(heavy.sum()), 1)
        share = float(times[~heavy].sum() / left)
        new = ~heavy & (times >= share)
        if left == 1 or not new.any():
            return heavy, share
        heavy |= new
