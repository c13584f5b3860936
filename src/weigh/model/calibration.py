"""Calibration maps: from scores to probabilities that mean what they say.

A map takes scores [rows, C] and gives log q [rows, C], of which every row's probabilities sum to one. Only
differences of scores within a row matter, so that joint logarithms, log posteriors and the points of a
perceptron are all welcome.
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
from weigh.text import format_float, format_quantity

FILE_KEY = "calibration"  # in a model file


@dataclass(frozen=True)
class Temperature:
    """log q(class) = score(class) / T − log of the sum over classes.

    A temperature above 1 makes a model less sure, one below 1 surer. The order of the classes stays, and
    with it every verdict.
    """

    method: ClassVar[str] = "temperature"
    preserves_verdicts: ClassVar[bool] = True

    T: float

    def __post_init__(self) -> None:
        if not _is_positive_scale(self.T):
            raise errors.parameter_error("Temperature", "T", "a finite number above 0", self.T)

    @property
    def slope(self) -> float:
        """What a difference of scores is multiplied by."""
        return 1.0 / self.T

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        return log_softmax(_subtract_row_max(scores) * self.slope)

    def supports_n_classes(self, classes: int) -> bool:
        """Whether the map is one for so many classes; a temperature is for any."""
        return classes > 0

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        return {"method": self.method, "T": self.T}

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold."""
        meta[FILE_KEY] = self.to_dict()

    @classmethod
    def read_arrays(cls, stored: store.FileContent, classes: int) -> Temperature:
        """Return the map that `put` added."""
        return cls(stored.meta[FILE_KEY]["T"])

    def __str__(self) -> str:
        return f"temperature {format_float(self.T)}"


@dataclass(frozen=True)
class Platt:
    """log q(class) = slope · score(class) + shift(class) − log of the sum over classes.

    Of two classes this is Platt's logistic curve of the log-odds, or of a perceptron's score; of many
    classes it has one slope for all and a shift of each. The slope is above zero, so that a greater score
    never means less; the shifts move the cuts between classes, so that a verdict near a cut may change.
    """

    method: ClassVar[str] = "platt"
    preserves_verdicts: ClassVar[bool] = False

    slope: float
    shift: tuple[float, ...]

    def __post_init__(self) -> None:
        if not _is_positive_scale(self.slope):
            raise errors.parameter_error("Platt", "slope", "a finite number above 0", self.slope)
        if not self.shift or not all(_is_finite(each) for each in self.shift):
            raise errors.parameter_error("Platt", "shift", "one finite number per class", self.shift)

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        return log_softmax(_subtract_row_max(scores) * self.slope + np.array(self.shift))

    def supports_n_classes(self, classes: int) -> bool:
        """Whether the map is one for so many classes."""
        return len(self.shift) == classes

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        return {"method": self.method, "slope": self.slope, "shift": list(self.shift)}

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold."""
        meta[FILE_KEY] = self.to_dict()

    @classmethod
    def read_arrays(cls, stored: store.FileContent, classes: int) -> Platt:
        """Return the map that `put` added."""
        meta = stored.meta[FILE_KEY]
        return cls(meta["slope"], tuple(meta["shift"]))

    def __str__(self) -> str:
        shifts = f"shift {format_float(self.shift[1])}" if len(self.shift) == 2 else "a shift per class"
        return f"platt, slope {format_float(self.slope)}, {shifts}"


@dataclass(frozen=True)
class IsotonicCurve:
    """A rising line through knots, level before the first and after the last."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.x, self.x[1:], strict=False))
        never_falling = all(a <= b for a, b in zip(self.y, self.y[1:], strict=False))
        if not self.x or len(self.x) != len(self.y) or not all(map(math.isfinite, self.x)) or not rising:
            raise errors.parameter_error("Isotonic", "x", "finite numbers that rise, one per y", self.x)
        if not all(0.0 < each < 1.0 for each in self.y) or not never_falling:
            raise errors.parameter_error(
                "Isotonic", "y", "probabilities between 0 and 1 that never fall", self.y
            )

    def evaluate(self, x: Floats) -> Floats:
        """Return the height of the line at places, which may be infinite."""
        return np.interp(x, self.x, self.y)

    @classmethod
    def read_arrays(cls, stored: store.FileContent, name: str) -> IsotonicCurve:
        """Return the line that a model file holds as an array [2, knots]."""
        array = stored.arrays.get(name)
        if array is None or array.dtype != np.float64 or array.ndim != 2 or len(array) != 2:
            raise store.damaged_file_error(
                stored.path, f"its curve {name!r} is missing or of the wrong shape"
            )
        return cls(tuple(array[0].tolist()), tuple(array[1].tolist()))


