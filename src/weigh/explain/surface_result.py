"""Likelihood, prior and posterior over a grid of one or two parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.result import Result, Section, Table
from weigh.text import escape_control_characters, format_float, truncate

MAX_NAME_WIDTH = 32
MAX_PLOTTED_DEPTH = 12.0  # nats below the maximum; contour plots clip lower values

ModeLocation = tuple[Fraction | float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Result):
    """The result of `surface`: log-likelihood, log-prior and log-posterior on a grid.

    `logs` maps "likelihood", "prior" and "posterior" (where defined) to natural logarithms, [x] for one
    parameter or [y, x] for two. `tops` maps them to the location of their maximum, found analytically or by
    Newton's method and not from the grid; those without a unique maximum are omitted.
    """

    title: str
    names: tuple[str, ...]
    x: Floats
    y: Floats | None
    logs: Mapping[str, Floats]
    tops: Mapping[str, ModeLocation]
    _json = ("title", ("parameters", "names"), "x", "y", "logs", "tops")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; exact locations become floats."""
        tops = {part: [float(value) for value in top] for part, top in self.tops.items()}
        return super().to_dict() | {"tops": tops}

    def plot(self, which: str | None = None) -> Any:
        """Plot all curves for one parameter, or filled contours of one function for two.

        `which` is "likelihood", "prior" or "posterior"; None plots the last available one (for one
        parameter, all).
        """
        if which is not None and which not in self.logs:
            raise errors.parameter_error("plot", "which", f"one of {errors.quote_names(self.logs)}", which)
        if self.y is None:
            return self._curves([which] if which else list(self.logs))
        return self._contour_plot(which or list(self.logs)[-1])

    def _curves(self, parts: list[str]) -> Any:
        from weigh.pictures import line_chart

        step = float(self.x[1] - self.x[0])
        rows = []
        for part in parts:
            # Normalise the area to 1; otherwise the likelihood would look flat beside the densities.
            density = np.exp(self.logs[part] - self.logs[part].max())
            density /= density.sum() * step
            top = f", top at {_format_parameter(self.tops[part][0])}" if part in self.tops else ""
            rows += [
                {"series": part + top, "x": x, "y": y}
                for x, y in zip(self.x.tolist(), density.tolist(), strict=True)
            ]
        marks = [(float(top[0]), "") for part, top in self.tops.items() if part in parts]
        return line_chart(rows, self.names[0], "density", self.title, marks=marks)

    def _contour_plot(self, part: str) -> Any:
        from weigh.pictures import filled_contours

        assert self.y is not None
        logs = self.logs[part] - self.logs[part].max()
        rows = [
            {"x": x, "y": y, "value": max(value, -MAX_PLOTTED_DEPTH)}
            for y, line in zip(self.y.tolist(), logs.tolist(), strict=True)
            for x, value in zip(self.x.tolist(), line, strict=True)
        ]
        spans = [(float(axis[0]), float(axis[-1])) for axis in (self.x, self.y)]
        points = [
            {"x": float(top[0]), "y": float(top[1]), "name": name}
            for name, top in self.tops.items()
            if all(low <= at <= high for at, (low, high) in zip(top, spans, strict=True))
        ]
        across, up = self.names
        return filled_contours(rows, across, up, f"{self.title}: {part}", points, "nats from the top")

    @property
    def headline(self) -> str:
        """The title."""
        return self.title

    def sections(self) -> list[Section]:
        """Return the locations of the maxima."""
        header = ["greatest at", *(truncate(name, MAX_NAME_WIDTH) for name in self.names)]
        rows = ([part, *map(_format_parameter, top)] for part, top in self.tops.items())
        return [Section("tops", [Table([header, *rows], indent="  ")])]

    def __repr__(self) -> str:
        return escape_control_characters(f"<Surface of {' and '.join(self.names)}: {', '.join(self.logs)}>")


def _format_parameter(number: Fraction | float) -> str:
    return (
        str(number) if isinstance(number, Fraction) and len(str(number)) <= 9 else format_float(float(number))
    )
