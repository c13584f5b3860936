"""What is known of the weights after the rows: a normal curve around them.

    w ~ Normal(mean, covariance),   b | w ~ Normal(ȳ − m·w, σ²/N),

where m are the means of the features and N is the rows' total weight, so a new row x has the variance
σ² + σ²/N + (x − m)ᵀ covariance (x − m), least at the mean of the rows. Where the noise σ was estimated from
residuals the normal curve becomes Student's. Of logistic regression the curve is Laplace's approximation at
the mode, of log-odds, in which rows count as much as they are unsure: σ is 1, N is Σ p (1 − p).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.file import store
from weigh.model.fit import Fit, Optimality
from weigh.model.linear import read_floats
from weigh.priors.exact import check_level
from weigh.priors.quantiles import student_quantile, student_two_sided_p
from weigh.text import (
    format_count,
    format_float,
    format_quantity,
    html_table,
    text_table,
    to_json_value,
    truncate,
)

MAX_DISPLAY_WEIGHTS = 40  # weights that are printed and drawn
MAX_SAVED_FEATURES = 1_000  # features, for a covariance has their square of numbers


class PosteriorSource(Protocol):
    """What can tell the posterior when it is asked for, which may cost more than the weights did."""

    def posterior(self) -> Posterior:
        """Return the posterior."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """The weights' mean and covariance, the bias, and the noise; `dof` is endless if the noise is known.

    `total` is the sum of the rows' weights, zero if there is no bias to learn.
    """

    mean: Floats
    intercept: float
    covariance: Floats
    mean_x: Floats
    sigma: float
    total: float
    dof: float = math.inf
    names: tuple[str, ...] = ()

    @property
    def sd(self) -> Floats:
        """The standard deviation of every weight."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def intercept_sd(self) -> float:
        """The standard deviation of the bias, zero without one."""
        if not self.total:
            return 0.0
        return math.sqrt(self.sigma**2 / self.total + float(self.mean_x @ self.covariance @ self.mean_x))

    @property
    def intercept_covariance(self) -> Floats:
        """The covariance of the bias with every weight."""
        return -(self.covariance @ self.mean_x)

    @property
    def factor(self) -> Floats:
        """A table F with F Fᵀ = covariance: lower triangular where that has full rank."""
        scale = np.where(self.sd > 0, self.sd, 1.0)
        unit = self.covariance / scale[:, None] / scale[None, :]
        try:
            return np.asarray(scale[:, None] * np.linalg.cholesky(unit))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(unit)
            return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the limits between which every weight lies with a probability."""
        reach = self.critical_value(level) * self.sd
        return self.mean - reach, self.mean + reach

    def intercept_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the limits between which the bias lies with a probability."""
        reach = self.critical_value(level) * self.intercept_sd
        return self.intercept - reach, self.intercept + reach

    def predictive_sd(self, rows: Floats, *, noise: bool = True) -> Floats:
        """Return the standard deviation of new rows' targets, or without noise that of their means."""
        away = rows - self.mean_x if self.total else rows
        found = np.einsum("ij,ij->i", away @ self.covariance, away)
        found += self.sigma**2 if noise else 0.0
        found += self.sigma**2 / self.total if self.total else 0.0
        return np.asarray(np.sqrt(found))

    def sample(self, n: int, seed: int = 0) -> tuple[Floats, Floats]:
        """Draw n weights [n, d] and biases [n]; of Student's curve where the noise was estimated."""
        draw = np.random.default_rng(seed)
        factor = self.factor
        away = draw.standard_normal((n, factor.shape[1])) @ factor.T
        height = draw.standard_normal(n) * (self.sigma / math.sqrt(self.total) if self.total else 0.0)
        if math.isfinite(self.dof):
            stretch = np.sqrt(self.dof / draw.chisquare(self.dof, n))
            away, height = away * stretch[:, None], height * stretch
        return self.mean + away, self.intercept - away @ self.mean_x + height

    def critical_value(self, level: float) -> float:
        """Return how many standard deviations to either side hold so much of the probability."""
        if not isinstance(level, int | float) or not 0 < level < 1:
            raise errors.parameter_error("interval", "level", "a number between 0 and 1", level)
        return student_quantile(self.dof, (1 + level) / 2)

    def reorder(self, order: Any) -> Posterior:
        """Return the same posterior of the features in another order."""
        covariance = self.covariance[np.ix_(order, order)]
        mean, mean_x = self.mean[order], self.mean_x[order]
        return Posterior(mean, self.intercept, covariance, mean_x, self.sigma, self.total, self.dof)

    def with_names(self, features: Sequence[str]) -> Posterior:
        """Return the same posterior with the names of its features."""
        return replace(self, names=tuple(features))

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "features": list(self.names),
            "mean": self.mean.tolist(),
            "covariance": self.covariance.tolist(),
            "intercept": self.intercept,
            "intercept_sd": self.intercept_sd,
            "sigma": self.sigma,
            "dof": to_json_value(self.dof),
        }

    def plot(self, level: float = 0.95) -> Any:
        """Return a picture of the weights with their intervals, the surest to differ from zero first."""
        from weigh.pictures import interval_chart

        found = self._most_significant(level)
        rows = [dict(zip(("name", "value", "low", "high"), each, strict=True)) for each in found]
        return interval_chart(
            rows, f"weight, with its interval of {level:.0%}", "Posterior of the weights", mark=0.0
        )

    def __str__(self) -> str:
        return f"{self._title}\n\n{text_table(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, self._rows())

    @property
    def _title(self) -> str:
        curve = (
            "normal" if math.isinf(self.dof) else f"Student's t, {format_count(self.dof)} degrees of freedom"
        )
        return f"Posterior of {format_quantity(len(self.mean), 'weight')}: {curve}, noise {format_float(self.sigma)}"

    def _most_significant(self, level: float) -> list[tuple[str, float, float, float]]:
        """Return name, mean and interval of the weights that are surest to differ from zero."""
        names = self.names or [f"weight {at}" for at in range(len(self.mean))]
        low, high = self.interval(level)
        sure = np.abs(self.mean) / np.where(self.sd > 0, self.sd, 1.0)
        order = np.argsort(-sure, kind="stable")[:MAX_DISPLAY_WEIGHTS].tolist()
        return [(names[at], float(self.mean[at]), float(low[at]), float(high[at])) for at in order]

    def _rows(self) -> list[list[str]]:
        found = [
            [truncate(name, 40), *(f"{x:.5g}" for x in numbers)]
            for name, *numbers in self._most_significant(0.95)
        ]
        hidden = len(self.mean) - len(found)
        more = [[f"… and {hidden:,} more", "", "", ""]] if hidden else []
        return [["feature", "mean", "95% from", "to"], *found, *more]

    def posterior(self) -> Posterior:
        """Return itself, which is known already."""
        return self

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the posterior to what a model's file will hold."""
        arrays |= {
            "posterior.mean": self.mean,
            "posterior.covariance": self.covariance,
            "posterior.mean_x": self.mean_x,
            "posterior.numbers": np.array([self.intercept, self.sigma, self.total]),
        }
        meta["posterior"] = {"dof": None if math.isinf(self.dof) else self.dof}

    @classmethod
    def read_arrays(cls, stored: store.FileContent, width: int) -> Posterior | None:
        """Return the posterior of so many weights that `put` added, if it did."""
        told = stored.meta.get("posterior")
        if told is None:
            return None
        mean, mean_x = (read_floats(stored, f"posterior.{name}", width) for name in ("mean", "mean_x"))
        covariance = read_floats(stored, "posterior.covariance", width, width)
        intercept, sigma, total = read_floats(stored, "posterior.numbers", 3).tolist()
        dof = math.inf if told["dof"] is None else float(told["dof"])
        finite = all(np.isfinite(each).all() for each in (mean, mean_x, covariance))
        if not finite or not (sigma >= 0 and total >= 0 and dof > 0 and math.isfinite(intercept)):
            raise store.damaged_file_error(stored.path, "its posterior has impossible numbers")
        return cls(mean, intercept, covariance, mean_x, sigma, total, dof)


