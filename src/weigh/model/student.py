"""Student's t: a number whose mean and spread are themselves uncertain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Numbers
from weigh.features.blocks import Floats
from weigh.model.weights import Contribution, as_text
from weigh.priors.quantiles import chi_square_quantile, student_quantile
from weigh.text import aligned, counted, html_table, plain, short

FARTHEST = 1e300  # no value, however far off, makes a class impossible


@dataclass(frozen=True)
class NormalPosterior:
    """What is believed of a class's mean and spread after n values, from no prior opinion.

    `deviation` is the root mean squared deviation of the `pooled` values that tell of the spread:
    the class's own n, or those of all classes where they share one. With `freedom` degrees of
    freedom (pooled values less means estimated) the mean is Student-t, the spread's square a scaled
    inverse chi-square. Where the spread was given, `freedom` is infinite and the mean is normal.
    """

    n: float
    mean: float
    deviation: float
    pooled: float
    freedom: float

    @property
    def mode(self) -> float:
        """The most probable mean."""
        return self.mean

    @property
    def spread(self) -> float:
        """The spread with the means' share taken off; the given one where it was given."""
        if math.isinf(self.freedom):
            return self.deviation
        return self.deviation * math.sqrt(self.pooled / self.freedom)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the mean."""
        self._need_freedom()
        reach = student_quantile(self.freedom, 0.5 + level / 2) * self.spread / math.sqrt(self.n)
        return self.mean - reach, self.mean + reach

    def spread_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the standard deviation; a given one is certain."""
        self._need_freedom()
        if math.isinf(self.freedom):
            return self.deviation, self.deviation
        squares = self.pooled * self.deviation**2
        low, high = (chi_square_quantile(self.freedom, 0.5 + side * level / 2) for side in (1, -1))
        return math.sqrt(squares / low), math.sqrt(squares / high)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {name: plain(value) for name, value in vars(self).items()} | {"spread": plain(self.spread)}

    def plot(self) -> Any:
        """Return a picture of how probable each mean is."""
        from weigh.pictures import curves

        self._need_freedom()
        scale = self.spread / math.sqrt(self.n)
        at = np.linspace(-4.0, 4.0, 161)
        heights = np.exp(_log_heights(at[:, None], np.array([self.freedom])))[:, 0] / scale
        rows = [
            {"series": "posterior of the mean", "x": self.mean + scale * x, "y": y}
            for x, y in zip(at.tolist(), heights.tolist(), strict=True)
        ]
        return curves(rows, "mean", "density", self._title)

    def __str__(self) -> str:
        return f"{self._title}\n\n{aligned(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, self._rows())

    @property
    def _title(self) -> str:
        return f"A number's mean and spread after {counted(self.n, 'value')}"

    def _rows(self) -> list[list[str]]:
        if self.n <= 0 or self.freedom < 1:
            return [["", "value"], ["mean", short(self.mean)]]
        found = [("mean", self.mean, *self.interval()), ("spread", self.spread, *self.spread_interval())]
        return [["", "value", "95% from", "to"], *([name, *map(short, numbers)] for name, *numbers in found)]

    def _need_freedom(self) -> None:
        if self.n <= 0 or self.freedom < 1:
            raise errors.Unsupported(
                f"With {self.n:g} value nothing can be said of the spread, so the mean has no interval. "
                f"Two values are the least."
            )


@dataclass(frozen=True, eq=False)
class StudentWeights:
    """log density of a number with mean and spread integrated out.

    Student's t with the posterior's degrees of freedom, centre m and scale spread · √(1 + 1/n); a
    normal curve where the spread was given. Classes without a degree of freedom are given one.
    """

    name: str
    posteriors: tuple[NormalPosterior, ...]

    @cached_property
    def _mean(self) -> Floats:
        return np.array([each.mean for each in self.posteriors])

    @cached_property
    def _freedom(self) -> Floats:
        return np.array([max(each.freedom, 1.0) for each in self.posteriors])

    @cached_property
    def _scale(self) -> Floats:
        return np.array([_scale(each) for each in self.posteriors])

    def _logs(self, values: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            z = (values[:, None] - self._mean) / self._scale
            return _log_heights(z, self._freedom) - np.log(self._scale)

    def add(self, block: Numbers, scores: Floats) -> None:
        """Add every row's log density to its scores."""
        scores += np.nan_to_num(self._logs(block.values), nan=0.0)

    def contributions(self, block: Numbers, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if not math.isnan(value):
            yield Contribution(self.name, as_text(value), self._logs(block.values[row : row + 1])[0])


def _scale(posterior: NormalPosterior) -> float:
    n = max(posterior.n, 1.0)
    freedom = max(posterior.freedom, 1.0)
    spread = posterior.deviation
    if not math.isinf(freedom):
        spread *= math.sqrt(max(posterior.pooled, 1.0) / freedom)
    return spread * math.sqrt(1 + 1 / n)


def _log_heights(z: Floats, freedom: Floats) -> Floats:
    """Return the log density of standard Student's ts of so much freedom, one per column, at z."""
    square = np.minimum(z * z, FARTHEST)
    tails = -(freedom + 1) / 2 * np.log1p(square / freedom)
    constant = np.array([_log_height(each) for each in freedom.tolist()])
    return np.asarray(constant + np.where(np.isinf(freedom), -0.5 * square, tails))


def _log_height(freedom: float) -> float:
    """Return the log density of a standard Student's t at its centre."""
    if math.isinf(freedom):
        return -0.5 * math.log(2 * math.pi)
    return math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
