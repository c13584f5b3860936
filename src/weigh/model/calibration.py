"""Calibration maps from scores to probabilities, their storage and their plot.

A map takes scores [rows, C] and returns log q [rows, C]; the probabilities of each row sum to one. Only
differences of scores within a row matter, so joint log-probabilities, log posteriors and perceptron scores
are all valid inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.decision import log_softmax
from weigh.model.file import store
from weigh.result import Facts
from weigh.text import format_float, format_quantity

FILE_KEY = "calibration"


@dataclass(frozen=True)
class Temperature(Facts):
    """Temperature scaling: log q = log_softmax(score / T).

    T > 1 makes the model less confident, T < 1 more confident. The order of the classes, and so every
    verdict, stays the same.
    """

    method: ClassVar[str] = "temperature"
    preserves_verdicts: ClassVar[bool] = True

    T: float
    _json = ("method", "T")

    def __post_init__(self) -> None:
        if not _is_positive_scale(self.T):
            raise errors.parameter_error("Temperature", "T", "a finite number above 0", self.T)
        object.__setattr__(self, "T", float(self.T))

    @property
    def slope(self) -> float:
        """The factor by which score differences are multiplied."""
        return 1.0 / self.T

    def apply(self, scores: Floats) -> Floats:
        """Return log q [rows, C] for scores [rows, C]."""
        return log_softmax(_subtract_row_max(scores) * self.slope)

    def supports_n_classes(self, n_classes: int) -> bool:
        """Return whether the map applies to this number of classes; a temperature applies to any."""
        return n_classes > 0

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to the content of a model file."""
        meta[FILE_KEY] = self.to_dict()

    @classmethod
    def read_arrays(cls, stored: store.FileContent, n_classes: int) -> Temperature:
        """Read the map that `write_arrays` added."""
        return cls(stored.meta[FILE_KEY]["T"])

    def __str__(self) -> str:
        return f"temperature {format_float(self.T)}"


@dataclass(frozen=True)
class Platt(Facts):
    """Platt scaling: log q = log_softmax(slope · score + shift), with one shift per class.

    For two classes this is Platt's logistic function of the log-odds or of a perceptron's score. The slope is
    positive, so q increases with the score. The shifts move the decision boundaries, so verdicts close to a
    boundary may change.
    """

    method: ClassVar[str] = "platt"
    preserves_verdicts: ClassVar[bool] = False

    slope: float
    shift: tuple[float, ...]
    _json = ("method", "slope", "shift")

    def __post_init__(self) -> None:
        if not _is_positive_scale(self.slope):
            raise errors.parameter_error("Platt", "slope", "a finite number above 0", self.slope)
        if not self.shift or not all(_is_finite(shift) for shift in self.shift):
            raise errors.parameter_error("Platt", "shift", "one finite number per class", self.shift)
        object.__setattr__(self, "slope", float(self.slope))
        object.__setattr__(self, "shift", tuple(map(float, self.shift)))

    def apply(self, scores: Floats) -> Floats:
        """Return log q [rows, C] for scores [rows, C]."""
        return log_softmax(_subtract_row_max(scores) * self.slope + np.array(self.shift))

    def supports_n_classes(self, n_classes: int) -> bool:
        """Return whether the map applies to this number of classes."""
        return len(self.shift) == n_classes

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to the content of a model file."""
        meta[FILE_KEY] = self.to_dict()

    @classmethod
    def read_arrays(cls, stored: store.FileContent, n_classes: int) -> Platt:
        """Read the map that `write_arrays` added."""
        meta = stored.meta[FILE_KEY]
        return cls(meta["slope"], tuple(meta["shift"]))

    def __str__(self) -> str:
        shifts = f"shift {format_float(self.shift[1])}" if len(self.shift) == 2 else "a shift per class"
        return f"platt, slope {format_float(self.slope)}, {shifts}"


@dataclass(frozen=True)
class IsotonicCurve:
    """A non-decreasing piecewise linear function through knots, constant outside them."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        increasing = all(a < b for a, b in zip(self.x, self.x[1:], strict=False))
        non_decreasing = all(a <= b for a, b in zip(self.y, self.y[1:], strict=False))
        if not self.x or len(self.x) != len(self.y) or not all(map(math.isfinite, self.x)) or not increasing:
            raise errors.parameter_error("Isotonic", "x", "increasing finite numbers, one per y", self.x)
        if not all(0.0 < y < 1.0 for y in self.y) or not non_decreasing:
            raise errors.parameter_error(
                "Isotonic", "y", "non-decreasing probabilities between 0 and 1", self.y
            )

    def evaluate(self, x: Floats) -> Floats:
        """Return the function values at x, which may be infinite."""
        return np.interp(x, self.x, self.y)

    @classmethod
    def read_arrays(cls, stored: store.FileContent, name: str) -> IsotonicCurve:
        """Read a curve stored as an array [2, knots]."""
        x, y = store.read_array(stored, name, (2, None), [np.float64]).tolist()
        return cls(tuple(x), tuple(y))


