"""Conversion of priors of weights to plain JSON and back."""

from __future__ import annotations

from typing import Any

from weigh import errors
from weigh.priors.location_scale import Laplace, Normal, mean_from_json
from weigh.priors.penalty import Penalty
from weigh.priors.smoothing import invalid_prior_error

WeightPrior = Normal | Laplace | Penalty


def weight_prior_to_json(prior: WeightPrior | None) -> object:
    """Return a prior of weights as plain JSON: null, or an object with its kind."""
    return None if prior is None else prior.to_json()


def weight_prior_from_json(data: object) -> WeightPrior | None:
    """Return the prior that `weight_prior_to_json` wrote; raise a ModelFileError for anything else."""
    if data is None:
        return None
    if not isinstance(data, dict):
        raise invalid_prior_error(data)
    try:
        return _weight_prior_from_dict(data)
    except errors.ParameterError:
        raise invalid_prior_error(data) from None


def _weight_prior_from_dict(data: dict[str, Any]) -> WeightPrior:
    if data.get("kind") == "penalty" and {"kind", "l1", "l2"} <= set(data) <= {"kind", "l1", "l2", "scale"}:
        return Penalty(data["l1"], data["l2"], data.get("scale"))
    if set(data) == {"kind", "scale", "mean"}:
        mean = mean_from_json(data["mean"])
        if data["kind"] == "normal" and mean is not None:
            return Normal(data["scale"], mean)
        if data["kind"] == "laplace" and mean is not None:
            return Laplace(data["scale"], mean)
    raise invalid_prior_error(data)
