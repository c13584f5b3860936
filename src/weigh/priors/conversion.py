"""Conversion of priors to plain JSON and back, without loss, and of numbers to priors of weights."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from weigh import errors
from weigh.priors import exact
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.location_scale import Laplace, Normal, mean_from_json
from weigh.priors.penalty import Penalty
from weigh.priors.smoothing import Prior, check_prior


def prior_to_json(prior: Prior) -> object:
    """Return a prior as plain JSON: null, an integer, 'p/q', or an object with its kind."""
    check_prior(prior, "to_json", "prior")
    if isinstance(prior, Beta | Dirichlet):
        return prior.to_json()
    number = exact.to_fraction(prior)
    return None if number is None else exact.fraction_to_json(number)


def prior_from_json(data: object) -> Prior:
    """Return the prior that `prior_to_json` wrote; raise a ModelFileError for anything else."""
    if data is None:
        return None
    if not isinstance(data, dict):
        number = _number_from_json(data)
        return int(number) if number.denominator == 1 else number
    fields = set(data)
    if data.get("kind") == "beta" and fields == {"kind", "a", "b"}:
        return Beta(_number_from_json(data["a"]), _number_from_json(data["b"]))
    if data.get("kind") == "dirichlet" and isinstance(data.get("b"), list) and data["b"]:
        numbers = [_number_from_json(item) for item in data["b"]]
        if fields == {"kind", "b"}:
            return Dirichlet(numbers)
        if fields == {"kind", "b", "values", "rest"}:
            rest = None if data["rest"] is None else _number_from_json(data["rest"])
            return Dirichlet(_parameters_by_value(data["values"], numbers), rest=rest)
    if data.get("kind") == "dirichlet" and fields == {"kind", "b"}:
        return Dirichlet(_number_from_json(data["b"]))
    raise invalid_prior_error(data)


def _number_from_json(data: object) -> Fraction:
    number = exact.fraction_from_json(data)
    if number is None:
        raise invalid_prior_error(data)
    return number


def _parameters_by_value(values: object, numbers: list[Fraction]) -> dict[Hashable, Fraction]:
    scalars = (str, int, float, bool, type(None))
    if not isinstance(values, list) or not all(isinstance(value, scalars) for value in values):
        raise invalid_prior_error(values)
    if len(values) != len(numbers) or len(set(values)) != len(values):
        raise invalid_prior_error(values)
    return dict(zip(values, numbers, strict=True))


def invalid_prior_error(data: object) -> errors.ModelFileError:
    """Return the error for JSON that is not a prior."""
    text = repr(data)
    text = text if len(text) <= 80 else text[:77] + "..."
    return errors.ModelFileError(
        f"{text} is not part of a prior as weigh writes it: the file is damaged or foreign."
    )


WeightPrior = Normal | Laplace | Penalty


def check_weight_prior(prior: object, owner: str, name: str) -> WeightPrior | None:
    """Check the parameter `name` of `owner`, and return the prior; a number s means Normal(s)."""
    if prior is None or isinstance(prior, Normal | Laplace | Penalty):
        return prior
    number = exact.positive_fraction(prior)
    if number is not None:
        return Normal(float(number))
    rule = "a number above zero, None, Normal(s), Laplace(t) or Penalty(l1=a, l2=b)"
    raise errors.parameter_error(owner, name, rule, prior)


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
    if data.get("kind") == "penalty" and set(data) == {"kind", "l1", "l2"}:
        return Penalty(data["l1"], data["l2"])
    if set(data) == {"kind", "scale", "mean"}:
        mean = mean_from_json(data["mean"])
        if data["kind"] == "normal" and mean is not None:
            return Normal(data["scale"], mean)
        if data["kind"] == "laplace" and mean is not None:
            return Laplace(data["scale"], mean)
    raise invalid_prior_error(data)
