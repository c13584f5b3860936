"""Student's t: a number whose mean and spread are themselves uncertain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh import errors
from weigh.features import Numbers
from weigh.features.blocks import Floats
from weigh.model.weights import Contribution, as_text

FARTHEST = 1e300  # no value, however far off, makes a class impossible


@dataclass(frozen=True)
class NormalPosterior:
    """What is believed of a class's mean and spread after n values, from no prior opinion.

    The mean is Student-t around the sample mean with n − 1 degrees of freedom; the spread's square
    is a scaled inverse chi-square.
    """

    n: float
    mean: float
    deviation: float

    @property
    def mode(self) -> float:
        """The most probable mean."""
        return self.mean

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the mean."""
        from scipy.special import stdtrit

        self._need_two()
        reach = float(stdtrit(self.n - 1, 0.5 + level / 2)) * self.deviation / math.sqrt(self.n - 1)
        return self.mean - reach, self.mean + reach

    def spread_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the standard deviation."""
        from scipy.special import chdtri

        self._need_two()
        squares = self.n * self.deviation**2
        low, high = (float(chdtri(self.n - 1, tail)) for tail in (0.5 - level / 2, 0.5 + level / 2))
        return math.sqrt(squares / low), math.sqrt(squares / high)

    def _need_two(self) -> None:
        if self.n < 2:
            raise errors.Unsupported(
                f"With {self.n:g} value nothing can be said of the spread, so the mean has no interval. "
                f"Two values are the least."
            )


@dataclass(frozen=True, eq=False)
class StudentWeights:
    """log density of a number with mean and spread integrated out.

    Student's t with n − 1 degrees of freedom, centre m and scale s √((n + 1) / (n − 1)), where s² is
    the mean squared deviation; classes with fewer than two values keep one degree of freedom.
    """

    name: str
    mean: Floats
    deviation: Floats
    known: Floats

    @cached_property
    def _freedom(self) -> Floats:
        return np.maximum(self.known - 1, 1.0)

    @cached_property
    def _scale(self) -> Floats:
        return np.asarray(self.deviation * np.sqrt((self.known + 1) / np.maximum(self.known - 1, 1.0)))

    @cached_property
    def _constant(self) -> Floats:
        gammas = [math.lgamma((v + 1) / 2) - math.lgamma(v / 2) for v in self._freedom.tolist()]
        return np.array(gammas) - 0.5 * np.log(self._freedom * np.pi) - np.log(self._scale)

    def _logs(self, values: Floats) -> Floats:
        with np.errstate(over="ignore"):
            z = np.minimum(np.abs(values[:, None] - self.mean) / self._scale, FARTHEST)
        # log(1 + z²/v) without the square, which may be too large for a float.
        return self._constant - (self._freedom + 1) * np.log(np.hypot(1.0, z / np.sqrt(self._freedom)))

    def add(self, block: Numbers, scores: Floats) -> None:
        """Add every row's log density to its scores."""
        scores += np.nan_to_num(self._logs(block.values), nan=0.0)

    def contributions(self, block: Numbers, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if not math.isnan(value):
            yield Contribution(self.name, as_text(value), self._logs(block.values[row : row + 1])[0])
