"""The plane turning: points of two classes, and a line that moves step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures.facts import LONGEST, MOST_SIGNS
from weigh.pictures.geometry import Box, Spot
from weigh.pictures.style import COLOURS, GREY, SHAPES, SIDE, WRONG, altair, rows_of, styled
from weigh.text import cut

CROSS = "M-1,-1L1,1M-1,1L1,-1"


@dataclass(frozen=True)
class Point:
    """A point of one of two classes."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Turn:
    """One step: which point was met, whether it was mistaken, and the plane after it."""

    point: int
    weights: Spot
    bias: float
    wrong: bool
    caption: str
    detail: str = ""


def plane_steps(
    points: Sequence[Point],
    turns: Sequence[Turn],
    labels: tuple[str, str],
    axes: tuple[str, str] = ("x₁", "x₂"),
    at: int = 1,
) -> Any:
    """Draw a plane that turns, with a slider over its steps.

    The line is drawn as it is after the step, dashed as it was before; the arrow is the weight
    vector, which points to the side of the second class. The point that was met has a ring, and a
    cross if it was mistaken.

    Parameters
    ----------
    labels : the names of the two classes; the second is where w·x + b ≥ 0
    axes : the names of the two features
    at : the step that is shown first, from 1
    """
    if not points or not turns:
        raise errors.DataError("A plane that turns needs points and steps, and there are none.")
    if not 1 <= at <= len(turns):
        raise errors.parameter("plane_steps", "at", f"a step from 1 to {len(turns)}", at)
    alt = altair()
    axes = (cut(axes[0], MOST_SIGNS), cut(axes[1], MOST_SIGNS))
    labels = (cut(labels[0], LONGEST), cut(labels[1], LONGEST))
    box = Box.around([(point.x, point.y) for point in points], SIDE)
    slider = alt.binding_range(min=1, max=len(turns), step=1, name="step ")
    step = alt.param(name="step", value=at, bind=slider)
    now = alt.datum.s == step
    x, y = (
        channel(f"{name}:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=list(shown)))
        for channel, name, title, shown in zip((alt.X, alt.Y), "xy", axes, box.spans, strict=True)
    )
    ground = [layer.transform_filter(now) for layer in _ground(alt, box, turns, x, y)]
    marks = [layer.transform_filter(now) for layer in _marks(alt, points, turns, x, y)]
    chart = alt.layer(*ground, _scatter(alt, points, labels, x, y), *marks).add_params(step)
    # Arrows stand square to their lines at this width and no other.
    chart = chart.properties(width=round(box.width), height=round(box.height), usermeta={"rigid": True})
    told = f"A plane of {axes[0]} and {axes[1]} that parts {labels[0]} from {labels[1]}, step by step."
    return styled(chart, told)


def _ground(alt: Any, box: Box, turns: Sequence[Turn], x: Any, y: Any) -> Iterator[Any]:
    """Yield the two sides, the line before and after, and the arrow."""
    before = [((0.0, 0.0), 0.0), *((turn.weights, turn.bias) for turn in turns[:-1])]
    after = [(turn.weights, turn.bias) for turn in turns]
    longest = max(box.length(w) for w, _ in after)
    order = alt.Order("o:Q")
    for place in (0, 1):
        shade = rows_of(alt, _numbered([_side(box, w, b, place) for w, b in after]))
        yield shade.mark_line(
            interpolate="linear-closed", fill=COLOURS[place], fillOpacity=0.13, strokeWidth=0
        ).encode(x=x, y=y, order=order)
    for planes, dash, opacity in ((before, [5, 4], 0.8), (after, [1, 0], 1.0)):
        lines = rows_of(alt, _numbered([box.line(w, b) for w, b in planes]))
        yield lines.mark_line(stroke=GREY, strokeWidth=2, strokeDash=dash, opacity=opacity).encode(
            x=x, y=y, order=order
        )
    arrows = [box.arrow(w, b, longest) for w, b in after]
    shafts = rows_of(alt, _numbered([list(arrow[:2]) if arrow else [] for arrow in arrows]))
    yield shafts.mark_line(stroke=COLOURS[1], strokeWidth=3, clip=True).encode(x=x, y=y, order=order)
    tips = [
        {"s": s, "x": _short(arrow[1][0]), "y": _short(arrow[1][1]), "a": round(arrow[2], 1)}
        for s, arrow in enumerate(arrows, 1)
        if arrow
    ]
    head = rows_of(alt, tips).mark_point(
        shape="triangle-up", filled=True, color=COLOURS[1], size=110, opacity=1, clip=True
    )
    yield head.encode(x=x, y=y, angle=alt.Angle("a:Q", scale=None))


def _side(box: Box, w: Spot, b: float, place: int) -> list[Spot]:
    """Return the corners of the side of the first class (0) or the second (1)."""
    if w == (0.0, 0.0):
        return box.corners if int(b >= 0) == place else []
    return box.half(w, b) if place else box.half((-w[0], -w[1]), -b)


def _scatter(alt: Any, points: Sequence[Point], labels: tuple[str, str], x: Any, y: Any) -> Any:
    rows = [
        {"x": point.x, "y": point.y, "label": cut(point.label, LONGEST), "row": at}
        for at, point in enumerate(points)
    ]
    legend = alt.Legend(title=None, orient="bottom", symbolSize=110)
    domain = list(labels)
    return (
        rows_of(alt, rows)
        .mark_point(filled=True, size=95, opacity=0.95)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "label:N", scale=alt.Scale(domain=domain, range=list(COLOURS[:2])), legend=legend
            ),
            shape=alt.Shape("label:N", scale=alt.Scale(domain=domain, range=list(SHAPES[:2])), legend=legend),
            tooltip=[alt.Tooltip("row:Q"), alt.Tooltip("label:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")],
        )
    )


def _marks(alt: Any, points: Sequence[Point], turns: Sequence[Turn], x: Any, y: Any) -> Iterator[Any]:
    """Yield the ring and the cross on the point that was met, and the caption."""
    rows = [
        {"s": s, "x": points[turn.point].x, "y": points[turn.point].y, "wrong": turn.wrong}
        for s, turn in enumerate(turns, 1)
    ]
    colour = alt.condition(alt.datum.wrong, alt.value(WRONG), alt.value(GREY))
    ring = rows_of(alt, rows).mark_point(shape="circle", filled=False, size=480, strokeWidth=2.5, opacity=1)
    yield ring.encode(x=x, y=y, stroke=colour)
    cross = rows_of(alt, [row for row in rows if row["wrong"]])
    yield cross.mark_point(
        shape=CROSS, filled=False, size=90, stroke=WRONG, strokeWidth=3, opacity=1, xOffset=15, yOffset=-15
    ).encode(x=x, y=y)
    for place, size in (("caption", 14), ("detail", 13)):
        words = [{"s": s, "t": cut(getattr(turn, place), LONGEST)} for s, turn in enumerate(turns, 1)]
        told = rows_of(alt, words)
        height = -34 if place == "caption" else -14
        yield told.mark_text(align="left", baseline="middle", fontSize=size, color=GREY).encode(
            x=alt.value(0), y=alt.value(height), text="t:N"
        )


def _numbered(shapes: Sequence[Sequence[Spot]]) -> list[dict[str, Any]]:
    """Return the spots of one shape per step as rows."""
    return [
        {"s": s, "o": o, "x": _short(spot[0]), "y": _short(spot[1])}
        for s, shape in enumerate(shapes, 1)
        for o, spot in enumerate(shape)
    ]


def _short(number: float) -> float:
    return float(f"{number:.6g}")
