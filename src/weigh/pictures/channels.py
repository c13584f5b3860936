"""The channels that charts share: series told apart, legends, tooltips, upright marks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weigh import errors
from weigh.pictures.facts import Rows, checked, form
from weigh.pictures.style import COLOURS, DASHES, GREY, SHAPES, rows_of
from weigh.text import cut

ROOM = 170  # pixels of names beside a chart
# Legends that show lines, and points.
STROKES: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 400}
DOTS: dict[str, Any] = {"symbolSize": 100, "symbolStrokeWidth": 0}


def tell_apart(what: str, names: Sequence[str]) -> None:
    """Refuse more series than colours and shapes tell apart."""
    if len(names) > len(COLOURS):
        raise errors.DataError(
            f"{what} tell {len(COLOURS)} series apart, got {len(names)}: {errors.listing(names)}. Draw fewer."
        )


def legend(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """The legend above a chart, in as many columns as there is room for; none for a nameless series."""
    if not any(names):
        return None
    column = 60 + 7 * min(max(map(len, names)), 28)
    # In a page that shrinks, the chart's own width is known only after the legend has been laid out.
    room = f"min(width, (containerSize()[0] || 9999) - {ROOM + 30})"
    columns = alt.ExprRef(f"max(1, floor({room} / {column}))")
    return alt.Legend(
        title=None, orient="top", offset=8, columns=columns, labelLimit=200, symbolOpacity=1, **settings
    )


def colour(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """The colour of a series."""
    return alt.Color(f"{of}:N", **_colours(alt, names, **settings))


def fill(alt: Any, names: Sequence[str], of: str, **settings: Any) -> Any:
    """The colour of what is filled and has no stroke of that colour."""
    return alt.Fill(f"{of}:N", **_colours(alt, names, **settings))


def _colours(alt: Any, names: Sequence[str], **settings: Any) -> dict[str, Any]:
    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return {"scale": scale, "legend": legend(alt, names, **settings)}


def shape(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """The shape of the points of a series."""
    scale = alt.Scale(domain=list(names), range=list(SHAPES[: len(names)]))
    return alt.Shape(f"{of}:N", scale=scale, legend=legend(alt, names, **settings))


def dash(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """The dashes of the line of a series."""
    scale = alt.Scale(domain=list(names), range=[list(each) for each in DASHES[: len(names)]])
    return alt.StrokeDash("series:N", scale=scale, legend=legend(alt, names, **settings))


def tooltip(alt: Any, rows: Rows, words: Iterable[str] = (), /, **numbers: str) -> list[Any]:
    """What a pointer is told: words as they are, numbers by the titles given, where any row has them."""
    held = {name: [row[name] for row in rows if row.get(name) is not None] for name in numbers}
    return [
        *(alt.Tooltip(f"{word}:N") for word in words if any(row.get(word) for row in rows)),
        *(
            alt.Tooltip(f"{name}:Q", title=cut(title or name, 60), format=form(held[name]))
            for name, title in numbers.items()
            if held[name]
        ),
    ]


def axes(alt: Any, titles: Sequence[str], spans: Sequence[Sequence[float]]) -> Iterator[Any]:
    """Yield both axes of a plane that shows what the spans say and nothing beside."""
    for channel, name, title, span in zip((alt.X, alt.Y), "xy", titles, spans, strict=True):
        scale = alt.Scale(domain=list(span), nice=False, zero=False)
        axis = alt.Axis(grid=False, tickCount=6)
        yield channel(f"{name}:Q", title=title or None, axis=axis, scale=scale)


def down(alt: Any, names: Sequence[str], title: str = "", of: str = "name") -> Any:
    """The places of names one under the other."""
    axis = alt.Axis(labelLimit=ROOM, ticks=False, domain=False, labelPadding=6)
    return alt.Y(f"{of}:N", title=title or None, axis=axis, scale=alt.Scale(domain=list(names)))


def upright(alt: Any, marks: Iterable[tuple[float, str]], across: Any, middle: float = math.inf) -> list[Any]:
    """Dashed lines over the whole height, with words on the side that has room: left beyond the middle."""
    given = [{"x": x, "text": text} for x, text in marks]
    if not given:
        return []
    found = checked("Upright lines", given, ("text",), ("x",))
    rows = [
        {"x": row["x"], "text": cut(row["text"], 60), "line": 2 + 16 * at} for at, row in enumerate(found)
    ]
    rule = rows_of(alt, rows).mark_rule(strokeDash=[4, 3], color=GREY, strokeWidth=1.5)
    layers = [rule.encode(x=across)]
    for align, shift in (("left", 5), ("right", -5)):
        own = [row for row in rows if row["text"] and (row["x"] > middle) == (align == "right")]
        words = rows_of(alt, own).mark_text(align=align, baseline="top", dx=shift, fontSize=12, color=GREY)
        if own:
            layers.append(words.encode(x=across, y=alt.Y("line:Q", scale=None, title=None), text="text:N"))
    return layers


def described(kind: str, title: str, x: str, y: str, told: str) -> str:
    """What a screen reader says of a chart: as told, or its kind, title and axes."""
    shown = f"{y} over {x}" if x and y else x or y
    return told or f"{kind}{f' of {shown}' if shown else ''}{f': {title}' if title else ''}."
