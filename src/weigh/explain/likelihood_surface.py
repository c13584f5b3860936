"""Likelihood, prior and posterior over two weights of a regression, all others held as they were fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.classifier_adapters import concatenate_labels, read_labelled_chunks
from weigh.explain.surface_result import ModeLocation, Surface
from weigh.features.blocks import Floats
from weigh.features.validation import MAX_MAGNITUDE, check_integer
from weigh.model import LogisticModel, RegressionModel
from weigh.model.linear import dense_rows
from weigh.priors import Beta, Laplace, Normal
from weigh.text import format_quantity, truncate

INTERCEPT_NAME = "bias"
GRID_STANDARD_ERRORS = 4.0  # standard errors to either side
MAX_NEWTON_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class WeightPair:
    """Two weights of a fit: their names and values, what their features are [rows, 2], and their penalties.

    Changes d of both change the scores by `features` @ d.
    """

    names: tuple[str, str]
    fitted: Floats
    features: Floats
    is_penalised: Floats


@dataclass(frozen=True, eq=False)
class GaussianLikelihood:
    """Targets with Gaussian noise: `residuals` of the fit, over the `noise`."""

    residuals: Floats
    noise: float

    def log_likelihood(self, shifts: Floats) -> Floats:
        """Return the log-likelihood after shifts [places, rows] of what is predicted."""
        rows = self.residuals - shifts
        constant = len(self.residuals) * math.log(self.noise * math.sqrt(2 * math.pi))
        return np.asarray(-0.5 * np.square(rows).sum(axis=1) / self.noise**2 - constant)

    def gradient_and_curvature(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return how the rows pull on the scores, and how the pull wanes."""
        return (self.residuals - shift) / self.noise**2, np.full(len(self.residuals), self.noise**-2)


