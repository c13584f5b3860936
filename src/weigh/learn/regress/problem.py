"""The problem that solvers solve, and what they answer.

All of them minimise

    Σ sᵢ · loss(yᵢ, oᵢ + b + xᵢ·w) + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²

over the weights w and, if there is a `bias`, over b, which is not penalised. The loss is ½ (y − z)² of
least squares, |y − z| of least absolute deviations, log(1 + eᶻ) − y z of logistic regression (y is 0 or 1),
or log Σ eᶻᵏ − z_y of softmax. A prior that is centred elsewhere than at zero is an offset o = X·centre, added
by whoever states the problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.regress.matrix import Matrix


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, targets and penalties; weights None means one each, offset None nothing.

    `y` [n] holds numbers; of logistic regression zeros and ones, of softmax the classes' numbers.
    """

    X: Matrix
    y: Floats
    l1: Floats
    l2: Floats
    bias: bool = True
    weights: Floats | None = None
    offset: Floats | None = None

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.X.n_rows if self.weights is None else self.weights.sum())

    def penalty(self, w: Floats) -> float:
        """What the weights cost: of several classes together."""
        l1, l2 = (each.reshape(-1, *[1] * (w.ndim - 1)) for each in (self.l1, self.l2))
        return float((l1 * np.abs(w)).sum() + 0.5 * (l2 * np.square(w)).sum())

    def cut(self, start: int, stop: int) -> Problem:
        """Return the same problem of some consecutive rows, which are not copied."""
        weights = None if self.weights is None else self.weights[start:stop]
        offset = None if self.offset is None else self.offset[start:stop]
        return replace(self, X=self.X.cut(start, stop), y=self.y[start:stop], weights=weights, offset=offset)

    def where(self, kept: Mask) -> Problem:
        """Return the same problem of some of the rows."""
        weights = None if self.weights is None else self.weights[kept]
        offset = None if self.offset is None else self.offset[kept]
        return replace(self, X=self.X.rows(kept), y=self.y[kept], weights=weights, offset=offset)

    def counted(self) -> Problem:
        """Return the same problem without the rows of weight zero."""
        if self.weights is None or (self.weights > 0).all():
            return self
        return self.where(self.weights > 0)

    def penalised(self, l1: Floats, l2: Floats) -> Problem:
        """Return the same problem with other penalties."""
        return replace(self, l1=l1, l2=l2)


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and the proof of how good they are.

    `gap` is an upper bound of what the objective is above its minimum, proved by a dual point or by the
    gradient; `w` is [d], or [d, classes], `b` a number or one per class.
    """

    w: Floats
    b: Floats
    objective: float
    gap: float
    iterations: int
    method: str
