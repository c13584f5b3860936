"""A trace as plain data, and its numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from weigh.model.factors import number_text
from weigh.text import plain

if TYPE_CHECKING:
    from weigh.explain.trace import Trace
    from weigh.explain.trace_steps import Step

LONGEST = 12  # signs of an exact number; longer ones are rounded in print


def written(number: Fraction, decimal: bool = False) -> str:
    """A number for people: whole, a fraction or, if asked for, a decimal; rounded if it is too long."""
    text = number_text(number) if decimal else str(number)
    # With its point, a rounded number is not taken for a whole one.
    return text if len(text) <= LONGEST else f"{float(number):#.6g}"


def vector(numbers: Iterable[Fraction], decimal: bool = False) -> str:
    """A vector for people, such as (0,-1,1/2)."""
    return f"({','.join(written(number, decimal) for number in numbers)})"


def facts(trace: Trace) -> dict[str, Any]:
    """The trace as plain data."""
    kept = {} if trace.rules.keep == "voted" else {"weights": _weights(trace.weights())}
    return {
        "features": list(trace.names),
        "classes": [plain(label) for label in trace.classes],
        "keep": trace.rules.keep,
        "passes": trace.passes,
        "mistakes": trace.mistakes,
        "updates": trace.updates,
        "converged": trace.converged,
        **kept,
        "steps": [_step(step) for step in trace.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "iteration": step.iteration,
        "row": step.row,
        "label": plain(step.label),
        "scores": [_number(score) for score in step.scores],
        "signs": list(step.signs),
        "prediction": plain(step.prediction),
        "correct": step.correct,
        "errors": list(step.errors),
        "updates": [_numbers(update) for update in step.updates],
        "weights": [_numbers(plane.weights) for plane in step.planes],
        "biases": [_number(plane.bias) for plane in step.planes],
    }


def _weights(kept: Any) -> Any:
    if isinstance(kept, dict):
        return {str(label): _weights(plane) for label, plane in kept.items()}
    return {"w": _numbers(kept.weights), "b": _number(kept.bias)}


def _numbers(numbers: Mapping[str, Fraction]) -> dict[str, int | str]:
    return {name: _number(number) for name, number in numbers.items()}


def _number(number: Fraction) -> int | str:
    return number.numerator if number.denominator == 1 else str(number)