@dataclass(frozen=True, eq=False)
class LogisticLikelihood:
    """Labels as −1 and +1, and the log-odds of the fit."""

    signs: Floats
    log_odds: Floats

    def log_likelihood(self, shifts: Floats) -> Floats:
        """Return the log-likelihood after shifts [places, rows] of the log-odds."""
        return np.asarray(-np.logaddexp(0.0, -self.signs * (self.log_odds + shifts)).sum(axis=1))

    def gradient_and_curvature(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return how the rows pull on the scores, and how the pull wanes."""
        miss = np.exp(-np.logaddexp(0.0, self.signs * (self.log_odds + shift)))
        return self.signs * miss, miss * (1 - miss)


Likelihood = GaussianLikelihood | LogisticLikelihood


def weight_surface(
    model: RegressionModel | LogisticModel, rows: Any, y: Any, wanted: tuple[Any, Any], cells: int
) -> Surface:
    """Return the surface over two weights of a fitted regression on its rows."""
    if isinstance(model, LogisticModel) and len(model.classes) != 2:
        raise errors.Unsupported(
            f"surface shows a logistic regression of two classes, got one of {len(model.classes):,}."
        )
    if model.fit.loss == "absolute":
        raise errors.Unsupported("surface shows regressions with squared loss, got one with absolute loss.")
    chunks = read_labelled_chunks(model, rows, y)
    terms: Any = model.terms
    table = np.vstack([dense_rows(terms, model.schema.encode(chunk), chunk.n_rows) for chunk in chunks])
    learned = np.concatenate([term.trained_weights() for term in terms])
    weights = learned[:, -1] - (learned[:, 0] if learned.shape[1] == 2 else 0.0)
    base = float(model.base[-1] - (model.base[0] if len(model.base) == 2 else 0.0))
    scores = table @ weights + base
    labels = concatenate_labels(chunks)
    loss = (
        _logistic_likelihood(model, scores, labels)
        if isinstance(model, LogisticModel)
        else _gaussian_likelihood(model, scores, labels)
    )
    pair = _select_weights(model, table, weights, base, wanted)
    return _build_weight_surface(model, pair, loss, cells)


def _select_weights(
    model: Any, table: Floats, weights: Floats, base: float, wanted: tuple[Any, Any]
) -> WeightPair:
    names = list(model.features) + [INTERCEPT_NAME] * model.fit.bias
    values = np.append(weights, base)
    for name in wanted:
        if name is not None and not (isinstance(name, str) and name in names):
            raise errors.unknown_column_error(str(name), names, "The regression")
    order = np.argsort(-np.abs(weights), kind="stable").tolist() + [len(weights)] * model.fit.bias
    left = [at for at in order if names[at] not in wanted]
    found = [names.index(name) if name is not None else left.pop(0) if left else -1 for name in wanted]
    if -1 in found or found[0] == found[1]:
        raise errors.Unsupported(
            f"surface goes over two different weights; the regression has {errors.quote_names(names)}."
        )
    full = np.column_stack([table, np.ones(len(table))])[:, found]
    penalised = np.array([at < len(weights) for at in found], dtype=np.float64)
    return WeightPair((names[found[0]], names[found[1]]), values[found], full, penalised)


def _gaussian_likelihood(model: RegressionModel, scores: Floats, labels: list[Any]) -> GaussianLikelihood:
    try:
        targets = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError):
        targets = np.array([math.nan])
    if not (np.abs(targets) <= MAX_MAGNITUDE).all():
        raise errors.LabelError(
            f"surface needs a number of at most {MAX_MAGNITUDE:g} for every row of a linear regression. Give y."
        )
    residuals = targets - scores
    noise = model.fit.sigma or math.sqrt(float(np.square(residuals).mean()))
    if not noise:
        raise errors.Unsupported(
            "The rows are fitted exactly, so that their noise, and the surface, has no width."
        )
    return GaussianLikelihood(residuals, noise)


def _logistic_likelihood(model: LogisticModel, scores: Floats, labels: list[Any]) -> LogisticLikelihood:
    signs = dict(zip(model.classes, (-1.0, 1.0), strict=True))
    strange = [label for label in labels if label not in signs]
    if strange:
        raise errors.LabelError(
            f"surface needs rows labelled {errors.quote_names(model.classes)}, got {strange[0]!r}. Give y."
        )
    return LogisticLikelihood(np.array([signs[label] for label in labels]), scores)


def _build_weight_surface(model: Any, pair: WeightPair, loss: Likelihood, cells: int) -> Surface:
    scale = loss.noise**-2 if isinstance(loss, GaussianLikelihood) else 1.0
    l1, l2 = (None if each is None else each * scale for each in (model.fit.l1, model.fit.l2))
    believed = l1 is not None and l2 is not None and model.fit.is_centred and (l1 > 0 or l2 > 0)
    tops: dict[str, ModeLocation] = {}
    likeliest = _maximise_likelihood(pair, loss)
    if likeliest is not None:
        tops["likelihood"] = tuple(likeliest.tolist())
    if believed:
        tops["posterior"] = tuple(pair.fitted.tolist())
    x, y = _grid_axes(pair, loss, l2 if believed and l2 else 0.0, list(tops.values()), cells)
    logs = {"likelihood": np.vstack([_grid_line(pair, loss, x, each) for each in y.tolist()])}
    if believed:
        costs = [
            _negative_log_prior(axis, on, l1 or 0.0, l2 or 0.0)
            for axis, on in zip((x, y), pair.is_penalised, strict=True)
        ]
        logs["prior"] = -(costs[0][None, :] + costs[1][:, None])
        logs["posterior"] = logs["likelihood"] + logs["prior"]
    task = "Logistic" if isinstance(loss, LogisticLikelihood) else "Linear"
    title = f"{task} regression of {truncate(model.label or 'y', 24)}"
    return Surface(title, pair.names, x, y, logs, tops)


def _grid_line(pair: WeightPair, loss: Likelihood, x: Floats, y: float) -> Floats:
    """Return the log-likelihood along x at one y."""
    first = np.outer(x - pair.fitted[0], pair.features[:, 0])
    return loss.log_likelihood(first + (y - pair.fitted[1]) * pair.features[:, 1])


def _negative_log_prior(weights: Floats, on: float, l1: float, l2: float) -> Floats:
    return np.asarray(on * (l1 * np.abs(weights) + 0.5 * l2 * np.square(weights)))


def _maximise_likelihood(pair: WeightPair, loss: Likelihood) -> Floats | None:
    """Return the two weights of greatest likelihood, by Newton's steps; None where there are none."""
    away = np.zeros(2)
    for _ in range(MAX_NEWTON_ITERATIONS):
        pull, bend = loss.gradient_and_curvature(pair.features @ away)
        curved = (pair.features * bend[:, None]).T @ pair.features
        if not np.linalg.cond(curved) < 1e12:
            return None
        step = np.linalg.solve(curved, pair.features.T @ pull)
        before = loss.log_likelihood((pair.features @ away)[None, :])[0]
        while (
            loss.log_likelihood((pair.features @ (away + step))[None, :])[0] < before
            and np.abs(step).max() > 1e-15
        ):
            step = step / 2
        away = away + step
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(away).max()):
            return np.asarray(pair.fitted + away)
    return None


