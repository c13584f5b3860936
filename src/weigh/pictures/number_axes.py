"""Axes of numbers whose rows are counted in cells: linear, logarithmic on both sides of zero, or clipped."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weigh.text import use_minus_sign

TAIL_SHARE = 0.02  # of the rows, on either side
TAIL_PADDING = 0.15  # of the range between the tails, on either side
MAX_TAIL_RATIO = 3.0  # of the whole range to the range between the tails
MIN_TAILED_CELLS = 8  # fewer cells do not tell the tails from the rest
MAX_TICKS = 6
MIN_TICK_STEP = 1e-300  # powers of ten of smaller steps are not exact
MIN_TICK_DISTANCE = 0.1  # of a logarithmic axis, if there may be MAX_TICKS
TICK_STEPS = ((1, 2**0.5), (2, 10**0.5), (5, 50**0.5), (10, math.inf))
SUFFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
MIN_SHORTENED = 1e4  # smaller numbers are written without a suffix


@dataclass(frozen=True)
class CellCount:
    """A cell of an axis, and the number of rows in it."""

    start: float
    stop: float
    rows: float


@dataclass(frozen=True)
class NumberAxis:
    """An axis from `low` to `high`; with a `constant` c, x is at sign(x) log(1 + |x| / c).

    `limits` are the ends of the cells. The axis is shorter if a few rows lie far outside.
    """

    low: float
    high: float
    limits: tuple[float, float]
    constant: float | None = None
    may_be_logarithmic: ClassVar[bool] = True

    @classmethod
    def of(cls, cells: Sequence[CellCount]) -> NumberAxis:
        """Return the first axis that gives the rows between the tails a third of the room.

        These are a linear axis, a logarithmic one, and a linear one that ends in the tails.
        """
        limits = min(cell.start for cell in cells), max(cell.stop for cell in cells)
        if limits[0] == limits[1]:
            padding = abs(limits[0]) / 10 or 1.0
            return cls(limits[0] - padding, limits[1] + padding, limits)
        linear = cls(*limits, limits)
        low, high = linear._central_range(cells)
        if len(cells) < MIN_TAILED_CELLS or limits[1] - limits[0] <= MAX_TAIL_RATIO * (high - low):
            return linear
        if cls.may_be_logarithmic:
            logarithmic = cls(*limits, limits, _log_constant(cells))
            start, stop = logarithmic._central_range(cells)
            if logarithmic.place(limits[1]) - logarithmic.place(limits[0]) <= MAX_TAIL_RATIO * (stop - start):
                return logarithmic
        return cls(low, high, limits)

    def _central_range(self, cells: Sequence[CellCount]) -> tuple[float, float]:
        """Return the places between the tails, padded within the limits."""
        low = self.place(_tail_end(cells))
        high = self.place(-_tail_end([CellCount(-c.stop, -c.start, c.rows) for c in reversed(cells)]))
        padding = TAIL_PADDING * (high - low)
        return max(low - padding, self.place(self.limits[0])), min(high + padding, self.place(self.limits[1]))

    def place(self, number: float) -> float:
        """Return where a number is on the scale of the axis."""
        if self.constant is None:
            return number
        return math.copysign(math.log1p(abs(number) / self.constant), number)

    def share(self, number: float) -> float:
        """Return where a number is on the axis, from 0 to 1; others are at the nearest end."""
        start, stop = self.place(self.low), self.place(self.high)
        return (self.place(min(max(number, self.low), self.high)) - start) / (stop - start)

    @property
    def note(self) -> str:
        """What is unusual about the axis; empty if nothing is."""
        if self.constant is not None:
            return "logarithmic axis"
        beyond = [f"down to {self.format([self.limits[0]])[0]}"] if self.limits[0] < self.low else []
        beyond += [f"up to {self.format([self.limits[1]])[0]}"] if self.limits[1] > self.high else []
        is_widened = self.limits[0] == self.limits[1]
        return "" if is_widened or not beyond else f"values {' and '.join(beyond)} not drawn"

    def ticks(self, most: int = MAX_TICKS) -> list[float]:
        """Return about `most` numbers to label."""
        if self.constant is None:
            return nice_ticks(self.low, self.high, most)
        ticks: list[float] = []
        for tick in _log_candidates(self.low, self.high, self.constant):
            if all(
                abs(self.share(tick) - self.share(other)) >= MIN_TICK_DISTANCE * MAX_TICKS / most
                for other in ticks
            ):
                ticks.append(tick)
        return sorted(ticks)

    def format(self, numbers: Sequence[float]) -> list[str]:
        """Format numbers on the axis."""
        return format_ticks(numbers)


def _tail_end(cells: Sequence[CellCount]) -> float:
    """Return the end of the lower tail: of the first cell, and of the cells with the first of all rows."""
    total, cumulative = sum(cell.rows for cell in cells), 0.0
    for cell in cells[:-1]:
        cumulative += cell.rows
        if cumulative > TAIL_SHARE * total:
            return cell.stop
    return cells[-1].start


def _log_constant(cells: Sequence[CellCount]) -> float:
    """Return the number up to which an axis is about linear: the lower quartile of the sizes of the edges."""
    sizes = sorted(abs(edge) for cell in cells for edge in (cell.start, cell.stop) if edge)
    return sizes[len(sizes) // 4]


def nice_ticks(low: float, high: float, most: int = MAX_TICKS) -> list[float]:
    """Return about `most` multiples of 1, 2 or 5 times a power of ten from low to high."""
    wanted = (high - low) / most
    if not wanted > MIN_TICK_STEP:
        return [low]
    power = 10.0 ** math.floor(math.log10(wanted))
    # Powers of ten times 1, 2, 5 or 10, of which the nearest on a logarithmic scale is taken.
    step = next(times * power for times, end in TICK_STEPS if wanted <= end * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _log_candidates(low: float, high: float, constant: float) -> list[float]:
    """Return numbers to label on a logarithmic axis, the most important first.

    They are zero, powers of ten from about the constant on, and 5 and 2 times them, on both sides of zero.
    """
    largest = math.floor(math.log10(max(abs(low), abs(high))))
    smallest = min(math.floor(math.log10(constant)), largest)
    sizes = [times * float(f"1e{k}") for times in (1, 5, 2) for k in range(largest, smallest - 1, -1)]
    return [
        tick for tick in (0.0, *(sign * size for size in sizes for sign in (1, -1))) if low <= tick <= high
    ]


def format_tick(number: float, digits: int = 4) -> str:
    """Format a number for an axis: 2.5, 15k, −3M."""
    for unit, suffix in SUFFIXES:
        if abs(number) >= max(unit, MIN_SHORTENED):
            return use_minus_sign(f"{number / unit:.{digits}g}{suffix}")
    return use_minus_sign(f"{number:.{digits}g}")


def format_ticks(numbers: Sequence[float]) -> list[str]:
    """Format different numbers with as many digits as it takes to tell them apart, at least four."""
    for digits in range(4, 16):
        texts = [format_tick(number, digits) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            return texts
    return [use_minus_sign(repr(number)) for number in numbers]


def labelled_axis(alt: Any, places: Sequence[float], labels: Sequence[str], **settings: Any) -> Any:
    """Return an axis with labels at the given places; the labels must not be names from data."""
    values = [float(place) for place in places]
    expression = f"{json.dumps(list(labels), ensure_ascii=False)}[indexof({json.dumps(values)}, datum.value)]"
    return alt.Axis(values=values, labelExpr=expression, **settings)
