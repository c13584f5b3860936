"""Ridge penalties of every strength at once: moments reduced to a table whose diagonal each strength adds to.

The penalty is scale · direction, zero for features without one. Those, U, are taken out first, and the
others, P, are divided by √direction: with F Fᵀ = gram[U, U]⁻¹ and E = F Fᵀ gram[U, P],

    table = (gram[P, P] − gram[P, U] E) / √direction / √direction,   (table + scale) v = right,
    w[P] = v / √direction,   w[U] = F Fᵀ cross[U] − E w[P].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats, Mask
from weigh.learn.regress.moments import Moments


@dataclass(frozen=True, eq=False)
class Reduced:
    """Moments without the features that bear no penalty, and the way back to weights.

    `free` is F, [U, U]; `coupling` is E, [U, P]; `yy` is what those features leave of the targets' squares.
    """

    table: Floats
    right: Floats
    yy: float
    held: Mask
    root: Floats
    free: Floats
    coupling: Floats
    fixed: Floats

    @classmethod
    def of(cls, moments: Moments, direction: Floats) -> Reduced:
        """Take the features without a penalty out."""
        held = direction > 0
        root = np.sqrt(direction[held])
        if held.all():
            table, right, yy = moments.gram / root, moments.cross / root, moments.yy
            table /= root[:, None]
            none = np.zeros((0, len(root)))
            return cls(table, right, yy, held, root, np.zeros((0, 0)), none, np.zeros(0))
        free = _free(moments, ~held)
        across = moments.gram[np.ix_(~held, held)]
        turned, along = free.T @ across, free.T @ moments.cross[~held]
        left = moments.gram[np.ix_(held, held)] - turned.T @ turned
        right = (moments.cross[held] - turned.T @ along) / root
        yy = max(moments.yy - float(along @ along), 0.0)
        table = left / root[:, None] / root[None, :]
        return cls(table, right, yy, held, root, free, free @ turned, free @ along)

    def weights(self, v: Floats) -> Floats:
        """Return the weights [d, k] of columns v [P, k]."""
        w = np.empty((len(self.held), v.shape[1]))
        w[self.held] = v / self.root[:, None]
        if len(self.fixed):
            w[~self.held] = self.fixed[:, None] - self.coupling @ w[self.held]
        return w

    def seen(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return centred rows in the table's units, [n, P], and their leverage by what has no penalty."""
        inside = rows[:, self.held]
        if not len(self.fixed):
            return inside / self.root, np.zeros(len(rows))
        outside = rows[:, ~self.held]
        return (inside - outside @ self.coupling) / self.root, np.square(outside @ self.free).sum(axis=1)


def ridge_path(moments: Moments, direction: Floats, scales: Floats) -> Floats:
    """Return the weights [k, d] of the penalties ½ Σ scale · directionⱼ wⱼ², for k scales above zero."""
    reduced = Reduced.of(moments, direction)
    form = algebra.Tridiagonal(reduced.table)
    right = form.turned(reduced.right)
    # Below this a scale is lost in the rounding of the table.
    least = 64 * float(np.finfo(np.float64).eps) * float(np.trace(reduced.table))
    found = [form.solved(max(scale, least), right)[0] for scale in scales.tolist()]
    return reduced.weights(form.turned_back(np.column_stack(found))).T


def usual_scales(squares: Floats, direction: Floats, k: int = 100) -> Floats:
    """Return scales from a thousand times the features' mean sum of squares down to its millionth."""
    held = direction > 0
    mean = float((squares[held] / direction[held]).mean()) if held.any() else 1.0
    return np.geomspace(1e3, 1e-6, k) * (mean or 1.0)


def _free(moments: Moments, which: Mask) -> Floats:
    """Return a root of the inverse of the gram of features that bear no penalty."""
    gram = moments.gram[np.ix_(which, which)]
    scale = np.sqrt(np.diagonal(gram))
    usable = bool((moments.spread[which] > 0).all())
    lower = algebra.factor(gram / scale[:, None] / scale[None, :]) if usable else None
    if lower is None or np.square(np.diagonal(lower)).min() < 1e-12:
        raise DataError(
            "Features without a penalty repeat each other or are constant, so no strength of the penalty on "
            "the others gives them one weight each: leave some of them out, or give them a prior too."
        )
    return algebra.half_solved(lower, np.diag(1 / scale)).T
