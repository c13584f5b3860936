"""Fitting calibration maps to scores of rows that the model has not seen.

Both maps here are those of least loss to smoothed targets,

    Σ_i w_i [ log Σ_c exp z_ic − Σ_c t_ic z_ic ],   z_ic = slope · score_ic + shift_c,

which is convex. A row of class k has the target (n_k + a) / (n_k + 2a) for its own class, n_k being the
weight of such rows and a = 2 / C, and the others share the rest: as if two mistakes more had been made in
all. Of two classes this is Laplace's rule, as Platt took it. It keeps the minimum finite where the scores
separate the rows, and a model that made no mistake on n rows from being surer than n rows allow. A slope is
never below 0.001 / (the widest spread of scores in a row), so that a greater score never means less.

The loss of a row grows with its score without end, and one number far out may make naive Bayes wrong by a
thousand nats, which would then decide alone. Scores are therefore bounded first, see `bounded`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weigh.features.blocks import Floats
from weigh.model.calibration import Platt, Temperature
from weigh.model.decision import log_softmax

MIN_SLOPE = 1e-3  # what the widest spread of scores becomes at least
MAX_ITERATIONS = 200
# Logarithms of temperatures that are tried, around the usual lead of the best class: coarse, then fine.
COARSE_LOG_TEMPERATURES, FINE_LOG_TEMPERATURES = np.linspace(-6.0, 6.0, 25), np.linspace(-0.5, 0.5, 11)

ClassCodes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """Scores [rows, C] that the map is fitted to, the class of each row, and its weight above zero."""

    scores: Floats
    codes: ClassCodes
    weights: Floats

    def select_rows(self, kept: NDArray[np.bool_]) -> CalibrationData:
        """Return some of the rows."""
        return CalibrationData(self.scores[kept], self.codes[kept], self.weights[kept])

    @property
    def class_totals(self) -> Floats:
        """The weight of each class's rows."""
        totals = np.bincount(self.codes, self.weights, minlength=self.scores.shape[1])
        return totals.astype(np.float64)

    def class_frequencies(self) -> Floats:
        """Return (n_class + 1) / (n + C), the smoothed shares of the classes."""
        return np.asarray((self.class_totals + 1.0) / (self.class_totals + 1.0).sum())

    def smoothed_targets(self) -> Floats:
        """Return the smoothed targets [rows, C]."""
        classes = self.scores.shape[1]
        if classes == 1:
            return np.ones_like(self.scores)
        others = smoothed_error_rate(self.class_totals, classes)
        table = np.repeat(others[:, None] / (classes - 1), classes, axis=1)
        np.fill_diagonal(table, 1.0 - others)
        return np.asarray(table[self.codes])


def smoothed_error_rate(rows: Floats, classes: int) -> Floats:
    """Return what is left for others of rows that are all alike: a / (n + 2a), a = 2 / C."""
    pseudo = 2.0 / classes
    return np.asarray(pseudo / (rows + 2.0 * pseudo))


def clip_scores(rows: CalibrationData) -> CalibrationData:
    """Return rows of which none is taken for surer than all of them together allow.

    n rows that are all alike allow log-odds of B = log((n + a)(C − 1) / a), which is log(n + 1) of two
    classes. T is the temperature of least loss if log-odds of score / T beyond B count as B, so that no row
    loses more than that; of several the largest. Scores more than B T below their row's best become B T
    below it. Of most models that are few, or none.
    """
    below = rows.scores - rows.scores.max(axis=1, keepdims=True)
    usual = _median_margin(below, rows.weights)
    if not usual:
        return rows
    classes = below.shape[1]
    rest = float(smoothed_error_rate(rows.weights.sum(), classes))
    most = float(np.log((1.0 - rest) * (classes - 1) / rest))
    targets = rows.smoothed_targets()

    def loss(log: float) -> float:
        held = np.maximum(below * np.exp(-log), -most)
        return -float(rows.weights @ (targets * log_softmax(held)).sum(axis=1))

    log = _last_argmin(loss, np.log(usual) + COARSE_LOG_TEMPERATURES)
    log = _last_argmin(loss, log + FINE_LOG_TEMPERATURES)
    return CalibrationData(np.maximum(below, -most * np.exp(log)), rows.codes, rows.weights)


