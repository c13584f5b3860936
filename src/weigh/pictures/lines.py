"""Many lines over a logarithmic axis, a few of them named: the paths of weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weigh.pictures.style import COLOURS, GREY, altair, rows_of, styled


def lines(
    table: Iterable[Mapping[str, Any]], x: str = "", y: str = "", title: str = "", mark: float | None = None
) -> Any:
    """Draw a line per series over log x; those named have colours and words, the others are grey.

    Parameters
    ----------
    table : rows with "series", "x" above zero, "y" and "named"
    x, y, title : the titles of the axes and of the picture
    mark : where to draw an upright line, such as at the best x
    """
    rows = [dict(row) for row in table if float(row["x"]) > 0]
    names = list(dict.fromkeys(str(row["series"]) for row in rows if row["named"]))
    alt = altair()
    across = alt.X("x:Q", title=x or None, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(grid=False))
    upright = alt.Y("y:Q", title=y or None)
    rest = rows_of(alt, [row for row in rows if not row["named"]]).mark_line(
        strokeWidth=1, opacity=0.45, color=GREY
    )
    layers = [rest.encode(x=across, y=upright, detail="series:N", tooltip=["series:N", "x:Q", "y:Q"])]
    palette = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=names, range=palette),
        sort=names,
        legend=alt.Legend(title=None, orient="right", symbolType="stroke", symbolStrokeWidth=3),
    )
    dashes = [[1, 0] if at < len(COLOURS) else [6, 3] for at in range(len(names))]
    strokes = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=dashes), legend=None)
    named = rows_of(alt, [row for row in rows if row["named"]]).mark_line(strokeWidth=2.5)
    layers.append(
        named.encode(
            x=across, y=upright, color=colour, strokeDash=strokes, tooltip=["series:N", "x:Q", "y:Q"]
        )
    )
    if mark is not None:
        rule = rows_of(alt, [{"x": mark}]).mark_rule(strokeDash=[4, 3], color=GREY, strokeWidth=1.5)
        layers.append(rule.encode(x=across))
    chart = alt.layer(*layers).properties(width=520, height=340, **({"title": title} if title else {}))
    return styled(chart)
