"""A loss as a parabola: ½ Σ hᵢ (vᵢ − xᵢ·w − b)², known by the pull u = h (v − Xw − b) of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.chosen import chosen_columns
from weigh.learn.regress.gram_lasso import Quadratic, solve_gram
from weigh.learn.regress.matrix import Matrix
from weigh.model.pipeline import cores

# How many sweeps the first rounds are worth; later ones go on until a sweep gains a tenth of the first.
_SWEEPS = (1, 2, 3, 5)
_MOST, _SHARE = 30, 0.1
# Near the optimum sweeps only find the signs.
_NEAR = 5


@dataclass(frozen=True)
class Effort:
    """How many rounds there were, and whether the optimum is near."""

    rounds: int
    is_near: bool

    @property
    def sweeps(self) -> int:
        """How many sweeps the next round is worth."""
        if self.is_near:
            return _NEAR
        return _SWEEPS[self.rounds] if self.rounds < len(_SWEEPS) else _MOST


@dataclass(frozen=True, eq=False)
class Pull:
    """The bends h > 0 and pulls u of the rows, and whether there is a bias."""

    h: Floats
    u: Floats
    bias: bool

    def balanced(self) -> tuple[Floats, float]:
        """Return the pulls with the best bias, and how far that is."""
        if not self.bias:
            return self.u, 0.0
        shift = float(self.u.sum() / self.h.sum())
        return self.u - shift * self.h, shift


class GramModel:
    """The parabola as a table of all features."""

    def __init__(self, X: Matrix) -> None:
        self._X = X

    def lowered(
        self, pull: Pull, w: Floats, q: Floats, l1: Floats, l2: Floats, effort: Effort
    ) -> tuple[Floats, float]:
        """Return the weights of least model and penalty, and the change of the bias."""
        u, shift = pull.balanced()
        gram, q = self._X.weighted_gram(pull.h), self._X.transposed_times(u)
        mean = np.zeros(len(w))
        if pull.bias:
            total = float(pull.h.sum())
            mean = self._X.transposed_times(pull.h) / total
            raw = np.diagonal(gram).copy()
            gram -= total * np.outer(mean, mean)
            constant = np.diagonal(gram) <= 1e-12 * raw
            gram[constant], gram[:, constant] = 0.0, 0.0
            q = np.where(constant, 0.0, q)
        led = gram @ w
        yy = float(w @ led + 2 * q @ w + (u * u / pull.h).sum())
        there = solve_gram(Quadratic(gram, q + led, yy), l1, l2, tol=1e-13, start=w).w
        return there, shift - float(mean @ (there - w))


class ColumnModel:
    """The parabola along columns of those features that may pull more than their l1."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._chosen: Longs = np.zeros(0, np.int64)
        self._columns: _core.ColumnSubset | None = None

    def lowered(
        self, pull: Pull, w: Floats, q: Floats, l1: Floats, l2: Floats, effort: Effort
    ) -> tuple[Floats, float]:
        """Return weights of a lower model and penalty, and the change of the bias."""
        columns = self._of(q, w, l1)
        chosen = self._chosen
        active = (w[chosen] != 0) | (np.abs(q[chosen]) > 0.8 * l1[chosen]) | (l1[chosen] == 0)
        u, shift = pull.balanced()
        is_fine = effort.is_near or effort.rounds > 8
        settings = _core.CoordinateDescentSettings(
            pull.bias, is_fine, _SHARE, effort.sweeps, cores(), effort.rounds
        )
        found = w[chosen]
        which = np.flatnonzero(active).astype(np.int32)
        pulls = self._X.transposed_times(u)[chosen] if shift else q[chosen]
        penalties = l1[chosen], l2[chosen]
        _, further = _core.coordinate_descent_columns(
            columns, which, *penalties, pull.h, u, pulls, settings, found
        )
        there = np.zeros_like(w)
        there[chosen] = found
        return there, shift + further

    def _of(self, q: Floats, w: Floats, l1: Floats) -> _core.ColumnSubset:
        """Return the columns of all features that pull, and of those that soon may."""
        held = np.zeros(len(w), dtype=bool)
        held[self._chosen] = True
        needed = (np.abs(q) > l1) | (w != 0) | (l1 == 0)
        if self._columns is None or (needed & ~held).any():
            soon = held | needed | (np.abs(q) > 0.5 * l1)
            # To build columns anew costs more than to have some that are never needed.
            self._chosen = np.flatnonzero(soon) if 4 * soon.sum() < len(w) else np.arange(len(w))
            self._columns = chosen_columns(self._X, self._chosen)
        return self._columns
