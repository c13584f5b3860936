"""The posterior of a regression's weights, and the summary table of a fit.

The posterior is normal,

    w ~ Normal(mean, covariance),   b | w ~ Normal(ȳ − m·w, σ²/N),

where m are the feature means and N is the total weight of the rows. The predictive variance of a new row x
is σ² + σ²/N + (x − m)ᵀ covariance (x − m). If the noise σ was estimated from the residuals, Student's t
replaces the normal distribution. Logistic regression uses the Laplace approximation at the mode, on the
log-odds scale, with rows weighted by p (1 − p): σ is 1 and N is Σ p (1 − p).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.immutable import Immutable
from weigh.model.file import store
from weigh.model.file.terms import read_floats
from weigh.model.fit import Fit, Optimality
from weigh.priors.exact import check_level
from weigh.priors.quantiles import student_critical_value, student_two_sided_p
from weigh.result import Result, Section, Table, TabularResult
from weigh.text import format_coefficient, format_count, format_float, format_p_value, format_quantity

MAX_DISPLAY_WEIGHTS = 40  # printed and plotted
MAX_LISTED_WEIGHTS = 100_000  # in a summary: a sparse matrix may have millions of columns
MAX_SAVED_FEATURES = 1_000  # because the size of a covariance matrix is quadratic
MAX_SIGMA = 1e150  # its square does not overflow
COVARIANCE_TOLERANCE = 1e-6  # of a saved covariance matrix: rounding relative to the largest variance


class PosteriorSource(Protocol):
    """An object that computes the posterior on demand, which may cost more than the fit."""

    def posterior(self) -> Posterior:
        """Return the posterior."""


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """Mean and covariance of the weights, the intercept, and the noise.

    `total` is the total weight N of the rows, or zero without an intercept. `dof` are the degrees of freedom,
    infinite if the noise is known.
    """

    mean: Floats
    intercept: float
    covariance: Floats
    mean_x: Floats
    sigma: float
    total: float
    dof: float = math.inf
    names: tuple[str, ...] = ()
    _json = (("features", "names"), "mean", "covariance", "intercept", "intercept_sd", "sigma", "dof")

    @property
    def sd(self) -> Floats:
        """The standard deviation of each weight."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def intercept_sd(self) -> float:
        """The standard deviation of the intercept; zero without one."""
        if not self.total:
            return 0.0
        variance = float(self.mean_x @ self.covariance @ self.mean_x)
        return math.sqrt(self.sigma**2 / self.total + max(0.0, variance))

    @property
    def intercept_covariance(self) -> Floats:
        """The covariance of the intercept with each weight."""
        return -(self.covariance @ self.mean_x)

    @property
    def factor(self) -> Floats:
        """A matrix F with F Fᵀ = covariance: the Cholesky factor if the covariance has full rank."""
        scale = np.where(self.sd > 0, self.sd, 1.0)
        correlation = self.covariance / scale[:, None] / scale[None, :]
        try:
            return np.asarray(scale[:, None] * np.linalg.cholesky(correlation))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(correlation)
            return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the bounds of the central credible interval of each weight."""
        half_width = self.critical_value(level) * self.sd
        return self.mean - half_width, self.mean + half_width

    def intercept_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the bounds of the central credible interval of the intercept."""
        half_width = self.critical_value(level) * self.intercept_sd
        return self.intercept - half_width, self.intercept + half_width

    def predictive_sd(self, rows: Floats, *, noise: bool = True) -> Floats:
        """Return the predictive standard deviation of new rows' targets, or of their means without noise."""
        centred = rows - self.mean_x if self.total else rows
        variance = np.maximum(0.0, np.einsum("ij,ij->i", centred @ self.covariance, centred))
        variance += self.sigma**2 if noise else 0.0
        variance += self.sigma**2 / self.total if self.total else 0.0
        return np.asarray(np.sqrt(variance))

    def sample(self, n: int, seed: int = 0) -> tuple[Floats, Floats]:
        """Draw weights [n, d] and intercepts [n], from Student's t if the noise was estimated."""
        rng = np.random.default_rng(seed)
        factor = self.factor
        offsets = rng.standard_normal((n, factor.shape[1])) @ factor.T
        noise = rng.standard_normal(n) * (self.sigma / math.sqrt(self.total) if self.total else 0.0)
        if math.isfinite(self.dof):
            scale = np.sqrt(self.dof / rng.chisquare(self.dof, n))
            offsets, noise = offsets * scale[:, None], noise * scale
        return self.mean + offsets, self.intercept - offsets @ self.mean_x + noise

    def critical_value(self, level: float) -> float:
        """Return the half-width of a central interval in standard deviations."""
        if not isinstance(level, int | float) or not 0 < level < 1:
            raise errors.parameter_error("interval", "level", "a number between 0 and 1", level)
        return student_critical_value(self.dof, level)

    def reorder(self, order: Any) -> Posterior:
        """Return the posterior with its features in another order."""
        covariance = self.covariance[np.ix_(order, order)]
        mean, mean_x = self.mean[order], self.mean_x[order]
        return Posterior(mean, self.intercept, covariance, mean_x, self.sigma, self.total, self.dof)

    def rescale(self, centres: Floats, units: Floats) -> Posterior:
        """Return the posterior of the weights of features x, given that of (x − centre) / unit."""
        covariance = self.covariance / units[:, None] / units[None, :]
        mean = self.mean / units
        intercept, mean_x = self.intercept - float(mean @ centres), self.mean_x * units + centres
        return replace(self, mean=mean, covariance=covariance, intercept=intercept, mean_x=mean_x)

    def with_names(self, features: Sequence[str]) -> Posterior:
        """Return the posterior with the names of its features."""
        return replace(self, names=tuple(features))

    def plot(self, level: float = 0.95) -> Any:
        """Plot the weights with their intervals, the most significant first."""
        from weigh.pictures import interval_chart

        weights = self._most_significant(level)
        rows = [dict(zip(("name", "value", "low", "high"), weight, strict=True)) for weight in weights]
        return interval_chart(
            rows, f"weight, with its interval of {level:.0%}", "Posterior of the weights", mark=0.0
        )

    @property
    def headline(self) -> str:
        """The family of the distribution and the noise."""
        family = (
            "normal" if math.isinf(self.dof) else f"Student's t, {format_count(self.dof)} degrees of freedom"
        )
        n_weights = format_quantity(len(self.mean), "weight")
        return f"Posterior of {n_weights}: {family}, noise {format_float(self.sigma)}"

    def _most_significant(self, level: float) -> list[tuple[str, float, float, float]]:
        """Return name, mean and interval of the weights with the largest |mean| / sd."""
        names = self.names or [f"weight {i}" for i in range(len(self.mean))]
        low, high = self.interval(level)
        ratio = np.abs(self.mean) / np.where(self.sd > 0, self.sd, 1.0)
        order = np.argsort(-ratio, kind="stable")[:MAX_DISPLAY_WEIGHTS].tolist()
        return [(names[i], float(self.mean[i]), float(low[i]), float(high[i])) for i in order]

    def sections(self) -> list[Section]:
        """Return the most significant weights with their intervals."""
        rows = [[name, *(f"{x:.5g}" for x in numbers)] for name, *numbers in self._most_significant(0.95)]
        header, n_hidden = ["feature", "mean", "95% from", "to"], len(self.mean) - len(rows)
        table = Table([header, *rows], indent="  ", widths=(40,), n_hidden=n_hidden)
        return [Section("weights", [table])]

    def posterior(self) -> Posterior:
        """Return itself: a computed posterior is also a `PosteriorSource`."""
        return self

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the posterior to the content of a model file."""
        arrays |= {
            "posterior.mean": self.mean,
            "posterior.covariance": self.covariance,
            "posterior.mean_x": self.mean_x,
            "posterior.numbers": np.array([self.intercept, self.sigma, self.total]),
        }
        meta["posterior"] = {"dof": None if math.isinf(self.dof) else self.dof}

    @classmethod
    def read_arrays(cls, stored: store.FileContent, width: int) -> Posterior | None:
        """Read the posterior of `width` weights that `write_arrays` added; None if there is none."""
        meta = stored.meta.get("posterior")
        if meta is None:
            return None
        mean, mean_x = (read_floats(stored, f"posterior.{name}", width) for name in ("mean", "mean_x"))
        covariance = read_floats(stored, "posterior.covariance", width, width)
        intercept, sigma, total = read_floats(stored, "posterior.numbers", 3).tolist()
        dof = math.inf if meta["dof"] is None else float(meta["dof"])
        is_finite = all(np.isfinite(array).all() for array in (mean, mean_x, covariance, intercept))
        if not (is_finite and 0 <= sigma <= MAX_SIGMA and total >= 0 and dof > 0):
            raise store.damaged_file_error(stored.path, "its posterior has invalid numbers")
        variances = np.diagonal(covariance)
        asymmetry = np.abs(covariance - covariance.T).max(initial=0.0)
        if max(asymmetry, -variances.min(initial=0.0)) > COVARIANCE_TOLERANCE * variances.max(initial=0.0):
            raise store.damaged_file_error(stored.path, "its posterior has no covariance matrix")
        return cls(mean, intercept, covariance, mean_x, sigma, total, dof)


@dataclass(frozen=True, eq=False)
class RobustErrors(Immutable):
    """The standard deviation of each weight and of the intercept, with the degrees of freedom of their t."""

    sd: Floats
    intercept_sd: float
    dof: float
    description: str

    def critical_value(self, level: float) -> float:
        """Return the half-width of a central interval in standard deviations."""
        return student_critical_value(self.dof, level)


SIGMA_SOURCES = {
    "given": "as given",
    "estimated": "estimated from residuals",
    "evidence": "chosen by marginal likelihood",
    "assumed": "assumed equal to that of the targets",
}


@dataclass(frozen=True)
class WeightSummary:
    """One weight with its standard error, weight / error, two-sided p-value and interval."""

    feature: str
    weight: float
    error: float | None = None
    ratio: float | None = None
    tails: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, repr=False)
class Summary(TabularResult):
    """The summary table of a fit: the weights, the fit's properties and the equivalent penalties.

    `lines` are all weights, or the 100,000 of the largest magnitude; the others are `n_unlisted`. If it
    `has_bias`, the first line is that of the bias, which is always printed. Of many weights, those
    with the largest ratio (or absolute value, without errors) are printed.
    """

    title: str
    lines: tuple[WeightSummary, ...]
    level: float
    facts: tuple[tuple[str, str], ...]
    equivalents: Any = None
    has_bias: bool = False
    n_unlisted: int = 0
    _json = ("title", "level", ("weights", "lines"), "facts", "equivalents")
    _frames = ("weights",)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON; `facts` is a mapping."""
        unlisted = {"n_unlisted": self.n_unlisted} if self.n_unlisted else {}
        return super().to_dict() | {"facts": dict(self.facts)} | unlisted

    @property
    def headline(self) -> str:
        """The title."""
        return self.title

    def sections(self) -> list[Section]:
        """Return the weights, the properties of the fit and the equivalent penalties."""
        facts = Table(self.facts, left=2, indent="  ", has_header=False, caption="Fit")
        sections = [Section("weights", [self._weight_table()]), Section("facts", [facts])]
        if self.equivalents is not None:
            calls = [[call.package, str(call)] for call in self.equivalents.others]
            title = "  The same penalty in other packages (print .equivalents for caveats):"
            if self.equivalents.is_standardised:
                title = "  The same penalty elsewhere, on standardised numbers (see .equivalents):"
            table = Table(calls, left=2, indent="    ", has_header=False)
            sections.append(Section("equivalents", [table], title))
        return sections

    def _weight_table(self) -> Table:
        has_errors = any(line.error is not None for line in self.lines)
        error_columns = ["std. error", "ratio", "p", f"{self.level:.0%} from", "to"] if has_errors else []
        header = ["feature", "weight", *error_columns]
        shown = self.lines
        if len(shown) > MAX_DISPLAY_WEIGHTS:
            bias = self.lines[:1] if self.has_bias else ()
            shown = (*bias, *self._strongest()[: MAX_DISPLAY_WEIGHTS - len(bias)])
        rows = [[line.feature, *_format_numbers(line)[: len(header) - 1]] for line in shown]
        n_hidden = len(self.lines) - len(shown) + self.n_unlisted
        return Table([header, *rows], indent="  ", widths=(32,), n_hidden=n_hidden)

    def _strongest(self) -> list[WeightSummary]:
        """Return the lines except the bias, strongest first."""
        return sorted(self.lines[self.has_bias :], key=lambda line: -abs(line.ratio or line.weight))

    def plot(self) -> Any:
        """Plot the weights without the bias, with intervals if they are known."""
        from weigh.pictures import bar_chart, interval_chart

        lines = self._strongest()[:MAX_DISPLAY_WEIGHTS]
        if any(line.low is None for line in lines):
            rows = [{"name": line.feature, "value": line.weight} for line in lines]
            return bar_chart(rows, "weight", self.title)
        rows = [
            {"name": line.feature, "value": line.weight, "low": line.low, "high": line.high} for line in lines
        ]
        return interval_chart(rows, f"weight, with its interval of {self.level:.0%}", self.title, mark=0.0)


