"""Curves: one line per series, with a band where its uncertainty is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weigh import errors
from weigh.pictures.style import COLOURS, DASHES, altair, rows_of, styled

NEEDED = ("series", "x", "y")
MOST_DOTS = 120  # rows of which each has a dot on its line


def curves(table: Iterable[Mapping[str, Any]], x: str = "", y: str = "", title: str = "") -> Any:
    """Draw a line per series over x, with a band from low to high.

    Parameters
    ----------
    table : rows with "series", "x" and "y" and, where there is a band, "low" and "high"
    x, y : the titles of the axes
    title : what the picture shows
    """
    rows = [dict(row) for row in table]
    lacking = [name for name in NEEDED if any(name not in row for row in rows)]
    if not rows or lacking:
        got = f"rows without {errors.listing(lacking)}" if rows else "no rows"
        raise errors.DataError(f"Curves are drawn from rows with {errors.listing(NEEDED)}, got {got}.")
    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    if len(names) > len(COLOURS):
        raise errors.DataError(
            f"Curves tell {len(COLOURS)} series apart, got {len(names)}: {errors.listing(names)}. Draw fewer."
        )
    alt = altair()
    across = alt.X("x:Q", title=x or None, axis=alt.Axis(grid=False, tickMinStep=_least_tick(rows)))
    colours = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    colour = alt.Color("series:N", scale=colours, legend=_legend(alt))
    layers = []
    banded = [row for row in rows if row.get("low") is not None and row.get("high") is not None]
    if banded:
        band = rows_of(alt, banded).mark_area(opacity=0.18)
        layers.append(band.encode(x=across, y=alt.Y("low:Q"), y2="high:Q", color=colour))
    line = rows_of(alt, rows).mark_line(strokeWidth=2.5, point=len(rows) <= MOST_DOTS)
    layers.append(
        line.encode(
            x=across,
            y=alt.Y("y:Q", title=y or None),
            color=colour,
            strokeDash=alt.StrokeDash("series:N", scale=_dashes(alt, names), legend=_legend(alt)),
            tooltip=["series:N", "x:Q", "y:Q"],
        )
    )
    chart = alt.layer(*layers).properties(width=520, height=300, **({"title": title} if title else {}))
    return styled(chart)


def _dashes(alt: Any, names: list[str]) -> Any:
    return alt.Scale(domain=names, range=[list(each) for each in DASHES[: len(names)]])


def _legend(alt: Any) -> Any:
    return alt.Legend(
        title=None, orient="top", symbolType="stroke", symbolStrokeWidth=3, symbolSize=400, symbolOpacity=1
    )


def _least_tick(rows: list[dict[str, Any]]) -> float:
    """Passes and rows come whole, and so do the ticks of their axis."""
    return 1.0 if all(float(row["x"]).is_integer() for row in rows) else 0.0
