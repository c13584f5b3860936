"""Fitting calibration maps to scores of rows that the model has not seen.

Both maps here are those of least loss to smoothed targets,

    Σ_i w_i [ log Σ_c exp z_ic − Σ_c t_ic z_ic ],   z_ic = slope · score_ic + shift_c,

which is convex. A row of class k has the target (n_k + 1) / (n_k + 2) for its own class, n_k being the weight
of such rows, and the others share the rest: Laplace's rule, which Platt took for two classes. It keeps the
minimum finite where the scores separate the rows, and a model that made no mistake on n rows from being
surer than n rows allow. A slope is never below 0.001 / (the widest spread of scores in a row), so that a
greater score never means less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weigh.features.blocks import Floats
from weigh.model.calibration import Platt, Temperature

LEAST = 1e-3  # of the widest log-odds after calibration
STEPS = 200

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores [rows, C] that the map is fitted to, the class of each row, and its weight above zero."""

    scores: Floats
    codes: Places
    weights: Floats

    def where(self, kept: NDArray[np.bool_]) -> Scored:
        """Return some of the rows."""
        return Scored(self.scores[kept], self.codes[kept], self.weights[kept])

    @property
    def totals(self) -> Floats:
        """The weight of each class's rows."""
        totals = np.bincount(self.codes, self.weights, minlength=self.scores.shape[1])
        return totals.astype(np.float64)

    def shares(self) -> Floats:
        """Return (n_class + 1) / (n + C), the smoothed shares of the classes."""
        return np.asarray((self.totals + 1.0) / (self.totals + 1.0).sum())

    def targets(self) -> Floats:
        """Return the smoothed targets [rows, C]."""
        classes = self.scores.shape[1]
        if classes == 1:
            return np.ones_like(self.scores)
        others = 1.0 / (self.totals + 2.0)
        table = np.repeat(others[:, None] / (classes - 1), classes, axis=1)
        np.fill_diagonal(table, 1.0 - others)
        return np.asarray(table[self.codes])


@dataclass(frozen=True)
class Fitted:
    """A map, its loss per row before and after, and the proof that no better one is near.

    `derivative` is that of the loss per row by the logarithm of the slope (and by the shifts, the largest
    of all) at the map: zero at a minimum. It is None where the slope is as small as it may be.
    """

    map: Temperature | Platt
    before: float
    after: float
    derivative: float | None


