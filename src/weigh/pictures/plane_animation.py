"""Animate how a separating line in the plane changes during training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import format_name, shorten_titles
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

CROSS_PATH = "M-1,-1L1,1M-1,1L1,-1"


@dataclass(frozen=True)
class LabelledPoint:
    """A point of one of two classes."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class PlaneStep:
    """One training step: the point visited, whether it was misclassified, and the weights after it."""

    point: int
    weights: XY
    bias: float
    wrong: bool
    caption: str
    detail: str = ""


def animate_plane(
    points: Sequence[LabelledPoint],
    steps: Sequence[PlaneStep],
    labels: tuple[str, str],
    axes: tuple[str, str] = ("x₁", "x₂"),
    at: int = 1,
) -> Any:
    """Draw the separating line after each training step, with a slider over the steps.

    The line is solid after the step and dashed before it. The arrow is the weight vector, which points to
    the side of the second class. The current point has a ring, and a cross if it was misclassified.

    Parameters
    ----------
    labels : the names of the two classes; the second is where w·x + b ≥ 0
    axes : the names of the two features
    at : the step shown first, from 1
    """
    if not points or not steps:
        raise errors.DataError("animate_plane needs at least one point and one step.")
    if not 1 <= at <= len(steps):
        raise errors.parameter_error("animate_plane", "at", f"a step from 1 to {len(steps)}", at)
    alt = import_altair()
    titles = shorten_titles(*axes)
    labels = (format_name(labels[0]), format_name(labels[1]))
    box = ViewBox.around([(point.x, point.y) for point in points], SQUARE_SIZE)
    slider = alt.binding_range(min=1, max=len(steps), step=1, name="step ")
    current = alt.param(name="step", value=at, bind=slider)
    is_current = alt.datum.s == current
    x, y = (
        channel(f"{name}:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=list(span)))
        for channel, name, title, span in zip((alt.X, alt.Y), "xy", titles, box.spans, strict=True)
    )
    background = [layer.transform_filter(is_current) for layer in _plane_layers(alt, box, steps, x, y)]
    marks = [layer.transform_filter(is_current) for layer in _step_layers(alt, points, steps, x, y)]
    chart = alt.layer(*background, _points_layer(alt, points, labels, x, y), *marks).add_params(current)
    # Arrows are perpendicular to their lines at this aspect ratio only.
    chart = chart.properties(width=round(box.width), height=round(box.height), usermeta={"rigid": True})
    description = (
        f"A line over {titles[0]} and {titles[1]} that separates {labels[0]} from {labels[1]}, step by step."
    )
    return apply_style(chart, description)


def _plane_layers(alt: Any, box: ViewBox, steps: Sequence[PlaneStep], x: Any, y: Any) -> Iterator[Any]:
    """Yield the half-planes, the line before and after the step, and the arrow."""
    before = [((0.0, 0.0), 0.0), *((step.weights, step.bias) for step in steps[:-1])]
    after = [(step.weights, step.bias) for step in steps]
    longest = max(box.arrow_length(w) for w, _ in after)
    order = alt.Order("o:Q")
    for code in (0, 1):
        shade = chart_from_rows(alt, _rows_per_step([_class_half_plane(box, w, b, code) for w, b in after]))
        yield shade.mark_line(
            interpolate="linear-closed", fill=COLOURS[code], fillOpacity=0.13, strokeWidth=0
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


def _class_half_plane(box: ViewBox, w: XY, b: float, code: int) -> list[XY]:
    """Return the vertices of the half-plane of the first class (0) or the second (1)."""
    if w == (0.0, 0.0):
        return box.corners if int(b >= 0) == code else []
    return box.half_plane(w, b) if code else box.half_plane((-w[0], -w[1]), -b)


def _points_layer(alt: Any, points: Sequence[LabelledPoint], labels: tuple[str, str], x: Any, y: Any) -> Any:
    rows = [
        {"x": point.x, "y": point.y, "label": format_name(point.label), "row": at}
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
    alt: Any, points: Sequence[LabelledPoint], steps: Sequence[PlaneStep], x: Any, y: Any
) -> Iterator[Any]:
    """Yield the ring and the cross at the current point, and the captions."""
    rows = [
        {"s": s, "x": points[step.point].x, "y": points[step.point].y, "wrong": step.wrong}
        for s, step in enumerate(steps, 1)
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
    for field, size, y_offset in (("caption", 14, -34), ("detail", 13, -14)):
        texts = [{"s": s, "t": format_name(getattr(step, field))} for s, step in enumerate(steps, 1)]
        yield (
            chart_from_rows(alt, texts)
            .mark_text(align="left", baseline="middle", fontSize=size, color=GREY)
            .encode(x=alt.value(0), y=alt.value(y_offset), text="t:N")
        )


def _rows_per_step(shapes: Sequence[Sequence[XY]]) -> list[dict[str, Any]]:
    """Return the vertices of one shape per step as rows."""
    return [
        {"s": s, "o": o, "x": _round_six_digits(x), "y": _round_six_digits(y)}
        for s, shape in enumerate(shapes, 1)
        for o, (x, y) in enumerate(shape)
    ]


def _round_six_digits(number: float) -> float:
    return float(f"{number:.6g}")
