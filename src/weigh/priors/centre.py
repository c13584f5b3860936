"""Where a prior of weights is centred: at a number, or at the weights of an older model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from weigh import errors
from weigh.priors import arguments, exact
from weigh.priors.arguments import Floats


@runtime_checkable
class Weighted(Protocol):
    """What has weights by feature: [features], or [classes, features]."""

    @property
    def features(self) -> Sequence[str]: ...

    @property
    def coef(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights by feature that were read from a file, the model they come from left behind."""

    features: tuple[str, ...]
    coef: Floats

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Weights)
            and self.features == other.features
            and np.array_equal(self.coef, other.coef)
        )

    def __hash__(self) -> int:
        return hash(self.features)


def checked(mean: Any, owner: str) -> Any:
    """Return a number as a float and a model as it is; refuse all else."""
    number = exact.fraction(mean)
    if number is not None and abs(number) <= exact.LARGEST:
        return float(number)
    if number is None and isinstance(_model(mean), Weighted):
        return mean
    raise errors.parameter(owner, "mean", "a finite number, or a fitted model with weights by feature", mean)


def position(mean: Any) -> float | Floats:
    """The number, or the weights in the order of the model's own features."""
    return mean if isinstance(mean, float) else np.asarray(_model(mean).coef, dtype=np.float64)


def names(mean: Any) -> list[str]:
    """The names of an older model's weights, in the order of `position` laid flat."""
    model = _model(mean)
    rows = np.atleast_2d(position(mean)).shape[0]
    return [f"{row}: {name}" if rows > 1 else name for row in range(rows) for name in model.features]


def by_name(mean: Any, features: Sequence[str]) -> Floats:
    """The centre of each of these features; 0 for one that the model does not know."""
    if isinstance(mean, float):
        return np.full(len(features), mean)
    model = _model(mean)
    old = np.asarray(model.coef, dtype=np.float64)
    places = {name: at for at, name in enumerate(model.features)}
    found = np.array([places.get(name, -1) for name in features], dtype=np.intp)
    centre = np.zeros((*old.shape[:-1], len(features)))
    centre[..., found >= 0] = old[..., found[found >= 0]]
    return centre


def distance(w: ArrayLike, mean: Any, owner: str) -> Floats:
    """Return w minus its centre; refuse what is no number, or is not shaped like the model's weights."""
    weights = arguments.numbers(w, owner, "w")
    centre = position(mean)
    if isinstance(centre, float) or centre.shape == weights.shape:
        return np.asarray(weights - centre)
    raise errors.DataError(
        f"{owner}: w has the shape {weights.shape}, but the prior is centred at a model's weights of the "
        f"shape {centre.shape}. Give one weight for each of its features."
    )


def to_json(mean: Any) -> object:
    """The centre as plain JSON: a number, or weights by feature."""
    if isinstance(mean, float):
        return mean
    model = _model(mean)
    return {"features": list(model.features), "coef": np.asarray(model.coef, dtype=np.float64).tolist()}


def from_json(data: object) -> float | Weights | None:
    """The centre that `to_json` wrote, else None."""
    if not isinstance(data, dict):
        number = exact.fraction(data)
        return None if number is None or abs(number) > exact.LARGEST else float(number)
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
    return Weights(tuple(features), weights) if np.isfinite(weights).all() else None


def _model(mean: Any) -> Weighted:
    # An estimator's weights are those of its model, with the names of the features.
    return cast(Weighted, getattr(mean, "model_", mean))
