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
from weigh.model import store
from weigh.model.term_store import get_floats
from weigh.priors.quantiles import student_quantile
from weigh.text import aligned, amount, counted, cut, html_table, plain, short

SHOWN = 40  # weights that are printed and drawn
MOST_SAVED = 1_000  # features, for a covariance has their square of numbers


class PosteriorMaker(Protocol):
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
        reach = self.reach(level) * self.sd
        return self.mean - reach, self.mean + reach

    def intercept_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the limits between which the bias lies with a probability."""
        reach = self.reach(level) * self.intercept_sd
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

    def reach(self, level: float) -> float:
        """Return how many standard deviations to either side hold so much of the probability."""
        if not isinstance(level, int | float) or not 0 < level < 1:
            raise errors.parameter("interval", "level", "a number between 0 and 1", level)
        return student_quantile(self.dof, (1 + level) / 2)

    def taken(self, order: Any) -> Posterior:
        """Return the same posterior of the features in another order."""
        covariance = self.covariance[np.ix_(order, order)]
        mean, mean_x = self.mean[order], self.mean_x[order]
        return Posterior(mean, self.intercept, covariance, mean_x, self.sigma, self.total, self.dof)

    def named(self, features: Sequence[str]) -> Posterior:
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
            "dof": plain(self.dof),
        }

    def plot(self, level: float = 0.95) -> Any:
        """Return a picture of the weights with their intervals, the surest to differ from zero first."""
        from weigh.pictures import intervals

        found = self._found(level)
        rows = [dict(zip(("name", "value", "low", "high"), each, strict=True)) for each in found]
        return intervals(
            rows, f"weight, with its interval of {level:.0%}", "Posterior of the weights", mark=0.0
        )

    def __str__(self) -> str:
        return f"{self._title}\n\n{aligned(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, self._rows())

    @property
    def _title(self) -> str:
        curve = "normal" if math.isinf(self.dof) else f"Student's t, {amount(self.dof)} degrees of freedom"
        return f"Posterior of {counted(len(self.mean), 'weight')}: {curve}, noise {short(self.sigma)}"

    def _found(self, level: float) -> list[tuple[str, float, float, float]]:
        """Return name, mean and interval of the weights that are surest to differ from zero."""
        names = self.names or [f"weight {at}" for at in range(len(self.mean))]
        low, high = self.interval(level)
        sure = np.abs(self.mean) / np.where(self.sd > 0, self.sd, 1.0)
        order = np.argsort(-sure, kind="stable")[:SHOWN].tolist()
        return [(names[at], float(self.mean[at]), float(low[at]), float(high[at])) for at in order]

    def _rows(self) -> list[list[str]]:
        found = [[cut(name, 40), *(f"{x:.5g}" for x in numbers)] for name, *numbers in self._found(0.95)]
        hidden = len(self.mean) - len(found)
        more = [[f"… and {hidden:,} more", "", "", ""]] if hidden else []
        return [["feature", "mean", "95% from", "to"], *found, *more]

    def posterior(self) -> Posterior:
        """Return itself, which is known already."""
        return self

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the posterior to what a model's file will hold."""
        arrays |= {
            "posterior.mean": self.mean,
            "posterior.covariance": self.covariance,
            "posterior.mean_x": self.mean_x,
            "posterior.numbers": np.array([self.intercept, self.sigma, self.total]),
        }
        meta["posterior"] = {"dof": None if math.isinf(self.dof) else self.dof}

    @classmethod
    def get(cls, stored: store.Stored, width: int) -> Posterior | None:
        """Return the posterior of so many weights that `put` added, if it did."""
        told = stored.meta.get("posterior")
        if told is None:
            return None
        mean, mean_x = (get_floats(stored, f"posterior.{name}", width) for name in ("mean", "mean_x"))
        covariance = get_floats(stored, "posterior.covariance", width, width)
        intercept, sigma, total = get_floats(stored, "posterior.numbers", 3).tolist()
        dof = math.inf if told["dof"] is None else float(told["dof"])
        finite = all(np.isfinite(each).all() for each in (mean, mean_x, covariance))
        if not finite or not (sigma >= 0 and total >= 0 and dof > 0 and math.isfinite(intercept)):
            raise store.damaged(stored.path, "its posterior has impossible numbers")
        return cls(mean, intercept, covariance, mean_x, sigma, total, dof)
