"""The shapes of effects in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.text import format_float

MAX_RETURN = 0.15  # of the whole way up and down: the way back of a curve that only rises, or has one peak
MIN_STRAIGHTNESS = 0.995  # R² of a straight line
MIN_STEP = 0.5  # of the range: a difference between neighbouring cells that is named
MAX_GROUPS = 12  # of neighbouring cells, so that the noise of single cells does not matter
FLAT = "flat"


def describe_curve(
    cuts: Floats,
    positions: Floats,
    heights: Floats,
    weights: Floats,
    format_position: Callable[[float], str] = format_float,
) -> str:
    """Say how heights [K] change over the positions [K] of the cells; cells without weight do not matter.

    Examples: "rises", "line, falling", "falls, mostly at 40", "peak at 35", "lowest at 12",
    "varies, peak at 35".
    """
    if np.count_nonzero(weights) < 2 or not np.ptp(heights[weights > 0]):
        return FLAT
    if _straightness(positions, heights, weights) >= MIN_STRAIGHTNESS:
        return "line, rising" if heights[-1] > heights[0] else "line, falling"
    starts = _group_starts(weights)
    total = np.add.reduceat(weights, starts)
    x, h = (np.add.reduceat(weights * numbers, starts) / total for numbers in (positions, heights))
    steps = np.diff(h)
    up, down = float(steps.clip(min=0).sum()), float(-steps.clip(max=0).sum())
    if min(up, down) <= MAX_RETURN * (up + down):
        largest = int(np.argmax(np.abs(steps)))
        is_step = abs(steps[largest]) >= MIN_STEP * np.ptp(h) and len(steps) > 1
        where = f", mostly at {format_position(float(cuts[starts[largest + 1] - 1]))}" if is_step else ""
        return f"{'rises' if up > down else 'falls'}{where}"
    top, bottom = int(np.argmax(h)), int(np.argmin(h))
    if _way_back(steps, top) <= MAX_RETURN * (up + down):
        return f"peak at {format_position(float(x[top]))}"
    if _way_back(-steps, bottom) <= MAX_RETURN * (up + down):
        return f"lowest at {format_position(float(x[bottom]))}"
    return f"varies, peak at {format_position(float(x[top]))}"


def _group_starts(weights: Floats) -> Longs:
    """Return where each group of neighbouring cells starts; every group has cells with weight."""
    used = np.flatnonzero(weights > 0)
    n_groups = min(MAX_GROUPS, len(used))
    starts = used[np.arange(n_groups) * len(used) // n_groups]
    starts[0] = 0
    return starts


def _way_back(steps: Floats, top: int) -> float:
    """Return how far heights fall before the top and rise after it."""
    return float(-steps[:top].clip(max=0).sum() + steps[top:].clip(min=0).sum())


def _straightness(x: Floats, h: Floats, weights: Floats) -> float:
    """Return the squared correlation of positions and heights."""
    share = weights / weights.sum()
    # Squares of very large or small numbers are not finite or zero.
    x, h = (each / (float(np.abs(each).max()) or 1.0) for each in (x - share @ x, h - share @ h))
    product = float(share @ (x * x)) * float(share @ (h * h))
    return float(share @ (x * h)) ** 2 / product if product else 0.0


def describe_levels(names: Sequence[str], heights: Floats) -> str:
    """Name the levels with the greatest and the least height."""
    if len(names) < 2 or not np.ptp(heights):
        return FLAT
    return f"most for {names[int(np.argmax(heights))]}, least for {names[int(np.argmin(heights))]}"


def describe_surface(names: Sequence[str], heights: Floats) -> str:
    """Name the cell with the greatest height."""
    return f"highest at {names[int(np.argmax(heights))]}" if np.ptp(heights) else FLAT