def _median_margin(below: Floats, weights: Floats) -> float:
    """Return the median lead of the best class over the second, ties apart; 0 if there are only ties."""
    if below.shape[1] < 2:
        return 0.0
    leads = -np.partition(below, -2, axis=1)[:, -2]
    order = np.argsort(leads)[(leads == 0).sum() :]
    total = np.cumsum(weights[order])
    return float(leads[order[np.searchsorted(total, 0.5 * total[-1])]]) if len(order) else 0.0


def _last_argmin(function: Callable[[float], float], places: Floats) -> float:
    """Return the last of the places where a function is least, but for rounding."""
    values = np.array([function(place) for place in places.tolist()])
    return float(places[np.flatnonzero(values <= values.min() * (1.0 + 1e-12))[-1]])


@dataclass(frozen=True)
class CalibrationFit:
    """A map, its loss per row, of bounded scores, before and after, and the proof that no better one is near.

    `derivative` is that of the loss per row by the logarithm of the slope (and by the shifts, the largest
    of all) at the map: zero at a minimum. It is None where the slope is as small as it may be.
    """

    map: Temperature | Platt
    loss_before: float
    loss_after: float
    derivative: float | None


@dataclass(frozen=True, eq=False)
class _CalibrationLoss:
    """The loss as a function of slope and shifts, the first shift being zero.

    The scores are held in units of `width`, the widest spread in a row, and slopes in its inverse.
    """

    scores: Floats
    targets: Floats
    weights: Floats
    width: float

    def parameters_at_slope(self, slope: float) -> Floats:
        """Return a slope with shifts of zero."""
        return np.concatenate([[slope], np.zeros(self.scores.shape[1] - 1)])

    def slope_derivatives(self, slope: float) -> tuple[float, float]:
        """Return the first and second derivative by the slope, without shifts."""
        q, lean = self._probabilities(self.parameters_at_slope(slope))
        first = self.weights @ ((q - self.targets) * self.scores).sum(axis=1)
        return float(first), float((lean * self.scores).sum())

    def value(self, at: Floats) -> float:
        """Return the loss."""
        return -float(self.weights @ (self.targets * log_softmax(self._logits(at))).sum(axis=1))

    def _logits(self, at: Floats) -> Floats:
        return np.asarray(at[0] * self.scores + np.concatenate([[0.0], at[1:]]))

    def _probabilities(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities q, and w q times how far each score is above its row's mean."""
        q = np.exp(log_softmax(self._logits(at)))
        mean = (q * self.scores).sum(axis=1, keepdims=True)
        return q, self.weights[:, None] * q * (self.scores - mean)

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the gradient [C] and the Hessian [C, C] by slope and shifts."""
        q, lean = self._probabilities(at)
        off, w = q - self.targets, self.weights
        gradient = np.concatenate([[w @ (off * self.scores).sum(axis=1)], (w @ off)[1:]])
        hessian = np.empty((len(at), len(at)))
        hessian[0, 0] = (lean * self.scores).sum()
        hessian[0, 1:] = hessian[1:, 0] = lean.sum(axis=0)[1:]
        hessian[1:, 1:] = (np.diag(w @ q) - q.T @ (w[:, None] * q))[1:, 1:]
        return gradient, hessian


def fit_temperature(rows: CalibrationData) -> CalibrationFit:
    """Return the temperature of least loss: the zero of a derivative that rises with 1 / T."""
    loss = _make_loss(rows)
    slope = _find_root(loss.slope_derivatives, MIN_SLOPE) if loss.width else 1.0
    at, is_least = loss.parameters_at_slope(slope), bool(loss.width) and slope == MIN_SLOPE
    left = None if is_least else _max_abs_gradient(loss, at, np.arange(1))
    return _make_fit(loss, Temperature((loss.width or 1.0) / slope), at, left)


def fit_platt(rows: CalibrationData) -> CalibrationFit:
    """Return the slope and the shifts of least loss, by Newton's method with step halving."""
    loss = _make_loss(rows)
    free = np.arange(loss.scores.shape[1])
    if not loss.width:
        # Scores that never differ have no slope to find.
        at = _minimise_newton(loss, loss.parameters_at_slope(1.0), free[1:])
        return _make_fit(loss, _to_platt(loss, at), at, _max_abs_gradient(loss, at, free[1:]))
    at = _minimise_newton(loss, loss.parameters_at_slope(_find_root(loss.slope_derivatives, MIN_SLOPE)), free)
    if at[0] > MIN_SLOPE:
        return _make_fit(loss, _to_platt(loss, at), at, _max_abs_gradient(loss, at, free))
    at = _minimise_newton(loss, loss.parameters_at_slope(MIN_SLOPE), free[1:])
    return _make_fit(loss, _to_platt(loss, at), at, None)


def _make_loss(rows: CalibrationData) -> _CalibrationLoss:
    rows = clip_scores(rows)
    below = rows.scores - rows.scores.max(axis=1, keepdims=True)
    width = float(-below.min(initial=0.0))
    return _CalibrationLoss(below / (width or 1.0), rows.smoothed_targets(), rows.weights, width)


def _find_root(function: Callable[[float], tuple[float, float]], least: float) -> float:
    """Return where a rising function is zero: Newton's steps, halved brackets where they lead outside."""
    low, high = least, max(1.0, 2.0 * least)
    if function(low)[0] >= 0.0:
        return low
    while function(high)[0] < 0.0:
        low, high = high, 4.0 * high
    at = 0.5 * (low + high)
    for _ in range(MAX_ITERATIONS):
        value, rise = function(at)
        low, high = (at, high) if value < 0.0 else (low, at)
        step = at - value / rise if rise > 0.0 else -1.0
        is_within = low <= step <= high
        # The error after a step of Newton's goes with the square of the step.
        if (is_within and abs(step - at) <= 1e-9 * at) or high - low <= 1e-15 * high:
            return step if is_within else at
        at = step if is_within else 0.5 * (low + high)
    return at


def _minimise_newton(loss: _CalibrationLoss, at: Floats, free: ClassCodes) -> Floats:
    total, at = float(loss.weights.sum()), at.copy()
    if not len(free):
        return at
    for _ in range(MAX_ITERATIONS):
        gradient, hessian = loss.derivatives(at)
        step = np.zeros_like(at)
        step[free] = np.linalg.lstsq(hessian[np.ix_(free, free)], gradient[free], rcond=None)[0]
        gain = float(gradient @ step)
        if gain <= 1e-16 * total:
            return np.asarray(at - step)
        before, length = loss.value(at), 1.0
        # Near the minimum a gain is below the rounding of the loss, and whole steps are right.
        while gain > 1e-9 * before and loss.value(at - length * step) > before - 1e-4 * length * gain:
            length *= 0.5
        at -= length * step
    return at


def _max_abs_gradient(loss: _CalibrationLoss, at: Floats, free: ClassCodes) -> float:
    gradient = loss.derivatives(at)[0] * np.array([at[0], *np.ones(len(at) - 1)])
    return float(np.abs(gradient[free]).max(initial=0.0))


def _to_platt(loss: _CalibrationLoss, at: Floats) -> Platt:
    return Platt(float(at[0]) / (loss.width or 1.0), (0.0, *at[1:].tolist()))


def _make_fit(
    loss: _CalibrationLoss, found: Temperature | Platt, at: Floats, left: float | None
) -> CalibrationFit:
    total = float(loss.weights.sum())
    before, after = loss.value(loss.parameters_at_slope(loss.width)) / total, loss.value(at) / total
    return CalibrationFit(found, before, after, None if left is None else left / total)