def build_summary(
    title: str,
    names: Sequence[str],
    weights: Floats,
    intercept: float | None,
    fit: Fit,
    certificate: Optimality | None,
    posterior: Posterior | None,
    level: float,
    robust: RobustErrors | None = None,
) -> Summary:
    """Return the summary of the weights, with standard errors if there is a posterior or robust ones."""
    check_level(level)
    source = posterior if robust is None else robust
    sd = None if source is None else source.sd
    lines = []
    if intercept is not None:
        error = 0.0 if source is None else source.intercept_sd
        lines.append(_weight_summary("bias", intercept, error, source, level))
    listed = strongest_weights(weights)
    for i, weight in zip(listed.tolist(), weights[listed].tolist(), strict=True):
        error = 0.0 if sd is None else float(sd[i])
        lines.append(_weight_summary(names[i], weight, error, source, level))
    facts = tuple(_fit_facts(fit, certificate, posterior, robust))
    n_unlisted = len(weights) - len(listed)
    return Summary(title, tuple(lines), level, facts, fit.equivalents(), intercept is not None, n_unlisted)


def strongest_weights(weights: Floats) -> Longs:
    """Return the indices of the `MAX_LISTED_WEIGHTS` weights of the largest magnitude, in their order."""
    if len(weights) <= MAX_LISTED_WEIGHTS:
        return np.arange(len(weights))
    return np.sort(np.argsort(-np.abs(weights), kind="stable")[:MAX_LISTED_WEIGHTS])


