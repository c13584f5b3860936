"""`mistake_bound`: an upper bound on the mistakes of a perceptron, compared with those it made."""

from __future__ import annotations

import math
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
from weigh.judge.margins.margin_format import MAX_FRACTION_WIDTH, STANDARDISED_SENTENCE
from weigh.learn.design_matrix import DesignMatrix, model_standardisations
from weigh.learn.preprocessing import Standardisation
from weigh.result import Result, Section, Table
from weigh.text import format_count, format_quantity

MAX_RADIUS_MARGIN_RATIO = 1e150  # larger ratios overflow when squared


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound(Result):
    """The result of `mistake_bound`.

    `form` says what proves `bound`: "margin" is R²/γ² for any number of passes, with γ = `margin`, the
    certified lower end of the augmented margin; "squared hinge" and "hinge" hold for `passes` passes over
    inseparable rows, with the best unit vector u = (`w`, `b`) and γ = `margin` found, and `loss` the total
    (squared) hinge loss of u at γ; "count" is the number of examples shown, if no plane gives a smaller
    bound. `exact` is the bound as a fraction, if known.
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
    _json = (
        *("bound", "form", "exact", "radius", "margin", "w", "b", "passes", "loss", "mistakes", "holds"),
        *("gap", "n_rows", "separable"),
    )

    @property
    def holds(self) -> bool | None:
        """Whether the learner's mistakes are within the bound; None without a learner."""
        return None if self.mistakes is None else self.mistakes <= self.bound

    @property
    def separable(self) -> bool | None:
        """Whether a plane separates the classes; None if undecided."""
        return self.facts.separable

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; an infinite margin is None."""
        return super().to_dict() | {"margin": self.margin if math.isfinite(self.margin) else None}

    def plot(self) -> Any:
        """Plot the bound and, with a learner, the mistakes it made."""
        from weigh.pictures import bar_chart

        rows = [{"name": f"bound {BOUND_FORMULAS[self.form]}", "value": self.bound}]
        rows += [] if self.mistakes is None else [{"name": "mistakes made", "value": self.mistakes}]
        return bar_chart(rows, x="mistakes", title=self.headline)

    @property
    def headline(self) -> str:
        """The bound in one sentence."""
        return _bound_sentences(self)[0]

    def sections(self) -> list[Section]:
        """Return the numbers of the bound, why it holds, and a comparison with the learner."""
        _, *reasons = _bound_sentences(self)
        table = Table(_bound_rows(self), indent="  ")
        return [Section("bound", [table]), Section("reasons", reasons)]


def mistake_bound(
    X: Any,
    y: Any = None,
    *,
    learner: Any = None,
    columns: Any = "auto",
    scale: str | None = "auto",
    missing: Sequence[Any] = (),
    passes: int | None = None,
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> MistakeBound:
    """Bound the number of mistakes that a perceptron can make on these rows, without training one.

    **Separable rows.** Each mistake adds y·x to w, where x ends with a constant 1. With a unit vector u that
    gives every row a margin of at least γ, each mistake adds at least γ to w·u, and at most R² to ‖w‖²,
    because the row was on the wrong side. So after M mistakes Mγ ≤ w·u ≤ ‖w‖ ≤ √M·R: M ≤ R²/γ², in any order,
    over any number of passes (Novikoff 1962). γ is the certified lower end of the augmented margin.

    **Inseparable rows.** The bound grows with the hinge loss over T passes:
    M ≤ ((R + D)/γ)² with D² = T Σ max(0, γ − y·u·x)² (Freund and Schapire 1999), and
    M ≤ ((R/γ + √(R²/γ² + 4L))/2)² with L = T Σ max(0, 1 − y·u·x/γ) (Mohri and Rostamizadeh 2013).
    Both hold for any u and γ; the smallest bound found by a search is reported with its u and γ.

    Parameters
    ----------
    X : rows in any storage, or a DesignMatrix
    y : one label per row, or the label column's name
    learner : a perceptron fitted on these rows, or its certificate; its mistakes are compared with
        the bound
    columns : kinds of the columns; "auto" takes those of the learner, if there is one
    scale : as for a perceptron: "auto" standardises the numbers of a table with column names; a learner
        has a scale of its own
    missing : values that mean missing
    passes : passes over inseparable rows; None takes those of the learner, or 1
    tol : largest relative width of the interval of the margin
    max_iter : maximum number of iterations of the margin's solver
    """
    if passes is not None and (isinstance(passes, bool) or not isinstance(passes, int) or passes < 1):
        raise errors.parameter_error("mistake_bound", "passes", "a whole number, at least 1", passes)
    if isinstance(columns, str) and columns == "auto":
        columns = getattr(learner, "columns", "auto")
    missing = missing or getattr(learner, "missing", ())
    scale, standardisations = _learned_scale(learner, scale)
    design = as_design(X, y, columns, missing, scale, standardisations)
    rows, signs = check_two_classes("mistake_bound", design)
    if rows.weights is not None and np.unique(rows.weights).size > 1:
        raise errors.DataError(
            "mistake_bound needs rows of equal weight, got different weights. Leave the weights out."
        )
    facts = margin(rows, tol=tol, max_iter=max_iter)
    mistakes, n_passes = (None, None) if learner is None else _observed_mistakes(learner, facts.radius)
    if facts.augmented is not None and facts.augmented.lower > 0.0:
        return _separable_bound(facts, mistakes)
    return _inseparable_bound(rows, signs, facts, mistakes, passes or n_passes or 1)


def _learned_scale(
    learner: Any, scale: str | None
) -> tuple[str | None, Mapping[str, Standardisation] | None]:
    """Return the scale of a perceptron and, if it is fitted, the standardisations of its numbers."""
    certificate = getattr(learner, "certificate_", getattr(learner, "certificate", learner))
    if hasattr(learner, "scale"):
        scale = learner.scale
    elif not getattr(certificate, "standardised", True):
        scale = None
    model = getattr(learner, "model_", learner)
    return scale, model_standardisations(model) if hasattr(model, "terms") else None


def _observed_mistakes(learner: Any, radius: float) -> tuple[int, int | None]:
    """Return a perceptron's mistakes and passes on these rows; raises if the bound does not apply to it."""
    certificate = getattr(learner, "certificate_", getattr(learner, "certificate", learner))
    mistakes = getattr(certificate, "mistakes", None)
    if mistakes is None:
        raise errors.Unsupported(
            f"mistake_bound compares with the mistakes of a fitted perceptron, got "
            f"{type(learner).__name__}, which has no certificate_.mistakes. Fit a weigh.Perceptron first, "
            f"or leave learner out."
        )
    updates = getattr(certificate, "updates", mistakes)
    if updates != mistakes:
        raise errors.Unsupported(
            f"The bound holds for a perceptron that updates only after mistakes; this one made {updates:,} "
            f"updates for {mistakes:,} mistakes. Fit one with margin=0, or leave learner out."
        )
    if getattr(certificate, "weighted", False):
        raise errors.Unsupported(
            "The bound holds for updates of equal size; this perceptron's rows or classes had weights. Fit "
            "one without weights, or leave learner out."
        )
    if not getattr(certificate, "bias", True):
        raise errors.Unsupported(
            "The bound holds for planes with a bias; this perceptron has none (bias=False). Fit one with "
            "a bias, or leave learner out."
        )
    fitted_radius = getattr(certificate, "radius", radius)
    if not math.isclose(fitted_radius, radius, rel_tol=1e-6):
        raise errors.DataError(
            f"The learner was fitted on rows of radius {fitted_radius:.6g}; these have {radius:.6g}. Give "
            f"the rows and columns that it was fitted on."
        )
    return int(mistakes), getattr(certificate, "passes", None)


