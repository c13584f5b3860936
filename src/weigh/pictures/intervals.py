"""Intervals: a dot per name with whiskers, one under the other."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import colour, described, shape, tell_apart, tooltip, upright
from weigh.pictures.facts import Table, checked, few, names_of
from weigh.pictures.style import WIDTH, altair, rows_of, styled

MOST = 40
ROOM = 190  # pixels of the names


def intervals(table: Table, x: str = "", title: str = "", mark: float | None = None, told: str = "") -> Any:
    """Draw a dot per row with a whisker from low to high, in the order given.

    Parameters
    ----------
    table : rows with "name" and "value", "low" and "high" where they are known, and "series" where
        names have several dots
    x, title : the titles of the axis and of the picture
    mark : where to draw an upright line, such as at no difference
    told : what a screen reader says
    """
    given = [{"series": "", **row} for row in table]
    rows, more = few("intervals", checked("Intervals", given, ("name", "series"), ("value",)), MOST)
    names = names_of(rows, "series")
    tell_apart("Intervals", names)
    alt = altair()
    across = alt.X(
        "value:Q", title=x or None, scale=alt.Scale(zero=False, padding=12), axis=alt.Axis(tickCount=6)
    )
    place = {
        "y": alt.Y(
            "name:N",
            sort=None,
            title=None,
            axis=alt.Axis(labelLimit=ROOM, ticks=False, domain=False, grid=True),
        ),
        "color": colour(alt, names),
        "tooltip": tooltip(alt, rows, ("name", "series"), value=x or "value", low="from", high="to"),
    }
    if len(names) > 1:
        place["yOffset"] = alt.YOffset("series:N", sort=names)
    rule = rows_of(alt, [row for row in rows if row.get("low") is not None and row.get("high") is not None])
    dots = rows_of(alt, rows).mark_point(filled=True, size=90, opacity=1)
    layers = [
        *upright(alt, [] if mark is None else [(mark, "")], alt.X("x:Q", title=x or None)),
        rule.mark_rule(strokeWidth=2.5).encode(**place, x=alt.X("low:Q"), x2="high:Q"),
        dots.encode(**place, x=across, shape=shape(alt, names)),
    ]
    step = alt.Step(26 if len(names) == 1 else 16, **({} if len(names) == 1 else {"for": "offset"}))
    chart = alt.layer(*layers).properties(width=WIDTH - 120, height=step)
    return styled(chart, described("Intervals", title, x, "", told), title, more)
