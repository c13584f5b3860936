"""Temperature scaling and Platt scaling, fitted to the scores of held-out rows.

Both maps minimise the convex cross-entropy to smoothed targets t,

    Σ_i w_i [ log Σ_c exp z_ic − Σ_c t_ic z_ic ],   z_ic = slope · score_ic + shift_c.

For a row of class k the target of its own class is (n_k + a) / (n_k + 2a), where n_k is the total weight of
class k and a = 2 / C; the other classes share the remainder equally. This adds two errors in total and, for
two classes, equals Platt's (2000) targets. It keeps the minimum finite when the scores separate the classes
and limits the confidence of a model that made no error on n rows. The slope is at least 0.001 / (largest
score range within a row), so the map never reverses the order of the scores.

The loss of a row is unbounded, and a single outlier can put naive Bayes wrong by a thousand nats and dominate
the fit. `clip_scores` therefore bounds the scores first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weigh.features.blocks import Floats
from weigh.model.calibration import Calibration, Platt, Temperature
from weigh.model.decision import log_softmax
from weigh.result import Facts

MIN_SLOPE = 1e-3  # in units of 1 / (largest score range within a row)
MAX_ITERATIONS = 200
# Grids of log temperatures relative to the median margin.
COARSE_LOG_TEMPERATURES, FINE_LOG_TEMPERATURES = np.linspace(-6.0, 6.0, 25), np.linspace(-0.5, 0.5, 11)

ClassCodes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """Scores [n, C], class codes [n] and positive weights [n] of the rows to calibrate on."""

    scores: Floats
    codes: ClassCodes
    weights: Floats

    def select_rows(self, mask: NDArray[np.bool_]) -> CalibrationData:
        """Return the rows where `mask` is True."""
        return CalibrationData(self.scores[mask], self.codes[mask], self.weights[mask])

    def has_zero_probability(self) -> NDArray[np.bool_]:
        """Return the mask of rows that have probability zero in some class, which no map can change."""
        return np.asarray(~np.isfinite(self.scores).all(axis=1))

    @property
    def class_totals(self) -> Floats:
        """The total weight of each class [C]."""
        totals = np.bincount(self.codes, self.weights, minlength=self.scores.shape[1])
        return totals.astype(np.float64)

    def class_frequencies(self) -> Floats:
        """Return the smoothed class frequencies (n_class + 1) / (n + C)."""
        return np.asarray((self.class_totals + 1.0) / (self.class_totals + 1.0).sum())

    def smoothed_targets(self) -> Floats:
        """Return the smoothed targets [n, C]."""
        n_classes = self.scores.shape[1]
        if n_classes == 1:
            return np.ones_like(self.scores)
        error_rates = smoothed_error_rate(self.class_totals, n_classes)
        table = np.repeat(error_rates[:, None] / (n_classes - 1), n_classes, axis=1)
        np.fill_diagonal(table, 1.0 - error_rates)
        return np.asarray(table[self.codes])


def smoothed_error_rate(n_rows: Floats, n_classes: int) -> Floats:
    """Return the smoothed error rate of n rows without an error: a / (n + 2a) with a = 2 / C."""
    pseudo_count = 2.0 / n_classes
    return np.asarray(pseudo_count / (n_rows + 2.0 * pseudo_count))


def clip_scores(data: CalibrationData) -> CalibrationData:
    """Bound each row's log-odds by what the total number of rows can support.

    n rows of the same class support log-odds of at most B = log((n + a)(C − 1) / a), which is log(n + 1) for
    two classes. Let T be the temperature that minimises the loss with log-odds score / T clipped at B (the
    largest if several do). Scores more than B·T below the best of their row are raised to B·T below it. For
    most models this affects few rows or none.
    """
    below_best = data.scores - data.scores.max(axis=1, keepdims=True)
    median_margin = _median_margin(below_best, data.weights)
    if not median_margin:
        return data
    n_classes = below_best.shape[1]
    error_rate = float(smoothed_error_rate(data.weights.sum(), n_classes))
    max_log_odds = float(np.log((1.0 - error_rate) * (n_classes - 1) / error_rate))
    targets = data.smoothed_targets()

    def loss(log_temperature: float) -> float:
        logits = np.maximum(below_best * np.exp(-log_temperature), -max_log_odds)
        return -float(data.weights @ (targets * log_softmax(logits)).sum(axis=1))

    log_temperature = _last_argmin(loss, np.log(median_margin) + COARSE_LOG_TEMPERATURES)
    log_temperature = _last_argmin(loss, log_temperature + FINE_LOG_TEMPERATURES)
    clipped = np.maximum(below_best, -max_log_odds * np.exp(log_temperature))
    return CalibrationData(clipped, data.codes, data.weights)


def _median_margin(below_best: Floats, weights: Floats) -> float:
    """Return the weighted median margin of the best class over the second, ignoring ties; 0 if all tie."""
    if below_best.shape[1] < 2:
        return 0.0
    margins = -np.partition(below_best, -2, axis=1)[:, -2]
    order = np.argsort(margins)[(margins == 0).sum() :]
    cumulative = np.cumsum(weights[order])
    return float(margins[order[np.searchsorted(cumulative, 0.5 * cumulative[-1])]]) if len(order) else 0.0


def _last_argmin(function: Callable[[float], float], grid: Floats) -> float:
    """Return the last grid point where the function is minimal up to rounding."""
    values = np.array([function(point) for point in grid.tolist()])
    return float(grid[np.flatnonzero(values <= values.min() * (1.0 + 1e-12))[-1]])


@dataclass(frozen=True)
class CalibrationFit:
    """A calibration map with its loss per row (on clipped scores) before and after.

    `derivative` certifies optimality: the largest absolute derivative of the loss per row with respect to the
    log slope and the shifts, zero at a minimum. It is None if the slope is at its lower bound.
    """

    map: Temperature | Platt
    loss_before: float
    loss_after: float
    derivative: float | None


@dataclass(frozen=True, eq=False)
class _CalibrationLoss:
    """The loss as a function of the parameters (slope, shift_1, …, shift_{C−1}); shift_0 is zero.

    Scores are relative to the best of their row, in units of `width`, the largest range within a row; slopes
    are in units of 1 / width.
    """

    scores: Floats
    targets: Floats
    weights: Floats
    width: float

    def parameters_at_slope(self, slope: float) -> Floats:
        """Return the parameters with this slope and zero shifts."""
        return np.concatenate([[slope], np.zeros(self.scores.shape[1] - 1)])

    def slope_derivatives(self, slope: float) -> tuple[float, float]:
        """Return the first and second derivative with respect to the slope at zero shifts."""
        q, weighted_deviations = self._probabilities(self.parameters_at_slope(slope))
        first = self.weights @ ((q - self.targets) * self.scores).sum(axis=1)
        return float(first), float((weighted_deviations * self.scores).sum())

    def value(self, params: Floats) -> float:
        """Return the loss."""
        return -float(self.weights @ (self.targets * log_softmax(self._logits(params))).sum(axis=1))

    def _logits(self, params: Floats) -> Floats:
        return np.asarray(params[0] * self.scores + np.concatenate([[0.0], params[1:]]))

    def _probabilities(self, params: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities q [n, C] and w q (score − mean score of the row under q)."""
        q = np.exp(log_softmax(self._logits(params)))
        mean = (q * self.scores).sum(axis=1, keepdims=True)
        return q, self.weights[:, None] * q * (self.scores - mean)

    def derivatives(self, params: Floats) -> tuple[Floats, Floats]:
        """Return the gradient [C] and the Hessian [C, C] with respect to slope and shifts."""
        q, weighted_deviations = self._probabilities(params)
        residual, w = q - self.targets, self.weights
        grad = np.concatenate([[w @ (residual * self.scores).sum(axis=1)], (w @ residual)[1:]])
        hess = np.empty((len(params), len(params)))
        hess[0, 0] = (weighted_deviations * self.scores).sum()
        hess[0, 1:] = hess[1:, 0] = weighted_deviations.sum(axis=0)[1:]
        hess[1:, 1:] = (np.diag(w @ q) - q.T @ (w[:, None] * q))[1:, 1:]
        return grad, hess