def _separable_bound(facts: Margin, mistakes: int | None) -> MistakeBound:
    plane = facts.augmented
    assert plane is not None
    exact = None
    if facts.exact is not None and facts.exact.augmented is not None:
        exact = facts.exact.radius / facts.exact.augmented.square
    # Allow for the rounding error of the radius, so that the bound stays valid.
    ratio = facts.radius / plane.lower * (1.0 + FLOAT64_EPSILON * (facts.n_features + 8))
    if ratio > MAX_RADIUS_MARGIN_RATIO:
        raise errors.DataError(
            f"The margin is {ratio:.6g} times smaller than the radius, so the bound overflows. "
            f"Multiply the columns by a power of ten."
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
        mistakes=mistakes,
        gap=plane.gap,
        exact=exact,
        n_rows=facts.n_rows,
        facts=facts,
    )


def _inseparable_bound(
    rows: DesignMatrix, signs: Floats, facts: Margin, mistakes: int | None, passes: int
) -> MistakeBound:
    best = hinge_bound(augmented_vertices(rows, signs), passes)
    return MistakeBound(
        bound=best.bound,
        form=best.form,
        radius=facts.radius,
        margin=best.gamma,
        w={rows.names[j]: float(best.u[j]) for j in np.flatnonzero(best.u[:-1]).tolist()},
        b=float(best.u[-1]),
        passes=passes,
        loss=best.loss,
        mistakes=mistakes,
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


def _bound_sentences(result: MistakeBound) -> list[str]:
    passes = result.passes
    span = "any number of passes" if passes is None else format_quantity(passes, "pass", "passes")
    limit, rows = format_quantity(math.floor(result.bound), "mistake"), format_quantity(result.n_rows, "row")
    head = f"A perceptron makes at most {limit} on these {rows}, in {span}."
    why = {
        "margin": "The classes are separable, so the bound holds in any order of the rows.",
        "count": "No plane was found that proves less than one mistake per example shown.",
    }.get(result.form, "No plane separates the classes; the hinge loss of the best one found is added.")
    if result.facts.standardised:
        why += f" {STANDARDISED_SENTENCE}"
    if result.mistakes is None:
        return [head, why]
    sign = "≤" if result.holds else ">"
    comparison = f"{format_count(result.mistakes)} {sign} {format_count(result.bound)}"
    if result.holds:
        made = format_quantity(result.mistakes, "mistake")
        return [head, why, f"Checked: the learner made {made}, {comparison}."]
    reason = "The learner saw other rows or features, or made more passes."
    return [head, why, f"The bound does not hold: {comparison}. {reason}"]


def _bound_rows(result: MistakeBound) -> list[list[str]]:
    rows = [["", "value"], ["radius R", f"{result.radius:.10g}"]]
    if math.isfinite(result.margin):
        kind = "at least" if result.form == "margin" else "chosen"
        rows.append([f"margin γ, {kind}", f"{result.margin:.10g}"])
    if result.form == "squared hinge":
        rows.append(["shortfall D", f"{math.sqrt(result.loss) * result.margin:.10g}"])
    if result.form == "hinge":
        rows.append(["hinge loss L", f"{result.loss:.10g}"])
    exact = "" if result.exact is None or result.exact.denominator == 1 else f" = {result.exact}"
    fraction = exact if len(exact) <= MAX_FRACTION_WIDTH else ""
    bound = f"{result.bound:,.6f}".rstrip("0").rstrip(".") + fraction
    rows.append([f"bound {BOUND_FORMULAS[result.form]}", bound])
    if result.mistakes is not None:
        rows.append(["mistakes made", format_count(result.mistakes)])
    return rows