@dataclass(frozen=True, eq=False)
class _Loss:
    """The loss as a function of slope and shifts, the first shift being zero."""

    scores: Floats
    targets: Floats
    weights: Floats

    @property
    def width(self) -> float:
        """The widest spread of scores in a row."""
        return float(np.ptp(self.scores, axis=1).max(initial=0.0))

    @property
    def least(self) -> float:
        """The least slope."""
        return LEAST / self.width

    def at_slope(self, slope: float) -> Floats:
        """Return a slope with shifts of zero."""
        return np.concatenate([[slope], np.zeros(self.scores.shape[1] - 1)])

    def along(self, slope: float) -> tuple[float, float]:
        """Return the first and second derivative by the slope, without shifts."""
        gradient, hessian = self.derivatives(self.at_slope(slope))
        return float(gradient[0]), float(hessian[0, 0])

    def value(self, at: Floats) -> float:
        """Return the loss."""
        z = self._z(at)
        top = z.max(axis=1)
        sums = np.log(np.exp(z - top[:, None]).sum(axis=1)) + top
        return float(self.weights @ (sums - (self.targets * z).sum(axis=1)))

    def _z(self, at: Floats) -> Floats:
        return np.asarray(at[0] * self.scores + np.concatenate([[0.0], at[1:]]))

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the gradient [C] and the Hessian [C, C] by slope and shifts."""
        z = self._z(at)
        q = np.exp(z - z.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        off, w = q - self.targets, self.weights
        mean = (q * self.scores).sum(axis=1)
        lean = w[:, None] * q * (self.scores - mean[:, None])
        gradient = np.concatenate([[w @ (off * self.scores).sum(axis=1)], (w @ off)[1:]])
        hessian = np.empty((len(at), len(at)))
        hessian[0, 0] = (lean * self.scores).sum()
        hessian[0, 1:] = hessian[1:, 0] = lean.sum(axis=0)[1:]
        hessian[1:, 1:] = (np.diag(w @ q) - q.T @ (w[:, None] * q))[1:, 1:]
        return gradient, hessian


def fit_temperature(rows: Scored) -> Fitted:
    """Return the temperature of least loss: the zero of a derivative that rises with 1 / T."""
    loss = _loss(rows)
    slope = _zero(loss.along, loss.least) if loss.width else 1.0
    found = loss.at_slope(slope)
    is_least = bool(loss.width) and slope == loss.least
    left = None if is_least else _largest(loss, found, np.arange(1))
    return _fitted(loss, Temperature(1.0 / slope), found, left)


def fit_platt(rows: Scored) -> Fitted:
    """Return the slope and the shifts of least loss, by Newton's method with step halving."""
    loss = _loss(rows)
    free = np.arange(loss.scores.shape[1])
    if not loss.width:
        # Scores that never differ have no slope to find.
        found, free = _newton(loss, loss.at_slope(1.0), free[1:]), free[1:]
        return _fitted(loss, _platt(found), found, _largest(loss, found, free))
    found = _newton(loss, loss.at_slope(_zero(loss.along, loss.least)), free)
    if found[0] > loss.least:
        return _fitted(loss, _platt(found), found, _largest(loss, found, free))
    found = _newton(loss, loss.at_slope(loss.least), free[1:])
    return _fitted(loss, _platt(found), found, None)


def _loss(rows: Scored) -> _Loss:
    below = rows.scores - rows.scores.max(axis=1, keepdims=True)
    return _Loss(below, rows.targets(), rows.weights)


def _zero(function: Callable[[float], tuple[float, float]], least: float) -> float:
    """Return where a rising function is zero: Newton's steps, halved brackets where they lead outside."""
    low, high = least, max(1.0, 2.0 * least)
    if function(low)[0] >= 0.0:
        return low
    while function(high)[0] < 0.0:
        low, high = high, 4.0 * high
    at = 0.5 * (low + high)
    for _ in range(STEPS):
        value, rise = function(at)
        low, high = (at, high) if value < 0.0 else (low, at)
        step = at - value / rise if rise > 0.0 else low
        following = step if low < step < high else 0.5 * (low + high)
        if value == 0.0 or abs(following - at) <= 1e-15 * at:
            return at
        at = following
    return at


def _newton(loss: _Loss, at: Floats, free: Places) -> Floats:
    total, at = float(loss.weights.sum()), at.copy()
    if not len(free):
        return at
    for _ in range(STEPS):
        gradient, hessian = loss.derivatives(at)
        step = np.zeros_like(at)
        step[free] = np.linalg.lstsq(hessian[np.ix_(free, free)], gradient[free], rcond=None)[0]
        gain = float(gradient @ step)
        if gain <= 1e-24 * total:
            break
        before, length = loss.value(at), 1.0
        # Near the minimum a gain is below the rounding of the loss, and whole steps are right.
        while gain > 1e-9 * before and loss.value(at - length * step) > before - 1e-4 * length * gain:
            length *= 0.5
        at -= length * step
    return at


def _largest(loss: _Loss, at: Floats, free: Places) -> float:
    gradient = loss.derivatives(at)[0] * np.array([at[0], *np.ones(len(at) - 1)])
    return float(np.abs(gradient[free]).max(initial=0.0))


def _platt(at: Floats) -> Platt:
    return Platt(float(at[0]), (0.0, *at[1:].tolist()))


def _fitted(loss: _Loss, found: Temperature | Platt, at: Floats, left: float | None) -> Fitted:
    total = float(loss.weights.sum())
    before, after = loss.value(loss.at_slope(1.0)) / total, loss.value(at) / total
    return Fitted(found, before, after, None if left is None else left / total)
