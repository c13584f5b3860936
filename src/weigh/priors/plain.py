"""Priors as plain JSON and back, exactly."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from weigh import errors
from weigh.priors import exact
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.smoothing import Prior, check


def to_json(prior: Prior) -> object:
    """A prior as plain JSON: null, a whole number, 'p/q', or an object with its kind."""
    check(prior, "to_json", "prior")
    if isinstance(prior, Beta | Dirichlet):
        return prior.to_json()
    number = exact.fraction(prior)
    return None if number is None else exact.to_json(number)


def from_json(data: object) -> Prior:
    """The prior that `to_json` wrote; anything else is refused."""
    if data is None:
        return None
    if not isinstance(data, dict):
        number = _number(data)
        return int(number) if number.denominator == 1 else number
    fields = set(data)
    if data.get("kind") == "beta" and fields == {"kind", "a", "b"}:
        return Beta(_number(data["a"]), _number(data["b"]))
    if data.get("kind") == "dirichlet" and isinstance(data.get("b"), list) and data["b"]:
        numbers = [_number(item) for item in data["b"]]
        if fields == {"kind", "b"}:
            return Dirichlet(numbers)
        if fields == {"kind", "b", "values", "rest"}:
            rest = None if data["rest"] is None else _number(data["rest"])
            return Dirichlet(_by_value(data["values"], numbers), rest=rest)
    if data.get("kind") == "dirichlet" and fields == {"kind", "b"}:
        return Dirichlet(_number(data["b"]))
    raise foreign(data)


def _number(data: object) -> Fraction:
    number = exact.from_json(data)
    if number is None:
        raise foreign(data)
    return number


def _by_value(values: object, numbers: list[Fraction]) -> dict[Hashable, Fraction]:
    scalars = (str, int, float, bool, type(None))
    if not isinstance(values, list) or not all(isinstance(value, scalars) for value in values):
        raise foreign(values)
    if len(values) != len(numbers) or len(set(values)) != len(values):
        raise foreign(values)
    return dict(zip(values, numbers, strict=True))


def foreign(data: object) -> errors.ModelFileError:
    """Word the refusal of what no prior is written as."""
    text = repr(data)
    shown = text if len(text) <= 80 else text[:77] + "..."
    return errors.ModelFileError(
        f"{shown} is not part of a prior as weigh writes it: the file is damaged or foreign."
    )
