"""A trace as a page: the plane that turns, where there are two features, above the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weigh import pictures
from weigh.explain import trace_table
from weigh.explain.trace_facts import vector, written
from weigh.text import cut

if TYPE_CHECKING:
    from weigh.explain.trace import Trace
    from weigh.explain.trace_steps import Step

DRAWN = 150  # steps that a picture holds
LISTED = 1_000  # steps that the table of a page holds


def page_of(trace: Trace) -> str:
    """Return the page."""
    body = trace_table.markup(trace, trace_table.chosen(trace, None), LISTED)
    if len(trace.classes) > 2:
        return pictures.page([], f"Perceptron of {len(trace.classes):,} classes", body)
    title = f"Perceptron: {cut(trace.classes[0], 30)} or {cut(trace.classes[1], 30)}"
    if not is_drawable(trace):
        return pictures.page([], title, body)
    shown = len(_drawn(trace))
    if shown < len(trace.steps):
        told = f"The picture shows {shown:,} steps that move the plane, of {len(trace.steps):,} in all."
        body = f"<p>{told}</p>{body}"
    return pictures.page([picture(trace)], title, body)


def is_drawable(trace: Trace) -> bool:
    """Whether there is a picture: of two features and two classes."""
    return len(trace.names) == 2 and len(trace.classes) == 2


def _drawn(trace: Trace) -> tuple[Step, ...]:
    """Return the steps of the picture: all, or, of a long run, the first that move the plane."""
    if len(trace.steps) <= DRAWN:
        return trace.steps
    return tuple(step for step in trace.steps if step.updated)[:DRAWN] or trace.steps[:1]


def picture(trace: Trace, at: int = 1) -> Any:
    """Return the picture of the plane that turns, at one of its steps."""
    labels = (cut(trace.classes[0], 30), cut(trace.classes[1], 30))
    first, second = trace.names
    points = [
        pictures.Point(float(row.get(first, 0)), float(row.get(second, 0)), labels[code])
        for row, code in zip(trace.rows, trace.codes, strict=True)
    ]
    turns = [_turn(trace, step) for step in _drawn(trace)]
    return pictures.plane_steps(points, turns, labels, (cut(first, 40), cut(second, 40)), at)


def _turn(trace: Trace, step: Step) -> pictures.Turn:
    w = [step.weights.get(name, 0 * step.bias) for name in trace.names]
    verdict = "right" if step.correct else "a mistake"
    margin = ", within the margin" if step.correct and step.updated else ""
    score = written(step.score, trace.decimal)
    return pictures.Turn(
        step.row,
        (float(w[0]), float(w[1])),
        float(step.bias),
        not step.correct,
        f"Iteration {step.iteration}, row {step.row}: w·x+b = {score}, so {cut(step.prediction, 20)}: "
        f"{verdict}{margin}",
        f"error {step.error}; w = {vector(w, trace.decimal)}, b = {written(step.bias, trace.decimal)}",
    )
