"""The elastic-net penalty of weights, with lasso and ridge as special cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weigh import errors
from weigh.priors import exact
from weigh.priors.display import PriorDisplay, plot_weight_prior
from weigh.priors.equivalents import Equivalents, find_equivalents, summarise_penalty
from weigh.priors.exact import Floats, check_level, check_numbers, check_step, unwrap_scalar
from weigh.priors.location_scale import soft_threshold
from weigh.priors.quantiles import elastic_net_magnitude_quantile, elastic_net_normaliser


@dataclass(frozen=True, repr=False)
class Penalty(PriorDisplay):
    """The penalty l1 Σ|w| + ½ l2 Σw², added to ½‖y − Xw‖² or to the sum of the log loss.

    Unlike `Normal` and `Laplace` it does not depend on the noise: l1 and l2 are those of the objective. With
    noise 1, and in logistic regression, it is the prior with density proportional to exp(−l1 |w| − ½ l2 w²).

    With scale="cv" a learner multiplies both by the number that predicts held-out rows best, so that l1 and
    l2 only say how strong the two are beside each other.

    >>> Penalty(l1=1, l2=3).value([1, -2])
    10.5
    >>> Penalty(l1=1, l2=3).prox([3, -0.5])
    array([0.5, 0. ])
    >>> print(Penalty(l1=1, l2=3).equivalents("linear", n=100)["ElasticNet"])
    ElasticNet(alpha=0.04, l1_ratio=0.25)
    """

    l1: float = 0.0
    l2: float = 0.0
    scale: str | None = None

    def __post_init__(self) -> None:
        for name, value in (("l1", self.l1), ("l2", self.l2)):
            number = exact.nonnegative_fraction(value)
            if number is None:
                raise errors.parameter_error("Penalty", name, "a finite number of zero or more", value)
            object.__setattr__(self, name, float(number))
        if self.scale not in (None, "cv"):
            raise errors.parameter_error("Penalty", "scale", "None or 'cv'", self.scale)
        if self.scale == "cv" and not (self.l1 or self.l2):
            raise errors.ParameterError(
                "Penalty: the scale 'cv' multiplies l1 and l2, but both are zero. Give their ratio, for "
                "example l1=1, l2=1."
            )

    def __repr__(self) -> str:
        pairs = (("l1", self.l1), ("l2", self.l2))
        arguments = [
            f"{name}={exact.fraction_repr(Fraction(str(number)))}" for name, number in pairs if number
        ]
        scale = ["scale='cv'"] if self.scale else []
        return f"Penalty({', '.join([*arguments, *scale])})"

    def __str__(self) -> str:
        if self.scale:
            return f"{self!r}: the learner multiplies l1 and l2 by a number chosen by cross-validation"
        return f"{self!r}: {summarise_penalty(*self.exact_penalty())}"

    @property
    def shape(self) -> tuple[float, float]:
        """(l1, l2), which determines the ratio of lasso and ridge."""
        return self.l1, self.l2

    @property
    def is_centred(self) -> bool:
        """True: weights are shrunk towards zero."""
        return True

    @property
    def is_scale_automatic(self) -> bool:
        """Whether the learner chooses a factor of l1 and l2."""
        return self.scale is not None

    @property
    def mean(self) -> float:
        """The mean, 0; raises Unsupported if l1 = l2 = 0."""
        self._check_density()
        return 0.0

    @property
    def mode(self) -> float:
        """The mode, 0; raises Unsupported if l1 = l2 = 0."""
        self._check_density()
        return 0.0

    def centre(self, features: Sequence[str]) -> Floats:
        """Return the mean of each feature, 0."""
        return np.zeros(len(features))

    def log_density(self, w: ArrayLike) -> Any:
        """Return the log-density at each weight, for noise 1."""
        self._check_density()
        weights = np.abs(check_numbers(w, "log_density", "w"))
        with np.errstate(over="ignore"):
            cost = self.l1 * weights + 0.5 * self.l2 * np.square(weights)
        return unwrap_scalar(np.asarray(-cost - math.log(elastic_net_normaliser(self.l1, self.l2))))

    def density(self, w: ArrayLike) -> Any:
        """Return the density at each weight, for noise 1."""
        return unwrap_scalar(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Return the penalty of all weights, l1 Σ|w| + ½ l2 Σw²."""
        self._check_strength()
        weights = check_numbers(w, "value", "w")
        with np.errstate(over="ignore"):
            return float(self.l1 * np.abs(weights).sum() + 0.5 * self.l2 * np.square(weights).sum())

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return argmin_w ½(w − v)² + step · value(w): soft thresholding, then scaling."""
        self._check_strength()
        t = check_step(step)
        thresholded = soft_threshold(check_numbers(v, "prox", "v"), t * self.l1)
        return unwrap_scalar(np.asarray(thresholded / (1 + t * self.l2)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval around 0 that contains the weight with probability `level`, for noise 1."""
        p = check_level(level)
        self._check_density()
        half_width = float(elastic_net_magnitude_quantile(self.l1, self.l2, np.array(p)))
        return -half_width, half_width

    def plot(self) -> Any:
        """Return a chart of the density of a weight, for noise 1."""
        return plot_weight_prior(self)

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights, for noise 1."""
        self._check_density()
        rng = np.random.default_rng(seed)
        signs = rng.choice([-1.0, 1.0], size=n)
        return np.asarray(signs * elastic_net_magnitude_quantile(self.l1, self.l2, rng.random(n)))

    def penalty(self, sigma: float = 1.0) -> tuple[float, float]:
        """Return (l1, l2), which do not depend on the noise."""
        self._check_strength()
        return self.l1, self.l2

    def exact_penalty(self, sigma: float = 1.0) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) as fractions of their decimal representations."""
        self._check_strength()
        return Fraction(str(self.l1)), Fraction(str(self.l2))

    def equivalents(self, task: str, n: float, sigma: float = 1.0, spread: float = 1.0) -> Equivalents:
        """Return the equivalent parameters of other packages for a task, "linear" or "logistic".

        `n` is the number of rows or their total weight; `spread` the standard deviation of the targets (1/n),
        which glmnet needs for ridge and elastic net; `sigma` has no effect.
        """
        return find_equivalents(self, task, n, sigma, spread)

    def to_json(self) -> dict[str, object]:
        """Return l1 and l2 as plain JSON, and the scale if a learner chooses it."""
        scale = {"scale": self.scale} if self.scale else {}
        return {"kind": "penalty", "l1": self.l1, "l2": self.l2, **scale}

    def _check_strength(self) -> None:
        if self.scale:
            raise errors.Unsupported(
                f"{self!r} has no strength yet: a learner chooses it from rows. Leave scale out."
            )

    def _check_density(self) -> None:
        self._check_strength()
        if not self.l1 and not self.l2:
            raise errors.Unsupported(
                "Penalty() penalises nothing: all weights are equally probable, so it has no density, mean "
                "or mode. Give l1 or l2."
            )
