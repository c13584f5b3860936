"""Calibration maps: from scores to probabilities that mean what they say.

A map takes scores [rows, C] and gives log q [rows, C], of which every row's probabilities sum to one. Only
differences of scores within a row matter, so that joint logarithms, log posteriors and the points of a
perceptron are all welcome.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model import store
from weigh.model.decision import normalised
from weigh.text import counted, short

KEY = "calibration"  # in a model file


@dataclass(frozen=True)
class Temperature:
    """log q(class) = score(class) / T − log of the sum over classes.

    A temperature above 1 makes a model less sure, one below 1 surer. The order of the classes stays, and
    with it every verdict.
    """

    method: ClassVar[str] = "temperature"
    keeps_verdicts: ClassVar[bool] = True

    T: float

    def __post_init__(self) -> None:
        if not _is_scale(self.T):
            raise errors.parameter("Temperature", "T", "a finite number above 0", self.T)

    @property
    def slope(self) -> float:
        """What a difference of scores is multiplied by."""
        return 1.0 / self.T

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        return normalised(_below_the_best(scores) * self.slope)

    def fits(self, classes: int) -> bool:
        """Whether the map is one for so many classes; a temperature is for any."""
        return classes > 0

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        return {"method": self.method, "T": self.T}

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold."""
        meta[KEY] = self.to_dict()

    @classmethod
    def get(cls, stored: store.Stored, classes: int) -> Temperature:
        """Return the map that `put` added."""
        return cls(stored.meta[KEY]["T"])

    def __str__(self) -> str:
        return f"temperature {short(self.T)}"


@dataclass(frozen=True)
class Platt:
    """log q(class) = slope · score(class) + shift(class) − log of the sum over classes.

    Of two classes this is Platt's logistic curve of the log-odds, or of a perceptron's score; of many
    classes it has one slope for all and a shift of each. The slope is above zero, so that a greater score
    never means less; the shifts move the cuts between classes, so that a verdict near a cut may change.
    """

    method: ClassVar[str] = "platt"
    keeps_verdicts: ClassVar[bool] = False

    slope: float
    shift: tuple[float, ...]

    def __post_init__(self) -> None:
        if not _is_scale(self.slope):
            raise errors.parameter("Platt", "slope", "a finite number above 0", self.slope)
        if not self.shift or not all(_is_finite(each) for each in self.shift):
            raise errors.parameter("Platt", "shift", "one finite number per class", self.shift)

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        return normalised(_below_the_best(scores) * self.slope + np.array(self.shift))

    def fits(self, classes: int) -> bool:
        """Whether the map is one for so many classes."""
        return len(self.shift) == classes

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        return {"method": self.method, "slope": self.slope, "shift": list(self.shift)}

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold."""
        meta[KEY] = self.to_dict()

    @classmethod
    def get(cls, stored: store.Stored, classes: int) -> Platt:
        """Return the map that `put` added."""
        meta = stored.meta[KEY]
        return cls(meta["slope"], tuple(meta["shift"]))

    def __str__(self) -> str:
        shifts = f"shift {short(self.shift[1])}" if len(self.shift) == 2 else "a shift per class"
        return f"platt, slope {short(self.slope)}, {shifts}"


@dataclass(frozen=True)
class RisingLine:
    """A rising line through knots, level before the first and after the last."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.x, self.x[1:], strict=False))
        never_falling = all(a <= b for a, b in zip(self.y, self.y[1:], strict=False))
        if not self.x or len(self.x) != len(self.y) or not all(map(math.isfinite, self.x)) or not rising:
            raise errors.parameter("Isotonic", "x", "finite numbers that rise, one per y", self.x)
        if not all(0.0 < each < 1.0 for each in self.y) or not never_falling:
            raise errors.parameter("Isotonic", "y", "probabilities between 0 and 1 that never fall", self.y)

    def at(self, x: Floats) -> Floats:
        """Return the height of the line at places, which may be infinite."""
        return np.interp(x, self.x, self.y)

    @classmethod
    def get(cls, stored: store.Stored, name: str) -> RisingLine:
        """Return the line that a model file holds as an array [2, knots]."""
        array = stored.arrays.get(name)
        if array is None or array.dtype != np.float64 or array.ndim != 2 or len(array) != 2:
            raise store.damaged(stored.path, f"its curve {name!r} is missing or of the wrong shape")
        return cls(tuple(array[0].tolist()), tuple(array[1].tolist()))


