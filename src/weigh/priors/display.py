"""Display of priors: charts of a density or of intervals, and the notebook representation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weigh.immutable import Immutable
from weigh.text import html_paragraph

MAX_INTERVALS = 40
N_CURVE_POINTS = 241


class PriorDisplay(Immutable):
    """Mixin that shows the text of a prior in notebooks."""

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))


def plot_density(
    title: str,
    density: Callable[[float], float],
    span: tuple[float, float],
    interval: tuple[float, float],
    x: str,
) -> Any:
    """Return a chart of a density over a span, with the limits of the 95 % interval marked."""
    from weigh.pictures import line_chart
    from weigh.pictures.chart_data import clip_infinite

    low, high = span
    # Without the end points, where a density may be infinite.
    points = np.linspace(low, high, N_CURVE_POINTS)[1:-1].tolist()
    densities = clip_infinite([density(point) for point in points])
    rows = [{"series": title, "x": point, "y": y} for point, y in zip(points, densities, strict=True)]
    marks = [(float(interval[0]), "2.5 %"), (float(interval[1]), "97.5 %")]
    return line_chart(rows, x, "density", marks=marks)


def plot_intervals(title: str, estimates: Iterable[tuple[object, float, tuple[float, float]]], x: str) -> Any:
    """Return a chart of (name, value, 95 % interval), one dot with its interval per name."""
    from weigh.pictures import interval_chart

    rows = [
        {"name": str(name), "value": value, "low": low, "high": high}
        for (name, value, (low, high)), _ in zip(estimates, range(MAX_INTERVALS), strict=False)
    ]
    return interval_chart(rows, x, title)


def plot_weight_prior(prior: Any, names: Sequence[str] = ()) -> Any:
    """Return a chart of the density of a weight, or of the intervals of the weights with these names."""
    low, high = prior.interval()
    if not names:
        return plot_density(repr(prior), prior.density, prior.interval(0.9995), (low, high), "weight")
    limits = zip(np.ravel(low).tolist(), np.ravel(high).tolist(), strict=True)
    estimates = zip(names, np.ravel(prior.mode).tolist(), limits, strict=True)
    return plot_intervals(type(prior).__name__, estimates, "weight")
