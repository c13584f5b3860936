"""Curves: one line per series, with a band where its uncertainty is known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from weigh import errors
from weigh.pictures.channels import STROKES, colour, dash, described, tell_apart, tooltip, upright
from weigh.pictures.facts import Rows, Table, checked, names_of, whiskers, words_of
from weigh.pictures.style import WIDTH, altair, rows_of, styled

SHORT, LONG = 1.5, 4  # decades of a logarithmic axis
MOST_DOTS = 120  # rows of which each has a dot on its line


def curves(
    table: Table,
    x: str = "",
    y: str = "",
    title: str = "",
    log: bool = False,
    marks: Iterable[tuple[float, str]] = (),
    told: str = "",
    more: str = "",
) -> Any:
    """Draw a line per series over x, with a band from low to high.

    Parameters
    ----------
    table : rows with "series", "x" and "y" and, where there is a band, "low" and "high"; rows with
        "fitted" true are a thin dashed line in the colour of their series
    x, y : the titles of the axes
    title : what the picture shows
    log : whether the axis of x is logarithmic
    marks : pairs of x and words, drawn as upright dashed lines
    told : what a screen reader says
    more : what stands small under the title
    """
    x, y, title, more = words_of(x, y, title, more)
    rows = checked("Curves", table, ("series",), ("x", "y"), ("fitted",))
    names = names_of(rows, "series")
    tell_apart("Curves", names)
    marks = list(marks)
    _refuse_log([*(row["x"] for row in rows), *(x for x, _ in marks)], log)
    alt = altair()
    across = _across(alt, rows, x, log)
    height = alt.Y("y:Q", title=y or None, scale=alt.Scale(zero=_has_zero(rows)))
    paint = colour(alt, names, **STROKES)
    measured = [row for row in rows if not row["fitted"]]
    fitted = [row for row in rows if row["fitted"]]
    layers = []
    if banded := whiskers(rows):
        band = rows_of(alt, banded).mark_area(opacity=0.18)
        layers.append(band.encode(x=across, y=alt.Y("low:Q"), y2="high:Q", color=paint))
    if fitted:
        thin = rows_of(alt, fitted).mark_line(strokeWidth=1.5, strokeDash=[3, 3], opacity=0.9)
        layers.append(thin.encode(x=across, y=height, color=paint))
    if measured:
        line = rows_of(alt, measured).mark_line(strokeWidth=2.5, point=len(measured) <= MOST_DOTS)
        said = tooltip(alt, measured, ("series",), x=x, y=y, low="from", high="to")
        layers.append(
            line.encode(x=across, y=height, color=paint, strokeDash=dash(alt, names, **STROKES), tooltip=said)
        )
    chart = alt.layer(*layers, *upright(alt, marks, across, _middle(rows, log))).properties(
        width=WIDTH, height=300
    )
    return styled(chart, described("Curves", title, x, y, told), title, more)


def _refuse_log(numbers: list[float], log: bool) -> None:
    if log and min(numbers) <= 0:
        raise errors.DataError(f"A logarithmic axis shows numbers above zero, got {min(numbers)!r} for 'x'.")


def _across(alt: Any, rows: Rows, title: str, log: bool) -> Any:
    """The axis of x; passes and rows come whole, and so do the ticks of their axis."""
    whole = all(float(row["x"]).is_integer() for row in rows)
    least: dict[str, Any] = {} if log else {"tickMinStep": 1.0 if whole else 0.0}
    if not log and not whole and {0.0, 1.0} == {end(row["x"] for row in rows) for end in (min, max)}:
        # Of shares both ends are told.
        least = {"values": [tenth / 10 for tenth in range(0, 11, 2)], "labelOverlap": False}
    # Thousands are told by a k, but thousandths by an m that nobody reads.
    form = {"format": "~s" if min(row["x"] for row in rows) >= 1 else "~g", **_ticks(rows)} if log else {}
    scale = alt.Scale(type="log", nice=False) if log else alt.Undefined
    return alt.X("x:Q", title=title or None, scale=scale, axis=alt.Axis(grid=False, **least, **form))


def _ticks(rows: Rows) -> dict[str, Any]:
    """The ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, where there are two to four of these.

    A shorter axis needs more of them, and on a longer one the powers are enough.
    """
    low, high = (math.log10(end(row["x"] for row in rows)) for end in (min, max))
    if not SHORT <= high - low <= LONG:
        return {}
    powers = range(math.floor(low), math.ceil(high))
    steps = [times * 10.0**power for power in powers for times in (1, 2, 5)]
    return {"values": [step for step in [*steps, 10.0 ** math.ceil(high)] if low <= math.log10(step) <= high]}


def _middle(rows: Rows, log: bool) -> float:
    """The x that stands in the middle of the axis."""
    low, high = (end(row["x"] for row in rows) for end in (min, max))
    return math.sqrt(low * high) if log else (low + high) / 2


def _has_zero(rows: Rows) -> bool:
    """Whether zero is shown: not where all numbers are far from it and near each other."""
    shown = [row[name] for row in rows for name in ("y", "low", "high") if row.get(name) is not None]
    return min(shown) < max(shown) / 4 if min(shown) > 0 else True