@dataclass(frozen=True)
class Isotonic:
    """q(class) = its curve at the class's log-odds against all others, divided by the sum over classes.

    The curves rise, but otherwise have the form that the rows gave them. Two classes have one curve, that of
    the second; more have one each. Verdicts may change, and rows that differed may become equal.
    """

    method: ClassVar[str] = "isotonic"
    keeps_verdicts: ClassVar[bool] = False
    slope: ClassVar[float] = 1.0

    curves: tuple[RisingLine, ...]

    def apply(self, scores: Floats) -> Floats:
        """Return the log-probabilities of scores."""
        odds = log_odds(scores)
        if len(self.curves) == 1:
            second = self.curves[0].at(odds[:, 1])
            return np.log(np.column_stack([1.0 - second, second]))
        heights = [curve.at(odds[:, c]) for c, curve in enumerate(self.curves)]
        return normalised(np.log(np.column_stack(heights))) if heights else np.zeros_like(scores)

    def fits(self, classes: int) -> bool:
        """Whether the map is one for so many classes."""
        return len(self.curves) == curves_of(classes)

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        curves = [{"x": list(curve.x), "y": list(curve.y)} for curve in self.curves]
        return {"method": self.method, "curves": curves}

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the map to what a model file will hold: curves as arrays [2, knots]."""
        meta[KEY] = {"method": self.method}
        for at, curve in enumerate(self.curves):
            arrays[f"{KEY}.{at}"] = np.array([curve.x, curve.y])

    @classmethod
    def get(cls, stored: store.Stored, classes: int) -> Isotonic:
        """Return the map that `put` added."""
        return cls(tuple(RisingLine.get(stored, f"{KEY}.{at}") for at in range(curves_of(classes))))

    def __str__(self) -> str:
        return f"isotonic, {counted(sum(len(curve.x) for curve in self.curves), 'knot')}"


Calibration = Temperature | Platt | Isotonic
MAPS: dict[str, type[Calibration]] = {each.method: each for each in (Temperature, Platt, Isotonic)}
METHODS = tuple(MAPS)


def curves_of(classes: int) -> int:
    """Return how many curves an isotonic map of so many classes has."""
    return {1: 0, 2: 1}.get(classes, classes)


def log_odds(scores: Floats) -> Floats:
    """Return every class's score minus the logarithm of the summed exponentials of the others'."""
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.column_stack([-difference, difference])
    below = _below_the_best(scores)
    parts = np.exp(below)
    rows, best = np.arange(len(scores)), below.argmax(axis=1)
    total = parts.sum(axis=1, keepdims=True)
    rest = np.log(total) + np.log1p(-np.minimum(parts / total, 0.5))
    # One minus the best's own share would have no digits left: its others are added up by themselves.
    others = below.copy()
    others[rows, best] = -np.inf
    rest[rows, best] = _log_sum(others)
    return np.asarray(below - rest)


def _log_sum(scores: Floats) -> Floats:
    """Return the logarithm of each row's summed exponentials."""
    top = scores.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top)


def _below_the_best(scores: Floats) -> Floats:
    """Return how far each score is below its row's best: small numbers keep their digits."""
    return np.asarray(scores - scores.max(axis=1, keepdims=True))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_scale(value: object) -> bool:
    return isinstance(value, int | float) and _is_finite(value) and value > 0 and 1.0 / value < math.inf


def get_calibration(stored: store.Stored, classes: int) -> Calibration:
    """Return the map that a model file holds, refused as damaged where it is none."""
    method = stored.meta[KEY]["method"]
    kind = MAPS.get(str(method))
    if kind is None:
        raise store.damaged(stored.path, f"it has an unknown calibration, {method!r}")
    try:
        found = kind.get(stored, classes)
    except errors.ParameterError as cause:
        raise store.damaged(stored.path, f"its calibration is none ({cause})") from None
    if not found.fits(classes):
        raise store.damaged(stored.path, "its calibration is of another number of classes")
    return found
