"""The axis of a grid over a numeric column."""

from __future__ import annotations

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.validation import MAX_MAGNITUDE

AXIS_PADDING = 0.08  # on either side, as a fraction of the range of the rows


def grid_axis(owner: str, name: str, numbers: Floats, cells: int) -> Floats:
    """Return the grid over a column; raise ColumnError if it has no usable numbers."""
    finite = numbers[np.isfinite(numbers)]
    largest = float(np.abs(finite).max()) if len(finite) else np.inf
    if largest > MAX_MAGNITUDE:
        problem = f"numbers as large as {largest:g}" if len(finite) else "no finite number"
        raise errors.ColumnError(
            f"{owner} needs numbers of at most {MAX_MAGNITUDE:g}, but column {name!r} has {problem}. Pass "
            f"other rows, or another column as across= or up=."
        )
    return cell_centres(finite, cells)


def cell_centres(numbers: Floats, cells: int) -> Floats:
    """Return the centres of equal cells that cover the range of the numbers with some padding."""
    finite = numbers[np.isfinite(numbers)]
    low, high = float(finite.min()), float(finite.max())
    pad = AXIS_PADDING * (high - low) or max(1.0, abs(low)) / 2
    edges = np.linspace(low - pad, high + pad, cells + 1)
    return np.asarray((edges[1:] + edges[:-1]) / 2)
