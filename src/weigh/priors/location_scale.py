"""What the normal and the Laplace distribution of a weight have in common."""

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
    """A belief about a weight: around `mean`, as wide as `scale` says.

    `scale` is a number, or how a learner is to choose it. `mean` is a number, or an older model (or
    fitted learner) whose weights are the centres, by name of the feature.
    """

    scale: float | str
    mean: Any = 0.0

    scale_methods: ClassVar[tuple[str, ...]] = ("cv",)
    shape: ClassVar[tuple[float, float]]  # (l1, l2) but for the scale: ridge or lasso

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.scale, str) or self.scale not in self.scale_methods:
            number = exact.positive_fraction(self.scale)
            if number is None:
                *most, last = "a positive, finite number", *map(repr, self.scale_methods)
                raise errors.parameter_error(owner, "scale", f"{', '.join(most)} or {last}", self.scale)
            object.__setattr__(self, "scale", float(number))
        object.__setattr__(self, "mean", check_mean(self.mean, owner))

    def __repr__(self) -> str:
        scale = self.scale if isinstance(self.scale, str) else exact.to_fraction(self.scale)
        shown = repr(scale) if isinstance(scale, str | None) else exact.fraction_repr(scale)
        if self.is_centred:
            return f"{type(self).__name__}({shown})"
        mean = exact.to_fraction(self.mean)
        at = repr(self.mean) if mean is None else exact.fraction_repr(mean)
        return f"{type(self).__name__}({shown}, mean={at})"

    def __str__(self) -> str:
        if isinstance(self.scale, str):
            how = {"cv": "cross-validation", "evidence": "the evidence"}[self.scale]
            return f"{self!r}: the learner chooses the scale by {how}"
        return f"{self!r}: {summarise_penalty(*self.exact_penalty(), ' σ²')}"

    @property
    def is_scale_automatic(self) -> bool:
        """Whether the learner is to choose the scale."""
        return isinstance(self.scale, str)

    @property
    def is_centred(self) -> bool:
        """Whether the centre is zero; False for any other number and for a model."""
        return isinstance(self.mean, float) and self.mean == 0

    @property
    def mode(self) -> float | Floats:
        """The most probable weight: the centre; of a model, one for each of its features."""
        return mean_values(self.mean)

    def centre(self, features: Sequence[str]) -> Floats:
        """The centre of each of these features; 0 for one that an older model does not know."""
        return mean_by_feature(self.mean, features)

    def penalty(self, sigma: float = 1.0) -> tuple[float, float]:
        """Return (l1, l2), the penalty beside ½‖y − Xw‖² with noise σ, or beside the log loss with σ = 1.

        Beside Σ|y − Xw|, with Laplace noise of scale b, it is that of σ = √b.
        """
        l1, l2 = self.exact_penalty(sigma)
        return float(l1), float(l2)

    def exact_penalty(self, sigma: float = 1.0) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) as fractions, every number taken by its decimal text."""
        noise = exact.positive_fraction(sigma)
        if noise is None:
            raise errors.parameter_error("penalty", "sigma", "a positive, finite number", sigma)
        found = self._penalty_for_variance(noise * noise)
        if max(found) > exact.MAX_MAGNITUDE:
            raise errors.parameter_error(
                "penalty", "sigma", f"smaller beside {self!r}: no float holds l1, l2", sigma
            )
        return found

    def equivalents(self, task: str, n: float, sigma: float = 1.0, spread: float = 1.0) -> Equivalents:
        """What other packages call this prior in a task, "linear" or "logistic".

        `n` is the number of rows, or their total weight; `sigma` the noise of linear regression; `spread`
        the standard deviation of the targets (1/n), which glmnet needs for ridge and elastic net.
        """
        return find_equivalents(self, task, n, sigma, spread)

    def plot(self) -> Any:
        """Return a picture of the density of a weight; around an older model, of the interval of each."""
        return plot_weight_prior(self, () if isinstance(self.mean, float) else mean_feature_names(self.mean))

    def to_json(self) -> dict[str, object]:
        """The scale and the centre as plain JSON, exactly."""
        return {"kind": type(self).__name__.lower(), "scale": self.scale, "mean": mean_to_json(self.mean)}

    @abstractmethod
    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) beside noise of this variance."""

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
    """What has weights by feature: [features], or [classes, features]."""

    @property
    def features(self) -> Sequence[str]: ...

    @property
    def coef(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Weights by feature that were read from a file, the model they come from left behind."""

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
    """Return a number as a float and a model as it is; refuse all else."""
    number = exact.to_fraction(mean)
    if number is not None and abs(number) <= exact.MAX_MAGNITUDE:
        return float(number)
    if number is None and isinstance(_underlying_model(mean), HasWeights):
        return mean
    raise errors.parameter_error(
        owner, "mean", "a finite number, or a fitted model with weights by feature", mean
    )


def mean_values(mean: Any) -> float | Floats:
    """The number, or the weights in the order of the model's own features."""
    return mean if isinstance(mean, float) else np.asarray(_underlying_model(mean).coef, dtype=np.float64)


def mean_feature_names(mean: Any) -> list[str]:
    """The names of an older model's weights, in the order of `position` laid flat."""
    model = _underlying_model(mean)
    rows = np.atleast_2d(mean_values(mean)).shape[0]
    return [f"{row}: {name}" if rows > 1 else name for row in range(rows) for name in model.features]


def mean_by_feature(mean: Any, features: Sequence[str]) -> Floats:
    """The centre of each of these features; 0 for one that the model does not know."""
    if isinstance(mean, float):
        return np.full(len(features), mean)
    model = _underlying_model(mean)
    old = np.asarray(model.coef, dtype=np.float64)
    places = {name: at for at, name in enumerate(model.features)}
    found = np.array([places.get(name, -1) for name in features], dtype=np.intp)
    centre = np.zeros((*old.shape[:-1], len(features)))
    centre[..., found >= 0] = old[..., found[found >= 0]]
    return centre


def deviation_from_mean(w: ArrayLike, mean: Any, owner: str) -> Floats:
    """Return w minus its centre; refuse what is no number, or is not shaped like the model's weights."""
    weights = check_numbers(w, owner, "w")
    centre = mean_values(mean)
    if isinstance(centre, float) or centre.shape == weights.shape:
        return np.asarray(weights - centre)
    raise errors.DataError(
        f"{owner}: w has the shape {weights.shape}, but the prior is centred at a model's weights of the "
        f"shape {centre.shape}. Give one weight for each of its features."
    )


def mean_to_json(mean: Any) -> object:
    """The centre as plain JSON: a number, or weights by feature."""
    if isinstance(mean, float):
        return mean
    model = _underlying_model(mean)
    return {"features": list(model.features), "coef": np.asarray(model.coef, dtype=np.float64).tolist()}


def mean_from_json(data: object) -> float | FeatureWeights | None:
    """The centre that `to_json` wrote, else None."""
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
    # An estimator's weights are those of its model, with the names of the features.
    return cast(HasWeights, getattr(mean, "model_", mean))


@dataclass(frozen=True, repr=False)
class Normal(LocationScalePrior):
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

    scale_methods: ClassVar[tuple[str, ...]] = ("cv", "evidence")
    shape: ClassVar[tuple[float, float]] = (0.0, 1.0)
    loss: ClassVar[str] = "squared"

    @property
    def dispersion(self) -> float:
        """As noise: what minus the log-likelihood is multiplied by to be ½ Σ (y − z)², the variance."""
        return self._numeric_scale**2

    def log_density(self, w: ArrayLike) -> Any:
        """The natural logarithm of the density at each weight."""
        s = self._numeric_scale
        with np.errstate(over="ignore"):
            squares = np.square(deviation_from_mean(w, self.mean, "log_density") / s)
        return unwrap_scalar(-0.5 * squares - (math.log(s) + 0.5 * math.log(2 * math.pi)))

    def density(self, w: ArrayLike) -> Any:
        """The density at each weight."""
        return unwrap_scalar(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Minus the log-density of all weights together, without its constant: Σ (w − mean)² / 2s²."""
        with np.errstate(over="ignore"):
            return float(
                0.5 * np.square(deviation_from_mean(w, self.mean, "value") / self._numeric_scale).sum()
            )

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return the w that minimises ½(w − v)² + step · value(w): v drawn towards the mean."""
        pull = check_step(step) / self._numeric_scale**2
        gap = deviation_from_mean(v, self.mean, "prox")
        return unwrap_scalar(np.asarray(mean_values(self.mean) + gap / (1 + pull)))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The interval around the mean that holds the weight with probability `level`."""
        reach = -self._numeric_scale * NormalDist().inv_cdf((1 - check_level(level)) / 2)
        at = mean_values(self.mean)
        return at - reach, at + reach

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; of a model, n rows with one for each of its features."""
        at = np.asarray(mean_values(self.mean))
        drawn = np.random.default_rng(seed).normal(size=(n, *at.shape))
        return np.asarray(at + self._numeric_scale * drawn)

    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return Fraction(0), variance / self._exact_scale**2


@dataclass(frozen=True, repr=False)
class Laplace(LocationScalePrior):
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
        return self._numeric_scale

    def log_density(self, w: ArrayLike) -> Any:
        """The natural logarithm of the density at each weight."""
        t = self._numeric_scale
        return unwrap_scalar(-np.abs(deviation_from_mean(w, self.mean, "log_density")) / t - math.log(2 * t))

    def density(self, w: ArrayLike) -> Any:
        """The density at each weight."""
        return unwrap_scalar(np.exp(np.asarray(self.log_density(w))))

    def value(self, w: ArrayLike) -> float:
        """Minus the log-density of all weights together, without its constant: Σ |w − mean| / t."""
        return float(np.abs(deviation_from_mean(w, self.mean, "value")).sum() / self._numeric_scale)

    def prox(self, v: ArrayLike, step: float = 1.0) -> Any:
        """Return the w that minimises ½(w − v)² + step · value(w): the soft threshold around the mean."""
        gap = deviation_from_mean(v, self.mean, "prox")
        return unwrap_scalar(
            np.asarray(mean_values(self.mean) + soft_threshold(gap, check_step(step) / self._numeric_scale))
        )

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The interval around the mean that holds the weight with probability `level`."""
        reach = -self._numeric_scale * math.log1p(-check_level(level))
        at = mean_values(self.mean)
        return at - reach, at + reach

    def sample(self, n: int, seed: int = 0) -> Floats:
        """Draw n weights; of a model, n rows with one for each of its features."""
        at = np.asarray(mean_values(self.mean))
        return np.asarray(
            at + np.random.default_rng(seed).laplace(scale=self._numeric_scale, size=(n, *at.shape))
        )

    def _penalty_for_variance(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        return variance / self._exact_scale, Fraction(0)


def soft_threshold(v: Floats, by: float) -> Floats:
    """Return the soft threshold: each number nearer to zero by so much, and zero where it is nearer yet."""
    return np.asarray(v - np.clip(v, -by, by))
