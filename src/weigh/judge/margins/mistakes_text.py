"""A mistake bound as text of at most 80 columns, and as a small HTML table."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from weigh.judge.margins.margin_text import READABLE, WIDTH
from weigh.text import aligned, amount, counted, html_note, html_table

if TYPE_CHECKING:
    from weigh.judge.margins.mistakes import MistakeBound

FORMS = {
    "margin": "R²/γ²",
    "squared hinge": "((R + D)/γ)²",
    "hinge": "((R/γ + √(R²/γ² + 4L))/2)²",
    "count": "every example a mistake",
}


def text(result: MistakeBound) -> str:
    """The whole result as text."""
    head, *others = (textwrap.fill(each, WIDTH) for each in _sentences(result))
    return "\n\n".join([head, aligned(_rows(result), indent="  "), "\n".join(others)])


def markup(result: MistakeBound) -> str:
    """The result as an HTML table with its sentences."""
    head, *others = _sentences(result)
    return f"<div>{html_table(head, _rows(result))}{''.join(map(html_note, others))}</div>"


def headline(result: MistakeBound) -> str:
    """What the bound says, in one sentence."""
    return _sentences(result)[0]


def _sentences(result: MistakeBound) -> list[str]:
    most = math.floor(result.bound)
    span = (
        "in any number of passes"
        if result.passes is None
        else f"in {counted(result.passes, 'pass', 'passes')}"
    )
    rows = counted(result.n_rows, "row")
    head = f"A perceptron makes at most {counted(most, 'mistake')} on these {rows}, {span}."
    why = {
        "margin": "The classes are separable, so the bound holds in any order of the rows.",
        "count": "No plane was found that proves less than one mistake per example shown.",
    }.get(result.form, "No plane separates the classes; what the best one found misses is paid for.")
    if result.mistakes is None:
        return [head, why]
    sign = "≤" if result.holds else ">"
    checked = f"{amount(result.mistakes)} {sign} {amount(result.bound)}"
    if result.holds:
        return [head, why, f"Checked: the run made {counted(result.mistakes, 'mistake')}, {checked}."]
    return [
        head,
        why,
        f"It does not hold: {checked}. The learner saw other rows or features, or made more passes.",
    ]


def _rows(result: MistakeBound) -> list[list[str]]:
    rows = [["", "value"], ["radius R", f"{result.radius:.10g}"]]
    if math.isfinite(result.margin):
        rows.append(
            ["margin γ, at least" if result.form == "margin" else "margin γ, chosen", f"{result.margin:.10g}"]
        )
    if result.form == "squared hinge":
        rows.append(["shortfall D", f"{math.sqrt(result.loss) * result.margin:.10g}"])
    if result.form == "hinge":
        rows.append(["hinge loss L", f"{result.loss:.10g}"])
    exact = "" if result.exact is None or result.exact.denominator == 1 else f" = {result.exact}"
    shown = exact if len(exact) <= READABLE else ""
    rows.append([f"bound {FORMS[result.form]}", f"{result.bound:,.6f}".rstrip("0").rstrip(".") + shown])
    if result.mistakes is not None:
        rows.append(["mistakes made", amount(result.mistakes)])
    return rows
