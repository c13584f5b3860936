"""`mistake_bound`: how many mistakes a perceptron can make on these rows, proved and checked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.judge.margins.convex_hulls import FLOAT64_EPSILON, augmented_vertices
from weigh.judge.margins.hinge_bound import hinge_bound
from weigh.judge.margins.margin import Margin, as_design, check_two_classes, margin
from weigh.judge.margins.margin_format import LINE_WIDTH, MAX_FRACTION_WIDTH
from weigh.learn.design_matrix import DesignMatrix
from weigh.text import format_count, format_quantity, html_paragraph, html_table, text_table

MAX_RADIUS_MARGIN_RATIO = 1e150  # what can still be squared


@dataclass(frozen=True, eq=False)
class MistakeBound:
    """The result of `mistake_bound`.

    `form` says what proves `bound`: "margin" is R²/γ² for any number of passes, with γ = `margin`, the
    proved lower end of the augmented margin; "squared hinge" and "hinge" hold for `passes` passes over
    rows that no plane separates, with the unit vector u = (`w`, `b`) and γ = `margin` that were found
    best, and `loss`, what u falls short of γ by; "count" is the number of examples shown, when no
    plane gives less. `exact` is the bound as a fraction, where it is known.
    """

    bound: float
    form: str
    radius: float
    margin: float
    w: Mapping[str, float]
    b: float
    passes: int | None
    loss: float
    mistakes: int | None
    gap: float
    exact: Fraction | None
    n_rows: int
    facts: Margin

    @property
    def holds(self) -> bool | None:
        """Whether the mistakes of the run are within the bound; None without a run."""
        return None if self.mistakes is None else self.mistakes <= self.bound

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "bound": self.bound,
            "form": self.form,
            "exact": None if self.exact is None else str(self.exact),
            "radius": self.radius,
            "margin": self.margin if math.isfinite(self.margin) else None,
            "w": dict(self.w),
            "b": self.b,
            "passes": self.passes,
            "loss": self.loss,
            "mistakes": self.mistakes,
            "holds": self.holds,
            "gap": self.gap,
            "n_rows": self.n_rows,
            "separable": self.facts.separable,
        }

    def plot(self) -> Any:
        """Return a picture of the bound and, if there was a run, of the mistakes it made."""
        from weigh.pictures import bar_chart

        rows = [{"name": f"bound {BOUND_FORMULAS[self.form]}", "value": self.bound}]
        rows += [] if self.mistakes is None else [{"name": "mistakes made", "value": self.mistakes}]
        return bar_chart(rows, x="mistakes", title=mistake_bound_headline(self))

    def __str__(self) -> str:
        return format_mistake_bound(self)

    def _repr_html_(self) -> str:
        return mistake_bound_html(self)


def mistake_bound(
    X: Any,
    y: Any = None,
    *,
    learner: Any = None,
    columns: Any = "auto",
    missing: Sequence[Any] = (),
    passes: int | None = None,
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> MistakeBound:
    """Bound the mistakes of a perceptron on these rows, before it has seen one of them.

    **Separable rows.** Each mistake moves w by y·x, rows with a constant 1 at their end. With a unit
    vector u that gives every row a margin γ, each mistake adds at least γ to w·u, and at most R² to
    ‖w‖², as the row was on the wrong side. So after M mistakes Mγ ≤ w·u ≤ ‖w‖ ≤ √M·R: M ≤ R²/γ², in
    any order, over any number of passes. γ is the augmented margin, from its proved lower end.

    **Others.** A plane that falls short of γ on some rows pays for it, per pass:
    M ≤ ((R + D)/γ)² with D² = T Σ max(0, γ − y·u·x)² (Freund and Schapire 1999), and
    M ≤ ((R/γ + √(R²/γ² + 4L))/2)² with L = T Σ max(0, 1 − y·u·x/γ) (Mohri and Rostamizadeh 2013).
    Both hold for any u and γ; good ones are searched, and the smaller bound is told with them.

    Parameters
    ----------
    X : rows of any storage, or a Design
    y : one label per row, or the label column's name
    learner : a perceptron fitted on these rows, or its certificate; its mistakes are compared with
        the bound
    columns : kinds of the columns; "auto" takes those of the learner, if there is one
    missing : values that stand for a missing one
    passes : passes over rows that cannot be separated; None takes those of the learner, else 1
    tol : how far the interval of the margin may stay open, as a share of it
    max_iter : how many rows may in turn be tried as supports of the plane
    """
    if passes is not None and (isinstance(passes, bool) or not isinstance(passes, int) or passes < 1):
        raise errors.parameter_error("mistake_bound", "passes", "a whole number, at least 1", passes)
    if getattr(learner, "scale", None) is not None:
        raise errors.Unsupported(
            "The learner saw its numbers rescaled (scale='unit'), so that these rows have another radius and "
            "margin. Leave learner out, or fit one with scale=None on rows that are rescaled beforehand."
        )
    if isinstance(columns, str) and columns == "auto":
        columns = getattr(learner, "columns", "auto")
    missing = missing or getattr(learner, "missing", ())
    rows, signs = check_two_classes("mistake_bound", as_design(X, y, columns, missing))
    if rows.weights is not None and np.unique(rows.weights).size > 1:
        raise errors.DataError(
            "mistake_bound is about rows that count alike, got rows of different weights. Leave the "
            "weights out."
        )
    facts = margin(rows, tol=tol, max_iter=max_iter)
    made, shown = (None, None) if learner is None else _observed_mistakes(learner, facts.radius)
    if facts.augmented is not None and facts.augmented.lower > 0.0:
        return _separable_bound(facts, made)
    return _inseparable_bound(rows, signs, facts, made, passes or shown or 1)


def _observed_mistakes(learner: Any, radius: float) -> tuple[int, int | None]:
    """The mistakes and the passes of a perceptron's run on these rows."""
    run = getattr(learner, "certificate_", getattr(learner, "certificate", learner))
    made = getattr(run, "mistakes", None)
    if made is None:
        raise errors.Unsupported(
            f"mistake_bound compares with the mistakes of a fitted perceptron, got "
            f"{type(learner).__name__}, which has no certificate_.mistakes. Fit a weigh.Perceptron first, "
            f"or leave learner out."
        )
    steps = getattr(run, "updates", made)
    if steps != made:
        raise errors.Unsupported(
            f"The bound counts steps after mistakes, and this perceptron made {steps:,} steps for "
            f"{made:,} mistakes. Fit one with margin=0, or leave learner out."
        )
    if getattr(run, "weighted", False):
        raise errors.Unsupported(
            "The bound counts steps of one size, and this perceptron's rows or classes had weights. Fit one "
            "without, or leave learner out."
        )
    if not getattr(run, "bias", True):
        raise errors.Unsupported(
            "The bound is about planes with a bias, and this perceptron has none (bias=False). Fit one with "
            "a bias, or leave learner out."
        )
    seen = getattr(run, "radius", radius)
    if not math.isclose(seen, radius, rel_tol=1e-6):
        raise errors.DataError(
            f"The learner saw rows of radius {seen:.6g}, these have {radius:.6g}. Give the rows and columns "
            f"that it was fitted on."
        )
    return int(made), getattr(run, "passes", None)


