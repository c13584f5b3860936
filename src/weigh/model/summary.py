"""A readable summary of a regression: weights with their errors, noise, fit, and penalties by other names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.features.blocks import Floats
from weigh.model.fit import Fit
from weigh.model.optimality import Optimality
from weigh.model.posterior import Posterior
from weigh.priors import arguments
from weigh.priors.quantiles import student_tails
from weigh.text import aligned, amount, cut, html_table, plain, short

SHOWN = 40
WIDTH, LEAST = 80, 12  # of a line, and of a name in it
HOW = {
    "given": "as given",
    "estimated": "estimated from residuals",
    "evidence": "chosen by the evidence",
    "assumed": "assumed: that of the targets",
}


@dataclass(frozen=True)
class Line:
    """One weight: its standard error, how many of them it is from zero, and its interval."""

    feature: str
    weight: float
    error: float | None = None
    ratio: float | None = None
    tails: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Summary:
    """All weights, the strongest first when printed; `tails` is the two-sided p-value of a weight of zero.

    The first line is that of the bias if it `has_bias`; it is printed however weak it is.
    """

    title: str
    lines: tuple[Line, ...]
    level: float
    facts: tuple[tuple[str, str], ...]
    equivalents: Any = None
    has_bias: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "title": self.title,
            "level": self.level,
            "weights": [{name: plain(value) for name, value in vars(line).items()} for line in self.lines],
            "facts": dict(self.facts),
            "equivalents": None if self.equivalents is None else self.equivalents.to_dict(),
        }

    def _rows(self) -> list[list[str]]:
        sure = any(line.error is not None for line in self.lines)
        share = f"{self.level:.0%}"
        heads = ["feature", "weight"] + (["std. error", "ratio", "p", f"{share} from", "to"] if sure else [])
        shown = self.lines
        if len(shown) > SHOWN:
            first = self.lines[:1] if self.has_bias else ()
            rest = sorted(self.lines[len(first) :], key=lambda line: -abs(line.ratio or line.weight))
            shown = (*first, *rest[: SHOWN - len(first)])
        rows = [heads] + [
            [cut(line.feature, 32), *map(_told, _numbers(line)[: None if sure else 1])] for line in shown
        ]
        hidden = len(self.lines) - len(shown)
        return rows + ([[f"… and {hidden:,} more", *[""] * (len(heads) - 1)]] if hidden else [])

    def __str__(self) -> str:
        rows = self._rows()
        numbers = max(map(len, aligned([row[1:] for row in rows], left=0).splitlines()))
        room = max(LEAST, WIDTH - numbers - 4)
        parts = [self.title, aligned([[cut(row[0], room), *row[1:]] for row in rows], indent="  ")]
        parts.append(aligned([list(fact) for fact in self.facts], left=2, indent="  "))
        if self.equivalents is not None:
            # What to mind with each of them is told by the equivalents themselves.
            calls = [[each.package, str(each)] for each in self.equivalents.others]
            told = aligned(calls, left=2, indent="    ")
            parts.append(f"  The same penalty elsewhere (print .equivalents for what to mind):\n{told}")
        return "\n\n".join(parts)

    __repr__ = __str__

    def plot(self) -> Any:
        """Return a picture of the weights, with intervals where they are known; the bias is left out."""
        from weigh.pictures import bars, intervals

        lines = sorted(self.lines[self.has_bias :], key=lambda line: -abs(line.ratio or line.weight))[:SHOWN]
        if any(line.low is None for line in lines):
            return bars(
                [{"name": each.feature, "value": each.weight} for each in lines], "weight", self.title
            )
        rows = [
            {"name": each.feature, "value": each.weight, "low": each.low, "high": each.high} for each in lines
        ]
        return intervals(rows, f"weight, with its interval of {self.level:.0%}", self.title, mark=0.0)

    def _repr_html_(self) -> str:
        facts = html_table("Fit", [["", ""], *map(list, self.facts)], 2)
        return html_table(self.title, self._rows()) + facts


def summarised(
    title: str,
    names: Sequence[str],
    weights: Floats,
    intercept: float | None,
    fit: Fit,
    proof: Optimality | None,
    posterior: Posterior | None,
    level: float,
) -> Summary:
    """Return the summary of weights, with errors where there is a posterior."""
    arguments.level(level)
    lines = [] if intercept is None else [_line("bias", intercept, posterior, level, None)]
    for at, (name, weight) in enumerate(zip(names, weights.tolist(), strict=True)):
        lines.append(_line(name, weight, posterior, level, at))
    facts = tuple(_facts(fit, proof, posterior))
    return Summary(title, tuple(lines), level, facts, fit.equivalents(), intercept is not None)


def _line(name: str, weight: float, posterior: Posterior | None, level: float, at: int | None) -> Line:
    if posterior is None:
        return Line(name, weight)
    error = posterior.intercept_sd if at is None else float(math.sqrt(max(0.0, posterior.covariance[at, at])))
    reach = posterior.reach(level) * error
    ratio = weight / error if error else None
    tails = None if ratio is None else student_tails(posterior.dof, abs(ratio))
    return Line(name, weight, error, ratio, tails, weight - reach, weight + reach)


def _facts(fit: Fit, proof: Optimality | None, posterior: Posterior | None) -> list[tuple[str, str]]:
    facts = [("rows", f"{fit.rows:,}" + ("" if fit.n == fit.rows else f", total weight {amount(fit.n)}"))]
    chosen = "" if fit.scale_by == "given" else f", scale by {fit.scale_by}"
    facts.append(("prior", fit.prior + chosen + ("" if fit.scale is None else f": {fit.scale:.6g}")))
    if fit.l1 is not None and fit.l2 is not None:
        facts.append(("penalty", f"l1 = {fit.l1:.6g}, l2 = {fit.l2:.6g}"))
    elif fit.units is not None:
        l1, l2 = fit.units
        facts.append(("penalty", f"l1 = {l1:.6g}, l2 = {l2:.6g} per standard deviation"))
    sigma, by = fit.sigma, HOW.get(fit.sigma_by, "")
    if sigma is None and posterior is not None and fit.loss == "squared":
        sigma, by = posterior.sigma, HOW["estimated"]
    if sigma is not None:
        word = "noise, mean size" if fit.loss == "absolute" else "noise, standard deviation"
        facts.append((word, f"{sigma:.6g} ({by})"))
    if posterior is not None and math.isfinite(posterior.dof):
        facts.append(("degrees of freedom", amount(posterior.dof)))
    if fit.r2 is not None:
        word = "R²" if fit.loss == "squared" else "share of the loss explained"
        facts.append((word, f"{fit.r2:.6f}"))
    if fit.evidence is not None:
        facts.append(("log evidence", f"{fit.evidence:.6g}"))
    if fit.method == "online":
        facts.append(("found by", "steps from row to row (online), which prove nothing"))
    if proof is not None:
        said = "optimal" if proof.converged else "NOT optimal"
        facts.append(("certificate", f"{said}: at most {short(proof.gap)} above the minimum"))
        facts.append(("found by", proof.method))
    return facts


def _numbers(line: Line) -> list[float | None]:
    return [line.weight, line.error, line.ratio, line.tails, line.low, line.high]


def _told(number: float | None) -> str:
    return "" if number is None else f"{number:.5g}".replace("-", "−")
