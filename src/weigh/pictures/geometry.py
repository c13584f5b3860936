"""Lines and half-planes clipped to a view box, and contours by marching squares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

XY = tuple[float, float]
MAX_ASPECT_RATIO = 5.0  # axes with a larger ratio do not share units: the chart would be a thin strip


@dataclass(frozen=True)
class ViewBox:
    """The visible part of the plane, and its size in pixels."""

    low: XY
    high: XY
    width: float
    height: float

    @classmethod
    def around(cls, points: Sequence[XY], side: float) -> ViewBox:
        """Return a padded box around points, with equal units unless one axis is much longer."""
        lows = [min(point[axis] for point in points) for axis in (0, 1)]
        highs = [max(point[axis] for point in points) for axis in (0, 1)]
        lengths = [high - low for low, high in zip(lows, highs, strict=True)]
        longest = max(lengths) or 1.0
        equal_units = min(lengths) * MAX_ASPECT_RATIO >= longest or min(lengths) == 0.0
        # Lengthen a short axis, so that the points do not lie on the edge of a strip.
        wanted = [max(length, longest / 1.6) if equal_units else length for length in lengths]
        pads = [(want - length) / 2 + 0.18 * want for want, length in zip(wanted, lengths, strict=True)]
        low = (lows[0] - pads[0], lows[1] - pads[1])
        high = (highs[0] + pads[0], highs[1] + pads[1])
        sides = [wanted[axis] / max(wanted) * side for axis in (0, 1)] if equal_units else [side, side / 1.3]
        return cls(low, high, *sides)

    @property
    def corners(self) -> list[XY]:
        """The four corners, anticlockwise from the lower left."""
        (left, bottom), (right, top) = self.low, self.high
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    @property
    def spans(self) -> list[XY]:
        """The range of each axis."""
        return list(zip(self.low, self.high, strict=True))

    @property
    def pixels_per_unit(self) -> XY:
        """The number of pixels per unit of each axis."""
        (left, right), (bottom, top) = self.spans
        return self.width / (right - left), self.height / (top - bottom)

    def half_plane(self, w: XY, b: float) -> list[XY]:
        """Return the vertices of the visible part of w·x + b ≥ 0; empty if there is none."""
        vertices: list[XY] = []
        for here, there in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            at, then = _score(w, b, here), _score(w, b, there)
            if at >= 0:
                vertices.append(here)
            if (at >= 0) != (then >= 0):
                vertices.append(_segment_crossing(here, there, at, then))
        return vertices

    def line(self, w: XY, b: float) -> list[XY]:
        """Return the two ends of the line w·x + b = 0; empty if it is outside the box."""
        corners = self.corners
        scores = [_score(w, b, corner) for corner in corners]
        ends = [
            _segment_crossing(corners[k], corners[k - 3], scores[k], scores[k - 3])
            for k in range(4)
            if (scores[k] >= 0) != (scores[k - 3] >= 0)
        ]
        return ends if len(ends) == 2 else []

    def arrow(self, w: XY, b: float, longest: float) -> tuple[XY, XY, float] | None:
        """Return foot, tip and angle of the arrow of w, or None if its line is not visible.

        The arrow starts at the middle of the line. An arrow of length `longest` takes a quarter of the
        shorter side. The angle is in degrees on the screen, clockwise from the top. The arrow is
        perpendicular to the line on the screen even if the axes have different units.
        """
        ends = self.line(w, b)
        if not ends or not longest:
            return None
        across, up = self._screen_normal(w)
        scale = min(self.width, self.height) / 4 / longest
        foot = ((ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2)
        tip = (
            foot[0] + scale * across / self.pixels_per_unit[0],
            foot[1] + scale * up / self.pixels_per_unit[1],
        )
        return foot, tip, math.degrees(math.atan2(across, up))

    def arrow_length(self, w: XY) -> float:
        """Return the length of the arrow of w on the screen, up to a factor common to all arrows."""
        return math.hypot(*self._screen_normal(w))

    def _screen_normal(self, w: XY) -> XY:
        """Return the screen direction in which w·x grows fastest."""
        return w[0] / self.pixels_per_unit[0], w[1] / self.pixels_per_unit[1]


def _score(w: XY, b: float, point: XY) -> float:
    return w[0] * point[0] + w[1] * point[1] + b


def _segment_crossing(here: XY, there: XY, at: float, then: float) -> XY:
    share = at / (at - then)
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])


HeightGrid = Sequence[Sequence[float]]
GridEdge = tuple[int, int, int, int]
SIMPLIFICATION_TOLERANCE = 1e-3  # maximum distance of a dropped vertex from its outline, per side length


def contour_outline(xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, level: float) -> list[XY]:
    """Return one closed polygon around the points where heights[j][i], at (xs[i], ys[j]), is ≥ `level`.

    The set lies on the left. All loops are joined by connecting segments that are traversed in both
    directions, so that filling with the non-zero winding rule leaves holes open and the segments invisible.
    """
    loops = [
        _simplify(loop, xs[-1] - xs[0], ys[-1] - ys[0]) for loop in _closed_contours(xs, ys, heights, level)
    ]
    return [point for loop in loops for point in loop] + [loop[0] for loop in loops[-2::-1]]


def _closed_contours(
    xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, level: float
) -> Iterator[list[XY]]:
    """Yield the closed contours; they follow the border of the grid where heights exceed the level there."""
    # Padding with low values closes the contours that the border would leave open.
    padded_xs, padded_ys = [xs[0], *xs, xs[-1]], [ys[0], *ys, ys[-1]]
    low = [level - 1.0] * len(padded_xs)
    padded = [low, *([level - 1.0, *line, level - 1.0] for line in heights), low]
    next_edge = dict(_marching_squares(padded, level))
    while next_edge:
        edge, after = next_edge.popitem()
        loop = [edge]
        while after != loop[0]:
            loop.append(after)
            after = next_edge.pop(after)
        points = [_edge_crossing(padded_xs, padded_ys, padded, edge, level) for edge in loop]
        yield [*points, points[0]]


def _marching_squares(heights: HeightGrid, level: float) -> Iterator[tuple[GridEdge, GridEdge]]:
    """Yield the pairs of cell edges that the contour connects, with high values on the left."""
    for j in range(len(heights) - 1):
        below, above = heights[j], heights[j + 1]
        for i in range(len(below) - 1):
            around = (below[i], below[i + 1], above[i + 1], above[i])
            high = [height >= level for height in around]
            if all(high) or not any(high):
                continue
            corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            out = [k for k in range(4) if high[k] and not high[k - 3]]
            back = [k for k in range(4) if not high[k] and high[k - 3]]
            if len(out) == 2:
                # Saddle: the mean decides whether the two opposite high corners are connected.
                turn = 1 if sum(around) / 4 >= level else -1
                back = [(k + turn) % 4 for k in out]
            for here, there in zip(out, back, strict=True):
                yield _cell_edge(corners, here), _cell_edge(corners, there)


def _cell_edge(corners: Sequence[tuple[int, int]], k: int) -> GridEdge:
    """Return the edge after corner k, identical for both cells that share it."""
    return (*min(corners[k], corners[k - 3]), *max(corners[k], corners[k - 3]))


def _edge_crossing(
    xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, edge: GridEdge, level: float
) -> XY:
    i, j, k, m = edge
    here, there = heights[j][i], heights[m][k]
    share = (level - here) / (there - here)
    return xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[m] - ys[j])


def _simplify(loop: list[XY], width: float, height: float) -> list[XY]:
    """Drop vertices that lie nearly on the segment from the last kept vertex to the next."""
    kept: list[XY] = [loop[0]]
    skipped: list[XY] = []
    for here, after in pairwise(loop[1:]):
        skipped.append(here)
        (ax, ay), (bx, by) = kept[-1], after
        along, up = (bx - ax) / width, (by - ay) / height
        tolerance = SIMPLIFICATION_TOLERANCE * max(abs(along), abs(up))
        distances = [abs(along * (y - ay) / height - up * (x - ax) / width) for x, y in skipped]
        if max(distances) > tolerance or tolerance == 0.0:
            kept.append(here)
            skipped = []
    return [*kept, loop[-1]]