@dataclass(frozen=True)
class Isotonic(Facts):
    """Isotonic regression: q(class) ∝ curve(log-odds of the class against all others).

    Two classes have one curve, that of the second class; more classes have one curve each. Verdicts may
    change, and different scores may get equal probabilities.
    """

    method: ClassVar[str] = "isotonic"
    preserves_verdicts: ClassVar[bool] = False
    slope: ClassVar[float] = 1.0

    curves: tuple[IsotonicCurve, ...]
    _json = ("method", "curves")

    def apply(self, scores: Floats) -> Floats:
        """Return log q [rows, C] for scores [rows, C]."""
        odds = log_odds(scores)
        if len(self.curves) == 1:
            second = self.curves[0].evaluate(odds[:, 1])
            return np.log(np.column_stack([1.0 - second, second]))
        q = [curve.evaluate(odds[:, c]) for c, curve in enumerate(self.curves)]
        return log_softmax(np.log(np.column_stack(q))) if q else np.zeros_like(scores)

    def supports_n_classes(self, n_classes: int) -> bool:
        """Return whether the map applies to this number of classes."""
        return len(self.curves) == n_isotonic_curves(n_classes)

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to the content of a model file, with the curves as arrays [2, knots]."""
        meta[FILE_KEY] = {"method": self.method}
        for i, curve in enumerate(self.curves):
            arrays[f"{FILE_KEY}.{i}"] = np.array([curve.x, curve.y])

    @classmethod
    def read_arrays(cls, stored: store.FileContent, n_classes: int) -> Isotonic:
        """Read the map that `write_arrays` added."""
        names = (f"{FILE_KEY}.{i}" for i in range(n_isotonic_curves(n_classes)))
        return cls(tuple(IsotonicCurve.read_arrays(stored, name) for name in names))

    def __str__(self) -> str:
        return f"isotonic, {format_quantity(sum(len(curve.x) for curve in self.curves), 'knot')}"


Calibration = Temperature | Platt | Isotonic
CALIBRATION_TYPES: dict[str, type[Calibration]] = {
    calibration.method: calibration for calibration in (Temperature, Platt, Isotonic)
}


def n_isotonic_curves(n_classes: int) -> int:
    """Return the number of curves of an isotonic map."""
    return {1: 0, 2: 1}.get(n_classes, n_classes)


def log_odds(scores: Floats) -> Floats:
    """Return each class's log-odds against all others: score_c − log Σ_{k≠c} exp(score_k)."""
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.column_stack([-difference, difference])
    shifted = _subtract_row_max(scores)
    weights = np.exp(shifted)
    rows, best = np.arange(len(scores)), shifted.argmax(axis=1)
    total = weights.sum(axis=1, keepdims=True)
    log_others = np.log(total) + np.log1p(-np.minimum(weights / total, 0.5))
    # For the best class 1 − share would cancel, so the other classes are summed directly.
    others = shifted.copy()
    others[rows, best] = -np.inf
    log_others[rows, best] = _log_sum_exp(others)
    return np.asarray(shifted - log_others)


