"""The plane turning: points of two classes, and a line that moves step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import MAX_NAME_LENGTH, MAX_TITLE_LENGTH
from weigh.pictures.geometry import XY, ViewBox
from weigh.pictures.style import (
    COLOURS,
    ERROR_COLOUR,
    GREY,
    SHAPES,
    SQUARE_SIZE,
    apply_style,
    chart_from_rows,
    import_altair,
)
from weigh.text import truncate

CROSS_PATH = "M-1,-1L1,1M-1,1L1,-1"


@dataclass(frozen=True)
class LabelledPoint:
    """A point of one of two classes."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class PlaneStep:
    """One step: which point was met, whether it was mistaken, and the plane after it."""

    point: int
    weights: XY
    bias: float
    wrong: bool
    caption: str
    detail: str = ""


def animate_plane(
    points: Sequence[LabelledPoint],
    turns: Sequence[PlaneStep],
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
        raise errors.parameter_error("plane_steps", "at", f"a step from 1 to {len(turns)}", at)
    alt = import_altair()
    axes = (truncate(axes[0], MAX_TITLE_LENGTH), truncate(axes[1], MAX_TITLE_LENGTH))
    labels = (truncate(labels[0], MAX_NAME_LENGTH), truncate(labels[1], MAX_NAME_LENGTH))
    box = ViewBox.around([(point.x, point.y) for point in points], SQUARE_SIZE)
    slider = alt.binding_range(min=1, max=len(turns), step=1, name="step ")
    step = alt.param(name="step", value=at, bind=slider)
    now = alt.datum.s == step
    x, y = (
        channel(f"{name}:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=list(shown)))
        for channel, name, title, shown in zip((alt.X, alt.Y), "xy", axes, box.spans, strict=True)
    )
    ground = [layer.transform_filter(now) for layer in _plane_layers(alt, box, turns, x, y)]
    marks = [layer.transform_filter(now) for layer in _step_layers(alt, points, turns, x, y)]
    chart = alt.layer(*ground, _points_layer(alt, points, labels, x, y), *marks).add_params(step)
    # Arrows stand square to their lines at this width and no other.
    chart = chart.properties(width=round(box.width), height=round(box.height), usermeta={"rigid": True})
    told = f"A plane of {axes[0]} and {axes[1]} that parts {labels[0]} from {labels[1]}, step by step."
    return apply_style(chart, told)


def _plane_layers(alt: Any, box: ViewBox, turns: Sequence[PlaneStep], x: Any, y: Any) -> Iterator[Any]:
    """Yield the two sides, the line before and after, and the arrow."""
    before = [((0.0, 0.0), 0.0), *((turn.weights, turn.bias) for turn in turns[:-1])]
    after = [(turn.weights, turn.bias) for turn in turns]
    longest = max(box.arrow_length(w) for w, _ in after)
    order = alt.Order("o:Q")
    for place in (0, 1):
        shade = chart_from_rows(alt, _rows_per_step([_class_side(box, w, b, place) for w, b in after]))
        yield shade.mark_line(
            interpolate="linear-closed", fill=COLOURS[place], fillOpacity=0.13, strokeWidth=0
        ).encode(x=x, y=y, order=order)
    for planes, dash, opacity in ((before, [5, 4], 0.8), (after, [1, 0], 1.0)):
        lines = chart_from_rows(alt, _rows_per_step([box.line(w, b) for w, b in planes]))
        yield lines.mark_line(stroke=GREY, strokeWidth=2, strokeDash=dash, opacity=opacity).encode(
            x=x, y=y, order=order
        )
    arrows = [box.arrow(w, b, longest) for w, b in after]
    shafts = chart_from_rows(alt, _rows_per_step([list(arrow[:2]) if arrow else [] for arrow in arrows]))
    yield shafts.mark_line(stroke=COLOURS[1], strokeWidth=3, clip=True).encode(x=x, y=y, order=order)
    tips = [
        {
            "s": s,
            "x": _round_six_digits(arrow[1][0]),
            "y": _round_six_digits(arrow[1][1]),
            "a": round(arrow[2], 1),
        }
        for s, arrow in enumerate(arrows, 1)
        if arrow
    ]
    head = chart_from_rows(alt, tips).mark_point(
        shape="triangle-up", filled=True, color=COLOURS[1], size=110, opacity=1, clip=True
    )
    yield head.encode(x=x, y=y, angle=alt.Angle("a:Q", scale=None))


def _class_side(box: ViewBox, w: XY, b: float, place: int) -> list[XY]:
    """Return the corners of the side of the first class (0) or the second (1)."""
    if w == (0.0, 0.0):
        return box.corners if int(b >= 0) == place else []
    return box.half_plane(w, b) if place else box.half_plane((-w[0], -w[1]), -b)


def _points_layer(alt: Any, points: Sequence[LabelledPoint], labels: tuple[str, str], x: Any, y: Any) -> Any:
    rows = [
        {"x": point.x, "y": point.y, "label": truncate(point.label, MAX_NAME_LENGTH), "row": at}
        for at, point in enumerate(points)
    ]
    legend = alt.Legend(title=None, orient="bottom", symbolSize=110)
    domain = list(labels)
    return (
        chart_from_rows(alt, rows)
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


def _step_layers(
    alt: Any, points: Sequence[LabelledPoint], turns: Sequence[PlaneStep], x: Any, y: Any
) -> Iterator[Any]:
    """Yield the ring and the cross on the point that was met, and the caption."""
    rows = [
        {"s": s, "x": points[turn.point].x, "y": points[turn.point].y, "wrong": turn.wrong}
        for s, turn in enumerate(turns, 1)
    ]
    colour = alt.condition(alt.datum.wrong, alt.value(ERROR_COLOUR), alt.value(GREY))
    ring = chart_from_rows(alt, rows).mark_point(
        shape="circle", filled=False, size=480, strokeWidth=2.5, opacity=1
    )
    yield ring.encode(x=x, y=y, stroke=colour)
    cross = chart_from_rows(alt, [row for row in rows if row["wrong"]])
    yield cross.mark_point(
        shape=CROSS_PATH,
        filled=False,
        size=90,
        stroke=ERROR_COLOUR,
        strokeWidth=3,
        opacity=1,
        xOffset=15,
        yOffset=-15,
    ).encode(x=x, y=y)
    for place, size in (("caption", 14), ("detail", 13)):
        words = [
            {"s": s, "t": truncate(getattr(turn, place), MAX_NAME_LENGTH)} for s, turn in enumerate(turns, 1)
        ]
        told = chart_from_rows(alt, words)
        height = -34 if place == "caption" else -14
        yield told.mark_text(align="left", baseline="middle", fontSize=size, color=GREY).encode(
            x=alt.value(0), y=alt.value(height), text="t:N"
        )


def _rows_per_step(shapes: Sequence[Sequence[XY]]) -> list[dict[str, Any]]:
    """Return the spots of one shape per step as rows."""
    return [
        {"s": s, "o": o, "x": _round_six_digits(spot[0]), "y": _round_six_digits(spot[1])}
        for s, shape in enumerate(shapes, 1)
        for o, spot in enumerate(shape)
    ]


def _round_six_digits(number: float) -> float:
    return float(f"{number:.6g}")