@dataclass(frozen=True)
class Isotonic:
    """q(class) = its curve at the class's log-odds against all others, divided by the sum over classes.

    The curves rise, but otherwise have the form that the rows gave them. Two classes have one curve, that of
    the second; more have one each. Verdicts may change, and rows that differed may become equal.
    """

    method: ClassVar[str] = "isotonic"
    preserves_verdicts: ClassVar[bool] = False
    slope: ClassVar[float] = 1.0

    curves: tuple[IsotonicCurve, ...]

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        odds = log_odds(scores)
        if len(self.curves) == 1:
            second = self.curves[0].evaluate(odds[:, 1])
            return np.log(np.column_stack([1.0 - second, second]))
        heights = [curve.evaluate(odds[:, c]) for c, curve in enumerate(self.curves)]
        return log_softmax(np.log(np.column_stack(heights))) if heights else np.zeros_like(scores)

    def supports_n_classes(self, classes: int) -> bool:
        """Whether the map is one for so many classes."""
        return len(self.curves) == n_isotonic_curves(classes)

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        curves = [{"x": list(curve.x), "y": list(curve.y)} for curve in self.curves]
        return {"method": self.method, "curves": curves}

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold: curves as arrays [2, knots]."""
        meta[FILE_KEY] = {"method": self.method}
        for at, curve in enumerate(self.curves):
            arrays[f"{FILE_KEY}.{at}"] = np.array([curve.x, curve.y])

    @classmethod
    def read_arrays(cls, stored: store.FileContent, classes: int) -> Isotonic:
        """Return the map that `put` added."""
        return cls(
            tuple(
                IsotonicCurve.read_arrays(stored, f"{FILE_KEY}.{at}")
                for at in range(n_isotonic_curves(classes))
            )
        )

    def __str__(self) -> str:
        return f"isotonic, {format_quantity(sum(len(curve.x) for curve in self.curves), 'knot')}"


Calibration = Temperature | Platt | Isotonic
CALIBRATION_TYPES: dict[str, type[Calibration]] = {
    each.method: each for each in (Temperature, Platt, Isotonic)
}
CALIBRATION_METHODS = tuple(CALIBRATION_TYPES)


def n_isotonic_curves(classes: int) -> int:
    """Return how many curves an isotonic map of so many classes has."""
    return {1: 0, 2: 1}.get(classes, classes)


def log_odds(scores: Floats) -> Floats:
    """Return every class's score minus the logarithm of the summed exponentials of the others'."""
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.column_stack([-difference, difference])
    below = _subtract_row_max(scores)
    parts = np.exp(below)
    rows, best = np.arange(len(scores)), below.argmax(axis=1)
    total = parts.sum(axis=1, keepdims=True)
    rest = np.log(total) + np.log1p(-np.minimum(parts / total, 0.5))
    # One minus the best's own share would have no digits left: its others are added up by themselves.
    others = below.copy()
    others[rows, best] = -np.inf
    rest[rows, best] = _log_sum_exp(others)
    return np.asarray(below - rest)


def _log_sum_exp(scores: Floats) -> Floats:
    """Return the logarithm of each row's summed exponentials."""
    top = scores.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top)


