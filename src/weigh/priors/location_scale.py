"""Normal and Laplace priors of weights, and their mean: a number, or the weights of an older model."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from weigh import errors
from weigh.priors import exact
from weigh.priors.display import PriorDisplay, plot_weight_prior
from weigh.priors.equivalents import Equivalents, find_equivalents, summarise_penalty
from weigh.priors.exact import Floats, check_level, check_numbers, check_step, unwrap_scalar


@dataclass(frozen=True, repr=False)
class LocationScalePrior(PriorDisplay, ABC):
    """Base class of priors of a weight with location `mean` and scale `scale`.

    `scale` is a number, or the method by which a learner chooses it. `mean` is a number, or an older model
    (or fitted learner) whose weights are the means, matched by feature name.
    """

    scale: float | str
    mean: Any = 0.0

    scale_methods: ClassVar[tuple[str, ...]] = ("cv",)
    shape: ClassVar[tuple[float, float]]  # (l1, l2) up to a factor: ridge or lasso

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.scale, str) or self.scale not in self.scale_methods:
            number = exact.positive_fraction(self.scale)
            if number is None:
                *choices, last = "a positive, finite number", *map(repr, self.scale_methods)
                raise errors.parameter_error(owner, "scale", f"{', '.join(choices)} or {last}", self.scale)
            object.__setattr__(self, "scale", float(number))
        object.__setattr__(self, "mean", check_mean(self.mean, owner))

    def __repr__(self) -> str:
        scale = self.scale if isinstance(self.scale, str) else exact.to_fraction(self.scale)
        scale_repr = repr(scale) if isinstance(scale, str | None) else exact.fraction_repr(scale)
        if self.is_centred:
            return f"{type(self).__name__}({scale_repr})"
        mean = exact.to_fraction(self.mean)
        mean_repr = repr(self.mean) if mean is None else exact.fraction_repr(mean)
        return f"{type(self).__name__}({scale_repr}, mean={mean_repr})"

    def __str__(self) -> str:
        if isinstance(self.scale, str):
            method = {"cv": "cross-validation", "evidence": "maximising the marginal likelihood"}[self.scale]
            return f"{self!r}: the learner chooses the scale by {method}"
        return f"{self!r}: {summarise_penalty(*self.exact_penalty(), ' σ²')}"

    @property
    def is_scale_automatic(self) -> bool:
        """Whether the learner chooses the scale."""
        return isinstance(self.scale, str)

    @property
    def is_centred(self) -> bool:
        """Whether the mean is zero; False for any other number and for a model."""
        return isinstance(self.mean, float) and self.mean == 0

    @property
    def mode(self) -> float | Floats:
        """The mode, which is the mean; for a model, one number per feature."""
        return mean_values(self.mean)

    def centre(self, features: Sequence[str]) -> Floats:
        """Return the mean of each feature; 0 for features that an older model does not have."""
        return mean_by_feature(self.mean, features)

    def penalty(self, sigma: float = 1.0) -> tuple[float, float]:
        """Return (l1, l2) of the penalty added to ½‖y − Xw‖² with noise σ, or to the log loss with σ = 1.

        For Σ|y − Xw|, with Laplace noise of scale b, use σ = √b.
        """
        l1, l2 = self.exact_penalty(sigma)
        return float(l1), float(l2)

    def exact_penalty(self, sigma: float = 1.0) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) as fractions, computed from the decimal representations of the numbers."""
        noise = exact.positive_fraction(sigma)
        if noise is None:
            raise errors.parameter_error("penalty", "sigma", "a positive, finite number", sigma)
        penalty = self._penalty_for_variance(noise * noise)
        if max(penalty) > exact.MAX_MAGNITUDE:
            raise errors.parameter_error(
                "penalty", "sigma", f"smaller with {self!r}, because l1 or l2 would overflow", sigma
            )
        return penalty

    def equivalents(self, task: str, n: float, sigma: float = 1.0, spread: float = 1.0) -> Equivalents:
        """Return the equivalent parameters of other packages for a task, "linear" or "logistic".

        `n` is the number of rows or their total weight; `sigma` the noise of linear regression; `spread` the
        standard deviation of the targets (1/n), which glmnet needs for ridge and elastic net.
        """
        return find_equivalents(self, task, n, sigma, spread)

    def plot(self) -> Any:
        """Return a chart of the density of a weight, or of the intervals of all weights of an older model."""
        return plot_weight_prior(self, () if isinstance(self.mean, float) else mean_feature_names(self.mean))

    def to_json(self) -> dict[str, object]:
        """Return the scale and the mean as plain JSON."""
        return {"kind": type(self).__name__.lower(), "scale": self.scale, "mean": mean_to_json(self.mean)}

    @abstractmethod
    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) for noise of this variance."""

    @property
    def _numeric_scale(self) -> float:
        if isinstance(self.scale, str):
            raise errors.Unsupported(
                f"{self!r} has no scale yet: a learner chooses it from rows. Give a number instead."
            )
        return self.scale

    @property
    def _exact_scale(self) -> Fraction:
        return Fraction(str(self._numeric_scale))


@runtime_checkable
class HasWeights(Protocol):
    """A model with weights by feature: coef is [features] or [classes, features]."""

    @property
    def features(self) -> Sequence[str]: ...

    @property
    def coef(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Weights by feature read from a file, which does not contain the model they come from."""

    features: tuple[str, ...]
    coef: Floats

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FeatureWeights)
            and self.features == other.features
            and np.array_equal(self.coef, other.coef)
        )

    def __hash__(self) -> int:
        return hash(self.features)


