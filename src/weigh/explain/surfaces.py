"""`surface`: how likely and how believed the parameters of a coin, a curve or a regression are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.surface_result import Surface, Top
from weigh.explain.weight_surface import apart, weight_surface
from weigh.features.blocks import Floats
from weigh.features.settings import whole
from weigh.features.value_checks import HUGE
from weigh.model import LogisticModel, RegressionModel
from weigh.priors import Beta, Laplace, Normal
from weigh.text import counted

WIDE = 4.0  # standard errors to either side


def surface(
    belief: Any,
    data: Any = None,
    y: Any = None,
    *,
    successes: int | None = None,
    trials: int | None = None,
    across: str | None = None,
    up: str | None = None,
    cells: int = 80,
) -> Surface:
    """Work out likelihood, prior and posterior over one or two parameters.

    Of a coin, ``surface(Beta(2, 2), successes=5, trials=16)``, the parameter is p; the likelihood is greatest
    at the share of successes, the posterior at the mode of Beta(2 + 5, 2 + 11).

    Of numbers, ``surface(Normal, numbers)`` or ``surface(Laplace, numbers)``, the parameters are where the
    curve is and how wide, and there is a likelihood only.

    Of a regression, ``surface(fitted, rows, y)``, they are two of its weights, all others held as they were
    fitted; "bias" is one of them if it was learned. The likelihood of a linear regression takes the noise as
    it was given or, if it was not, as the residuals tell it.

    Parameters
    ----------
    belief : a Beta; the class Normal or Laplace; or a fitted linear or logistic regression of two classes
    data : the numbers, or the rows
    y : one label per row, or the label column's name; None takes the model's
    successes, trials : how often the coin fell heads, and how often it was tossed
    across, up : the features; None takes the heaviest
    cells : how many values of each parameter are worked out
    """
    whole("surface", "cells", cells, 10)
    model = getattr(belief, "model_", belief)
    if isinstance(belief, Beta):
        return _coin(belief, successes, trials, cells)
    if belief is Normal or belief is Laplace:
        return _spread(belief, _numbers(data), cells)
    if isinstance(model, RegressionModel | LogisticModel):
        return weight_surface(model, data, y, (across, up), cells)
    raise errors.parameter(
        "surface", "belief", "a Beta, the class Normal or Laplace, or a fitted regression", belief
    )


def _coin(prior: Beta, successes: Any, trials: Any, cells: int) -> Surface:
    n = whole("surface", "trials", trials, 0)
    k = whole("surface", "successes", successes, 0)
    if k > n:
        raise errors.parameter("surface", "successes", f"at most the {n} trials", k)
    posterior = prior.posterior(heads=k, tails=n - k)
    p = (np.arange(4 * cells) + 0.5) / (4 * cells)
    logs = {
        "likelihood": k * np.log(p) + (n - k) * np.log1p(-p),
        "prior": np.array([prior.log_density(each) for each in p.tolist()]),
        "posterior": np.array([posterior.log_density(each) for each in p.tolist()]),
    }
    tops: dict[str, Top] = {"likelihood": (Fraction(k, n),)} if n else {}
    for part, believed in (("prior", prior), ("posterior", posterior)):
        try:
            tops[part] = (believed.mode,)
        except errors.Unsupported:
            # A flat belief has no top to mark.
            continue
    title = f"{prior!r} after {counted(k, 'success', 'successes')} in {counted(n, 'trial')}"
    return Surface(title, ("p",), p, None, logs, tops)


def _spread(curve: type[Normal | Laplace], values: Floats, cells: int) -> Surface:
    if curve is Normal:
        place, width = float(values.mean()), float(values.std())
    else:
        place = float(np.median(values))
        width = float(np.abs(values - place).mean())
    if not width > 0:
        raise errors.DataError(
            f"surface needs numbers that differ, got {len(values):,} times {place:g}. Their likelihood has "
            f"no top."
        )
    reach = WIDE / math.sqrt(len(values))
    x = apart(np.linspace(place - reach * width, place + reach * width, cells))
    y = np.linspace(width / (1 + reach), width * (1 + reach), cells)
    log = _normal_logs(values, x, y) if curve is Normal else _laplace_logs(values, x, y)
    title = f"{curve.__name__} curve of {counted(len(values), 'number')}"
    names = ("mean", "standard deviation") if curve is Normal else ("middle", "scale")
    return Surface(title, names, x, y, {"likelihood": log}, {"likelihood": (place, width)})


def _normal_logs(values: Floats, x: Floats, y: Floats) -> Floats:
    squares = np.array([np.square(values - each).sum() for each in x.tolist()])
    height = len(values) * np.log(y * math.sqrt(2 * math.pi))
    return np.asarray(-squares[None, :] / (2 * y[:, None] ** 2) - height[:, None])


def _laplace_logs(values: Floats, x: Floats, y: Floats) -> Floats:
    away = np.array([np.abs(values - each).sum() for each in x.tolist()])
    return np.asarray(-away[None, :] / y[:, None] - len(values) * np.log(2 * y)[:, None])


def _numbers(data: Any) -> Floats:
    try:
        found = np.asarray(data, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        found = np.array([])
    if len(found) < 2 or not (np.abs(found) <= HUGE).all():
        raise errors.parameter("surface", "data", f"two or more numbers of at most {HUGE:g}", data)
    return found