@dataclass(frozen=True)
class CalibrationGain(Facts):
    """The mean log loss of rows before and after calibration, and whether the difference is significant.

    `gain` and `standard_error` are of the difference on bounded scores (`clip_scores`), so that no single row
    decides; `before` and `after` are plain log losses.
    """

    before: float
    after: float
    gain: float
    standard_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain exceeds its standard error, and the plain log loss decreases too.

        The map was fitted to the same rows. With one parameter θ and Z = (θ̂ − θ₀) / standard error, the gain
        is about Z² / 2n and its standard error |Z| / n, so that a gain of one standard error means |Z| = 2:
        of models that need no calibration, one in 20 passes.
        """
        return self.gain > self.standard_error and self.after < self.before


def measure_gain(data: CalibrationData, calibration: Calibration) -> CalibrationGain:
    """Return the log losses of labelled rows before and after a calibration."""
    total = data.weights.sum()
    before, after = (float(data.weights @ losses / total) for losses in _log_losses(data, calibration))
    bounded_before, bounded_after = _log_losses(clip_scores(data), calibration)
    difference = bounded_before - bounded_after
    gain = float(data.weights @ difference / total)
    # Var(Σ w d / Σ w) = Σ w² (d − mean)² / (Σ w)²
    variance = float(np.square(data.weights * (difference - gain)).sum() / total**2)
    return CalibrationGain(before, after, gain, float(np.sqrt(variance)))


def _log_losses(data: CalibrationData, calibration: Calibration) -> tuple[Floats, Floats]:
    """Return the log loss of each row, before and after calibration."""
    rows = np.arange(len(data.codes))
    return (
        -log_softmax(data.scores)[rows, data.codes],
        -calibration.apply(data.scores)[rows, data.codes],
    )


def slope_scores(data: CalibrationData, slope: float) -> tuple[Floats, float]:
    """Return the derivative of each row's weighted log-likelihood by the slope, and the information.

    The information is minus the second derivative of the sum.
    """
    scores = data.scores
    q = np.exp(log_softmax(slope * scores))
    mean = (q * scores).sum(axis=1)
    true_scores = scores[np.arange(len(data.codes)), data.codes]
    variance = (q * np.square(scores - mean[:, None])).sum(axis=1)
    return data.weights * (true_scores - mean), float(data.weights @ variance)


def fit_temperature(data: CalibrationData) -> CalibrationFit:
    """Return the temperature of least loss, a root of the derivative with respect to 1 / T."""
    loss = _make_loss(data)
    slope = _find_root(loss.slope_derivatives, MIN_SLOPE) if loss.width else 1.0
    params, is_at_bound = loss.parameters_at_slope(slope), bool(loss.width) and slope == MIN_SLOPE
    derivative = None if is_at_bound else _max_abs_gradient(loss, params, np.arange(1))
    return _make_fit(loss, Temperature((loss.width or 1.0) / slope), params, derivative)


def fit_platt(data: CalibrationData) -> CalibrationFit:
    """Return the slope and shifts of least loss, by Newton's method with backtracking."""
    loss = _make_loss(data)
    free = np.arange(loss.scores.shape[1])
    if not loss.width:
        # Constant scores do not determine a slope.
        params = _minimise_newton(loss, loss.parameters_at_slope(1.0), free[1:])
        return _make_fit(loss, _to_platt(loss, params), params, _max_abs_gradient(loss, params, free[1:]))
    slope = _find_root(loss.slope_derivatives, MIN_SLOPE)
    params = _minimise_newton(loss, loss.parameters_at_slope(slope), free)
    if params[0] > MIN_SLOPE:
        return _make_fit(loss, _to_platt(loss, params), params, _max_abs_gradient(loss, params, free))
    params = _minimise_newton(loss, loss.parameters_at_slope(MIN_SLOPE), free[1:])
    return _make_fit(loss, _to_platt(loss, params), params, None)


