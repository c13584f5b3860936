"""Reliability: how often what was predicted with a probability came true."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import DOTS, colour, dash, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Table, checked, in_unit, names_of, whiskers, words_of
from weigh.pictures.style import GREY, altair, rows_of, styled

SQUARE = 360
AXES = ("probability predicted", "share observed")
TOLD = ("predicted", "observed", "low", "high", "rows")
TOLD_AS = ("predicted", "observed", "from", "to", "rows")


def reliability(table: Table, title: str = "", told: str = "") -> Any:
    """Draw the share observed over the probability predicted, beside the diagonal of the calibrated.

    Parameters
    ----------
    table : rows with "series", "predicted", "observed" and "rows" (how many there are) and, where they
        are known, "low" and "high" of what was observed
    title : what the picture shows
    told : what a screen reader says
    """
    (title,) = words_of(title)
    rows = checked("Reliability curves", table, ("series",), ("predicted", "observed", "rows"))
    in_unit("Reliability curves", rows, "predicted", "observed")
    names = names_of(rows, "series")
    tell_apart("Reliability curves", names)
    alt = altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~g")
    place = {
        "x": alt.X("predicted:Q", title=AXES[0], scale=unit, axis=axis),
        "y": alt.Y("observed:Q", title=AXES[1], scale=unit, axis=axis),
    }
    said = tooltip(alt, rows, ("series",), **dict(zip(TOLD, TOLD_AS, strict=True)))
    paint = {**place, "color": colour(alt, names, **DOTS)}
    ideal = rows_of(alt, [{"predicted": end, "observed": end} for end in (0, 1)])
    known = rows_of(alt, whiskers(rows))
    whisker = {**paint, "y": alt.Y("low:Q"), "y2": alt.Y2("high:Q"), "tooltip": said}
    held = alt.Size("rows:Q", scale=alt.Scale(type="sqrt", range=[30, 240], zero=True), legend=None)
    dots = {**paint, "size": held, "shape": shape(alt, names, **DOTS), "tooltip": said}
    layers = [
        ideal.mark_line(stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5, aria=False).encode(**place),
        known.mark_rule(strokeWidth=2, opacity=0.6).encode(**whisker),
        rows_of(alt, rows).mark_line(strokeWidth=2.5).encode(**paint, strokeDash=dash(alt, names, **DOTS)),
        rows_of(alt, rows).mark_point(filled=True, opacity=1).encode(**dots),
    ]
    chart = alt.layer(*layers).properties(width=SQUARE, height=SQUARE)
    return styled(chart, described("Reliability", title, *AXES, told), title)
