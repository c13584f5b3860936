"""Many lines over a logarithmic axis, a few of them named: the paths of weights."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import described, tooltip, upright
from weigh.pictures.facts import Table, brief, checked, names_of, words_of
from weigh.pictures.style import COLOURS, GREY, WIDTH, altair, rows_of, styled


def lines(
    table: Table, x: str = "", y: str = "", title: str = "", mark: float | None = None, told: str = ""
) -> Any:
    """Draw a line per series over log x; those named have colours and words, the others are grey.

    Parameters
    ----------
    table : rows with "series", "x" above zero, "y" and "named"
    x, y, title : the titles of the axes and of the picture
    mark : where to draw an upright line, such as at the best x
    told : what a screen reader says
    """
    x, y, title = words_of(x, y, title)
    found = checked("Lines", table, ("series",), ("x", "y"), ("named",))
    rows = [{**row, "x": brief(row["x"]), "y": brief(row["y"])} for row in found if row["x"] > 0]
    named = [row for row in rows if row["named"]]
    names = names_of(named, "series")
    alt = altair()
    place = {
        "x": alt.X(
            "x:Q", title=x or None, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(grid=False)
        ),
        "y": alt.Y("y:Q", title=y or None),
        "tooltip": tooltip(alt, rows, ("series",), x=x, y=y),
    }
    palette = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    dashes = [[1, 0] if at < len(COLOURS) else [6, 3] for at in range(len(names))]
    key = alt.Legend(title=None, orient="right", symbolType="stroke", symbolStrokeWidth=3, labelLimit=170)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=palette), sort=names, legend=key)
    strokes = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=dashes), sort=names, legend=key)
    rest = rows_of(alt, [row for row in rows if not row["named"]])
    layers = [
        rest.mark_line(strokeWidth=1, opacity=0.45, color=GREY).encode(**place, detail="series:N"),
        rows_of(alt, named).mark_line(strokeWidth=2.5).encode(**place, color=colour, strokeDash=strokes),
        *upright(alt, [] if mark is None else [(mark, "")], place["x"]),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=340)
    return styled(chart, described("Lines", title, x, y, told), title)
