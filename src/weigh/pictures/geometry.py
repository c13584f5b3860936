"""Lines and half-planes, cut to the part of the plane that a picture shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

XY = tuple[float, float]
MAX_ASPECT_RATIO = 5.0  # beyond this ratio of the axes' lengths, equal units would leave a thin strip


@dataclass(frozen=True)
class ViewBox:
    """The part of the plane that is shown, and its size on the screen."""

    low: XY
    high: XY
    width: float
    height: float

    @classmethod
    def around(cls, spots: Sequence[XY], side: float) -> ViewBox:
        """Return a box around spots, in equal units if neither axis is much longer than the other."""
        lows = [min(spot[axis] for spot in spots) for axis in (0, 1)]
        highs = [max(spot[axis] for spot in spots) for axis in (0, 1)]
        lengths = [high - low for low, high in zip(lows, highs, strict=True)]
        longest = max(lengths) or 1.0
        alike = min(lengths) * MAX_ASPECT_RATIO >= longest or min(lengths) == 0.0
        # A short axis is made longer, so that the points do not lie on the edge of a strip.
        wanted = [max(length, longest / 1.6) if alike else length for length in lengths]
        pads = [(want - length) / 2 + 0.18 * want for want, length in zip(wanted, lengths, strict=True)]
        low = (lows[0] - pads[0], lows[1] - pads[1])
        high = (highs[0] + pads[0], highs[1] + pads[1])
        sides = [wanted[axis] / max(wanted) * side for axis in (0, 1)] if alike else [side, side / 1.3]
        return cls(low, high, *sides)

    @property
    def corners(self) -> list[XY]:
        """The four corners, in order around."""
        (left, bottom), (right, top) = self.low, self.high
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    @property
    def spans(self) -> list[XY]:
        """What each axis shows, from and to."""
        return list(zip(self.low, self.high, strict=True))

    @property
    def pixels_per_unit(self) -> XY:
        """How many pixels one unit of each axis has."""
        (left, right), (bottom, top) = self.spans
        return self.width / (right - left), self.height / (top - bottom)

    def half_plane(self, w: XY, b: float) -> list[XY]:
        """Return the corners of the part where w·x + b ≥ 0; none if it is empty."""
        found: list[XY] = []
        for here, there in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            at, then = _signed_distance(w, b, here), _signed_distance(w, b, there)
            if at >= 0:
                found.append(here)
            if (at >= 0) != (then >= 0):
                found.append(_segment_crossing(here, there, at, then))
        return found

    def line(self, w: XY, b: float) -> list[XY]:
        """Return the two ends of the line w·x + b = 0; nothing if it is outside."""
        corners = self.corners
        heights = [_signed_distance(w, b, corner) for corner in corners]
        ends = [
            _segment_crossing(corners[k], corners[k - 3], heights[k], heights[k - 3])
            for k in range(4)
            if (heights[k] >= 0) != (heights[k - 3] >= 0)
        ]
        return ends if len(ends) == 2 else []

    def arrow(self, w: XY, b: float, longest: float) -> tuple[XY, XY, float] | None:
        """Return foot, tip and angle of the arrow of w, if its line is shown.

        It stands on the middle of the line and, where `length` is the longest, is a fourth of the
        shorter side; the angle is the screen's, clockwise from above. With axes of unlike units the
        arrow is turned so that it still stands square to the line.
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
        """Return the length of the arrow of w in pixels, but for a factor that all arrows share."""
        return math.hypot(*self._screen_normal(w))

    def _screen_normal(self, w: XY) -> XY:
        """Return the direction on the screen in which w·x grows fastest."""
        return w[0] / self.pixels_per_unit[0], w[1] / self.pixels_per_unit[1]


def _signed_distance(w: XY, b: float, spot: XY) -> float:
    return w[0] * spot[0] + w[1] * spot[1] + b


def _segment_crossing(here: XY, there: XY, at: float, then: float) -> XY:
    share = at / (at - then)
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])


HeightGrid = Sequence[Sequence[float]]
GridEdge = tuple[int, int, int, int]
SIMPLIFICATION_TOLERANCE = (
    1e-3  # of the picture's sides: how far an outline may pass beside a spot that is left out
)


def contour_outline(xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, level: float) -> list[XY]:
    """Return one closed walk around all places where heights[j][i], at xs[i] and ys[j], are at least `level`.

    What is high lies on the left of the walk. It goes from one loop to the next and back the same way,
    so that filled by winding numbers it has holes where they belong and the ways between fill nothing.
    """
    loops = [
        _simplify(loop, xs[-1] - xs[0], ys[-1] - ys[0]) for loop in _closed_contours(xs, ys, heights, level)
    ]
    return [spot for loop in loops for spot in loop] + [loop[0] for loop in loops[-2::-1]]


def _closed_contours(
    xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, level: float
) -> Iterator[list[XY]]:
    """Yield the closed outlines; the rim of the grid is one where the surface is high there."""
    # A rim of low places at the very edge closes what the edge would leave open.
    wide, tall = [xs[0], *xs, xs[-1]], [ys[0], *ys, ys[-1]]
    low = [level - 1.0] * len(wide)
    padded = [low, *([level - 1.0, *line, level - 1.0] for line in heights), low]
    follows = dict(_marching_squares(padded, level))
    while follows:
        edge, after = follows.popitem()
        loop = [edge]
        while after != loop[0]:
            loop.append(after)
            after = follows.pop(after)
        spots = [_edge_crossing(wide, tall, padded, each, level) for each in loop]
        yield [*spots, spots[0]]


def _marching_squares(heights: HeightGrid, level: float) -> Iterator[tuple[GridEdge, GridEdge]]:
    """Yield for every cell the edges between which an outline passes, from where it leaves what is high."""
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
                # Of two high corners across, the middle decides whether they hang together.
                turn = 1 if sum(around) / 4 >= level else -1
                back = [(k + turn) % 4 for k in out]
            for here, there in zip(out, back, strict=True):
                yield _cell_edge(corners, here), _cell_edge(corners, there)


def _cell_edge(corners: Sequence[tuple[int, int]], k: int) -> GridEdge:
    """The side of a cell after its corner k, named alike by both cells that share it."""
    return (*min(corners[k], corners[k - 3]), *max(corners[k], corners[k - 3]))


def _edge_crossing(
    xs: Sequence[float], ys: Sequence[float], heights: HeightGrid, edge: GridEdge, level: float
) -> XY:
    i, j, k, m = edge
    here, there = heights[j][i], heights[m][k]
    share = (level - here) / (there - here)
    return xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[m] - ys[j])


def _simplify(loop: list[XY], width: float, height: float) -> list[XY]:
    """Leave out spots that lie on the straight way from the last one kept to the next."""
    kept: list[XY] = [loop[0]]
    passed: list[XY] = []
    for here, after in pairwise(loop[1:]):
        passed.append(here)
        (ax, ay), (bx, by) = kept[-1], after
        along, up = (bx - ax) / width, (by - ay) / height
        near = SIMPLIFICATION_TOLERANCE * max(abs(along), abs(up))
        beside = [abs(along * (y - ay) / height - up * (x - ax) / width) for x, y in passed]
        if max(beside) > near or near == 0.0:
            kept.append(here)
            passed = []
    return [*kept, loop[-1]]