def check_mean(mean: Any, owner: str) -> Any:
    """Return a number as a float, or a model unchanged; raise a ParameterError for anything else."""
    number = exact.to_fraction(mean)
    if number is not None and abs(number) <= exact.MAX_MAGNITUDE:
        return float(number)
    if number is None and isinstance(_underlying_model(mean), HasWeights):
        return mean
    raise errors.parameter_error(
        owner, "mean", "a finite number, or a fitted model with weights by feature", mean
    )


def mean_values(mean: Any) -> float | Floats:
    """Return the number, or the weights in the order of the model's features."""
    return mean if isinstance(mean, float) else np.asarray(_underlying_model(mean).coef, dtype=np.float64)


def mean_feature_names(mean: Any) -> list[str]:
    """Return the names of an older model's weights, in the order of the flattened `mean_values`."""
    model = _underlying_model(mean)
    rows = np.atleast_2d(mean_values(mean)).shape[0]
    return [f"{row}: {name}" if rows > 1 else name for row in range(rows) for name in model.features]


def mean_by_feature(mean: Any, features: Sequence[str]) -> Floats:
    """Return the mean of each feature; 0 for features that the model does not have."""
    if isinstance(mean, float):
        return np.full(len(features), mean)
    model = _underlying_model(mean)
    coef = np.asarray(model.coef, dtype=np.float64)
    index = {name: j for j, name in enumerate(model.features)}
    indices = np.array([index.get(name, -1) for name in features], dtype=np.intp)
    means = np.zeros((*coef.shape[:-1], len(features)))
    means[..., indices >= 0] = coef[..., indices[indices >= 0]]
    return means


def deviation_from_mean(w: ArrayLike, mean: Any, owner: str) -> Floats:
    """Return w − mean; w must consist of numbers and have the shape of a model's weights."""
    weights = check_numbers(w, owner, "w")
    means = mean_values(mean)
    if isinstance(means, float) or means.shape == weights.shape:
        return np.asarray(weights - means)
    raise errors.DataError(
        f"{owner}: w has the shape {weights.shape}, but the prior is centred at a model's weights of the "
        f"shape {means.shape}. Give one weight for each of its features."
    )


def mean_to_json(mean: Any) -> object:
    """Return the mean as plain JSON: a number, or weights by feature."""
    if isinstance(mean, float):
        return mean
    model = _underlying_model(mean)
    return {"features": list(model.features), "coef": np.asarray(model.coef, dtype=np.float64).tolist()}