LINE_WIDTH, MIN_NAME_WIDTH = 80, 12  # of a line, and of a name in it
SIGMA_SOURCES = {
    "given": "as given",
    "estimated": "estimated from residuals",
    "evidence": "chosen by the evidence",
    "assumed": "assumed: that of the targets",
}


@dataclass(frozen=True)
class WeightSummary:
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
    lines: tuple[WeightSummary, ...]
    level: float
    facts: tuple[tuple[str, str], ...]
    equivalents: Any = None
    has_bias: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "title": self.title,
            "level": self.level,
            "weights": [
                {name: to_json_value(value) for name, value in vars(line).items()} for line in self.lines
            ],
            "facts": dict(self.facts),
            "equivalents": None if self.equivalents is None else self.equivalents.to_dict(),
        }

    def _rows(self) -> list[list[str]]:
        sure = any(line.error is not None for line in self.lines)
        share = f"{self.level:.0%}"
        heads = ["feature", "weight"] + (["std. error", "ratio", "p", f"{share} from", "to"] if sure else [])
        shown = self.lines
        if len(shown) > MAX_DISPLAY_WEIGHTS:
            first = self.lines[:1] if self.has_bias else ()
            rest = sorted(self.lines[len(first) :], key=lambda line: -abs(line.ratio or line.weight))
            shown = (*first, *rest[: MAX_DISPLAY_WEIGHTS - len(first)])
        rows = [heads] + [
            [truncate(line.feature, 32), *map(_format_number, _numbers(line)[: None if sure else 1])]
            for line in shown
        ]
        hidden = len(self.lines) - len(shown)
        return rows + ([[f"… and {hidden:,} more", *[""] * (len(heads) - 1)]] if hidden else [])

    def __str__(self) -> str:
        rows = self._rows()
        numbers = max(map(len, text_table([row[1:] for row in rows], left=0).splitlines()))
        room = max(MIN_NAME_WIDTH, LINE_WIDTH - numbers - 4)
        parts = [self.title, text_table([[truncate(row[0], room), *row[1:]] for row in rows], indent="  ")]
        parts.append(text_table([list(fact) for fact in self.facts], left=2, indent="  "))
        if self.equivalents is not None:
            # What to mind with each of them is told by the equivalents themselves.
            calls = [[each.package, str(each)] for each in self.equivalents.others]
            told = text_table(calls, left=2, indent="    ")
            parts.append(f"  The same penalty elsewhere (print .equivalents for what to mind):\n{told}")
        return "\n\n".join(parts)

    __repr__ = __str__

    def plot(self) -> Any:
        """Return a picture of the weights, with intervals where they are known; the bias is left out."""
        from weigh.pictures import bar_chart, interval_chart

        lines = sorted(self.lines[self.has_bias :], key=lambda line: -abs(line.ratio or line.weight))[
            :MAX_DISPLAY_WEIGHTS
        ]
        if any(line.low is None for line in lines):
            return bar_chart(
                [{"name": each.feature, "value": each.weight} for each in lines], "weight", self.title
            )
        rows = [
            {"name": each.feature, "value": each.weight, "low": each.low, "high": each.high} for each in lines
        ]
        return interval_chart(rows, f"weight, with its interval of {self.level:.0%}", self.title, mark=0.0)

    def _repr_html_(self) -> str:
        facts = html_table("Fit", [["", ""], *map(list, self.facts)], 2)
        return html_table(self.title, self._rows()) + facts


