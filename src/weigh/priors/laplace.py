"""The Laplace distribution: of a weight (lasso), or of noise (least absolute deviations)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from weigh.priors import arguments, centre
from weigh.priors.arguments import Floats
from weigh.priors.scaled import Scaled


@dataclass(frozen=True, repr=False)
class Laplace(Scaled):
    """A weight w has the density exp(−|w − mean| / t) / 2t, where t is the `scale`.

    As a prior it is the penalty l1 |w − mean|, lasso: l1 = 1/t beside the log loss, and l1 = σ²/t beside
    ½‖y − Xw‖² with Gaussian noise σ. As `noise` it makes the loss absolute. `scale` is a positive
    number, or "cv" (the learner chooses it by cross-validation); `mean` a number, or an older model
    whose weights, by name of the feature, are where the new ones are expected.

    >>> prior = Laplace(0.5)
    >>> prior.penalty()
    (2.0, 0.0)
    >>> prior.prox([3, -0.5])
    array([1., 0.])
    >>> print(prior.equivalents("linear", n=100, sigma=3)["Lasso"])
    Lasso(alpha=0.18)
    """

    shape: ClassVar[tuple[float, float]] = (1.0, 0.0)
    loss: ClassVar[str] = "absolute"

    @property
    def dispersion(self) -> float:
        """As noise: what minus the log-likelihood is multiplied by to be Σ |y − z|, the scale."""
        return self._width

    def log_density(self, w: ArrayLike) -> Any:
        """The natural logarithm of the density at each weight."""
        t = self._width
        return arguments.plain(-np.abs(centre.distance(w, self.mean, "log_density")) / t - math.log(2 * t))

    def density(self, w: ArrayLike) -> Any:
        """The density at each weight."""
        return arguments.plain(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Minus the log-density of all weights together, without its constant: Σ |w − mean| / t."""
        return float(np.abs(centre.distance(w, self.mean, "value")).sum() / self._width)

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return the w that minimises ½(w − v)² + step · value(w): the soft threshold around the mean."""
        gap = centre.distance(v, self.mean, "prox")
        return arguments.plain(
            np.asarray(centre.position(self.mean) + shrunk(gap, arguments.step(step) / self._width))
        )

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The interval around the mean that holds the weight with probability `level`."""
        reach = -self._width * math.log1p(-arguments.level(level))
        at = centre.position(self.mean)
        return at - reach, at + reach

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; of a model, n rows with one for each of its features."""
        at = np.asarray(centre.position(self.mean))
        return np.asarray(at + np.random.default_rng(seed).laplace(scale=self._width, size=(n, *at.shape)))

    def _penalty_of(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return variance / self._exact_width, Fraction(0)


def shrunk(v: Floats, by: float) -> Floats:
    """Return the soft threshold: each number nearer to zero by so much, and zero where it is nearer yet."""
    return np.asarray(v - np.clip(v, -by, by))