def mean_from_json(data: object) -> float | FeatureWeights | None:
    """Return the mean that `mean_to_json` wrote, otherwise None."""
    if not isinstance(data, dict):
        number = exact.to_fraction(data)
        return None if number is None or abs(number) > exact.MAX_MAGNITUDE else float(number)
    features, coef = data.get("features"), data.get("coef")
    if set(data) != {"features", "coef"} or not isinstance(features, list) or not isinstance(coef, list):
        return None
    try:
        weights = np.array(coef, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    are_names = all(isinstance(name, str) for name in features)
    if not are_names or weights.ndim not in (1, 2) or weights.shape[-1] != len(features):
        return None
    return FeatureWeights(tuple(features), weights) if np.isfinite(weights).all() else None


def _underlying_model(mean: Any) -> HasWeights:
    # The model of a fitted estimator has the feature names.
    return cast(HasWeights, getattr(mean, "model_", mean))


@dataclass(frozen=True, repr=False)
class Normal(LocationScalePrior):
    """The normal distribution of a weight w: density exp(−(w − mean)² / 2s²) / (s √2π), where s is `scale`.

    As a prior it is the ridge penalty ½ l2 (w − mean)², with l2 = 1/s² for the log loss and l2 = σ²/s² for
    ½‖y − Xw‖² with Gaussian noise σ. As `noise` it gives the squared loss. `scale` is a positive number, "cv"
    (chosen by cross-validation) or "evidence" (by marginal likelihood). `mean` is a number, or an older model
    whose weights, matched by feature name, are the means of the new ones.

    >>> prior = Normal(2)
    >>> prior.penalty()
    (0.0, 0.25)
    >>> prior.penalty(sigma=4)
    (0.0, 4.0)
    >>> print(prior.equivalents("logistic", n=100)["LogisticRegression"])
    LogisticRegression(C=4)
    """

    scale_methods: ClassVar[tuple[str, ...]] = ("cv", "evidence")
    shape: ClassVar[tuple[float, float]] = (0.0, 1.0)
    loss: ClassVar[str] = "squared"

    @property
    def dispersion(self) -> float:
        """As noise: the variance, the factor between the negative log-likelihood and ½ Σ (y − z)²."""
        return self._numeric_scale**2

    def log_density(self, w: ArrayLike) -> Any:
        """Return the log-density at each weight."""
        s = self._numeric_scale
        with np.errstate(over="ignore"):
            squares = np.square(deviation_from_mean(w, self.mean, "log_density") / s)
        return unwrap_scalar(-0.5 * squares - (math.log(s) + 0.5 * math.log(2 * math.pi)))

    def density(self, w: ArrayLike) -> Any:
        """Return the density at each weight."""
        return unwrap_scalar(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Return the negative log-density of all weights without its constant: Σ (w − mean)² / 2s²."""
        with np.errstate(over="ignore"):
            deviation = deviation_from_mean(w, self.mean, "value")
            return float(0.5 * np.square(deviation / self._numeric_scale).sum())

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return argmin_w ½(w − v)² + step · value(w), which shrinks v towards the mean."""
        l2 = check_step(step) / self._numeric_scale**2
        deviation = deviation_from_mean(v, self.mean, "prox")
        return unwrap_scalar(np.asarray(mean_values(self.mean) + deviation / (1 + l2)))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the interval around the mean that contains the weight with probability `level`."""
        half_width = -self._numeric_scale * NormalDist().inv_cdf((1 - check_level(level)) / 2)
        mean = mean_values(self.mean)
        return mean - half_width, mean + half_width

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; for a model, n rows with one weight per feature."""
        mean = np.asarray(mean_values(self.mean))
        z = np.random.default_rng(seed).normal(size=(n, *mean.shape))
        return np.asarray(mean + self._numeric_scale * z)

    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return Fraction(0), variance / self._exact_scale**2


@dataclass(frozen=True, repr=False)
class Laplace(LocationScalePrior):
    """The Laplace distribution of a weight w: density exp(−|w − mean| / t) / 2t, where t is `scale`.

    As a prior it is the lasso penalty l1 |w − mean|, with l1 = 1/t for the log loss and l1 = σ²/t for
    ½‖y − Xw‖² with Gaussian noise σ. As `noise` it gives the absolute loss. `scale` is a positive number or
    "cv" (chosen by cross-validation). `mean` is a number, or an older model whose weights, matched by feature
    name, are the means of the new ones.

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
        """As noise: the scale, the factor between the negative log-likelihood and Σ |y − z|."""
        return self._numeric_scale

    def log_density(self, w: ArrayLike) -> Any:
        """Return the log-density at each weight."""
        t = self._numeric_scale
        return unwrap_scalar(-np.abs(deviation_from_mean(w, self.mean, "log_density")) / t - math.log(2 * t))

    def density(self, w: ArrayLike) -> Any:
        """Return the density at each weight."""
        return unwrap_scalar(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Return the negative log-density of all weights without its constant: Σ |w − mean| / t."""
        return float(np.abs(deviation_from_mean(w, self.mean, "value")).sum() / self._numeric_scale)

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return argmin_w ½(w − v)² + step · value(w): soft thresholding around the mean."""
        deviation = deviation_from_mean(v, self.mean, "prox")
        shrunk = soft_threshold(deviation, check_step(step) / self._numeric_scale)
        return unwrap_scalar(np.asarray(mean_values(self.mean) + shrunk))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the interval around the mean that contains the weight with probability `level`."""
        half_width = -self._numeric_scale * math.log1p(-check_level(level))
        mean = mean_values(self.mean)
        return mean - half_width, mean + half_width

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; for a model, n rows with one weight per feature."""
        mean = np.asarray(mean_values(self.mean))
        drawn = np.random.default_rng(seed).laplace(scale=self._numeric_scale, size=(n, *mean.shape))
        return np.asarray(mean + drawn)

    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return variance / self._exact_scale, Fraction(0)


def soft_threshold(v: Floats, threshold: float) -> Floats:
    """Return sign(v) · max(|v| − threshold, 0), element by element."""
    return np.asarray(v - np.clip(v, -threshold, threshold))