def _make_loss(data: CalibrationData) -> _CalibrationLoss:
    data = clip_scores(data)
    below_best = data.scores - data.scores.max(axis=1, keepdims=True)
    width = float(-below_best.min(initial=0.0))
    return _CalibrationLoss(below_best / (width or 1.0), data.smoothed_targets(), data.weights, width)


def _find_root(function: Callable[[float], tuple[float, float]], lower_bound: float) -> float:
    """Find the root of an increasing function by Newton's method, with bisection outside the bracket.

    `function` returns value and derivative. Returns `lower_bound` if the function is not negative there.
    """
    low, high = lower_bound, max(1.0, 2.0 * lower_bound)
    if function(low)[0] >= 0.0:
        return low
    while function(high)[0] < 0.0:
        low, high = high, 4.0 * high
    x = 0.5 * (low + high)
    for _ in range(MAX_ITERATIONS):
        value, derivative = function(x)
        low, high = (x, high) if value < 0.0 else (low, x)
        candidate = x - value / derivative if derivative > 0.0 else -1.0
        is_within = low <= candidate <= high
        # Newton's method converges quadratically: after a step this small the error is below rounding.
        if (is_within and abs(candidate - x) <= 1e-9 * x) or high - low <= 1e-15 * high:
            return candidate if is_within else x
        x = candidate if is_within else 0.5 * (low + high)
    return x


def _minimise_newton(loss: _CalibrationLoss, params: Floats, free: ClassCodes) -> Floats:
    """Minimise the loss over the free parameters by Newton's method with backtracking."""
    total, params = float(loss.weights.sum()), params.copy()
    if not len(free):
        return params
    for _ in range(MAX_ITERATIONS):
        grad, hess = loss.derivatives(params)
        step = np.zeros_like(params)
        step[free] = np.linalg.lstsq(hess[np.ix_(free, free)], grad[free], rcond=None)[0]
        decrement = float(grad @ step)
        if decrement <= 1e-16 * total:
            return np.asarray(params - step)
        value, length = loss.value(params), 1.0
        # Near the minimum the decrease is below the rounding error of the loss; take full steps there.
        while (
            decrement > 1e-9 * value
            and loss.value(params - length * step) > value - 1e-4 * length * decrement
        ):
            length *= 0.5
        params -= length * step
    return params


def _max_abs_gradient(loss: _CalibrationLoss, params: Floats, free: ClassCodes) -> float:
    """Return the largest absolute derivative with respect to the log slope and the shifts in `free`."""
    grad = loss.derivatives(params)[0] * np.array([params[0], *np.ones(len(params) - 1)])
    return float(np.abs(grad[free]).max(initial=0.0))


def _to_platt(loss: _CalibrationLoss, params: Floats) -> Platt:
    return Platt(float(params[0]) / (loss.width or 1.0), (0.0, *params[1:].tolist()))


def _make_fit(
    loss: _CalibrationLoss, fitted_map: Temperature | Platt, params: Floats, derivative: float | None
) -> CalibrationFit:
    total = float(loss.weights.sum())
    before, after = loss.value(loss.parameters_at_slope(loss.width)) / total, loss.value(params) / total
    return CalibrationFit(fitted_map, before, after, None if derivative is None else derivative / total)
