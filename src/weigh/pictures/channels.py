"""The channels that charts share: series told apart, legends, tooltips, upright marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weigh import errors
from weigh.pictures.facts import Rows, form
from weigh.pictures.style import COLOURS, DASHES, GREY, SHAPES, rows_of
from weigh.text import cut

# A legend that shows lines.
STROKES: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 400}


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
    columns = alt.ExprRef(f"max(1, floor(width / {column}))")
    return alt.Legend(title=None, orient="top", columns=columns, labelLimit=200, symbolOpacity=1, **settings)


def colour(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """The colour of a series."""
    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return alt.Color(f"{of}:N", scale=scale, legend=legend(alt, names, **settings))


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


def upright(alt: Any, marks: Iterable[tuple[float, str]], across: Any) -> list[Any]:
    """Dashed lines over the whole height, with words at their heads."""
    rows = [{"x": float(x), "text": cut(text, 60)} for x, text in marks]
    if not rows:
        return []
    rule = rows_of(alt, rows).mark_rule(strokeDash=[4, 3], color=GREY, strokeWidth=1.5)
    words = rows_of(alt, rows).mark_text(align="left", baseline="top", dx=5, fontSize=12, color=GREY)
    return [rule.encode(x=across), words.encode(x=across, y=alt.value(2), text="text:N")]


def described(kind: str, title: str, x: str, y: str, told: str) -> str:
    """What a screen reader says of a chart: as told, or its kind, title and axes."""
    axes = f"{y} over {x}" if x and y else x or y
    return told or f"{kind}{f' of {axes}' if axes else ''}{f': {title}' if title else ''}."
