"""Rows that leave the counts one at a time: what each of them takes away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask


@dataclass(frozen=True, eq=False)
class Leaving:
    """The class (as its number) and the weight of each row; `vanished` classes have no other row."""

    classes: Longs
    weights: Floats
    vanished: Mask
    fractional: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.classes)

    @cached_property
    def own(self) -> tuple[Longs, Longs]:
        """Where each row's own class stands in a table [rows, classes]."""
        return np.arange(self.n_rows), self.classes

    def taken(self, rows: Longs) -> Leaving:
        """Return some of the rows."""
        return Leaving(self.classes[rows], self.weights[rows], self.vanished[rows], self.fractional)


def nothing_left(totals: Floats, before: Floats, fractional: bool) -> Floats:
    """Return totals with what is only rounding of fractional weights or pseudo-counts set to zero."""
    if not fractional:
        return totals
    return np.where(np.abs(totals) <= 1e-12 * np.abs(before), 0.0, totals)
