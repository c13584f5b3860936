"""Beliefs as pictures: the density of one number, or the intervals of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weigh.text import html_paragraph

MAX_INTERVALS = 40
N_CURVE_POINTS = 241


class PriorDisplay:
    """What all beliefs have in common: a display in notebooks, their own words."""

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))


def plot_density(
    title: str,
    density: Callable[[float], float],
    span: tuple[float, float],
    interval: tuple[float, float],
    x: str,
) -> Any:
    """Return the curve of a density over a span, the limits of its interval of 95 % marked."""
    from weigh.pictures import line_chart
    from weigh.pictures.chart_data import clip_infinite

    low, high = span
    # The ends are left out where a density may be infinite.
    at = np.linspace(low, high, N_CURVE_POINTS)[1:-1].tolist()
    heights = clip_infinite([density(each) for each in at])
    rows = [{"series": title, "x": x_, "y": y} for x_, y in zip(at, heights, strict=True)]
    marks = [(float(interval[0]), "2.5 %"), (float(interval[1]), "97.5 %")]
    return line_chart(rows, x, "density", marks=marks)


def plot_intervals(title: str, found: Iterable[tuple[object, float, tuple[float, float]]], x: str) -> Any:
    """Return a dot with its interval of 95 % for each name."""
    from weigh.pictures import interval_chart

    rows = [
        {"name": str(name), "value": value, "low": low, "high": high}
        for (name, value, (low, high)), _ in zip(found, range(MAX_INTERVALS), strict=False)
    ]
    return interval_chart(rows, x, title)


def plot_weight_prior(prior: Any, names: Sequence[str] = ()) -> Any:
    """Return the density of a weight around one number, or the intervals of weights with these names."""
    low, high = prior.interval()
    if not names:
        begin, end = prior.interval(0.9995)
        return plot_density(repr(prior), prior.density, (begin, end), (low, high), "weight")
    limits = zip(np.ravel(low).tolist(), np.ravel(high).tolist(), strict=True)
    found = zip(names, np.ravel(prior.mode).tolist(), limits, strict=True)
    return plot_intervals(type(prior).__name__, found, "weight")
