"""Lines and half-planes, cut to the part of the plane that a picture shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Spot = tuple[float, float]
MOST_UNLIKE = 5.0  # beyond this ratio of the axes' lengths, equal units would leave a thin strip


@dataclass(frozen=True)
class Box:
    """The part of the plane that is shown, and its size on the screen."""

    low: Spot
    high: Spot
    width: float
    height: float

    @classmethod
    def around(cls, spots: Sequence[Spot], side: float) -> Box:
        """Return a box around spots, in equal units if neither axis is much longer than the other."""
        lows = [min(spot[axis] for spot in spots) for axis in (0, 1)]
        highs = [max(spot[axis] for spot in spots) for axis in (0, 1)]
        lengths = [high - low for low, high in zip(lows, highs, strict=True)]
        longest = max(lengths) or 1.0
        alike = min(lengths) * MOST_UNLIKE >= longest or min(lengths) == 0.0
        # A short axis is made longer, so that the points do not lie on the edge of a strip.
        wanted = [max(length, longest / 1.6) if alike else length for length in lengths]
        pads = [(want - length) / 2 + 0.18 * want for want, length in zip(wanted, lengths, strict=True)]
        low = (lows[0] - pads[0], lows[1] - pads[1])
        high = (highs[0] + pads[0], highs[1] + pads[1])
        sides = [wanted[axis] / max(wanted) * side for axis in (0, 1)] if alike else [side, side / 1.3]
        return cls(low, high, *sides)

    @property
    def corners(self) -> list[Spot]:
        """The four corners, in order around."""
        (left, bottom), (right, top) = self.low, self.high
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    @property
    def spans(self) -> list[Spot]:
        """What each axis shows, from and to."""
        return list(zip(self.low, self.high, strict=True))

    @property
    def units(self) -> Spot:
        """How many pixels one unit of each axis has."""
        (left, right), (bottom, top) = self.spans
        return self.width / (right - left), self.height / (top - bottom)

    def half(self, w: Spot, b: float) -> list[Spot]:
        """Return the corners of the part where w·x + b ≥ 0; none if it is empty."""
        found: list[Spot] = []
        for here, there in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            at, then = _height(w, b, here), _height(w, b, there)
            if at >= 0:
                found.append(here)
            if (at >= 0) != (then >= 0):
                found.append(_crossing(here, there, at, then))
        return found

    def line(self, w: Spot, b: float) -> list[Spot]:
        """Return the two ends of the line w·x + b = 0; nothing if it is outside."""
        corners = self.corners
        heights = [_height(w, b, corner) for corner in corners]
        ends = [
            _crossing(corners[k], corners[k - 3], heights[k], heights[k - 3])
            for k in range(4)
            if (heights[k] >= 0) != (heights[k - 3] >= 0)
        ]
        return ends if len(ends) == 2 else []

    def arrow(self, w: Spot, b: float, longest: float) -> tuple[Spot, Spot, float] | None:
        """Return foot, tip and angle of the arrow of w, if its line is shown.

        It stands on the middle of the line and, where `length` is the longest, is a fourth of the
        shorter side; the angle is the screen's, clockwise from above. With axes of unlike units the
        arrow is turned so that it still stands square to the line.
        """
        ends = self.line(w, b)
        if not ends or not longest:
            return None
        across, up = self._square(w)
        scale = min(self.width, self.height) / 4 / longest
        foot = ((ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2)
        tip = (foot[0] + scale * across / self.units[0], foot[1] + scale * up / self.units[1])
        return foot, tip, math.degrees(math.atan2(across, up))

    def length(self, w: Spot) -> float:
        """Return the length of the arrow of w in pixels, but for a factor that all arrows share."""
        return math.hypot(*self._square(w))

    def _square(self, w: Spot) -> Spot:
        """Return the direction on the screen in which w·x grows fastest."""
        return w[0] / self.units[0], w[1] / self.units[1]


def _height(w: Spot, b: float, spot: Spot) -> float:
    return w[0] * spot[0] + w[1] * spot[1] + b


def _crossing(here: Spot, there: Spot, at: float, then: float) -> Spot:
    share = at / (at - then)
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])
