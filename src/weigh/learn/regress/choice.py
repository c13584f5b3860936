"""The strength of a penalty, chosen by rows that were not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats


@dataclass(frozen=True, eq=False)
class Choice:
    """Mean losses of rows held out, for every scale of a penalty; `errors` [folds, k] has them fold by fold.

    `uncertainty` is the standard error of their mean over the folds.
    """

    scales: Floats
    errors: Floats
    mean_errors: Floats
    uncertainty: Floats

    @classmethod
    def of(cls, scales: Floats, sums: Floats, totals: Floats) -> Choice:
        """Return the choice by sums of losses [folds, k] over rows of these total weights."""
        each = sums / totals[:, None]
        spread = each.std(axis=0, ddof=1) / np.sqrt(len(totals))
        return cls(scales, each, sums.sum(axis=0) / totals.sum(), spread)

    @property
    def best(self) -> int:
        """The number of the scale with the least error."""
        return int(np.argmin(self.mean_errors))

    @property
    def scale(self) -> float:
        """The scale with the least error."""
        return float(self.scales[self.best])
