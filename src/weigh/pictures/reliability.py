"""Reliability: how often what was predicted with a probability came true."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import STROKES, colour, dash, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Table, checked, names_of
from weigh.pictures.style import GREY, altair, rows_of, styled

SIDE = 360


def reliability(table: Table, title: str = "", told: str = "") -> Any:
    """Draw the share observed over the probability predicted, beside the diagonal of the calibrated.

    Parameters
    ----------
    table : rows with "series", "predicted", "observed" and "rows" (how many there are) and, where they
        are known, "low" and "high" of what was observed
    title : what the picture shows
    told : what a screen reader says
    """
    rows = checked("Reliability curves", table, ("series",), ("predicted", "observed", "rows"))
    names = names_of(rows, "series")
    tell_apart("Reliability curves", names)
    alt = altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~g")
    x = alt.X("predicted:Q", title="probability predicted", scale=unit, axis=axis)
    y = alt.Y("observed:Q", title="share observed", scale=unit, axis=axis)
    said = tooltip(
        alt, rows, ("series",), predicted="predicted", observed="observed", low="from", high="to", rows="rows"
    )
    paint = colour(alt, names, **STROKES)
    ideal = rows_of(alt, [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}])
    rule = rows_of(alt, [row for row in rows if row.get("low") is not None and row.get("high") is not None])
    held = alt.Size("rows:Q", scale=alt.Scale(type="sqrt", range=[30, 260], zero=True), legend=None)
    layers = [
        ideal.mark_line(stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5).encode(x=x, y=y),
        rule.mark_rule(strokeWidth=2, opacity=0.6).encode(
            x=x, y=alt.Y("low:Q"), y2="high:Q", color=paint, tooltip=said
        ),
        rows_of(alt, rows)
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=y, color=paint, strokeDash=dash(alt, names, **STROKES)),
        rows_of(alt, rows)
        .mark_point(filled=True, opacity=1)
        .encode(x=x, y=y, color=paint, size=held, shape=shape(alt, names), tooltip=said),
    ]
    chart = alt.layer(*layers).properties(width=SIDE, height=SIDE)
    axes = ("probability predicted", "share observed")
    return styled(chart, described("Reliability", title, *axes, told), title)
