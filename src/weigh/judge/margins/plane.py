"""A separating plane with a proved interval for the widest margin that any plane has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.margins.exact_margin import ExactPlane
from weigh.judge.margins.nearest_point import NearestPoint
from weigh.judge.margins.vertices import Vertices
from weigh.judge.verifying.rounding import at_least


@dataclass(frozen=True, eq=False)
class Plane:
    """The widest plane found, score = w·x + b, and what is proved about it.

    No plane has a margin above `upper`; this one has at least `lower`, which was checked against all
    rows. `w` maps features to their weights (zeros left out), scaled to norm one: of w alone for the
    distance margin, of (w, b) for the augmented one, so that scores are in units of the margin.
    `support` maps the rows that hold the plane in place (from 0) to their weights in the two nearest
    points.
    """

    lower: float
    upper: float
    w: Mapping[str, float]
    b: float
    support: Mapping[int, float]

    @property
    def gap(self) -> float:
        """How far the interval is open, as a share of its upper end."""
        return (self.upper - self.lower) / self.upper if self.upper else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "w": dict(self.w),
            "b": self.b,
            "support": {str(row): weight for row, weight in self.support.items()},
        }


def distance_plane(vertices: Vertices, found: NearestPoint, names: Sequence[str]) -> Plane:
    """The plane midway between the two hulls; its margin is half of their distance."""
    lower, upper = max(found.lower, 0.0) * vertices.scale / 2, found.upper * vertices.scale / 2
    if not found.plane.any():
        return Plane(lower, upper, {}, 0.0, _support(found))
    unit = found.plane / np.linalg.norm(found.plane)
    below, above = vertices.least(vertices.dot(unit))
    b = (below - above) / 2 * vertices.scale - math.fsum((unit * vertices.shift).tolist())
    return Plane(lower, upper, _named(unit, names), b, _support(found))


def augmented_plane(
    vertices: Vertices, found: NearestPoint, names: Sequence[str], other: Plane | None
) -> Plane:
    """The plane of the largest augmented margin, or the other one if it is found to be wider."""
    upper = found.upper * vertices.scale
    lower, plane = found.lower, found.plane
    if other is not None and other.w:
        at = {name: place for place, name in enumerate(names)}
        also = np.zeros(vertices.width)
        also[[at[name] for name in other.w]] = list(other.w.values())
        also[-1] = other.b
        also /= np.abs(also).max()
        wide = min(vertices.least(at_least(vertices, also)))
        lower, plane = (wide, also) if wide > lower else (lower, plane)
    unit = plane / np.linalg.norm(plane) if plane.any() else plane
    kept = max(lower, 0.0) * vertices.scale
    return Plane(min(kept, upper), upper, _named(unit[:-1], names), float(unit[-1]), _support(found))


def from_exact(exact: ExactPlane, *, constant: bool) -> Plane:
    """The plane that was found in fractions, and the narrowest interval of floats around its margin."""
    margin = root(exact.square)
    norm = root(sum((value**2 for value in exact.w.values()), exact.b**2 if constant else Fraction(0)))
    return Plane(
        math.nextafter(margin, 0.0),
        math.nextafter(margin, math.inf),
        {name: float(value / Fraction(norm)) for name, value in exact.w.items()},
        float(exact.b / Fraction(norm)),
        {row: float(weight) for row, weight in sorted(exact.support.items())},
    )


def root(square: Fraction) -> float:
    """The square root of a fraction, right to the last digit even where the square has no float."""
    # Twice 64 binary places in the square leave 64 in its root.
    places = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** places
    return math.ldexp(math.isqrt(scaled.numerator // scaled.denominator), -places)


def _named(w: Floats, names: Sequence[str]) -> dict[str, float]:
    return {names[at]: float(w[at]) for at in np.flatnonzero(w).tolist()}


def _support(found: NearestPoint) -> dict[int, float]:
    rows = np.flatnonzero(found.weights)
    return dict(zip(rows.tolist(), found.weights[rows].tolist(), strict=True))