def _log_sum_exp(scores: Floats) -> Floats:
    """Return log Σ exp(score) of each row."""
    top = scores.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top)


def _subtract_row_max(scores: Floats) -> Floats:
    """Subtract each row's maximum, which keeps precision when scores are large."""
    return np.asarray(scores - scores.max(axis=1, keepdims=True))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_positive_scale(value: object) -> bool:
    return isinstance(value, int | float) and _is_finite(value) and value > 0 and 1.0 / value < math.inf


def read_calibration(stored: store.FileContent, n_classes: int) -> Calibration:
    """Read the calibration of a model file."""
    method = stored.meta[FILE_KEY]["method"]
    calibration_type = CALIBRATION_TYPES.get(str(method))
    if calibration_type is None:
        raise store.damaged_file_error(stored.path, f"it has an unknown calibration, {method!r}")
    try:
        calibration = calibration_type.read_arrays(stored, n_classes)
    except errors.ParameterError as cause:
        raise store.damaged_file_error(stored.path, f"its calibration is invalid ({cause})") from None
    if not calibration.supports_n_classes(n_classes):
        raise store.damaged_file_error(stored.path, "its calibration is for another number of classes")
    return calibration


N_CURVE_POINTS = 201
MAX_PLOTTED_LOG_ODDS = 6.0  # log-odds at the ends of a plot over scores
MAX_PLOTTED_CURVES = 5  # besides the diagonal


def plot_calibration(calibration: Calibration, classes: Sequence[Any], has_probabilities: bool) -> Any:
    """Plot probabilities after calibration against those before, or against scores if there are none.

    Each curve is that of one class; the other classes have equal scores.
    """
    from weigh.pictures import line_chart

    plotted = _classes_to_plot(calibration, len(classes))
    title = f"Calibration by {calibration}"
    if has_probabilities:
        odds = np.linspace(-8.0, 8.0, N_CURVE_POINTS)
        before = 1.0 / (1.0 + np.exp(-odds))
        points = list(_curve_points(calibration, classes, plotted, odds, before))
        points += [{"series": "as it was", "x": end, "y": end, "fitted": True} for end in (0.0, 1.0)]
        return line_chart(points, x="probability before", y="probability after", title=title)
    scores = _score_grid(calibration)
    points = list(_curve_points(calibration, classes, plotted, scores, scores))
    return line_chart(points, x="lead of the class's score", y="probability", title=title)


def _classes_to_plot(calibration: Calibration, n_classes: int) -> list[int]:
    """Return the indices of the plotted classes: the second of two, the first few of many."""
    if n_classes <= 2 or calibration.preserves_verdicts:
        return [min(n_classes, 2) - 1]
    return list(range(min(n_classes, MAX_PLOTTED_CURVES)))


def _score_grid(calibration: Calibration) -> Floats:
    """Return scores over which the curves cover nearly all of their range."""
    if isinstance(calibration, Isotonic):
        knots = [x for curve in calibration.curves for x in curve.x] or [0.0]
        padding = 0.05 * (max(knots) - min(knots)) or 1.0
        return np.linspace(min(knots) - padding, max(knots) + padding, N_CURVE_POINTS)
    return np.linspace(-MAX_PLOTTED_LOG_ODDS, MAX_PLOTTED_LOG_ODDS, N_CURVE_POINTS) / calibration.slope


def _curve_points(
    calibration: Calibration, classes: Sequence[Any], plotted: Sequence[int], odds: Floats, x: Floats
) -> Iterator[dict[str, Any]]:
    is_same_for_all = len(classes) > 2 and len(plotted) == 1
    for c in plotted:
        scores = np.zeros((len(odds), len(classes)))
        # The other classes together have the score log(C − 1).
        scores[:, c] = odds + np.log(max(1, len(classes) - 1))
        q = np.exp(calibration.apply(scores)[:, c])
        name = "every class" if is_same_for_all else str(classes[c])
        for x_value, q_value in zip(x.tolist(), q.tolist(), strict=True):
            yield {"series": name, "x": x_value, "y": q_value}
