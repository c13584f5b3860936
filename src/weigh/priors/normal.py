"""The normal distribution: of a weight (ridge), or of noise (least squares)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from weigh.priors import arguments, centre
from weigh.priors.arguments import Floats
from weigh.priors.scaled import Scaled


@dataclass(frozen=True, repr=False)
class Normal(Scaled):
    """A weight w has the density exp(−(w − mean)² / 2s²) / (s √2π), where s is the `scale`.

    As a prior it is the penalty ½ l2 (w − mean)², ridge: l2 = 1/s² beside the log loss, and l2 = σ²/s²
    beside ½‖y − Xw‖² with Gaussian noise σ. As `noise` it makes the loss squared. `scale` is a
    positive number, "cv" (the learner chooses it by cross-validation) or "evidence"; `mean` a number, or
    an older model whose weights, by name of the feature, are where the new ones are expected.

    >>> prior = Normal(2)
    >>> prior.penalty()
    (0.0, 0.25)
    >>> prior.penalty(sigma=4)
    (0.0, 4.0)
    >>> print(prior.equivalents("logistic", n=100)["LogisticRegression"])
    LogisticRegression(C=4)
    """

    ways: ClassVar[tuple[str, ...]] = ("cv", "evidence")
    shape: ClassVar[tuple[float, float]] = (0.0, 1.0)
    loss: ClassVar[str] = "squared"

    @property
    def dispersion(self) -> float:
        """As noise: what minus the log-likelihood is multiplied by to be ½ Σ (y − z)², the variance."""
        return self._width**2

    def log_density(self, w: ArrayLike) -> Any:
        """The natural logarithm of the density at each weight."""
        s = self._width
        with np.errstate(over="ignore"):
            squares = np.square(centre.distance(w, self.mean, "log_density") / s)
        return arguments.plain(-0.5 * squares - (math.log(s) + 0.5 * math.log(2 * math.pi)))

    def density(self, w: ArrayLike) -> Any:
        """The density at each weight."""
        return arguments.plain(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Minus the log-density of all weights together, without its constant: Σ (w − mean)² / 2s²."""
        with np.errstate(over="ignore"):
            return float(0.5 * np.square(centre.distance(w, self.mean, "value") / self._width).sum())

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return the w that minimises ½(w − v)² + step · value(w): v drawn towards the mean."""
        pull = arguments.step(step) / self._width**2
        gap = centre.distance(v, self.mean, "prox")
        return arguments.plain(np.asarray(centre.position(self.mean) + gap / (1 + pull)))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The interval around the mean that holds the weight with probability `level`."""
        reach = -self._width * NormalDist().inv_cdf((1 - arguments.level(level)) / 2)
        at = centre.position(self.mean)
        return at - reach, at + reach

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; of a model, n rows with one for each of its features."""
        at = np.asarray(centre.position(self.mean))
        drawn = np.random.default_rng(seed).normal(size=(n, *at.shape))
        return np.asarray(at + self._width * drawn)

    def _penalty_of(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return Fraction(0), variance / self._exact_width**2