def _grid_axes(
    pair: WeightPair, loss: Likelihood, l2: float, tops: list[ModeLocation], cells: int
) -> tuple[Floats, Floats]:
    """Return the values of both weights: some standard errors around the fit, and as far as the tops."""
    _, bend = loss.gradient_and_curvature(np.zeros(len(pair.features)))
    curved = (pair.features * bend[:, None]).T @ pair.features + np.diag(l2 * pair.is_penalised)
    errors_ = np.sqrt(np.maximum(np.diagonal(np.linalg.pinv(curved)), 0.0))
    axes = []
    for at in (0, 1):
        reach = GRID_STANDARD_ERRORS * float(errors_[at]) or 1.0
        ends = [pair.fitted[at] - reach, pair.fitted[at] + reach]
        ends += [float(top[at]) + side * reach / 4 for top in tops for side in (-1, 1)]
        axes.append(check_distinct_axis(np.linspace(min(ends), max(ends), cells)))
    return axes[0], axes[1]


def check_distinct_axis(axis: Floats) -> Floats:
    """Return values of a parameter, refused where they are too near to each other to be told apart."""
    if not (np.diff(axis) > 0).all():
        raise errors.Unsupported(
            f"The rows tell {axis[0]:.6g} to the last digit, so that the surface has no width around it."
        )
    return axis


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
    check_integer("surface", "cells", cells, 10)
    model = getattr(belief, "model_", belief)
    if isinstance(belief, Beta):
        return _beta_surface(belief, successes, trials, cells)
    if belief is Normal or belief is Laplace:
        return _location_scale_surface(belief, _check_numbers(data), cells)
    if isinstance(model, RegressionModel | LogisticModel):
        return weight_surface(model, data, y, (across, up), cells)
    raise errors.parameter_error(
        "surface", "belief", "a Beta, the class Normal or Laplace, or a fitted regression", belief
    )


def _beta_surface(prior: Beta, successes: Any, trials: Any, cells: int) -> Surface:
    n = check_integer("surface", "trials", trials, 0)
    k = check_integer("surface", "successes", successes, 0)
    if k > n:
        raise errors.parameter_error("surface", "successes", f"at most the {n} trials", k)
    posterior = prior.posterior(heads=k, tails=n - k)
    p = (np.arange(4 * cells) + 0.5) / (4 * cells)
    logs = {
        "likelihood": k * np.log(p) + (n - k) * np.log1p(-p),
        "prior": np.array([prior.log_density(each) for each in p.tolist()]),
        "posterior": np.array([posterior.log_density(each) for each in p.tolist()]),
    }
    tops: dict[str, ModeLocation] = {"likelihood": (Fraction(k, n),)} if n else {}
    for part, believed in (("prior", prior), ("posterior", posterior)):
        try:
            tops[part] = (believed.mode,)
        except errors.Unsupported:
            # A flat belief has no top to mark.
            continue
    title = f"{prior!r} after {format_quantity(k, 'success', 'successes')} in {format_quantity(n, 'trial')}"
    return Surface(title, ("p",), p, None, logs, tops)


def _location_scale_surface(curve: type[Normal | Laplace], values: Floats, cells: int) -> Surface:
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
    reach = GRID_STANDARD_ERRORS / math.sqrt(len(values))
    x = check_distinct_axis(np.linspace(place - reach * width, place + reach * width, cells))
    y = np.linspace(width / (1 + reach), width * (1 + reach), cells)
    log = _normal_log_likelihood(values, x, y) if curve is Normal else _laplace_log_likelihood(values, x, y)
    title = f"{curve.__name__} curve of {format_quantity(len(values), 'number')}"
    names = ("mean", "standard deviation") if curve is Normal else ("middle", "scale")
    return Surface(title, names, x, y, {"likelihood": log}, {"likelihood": (place, width)})


def _normal_log_likelihood(values: Floats, x: Floats, y: Floats) -> Floats:
    squares = np.array([np.square(values - each).sum() for each in x.tolist()])
    height = len(values) * np.log(y * math.sqrt(2 * math.pi))
    return np.asarray(-squares[None, :] / (2 * y[:, None] ** 2) - height[:, None])


def _laplace_log_likelihood(values: Floats, x: Floats, y: Floats) -> Floats:
    away = np.array([np.abs(values - each).sum() for each in x.tolist()])
    return np.asarray(-away[None, :] / y[:, None] - len(values) * np.log(2 * y)[:, None])


def _check_numbers(data: Any) -> Floats:
    try:
        found = np.asarray(data, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        found = np.array([])
    if len(found) < 2 or not (np.abs(found) <= MAX_MAGNITUDE).all():
        raise errors.parameter_error(
            "surface", "data", f"two or more numbers of at most {MAX_MAGNITUDE:g}", data
        )
    return found
