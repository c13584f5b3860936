"""Priors of weights and noise as they are written after --set."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from weigh.priors import Laplace, Normal, Penalty

PRIORS = "A prior of weights is a number, none, normal:S, laplace:T (S, T may be cv) or penalty:l1=A,l2=B."
NOISE = "Noise is normal, laplace, normal:SIGMA or laplace:B."


def weight_prior(text: str) -> Any:
    """Return the prior that is meant: 2, none, normal:2, laplace:cv, penalty:l1=1,l2=2, or JSON by column."""
    word, separator, rest = text.strip().partition(":")
    if text.lstrip().startswith("{"):
        return {name: weight_prior(str(value)) for name, value in _json(text).items()}
    if word.lower() == "none" and not separator:
        return None
    reader = _PRIORS.get(word.lower())
    if reader is None:
        return _number(text, text, PRIORS)
    return reader(rest, text)


def noise(text: str) -> Any:
    """Return the noise that is meant: normal, laplace:2, ..."""
    word, separator, rest = text.strip().partition(":")
    if word.lower() not in _SCALED:
        raise bad_set(f"{text!r} is no noise. {NOISE}")
    if not separator:
        return word.lower()
    return _SCALED[word.lower()](_number(rest, text, NOISE))


def bad_set(message: str) -> click.BadParameter:
    """Word a refusal of what follows --set."""
    return click.BadParameter(message, param_hint="'--set'")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise bad_set(f"{text!r} is not JSON ({cause}).") from None


def _number(part: str, text: str, known: str) -> float:
    above, _, below = part.partition("/")
    try:
        # Float by float: a fraction of 1e999999999 would take all memory.
        return float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        raise bad_set(f"{text!r} is not understood. {known}") from None


def _normal(rest: str, text: str) -> Normal:
    word = rest.strip().lower()
    return Normal(word if word in Normal.ways else _number(rest, text, PRIORS))


def _laplace(rest: str, text: str) -> Laplace:
    word = rest.strip().lower()
    return Laplace(word if word in Laplace.ways else _number(rest, text, PRIORS))


def _penalty(rest: str, text: str) -> Penalty:
    found: dict[str, float] = {}
    for part in rest.split(","):
        name, _, number = part.partition("=")
        if name.strip() not in ("l1", "l2"):
            raise bad_set(f"{text!r} is not understood. {PRIORS}")
        found[name.strip()] = _number(number, text, PRIORS)
    return Penalty(**found)


_PRIORS: dict[str, Callable[[str, str], Any]] = {"normal": _normal, "laplace": _laplace, "penalty": _penalty}
_SCALED: dict[str, Callable[[float], Any]] = {"normal": Normal, "laplace": Laplace}