def _subtract_row_max(scores: Floats) -> Floats:
    """Return how far each score is below its row's best: small numbers keep their digits."""
    return np.asarray(scores - scores.max(axis=1, keepdims=True))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_positive_scale(value: object) -> bool:
    return isinstance(value, int | float) and _is_finite(value) and value > 0 and 1.0 / value < math.inf


def read_calibration(stored: store.FileContent, classes: int) -> Calibration:
    """Return the map that a model file holds, refused as damaged where it is none."""
    method = stored.meta[FILE_KEY]["method"]
    kind = CALIBRATION_TYPES.get(str(method))
    if kind is None:
        raise store.damaged_file_error(stored.path, f"it has an unknown calibration, {method!r}")
    try:
        found = kind.read_arrays(stored, classes)
    except errors.ParameterError as cause:
        raise store.damaged_file_error(stored.path, f"its calibration is none ({cause})") from None
    if not found.supports_n_classes(classes):
        raise store.damaged_file_error(stored.path, "its calibration is of another number of classes")
    return found


N_CURVE_POINTS = 201
MAX_PLOTTED_LOG_ODDS = 6.0  # log-odds at the ends of a picture over scores
MAX_PLOTTED_CURVES = 5  # curves, beside the diagonal


def plot_calibration(found: Calibration, classes: Sequence[Any], probable: bool) -> Any:
    """Draw a map: probabilities before and after, or of a model without any, scores and probabilities.

    A curve is that of one class, the others equally likely among themselves.
    """
    from weigh.pictures import line_chart

    shown = _classes_to_plot(found, len(classes))
    title = f"Calibration by {found}"
    if probable:
        odds = np.linspace(-8.0, 8.0, N_CURVE_POINTS)
        before = 1.0 / (1.0 + np.exp(-odds))
        table = list(_curve_points(found, classes, shown, odds, before))
        table += [{"series": "as it was", "x": end, "y": end, "fitted": True} for end in (0.0, 1.0)]
        return line_chart(table, x="probability before", y="probability after", title=title)
    leads = _score_grid(found, shown)
    table = list(_curve_points(found, classes, shown, leads, leads))
    return line_chart(table, x="lead of the class's score", y="probability", title=title)


def _classes_to_plot(found: Calibration, classes: int) -> list[int]:
    """Return the classes whose curves are drawn: of two the second, of many the first ones."""
    if classes <= 2 or found.preserves_verdicts:
        return [min(classes, 2) - 1]
    return list(range(min(classes, MAX_PLOTTED_CURVES)))


def _score_grid(found: Calibration, shown: Sequence[int]) -> Floats:
    """Return the scores over which a curve goes from next to nothing to nearly one."""
    if isinstance(found, Isotonic):
        knots = [x for curve in found.curves for x in curve.x] or [0.0]
        room = 0.05 * (max(knots) - min(knots)) or 1.0
        return np.linspace(min(knots) - room, max(knots) + room, N_CURVE_POINTS)
    return np.linspace(-MAX_PLOTTED_LOG_ODDS, MAX_PLOTTED_LOG_ODDS, N_CURVE_POINTS) / found.slope


def _curve_points(
    found: Calibration, classes: Sequence[Any], shown: Sequence[int], odds: Floats, x: Floats
) -> Iterator[dict[str, Any]]:
    everyone = len(classes) > 2 and len(shown) == 1
    for c in shown:
        scores = np.zeros((len(odds), len(classes)))
        # So many equal others have this much together.
        scores[:, c] = odds + np.log(max(1, len(classes) - 1))
        y = np.exp(found.apply(scores)[:, c])
        name = "every class" if everyone else str(classes[c])
        for at, after in zip(x.tolist(), y.tolist(), strict=True):
            yield {"series": name, "x": at, "y": after}