def _separable_bound(facts: Margin, made: int | None) -> MistakeBound:
    plane = facts.augmented
    assert plane is not None
    exact = None
    if facts.exact is not None and facts.exact.augmented is not None:
        exact = facts.exact.radius / facts.exact.augmented.square
    # The radius was summed in floats; the most that this can have cost keeps the bound a bound.
    ratio = facts.radius / plane.lower * (1.0 + FLOAT64_EPSILON * (facts.n_features + 8))
    if ratio > MAX_RADIUS_MARGIN_RATIO:
        raise errors.DataError(
            f"The margin is {ratio:.6g} times smaller than the radius, so that the bound is no number any "
            f"more. Multiply the columns by a power of ten."
        )
    return MistakeBound(
        bound=ratio**2 if exact is None else float(exact),
        form="margin",
        radius=facts.radius,
        margin=plane.lower,
        w=plane.w,
        b=plane.b,
        passes=None,
        loss=0.0,
        mistakes=made,
        gap=plane.gap,
        exact=exact,
        n_rows=facts.n_rows,
        facts=facts,
    )


def _inseparable_bound(
    rows: DesignMatrix, signs: Floats, facts: Margin, made: int | None, passes: int
) -> MistakeBound:
    found = hinge_bound(augmented_vertices(rows, signs), passes)
    kept = np.flatnonzero(found.u[:-1]).tolist()
    return MistakeBound(
        bound=found.bound,
        form=found.form,
        radius=facts.radius,
        margin=found.gamma,
        w={rows.names[at]: float(found.u[at]) for at in kept},
        b=float(found.u[-1]),
        passes=passes,
        loss=found.loss,
        mistakes=made,
        gap=0.0,
        exact=None,
        n_rows=facts.n_rows,
        facts=facts,
    )


BOUND_FORMULAS = {
    "margin": "R²/γ²",
    "squared hinge": "((R + D)/γ)²",
    "hinge": "((R/γ + √(R²/γ² + 4L))/2)²",
    "count": "every example a mistake",
}


def format_mistake_bound(result: MistakeBound) -> str:
    """The whole result as text."""
    head, *others = (textwrap.fill(each, LINE_WIDTH) for each in _bound_sentences(result))
    return "\n\n".join([head, text_table(_bound_rows(result), indent="  "), "\n".join(others)])


def mistake_bound_html(result: MistakeBound) -> str:
    """The result as an HTML table with its sentences."""
    head, *others = _bound_sentences(result)
    return f"<div>{html_table(head, _bound_rows(result))}{''.join(map(html_paragraph, others))}</div>"


def mistake_bound_headline(result: MistakeBound) -> str:
    """What the bound says, in one sentence."""
    return _bound_sentences(result)[0]


def _bound_sentences(result: MistakeBound) -> list[str]:
    most = math.floor(result.bound)
    span = (
        "in any number of passes"
        if result.passes is None
        else f"in {format_quantity(result.passes, 'pass', 'passes')}"
    )
    rows = format_quantity(result.n_rows, "row")
    head = f"A perceptron makes at most {format_quantity(most, 'mistake')} on these {rows}, {span}."
    why = {
        "margin": "The classes are separable, so the bound holds in any order of the rows.",
        "count": "No plane was found that proves less than one mistake per example shown.",
    }.get(result.form, "No plane separates the classes; what the best one found misses is paid for.")
    if result.mistakes is None:
        return [head, why]
    sign = "≤" if result.holds else ">"
    checked = f"{format_count(result.mistakes)} {sign} {format_count(result.bound)}"
    if result.holds:
        return [head, why, f"Checked: the run made {format_quantity(result.mistakes, 'mistake')}, {checked}."]
    return [
        head,
        why,
        f"It does not hold: {checked}. The learner saw other rows or features, or made more passes.",
    ]


def _bound_rows(result: MistakeBound) -> list[list[str]]:
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
    shown = exact if len(exact) <= MAX_FRACTION_WIDTH else ""
    rows.append(
        [f"bound {BOUND_FORMULAS[result.form]}", f"{result.bound:,.6f}".rstrip("0").rstrip(".") + shown]
    )
    if result.mistakes is not None:
        rows.append(["mistakes made", format_count(result.mistakes)])
    return rows