def _weight_summary(
    name: str, weight: float, error: float, source: Posterior | RobustErrors | None, level: float
) -> WeightSummary:
    """Summarise a weight with its standard error, unless nothing is known of errors."""
    if source is None:
        return WeightSummary(name, weight)
    half_width = source.critical_value(level) * error
    ratio = weight / error if error else None
    tails = None if ratio is None else student_two_sided_p(source.dof, abs(ratio))
    return WeightSummary(name, weight, error, ratio, tails, weight - half_width, weight + half_width)


def _fit_facts(
    fit: Fit, certificate: Optimality | None, posterior: Posterior | None, robust: RobustErrors | None
) -> list[tuple[str, str]]:
    facts = [
        ("rows", f"{fit.rows:,}" + ("" if fit.n == fit.rows else f", total weight {format_count(fit.n)}"))
    ]
    scale_source = "" if fit.scale_by == "given" else f", scale by {fit.scale_by}"
    facts.append(("prior", fit.prior + scale_source + ("" if fit.scale is None else f": {fit.scale:.6g}")))
    if fit.scaling is not None:
        facts.append(("numbers", "standardised during learning; weights in the original units"))
    if fit.units is None and fit.l1 is not None and fit.l2 is not None:
        facts.append(("penalty", f"l1 = {fit.l1:.6g}, l2 = {fit.l2:.6g}"))
    elif fit.units is not None:
        l1, l2 = fit.units
        facts.append(("penalty", f"l1 = {l1:.6g}, l2 = {l2:.6g} per standard deviation"))
    sigma, sigma_source = fit.sigma, SIGMA_SOURCES.get(fit.sigma_by, "")
    if sigma is None and posterior is not None and fit.loss == "squared":
        sigma, sigma_source = posterior.sigma, SIGMA_SOURCES["estimated"]
    if sigma is not None:
        name = "noise, mean size" if fit.loss == "absolute" else "noise, standard deviation"
        facts.append((name, f"{sigma:.6g} ({sigma_source})"))
    if robust is not None:
        facts.append(("standard errors", robust.description))
    source = posterior if robust is None else robust
    if source is not None and math.isfinite(source.dof):
        facts.append(("degrees of freedom", format_count(source.dof)))
    if fit.r2 is not None:
        name = "R²" if fit.loss == "squared" else "share of the loss explained"
        facts.append((name, f"{fit.r2:.6f}"))
    if fit.evidence is not None:
        facts.append(("log evidence", f"{fit.evidence:.6g}"))
    if fit.method == "online":
        facts.append(("found by", "online gradient steps, without a certificate"))
    if certificate is not None:
        status = "optimal" if certificate.converged else "NOT optimal"
        facts.append(("certificate", f"{status}: at most {format_float(certificate.gap)} above the minimum"))
        facts.append(("found by", certificate.method))
    return facts


def _format_numbers(line: WeightSummary) -> list[str]:
    """Return the numbers of a line in the order of the table's columns."""
    p = "" if line.tails is None else format_p_value(line.tails)
    before, after = (line.weight, line.error, line.ratio), (line.low, line.high)
    return [*map(format_coefficient, before), p, *map(format_coefficient, after)]
