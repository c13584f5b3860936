"""Priors of weights: which they are, and as plain JSON and back."""

from __future__ import annotations

from typing import Any

from weigh import errors
from weigh.priors import centre, exact
from weigh.priors.laplace import Laplace
from weigh.priors.normal import Normal
from weigh.priors.penalty import Penalty
from weigh.priors.plain import foreign

WeightPrior = Normal | Laplace | Penalty


def check_weight_prior(prior: object, owner: str, name: str) -> WeightPrior | None:
    """Return the prior that is meant, a number s as Normal(s); refuse what is none.

    `owner` and `name` say whose parameter it is.
    """
    if prior is None or isinstance(prior, Normal | Laplace | Penalty):
        return prior
    number = exact.positive(prior)
    if number is not None:
        return Normal(float(number))
    must = "a number above zero, None, Normal(s), Laplace(t) or Penalty(l1=a, l2=b)"
    raise errors.parameter(owner, name, must, prior)


def weight_prior_to_json(prior: WeightPrior | None) -> object:
    """A prior as plain JSON: null, or an object with its kind."""
    return None if prior is None else prior.to_json()


def weight_prior_from_json(data: object) -> WeightPrior | None:
    """The prior that `weight_prior_to_json` wrote; anything else is refused."""
    if data is None:
        return None
    if not isinstance(data, dict):
        raise foreign(data)
    try:
        return _read(data)
    except errors.ParameterError:
        raise foreign(data) from None


def _read(data: dict[str, Any]) -> WeightPrior:
    if data.get("kind") == "penalty" and set(data) == {"kind", "l1", "l2"}:
        return Penalty(data["l1"], data["l2"])
    if set(data) == {"kind", "scale", "mean"}:
        mean = centre.from_json(data["mean"])
        if data["kind"] == "normal" and mean is not None:
            return Normal(data["scale"], mean)
        if data["kind"] == "laplace" and mean is not None:
            return Laplace(data["scale"], mean)
    raise foreign(data)
