"""Intervals: a dot per name with whiskers, one under the other."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import DOTS, colour, described, down, shape, tell_apart, tooltip, upright
from weigh.pictures.facts import Table, checked, distinct, few, names_of, whiskers, words_of
from weigh.pictures.style import WIDTH, altair, rows_of, styled

MOST = 40


def intervals(
    table: Table,
    x: str = "",
    title: str = "",
    mark: float | None = None,
    told: str = "",
    what: str = "intervals",
    most: int = MOST,
) -> Any:
    """Draw a dot per row with a whisker from low to high, in the order given.

    Parameters
    ----------
    table : rows with "name" and "value", "low" and "high" where they are known, and "series" where
        names have several dots
    x, title : the titles of the axis and of the picture
    mark : where to draw an upright line, such as at no difference
    told : what a screen reader says
    what : what the names are those of, in the plural
    most : how many names are drawn
    """
    x, title = words_of(x, title)
    rows = checked("Intervals", ({"series": "", **row} for row in table), ("name", "series"), ("value",))
    distinct(rows, "name", "series")
    rows, more = few(what, rows, most, "name")
    names, series = names_of(rows, "name"), names_of(rows, "series")
    tell_apart("Intervals", series)
    alt = altair()
    place = {
        "y": down(alt, names),
        "color": colour(alt, series, **DOTS),
        "tooltip": tooltip(alt, rows, ("name", "series"), value=x or "value", low="from", high="to"),
    }
    step = 28 if len(series) == 1 else 16 * len(series) + 8
    if len(series) > 1:
        place["yOffset"] = alt.YOffset("series:N", scale=alt.Scale(domain=series))
    around = alt.Scale(zero=False, padding=12)
    across = alt.X("value:Q", title=x or None, scale=around, axis=alt.Axis(tickCount=6))
    line = rows_of(alt, whiskers(rows)).mark_rule(strokeWidth=2.5)
    dots = rows_of(alt, rows).mark_point(filled=True, size=90, opacity=1)
    layers = [
        *upright(alt, [] if mark is None else [(mark, "")], alt.X("x:Q", title=x or None, scale=around)),
        line.encode(**place, x=alt.X("low:Q", scale=around), x2="high:Q"),
        dots.encode(**place, x=across, shape=shape(alt, series, **DOTS)),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH - 100, height=step * len(names))
    return styled(chart, described("Intervals", title, x, "", told), title, more)