def build_summary(
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
    check_level(level)
    lines = [] if intercept is None else [_weight_summary("bias", intercept, posterior, level, None)]
    for at, (name, weight) in enumerate(zip(names, weights.tolist(), strict=True)):
        lines.append(_weight_summary(name, weight, posterior, level, at))
    facts = tuple(_fit_facts(fit, proof, posterior))
    return Summary(title, tuple(lines), level, facts, fit.equivalents(), intercept is not None)


def _weight_summary(
    name: str, weight: float, posterior: Posterior | None, level: float, at: int | None
) -> WeightSummary:
    if posterior is None:
        return WeightSummary(name, weight)
    error = posterior.intercept_sd if at is None else float(math.sqrt(max(0.0, posterior.covariance[at, at])))
    reach = posterior.critical_value(level) * error
    ratio = weight / error if error else None
    tails = None if ratio is None else student_two_sided_p(posterior.dof, abs(ratio))
    return WeightSummary(name, weight, error, ratio, tails, weight - reach, weight + reach)


def _fit_facts(fit: Fit, proof: Optimality | None, posterior: Posterior | None) -> list[tuple[str, str]]:
    facts = [
        ("rows", f"{fit.rows:,}" + ("" if fit.n == fit.rows else f", total weight {format_count(fit.n)}"))
    ]
    chosen = "" if fit.scale_by == "given" else f", scale by {fit.scale_by}"
    facts.append(("prior", fit.prior + chosen + ("" if fit.scale is None else f": {fit.scale:.6g}")))
    if fit.l1 is not None and fit.l2 is not None:
        facts.append(("penalty", f"l1 = {fit.l1:.6g}, l2 = {fit.l2:.6g}"))
    elif fit.units is not None:
        l1, l2 = fit.units
        facts.append(("penalty", f"l1 = {l1:.6g}, l2 = {l2:.6g} per standard deviation"))
    sigma, by = fit.sigma, SIGMA_SOURCES.get(fit.sigma_by, "")
    if sigma is None and posterior is not None and fit.loss == "squared":
        sigma, by = posterior.sigma, SIGMA_SOURCES["estimated"]
    if sigma is not None:
        word = "noise, mean size" if fit.loss == "absolute" else "noise, standard deviation"
        facts.append((word, f"{sigma:.6g} ({by})"))
    if posterior is not None and math.isfinite(posterior.dof):
        facts.append(("degrees of freedom", format_count(posterior.dof)))
    if fit.r2 is not None:
        word = "R²" if fit.loss == "squared" else "share of the loss explained"
        facts.append((word, f"{fit.r2:.6f}"))
    if fit.evidence is not None:
        facts.append(("log evidence", f"{fit.evidence:.6g}"))
    if fit.method == "online":
        facts.append(("found by", "steps from row to row (online), which prove nothing"))
    if proof is not None:
        said = "optimal" if proof.converged else "NOT optimal"
        facts.append(("certificate", f"{said}: at most {format_float(proof.gap)} above the minimum"))
        facts.append(("found by", proof.method))
    return facts


def _numbers(line: WeightSummary) -> list[float | None]:
    return [line.weight, line.error, line.ratio, line.tails, line.low, line.high]


def _format_number(number: float | None) -> str:
    return "" if number is None else f"{number:.5g}".replace("-", "−")
