"""Compute likelihood, prior and posterior surfaces of coins, numbers, regressions and naive Bayes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.explain.bayes_surface import bayes_surface
from weigh.explain.classifier_adapters import concatenate_labels, read_labelled_chunks
from weigh.explain.surface_result import ModeLocation, Surface
from weigh.features.blocks import Floats
from weigh.features.validation import MAX_MAGNITUDE
from weigh.learn.linear.problem_setup import NUMBER_KINDS
from weigh.model.linear import design_rows
from weigh.model.logistic import LogisticModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.regression import RegressionModel
from weigh.parameters import check_integer
from weigh.priors.beta import Beta
from weigh.priors.location_scale import Laplace, Normal
from weigh.source.sparse_rows import SparseRows
from weigh.text import format_quantity, truncate

INTERCEPT_NAME = "bias"
GRID_STANDARD_ERRORS = 4.0  # on either side
MAX_NEWTON_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class WeightPair:
    """Two weights of a fitted regression; the prior applies to weight × `units` [2], 0 for the bias.

    A change d [2] of the weights changes the scores by `features` [rows, 2] @ d.
    """

    names: tuple[str, str]
    fitted: Floats
    features: Floats
    units: Floats


@dataclass(frozen=True, eq=False)
class GaussianLikelihood:
    """Gaussian likelihood with the `residuals` of the fit and the standard deviation `noise`."""

    residuals: Floats
    noise: float

    def log_likelihood(self, shifts: Floats) -> Floats:
        """Return the log-likelihood [points] after shifts [points, rows] of the predictions."""
        residuals = self.residuals - shifts
        constant = len(self.residuals) * math.log(self.noise * math.sqrt(2 * math.pi))
        return np.asarray(-0.5 * np.square(residuals).sum(axis=1) / self.noise**2 - constant)

    def gradient_and_curvature(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return first and negative second derivatives of the log-likelihood by the scores, each [rows]."""
        return (self.residuals - shift) / self.noise**2, np.full(len(self.residuals), self.noise**-2)


@dataclass(frozen=True, eq=False)
class LogisticLikelihood:
    """Bernoulli likelihood with labels ±1 (`signs`) and the log-odds of the fit."""

    signs: Floats
    log_odds: Floats

    def log_likelihood(self, shifts: Floats) -> Floats:
        """Return the log-likelihood [points] after shifts [points, rows] of the log-odds."""
        return np.asarray(-np.logaddexp(0.0, -self.signs * (self.log_odds + shifts)).sum(axis=1))

    def gradient_and_curvature(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return first and negative second derivatives of the log-likelihood by the scores, each [rows]."""
        error = np.exp(-np.logaddexp(0.0, self.signs * (self.log_odds + shift)))
        return self.signs * error, error * (1 - error)


Likelihood = GaussianLikelihood | LogisticLikelihood


def weight_surface(
    model: RegressionModel | LogisticModel, rows: Any, y: Any, features: tuple[Any, Any], cells: int
) -> Surface:
    """Return the surface over two weights of a fitted regression, all others fixed at their estimates."""
    if isinstance(model, LogisticModel) and len(model.classes) != 2:
        raise errors.Unsupported(
            f"surface needs a logistic regression with two classes, got one with {len(model.classes):,}."
        )
    if model.fit.loss == "absolute":
        raise errors.Unsupported("surface needs a regression with squared loss, got one with absolute loss.")
    if model.fit.strengths is not None:
        raise errors.Unsupported(
            "surface shows two weights while all others stay as they are, but the heights of a curve are "
            "centred and change together.",
            hint=("Train with ", Setting("curves", None), " and ", Setting("pairs", None), "."),
        )
    chunks = read_labelled_chunks(model, rows, y)
    terms: Any = model.terms
    rows = [design_rows(terms, model.schema.encode(chunk), chunk.n_rows) for chunk in chunks]
    table = SparseRows.concatenate(rows, rows[0].width).to_dense()
    coef = np.concatenate([term.trained_weights() for term in terms])
    weights = coef[:, -1] - (coef[:, 0] if coef.shape[1] == 2 else 0.0)
    base = float(model.base[-1] - (model.base[0] if len(model.base) == 2 else 0.0))
    scores = table @ weights + base
    labels = concatenate_labels(chunks)
    loss = (
        _logistic_likelihood(model, scores, labels)
        if isinstance(model, LogisticModel)
        else _gaussian_likelihood(model, scores, labels)
    )
    pair = _select_weights(model, table, weights, base, features)
    return _build_weight_surface(model, pair, loss, cells)


def _select_weights(
    model: Any, table: Floats, weights: Floats, base: float, features: tuple[Any, Any]
) -> WeightPair:
    names = list(model.features) + [INTERCEPT_NAME] * model.fit.bias
    values = np.append(weights, base)
    for name in features:
        if name is not None and not (isinstance(name, str) and name in names):
            raise errors.unknown_column_error(str(name), names, "The regression")
    order = np.argsort(-np.abs(weights), kind="stable").tolist() + [len(weights)] * model.fit.bias
    unused = [at for at in order if names[at] not in features]
    pair = [names.index(name) if name is not None else unused.pop(0) if unused else -1 for name in features]
    if -1 in pair or pair[0] == pair[1]:
        raise errors.Unsupported(
            f"surface needs two different weights; the regression has {errors.quote_names(names)}."
        )
    full = np.column_stack([table, np.ones(len(table))])[:, pair]
    units = np.append(_feature_units(model, table), 0.0)[pair]
    return WeightPair((names[pair[0]], names[pair[1]]), values[pair], full, units)


def _feature_units(model: Any, table: Floats) -> Floats:
    """Return the units in which the penalties are stated: standard deviations of standardised numbers."""
    units = np.ones(table.shape[1])
    if model.fit.scaling not in ("unit", "auto"):
        return units
    kinds = NUMBER_KINDS[model.fit.scaling]
    widths = [len(term.features().names) for term in model.terms]
    is_number = np.repeat([isinstance(group.kind, kinds) for group in model.schema.column_groups], widths)
    if model.fit.scaling == "auto":
        is_number &= ~((table == 0) | (table == 1)).all(axis=0)
    spreads = table.std(axis=0)
    return np.where(is_number & (spreads > 0), spreads, units)


def _gaussian_likelihood(model: RegressionModel, scores: Floats, labels: list[Any]) -> GaussianLikelihood:
    try:
        targets = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError):
        targets = np.array([math.nan])
    if not (np.abs(targets) <= MAX_MAGNITUDE).all():
        raise errors.LabelError(
            f"surface needs a number of at most {MAX_MAGNITUDE:g} for every row of a linear "
            f"regression. Give y."
        )
    residuals = targets - scores
    noise = model.fit.sigma or math.sqrt(float(np.square(residuals).mean()))
    if not noise:
        raise errors.Unsupported(
            "The regression fits the rows exactly, so the noise is zero and the surface has no width."
        )
    return GaussianLikelihood(residuals, noise)


def _logistic_likelihood(model: LogisticModel, scores: Floats, labels: list[Any]) -> LogisticLikelihood:
    signs = dict(zip(model.classes, (-1.0, 1.0), strict=True))
    unknown = [label for label in labels if label not in signs]
    if unknown:
        raise errors.LabelError(
            f"surface needs rows labelled {errors.quote_names(model.classes)}, got {unknown[0]!r}. Give y."
        )
    return LogisticLikelihood(np.array([signs[label] for label in labels]), scores)


def _build_weight_surface(model: Any, pair: WeightPair, loss: Likelihood, cells: int) -> Surface:
    scale = loss.noise**-2 if isinstance(loss, GaussianLikelihood) else 1.0
    stated = (model.fit.l1, model.fit.l2) if model.fit.units is None else model.fit.units
    l1, l2 = (None if penalty is None else penalty * scale for penalty in stated)
    has_prior = l1 is not None and l2 is not None and model.fit.is_centred and (l1 > 0 or l2 > 0)
    tops: dict[str, ModeLocation] = {}
    maximum = _maximise_likelihood(pair, loss)
    if maximum is not None:
        tops["likelihood"] = tuple(maximum.tolist())
    if has_prior:
        tops["posterior"] = tuple(pair.fitted.tolist())
    x, y = _grid_axes(pair, loss, l2 if has_prior and l2 else 0.0, list(tops.values()), cells)
    logs = {"likelihood": np.vstack([_grid_line(pair, loss, x, value) for value in y.tolist()])}
    if has_prior:
        costs = [
            _negative_log_prior(axis * unit, l1 or 0.0, l2 or 0.0)
            for axis, unit in zip((x, y), pair.units, strict=True)
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


def _negative_log_prior(weights: Floats, l1: float, l2: float) -> Floats:
    return np.asarray(l1 * np.abs(weights) + 0.5 * l2 * np.square(weights))


def _maximise_likelihood(pair: WeightPair, loss: Likelihood) -> Floats | None:
    """Maximise the likelihood over two weights by Newton's method; None if there is no unique maximum."""
    change = np.zeros(2)
    for _ in range(MAX_NEWTON_ITERATIONS):
        gradient, curvature = loss.gradient_and_curvature(pair.features @ change)
        hessian = (pair.features * curvature[:, None]).T @ pair.features
        if not np.linalg.cond(hessian) < 1e12:
            return None
        step = np.linalg.solve(hessian, pair.features.T @ gradient)
        before = loss.log_likelihood((pair.features @ change)[None, :])[0]
        while (
            loss.log_likelihood((pair.features @ (change + step))[None, :])[0] < before
            and np.abs(step).max() > 1e-15
        ):
            step = step / 2
        change = change + step
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(change).max()):
            return np.asarray(pair.fitted + change)
    return None


def _grid_axes(
    pair: WeightPair, loss: Likelihood, l2: float, tops: list[ModeLocation], cells: int
) -> tuple[Floats, Floats]:
    """Return the grid of both weights: some standard errors around the fit, extended to all maxima."""
    _, curvature = loss.gradient_and_curvature(np.zeros(len(pair.features)))
    hessian = (pair.features * curvature[:, None]).T @ pair.features + np.diag(l2 * np.square(pair.units))
    standard_errors = np.sqrt(np.maximum(np.diagonal(np.linalg.pinv(hessian)), 0.0))
    axes = []
    for at in (0, 1):
        reach = GRID_STANDARD_ERRORS * float(standard_errors[at]) or 1.0
        ends = [pair.fitted[at] - reach, pair.fitted[at] + reach]
        ends += [float(top[at]) + side * reach / 4 for top in tops for side in (-1, 1)]
        axes.append(check_distinct_axis(np.linspace(min(ends), max(ends), cells)))
    return axes[0], axes[1]


def check_distinct_axis(axis: Floats) -> Floats:
    """Return the grid values of a parameter; raise Unsupported if they are equal in floating point."""
    if not (np.diff(axis) > 0).all():
        raise errors.Unsupported(
            f"The rows determine the parameter {axis[0]:.6g} to floating-point precision, so the "
            f"surface has no width."
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
    """Compute likelihood, prior and posterior over one or two parameters.

    For a coin, ``surface(Beta(2, 2), successes=5, trials=16)``, the parameter is p; the likelihood is
    maximal at the share of successes, the posterior at the mode of Beta(2 + 5, 2 + 11).

    For numbers, ``surface(Normal, numbers)`` or ``surface(Laplace, numbers)``, the parameters are location
    and scale, and there is a likelihood only.

    For a regression, ``surface(fitted, rows, y)``, the parameters are two of its weights, with all others
    fixed at their estimates; "bias" is one of them if it was fitted. The noise of a linear regression is the
    given sigma or, without one, estimated from the residuals.

    For naive Bayes, ``surface(fitted)``, the parameters are two of its probabilities, such as
    "P(windy=1 | yes)" for a value in a class, or "mean of x | yes" and "standard deviation of x | yes" for a
    number. Rows are not needed, because the model has their counts. The pseudo-counts are the prior.

    Parameters
    ----------
    belief : a Beta; the class Normal or Laplace; a fitted linear or logistic regression of two classes; or
        naive Bayes
    data : the numbers, or the rows
    y : one label per row, or the name of the label column; None uses the model's
    successes, trials : the number of heads and of tosses
    across, up : the features, None uses those with the largest weights; or the parameters of naive Bayes,
        None uses the first ones
    cells : the number of grid values per parameter
    """
    check_integer("surface", "cells", cells, 10)
    model = getattr(belief, "model_", belief)
    if isinstance(belief, Beta):
        return _beta_surface(belief, successes, trials, cells)
    if belief is Normal or belief is Laplace:
        return _location_scale_surface(belief, _check_numbers(data), cells)
    if isinstance(model, RegressionModel | LogisticModel):
        return weight_surface(model, data, y, (across, up), cells)
    if isinstance(model, BayesModel):
        return bayes_surface(model, (across, up), cells)
    kinds = "a Beta, the class Normal or Laplace, or a fitted regression or naive Bayes model"
    raise errors.parameter_error("surface", "belief", kinds, belief)


def _beta_surface(prior: Beta, successes: Any, trials: Any, cells: int) -> Surface:
    n = check_integer("surface", "trials", trials, 0)
    k = check_integer("surface", "successes", successes, 0)
    if k > n:
        raise errors.parameter_error("surface", "successes", f"at most the {n} trials", k)
    posterior = prior.posterior(heads=k, tails=n - k)
    p = (np.arange(4 * cells) + 0.5) / (4 * cells)
    logs = {
        "likelihood": k * np.log(p) + (n - k) * np.log1p(-p),
        "prior": np.array([prior.log_density(value) for value in p.tolist()]),
        "posterior": np.array([posterior.log_density(value) for value in p.tolist()]),
    }
    tops: dict[str, ModeLocation] = {"likelihood": (Fraction(k, n),)} if n else {}
    for part, distribution in (("prior", prior), ("posterior", posterior)):
        try:
            tops[part] = (distribution.mode,)
        except errors.Unsupported:
            # A flat distribution has no mode.
            continue
    title = f"{prior!r} after {format_quantity(k, 'success', 'successes')} in {format_quantity(n, 'trial')}"
    return Surface(title, ("p",), p, None, logs, tops)


def _location_scale_surface(family: type[Normal | Laplace], values: Floats, cells: int) -> Surface:
    if family is Normal:
        location, scale = float(values.mean()), float(values.std())
    else:
        location = float(np.median(values))
        scale = float(np.abs(values - location).mean())
    if not scale > 0:
        raise errors.DataError(
            f"surface needs numbers that differ, got {len(values):,} times {location:g}. Their likelihood "
            f"has no maximum."
        )
    reach = GRID_STANDARD_ERRORS / math.sqrt(len(values))
    x = check_distinct_axis(np.linspace(location - reach * scale, location + reach * scale, cells))
    y = np.linspace(scale / (1 + reach), scale * (1 + reach), cells)
    log = _normal_log_likelihood(values, x, y) if family is Normal else _laplace_log_likelihood(values, x, y)
    title = f"{family.__name__} curve of {format_quantity(len(values), 'number')}"
    names = ("mean", "standard deviation") if family is Normal else ("middle", "scale")
    return Surface(title, names, x, y, {"likelihood": log}, {"likelihood": (location, scale)})


def _normal_log_likelihood(values: Floats, x: Floats, y: Floats) -> Floats:
    squares = np.array([np.square(values - mean).sum() for mean in x.tolist()])
    log_normaliser = len(values) * np.log(y * math.sqrt(2 * math.pi))
    return np.asarray(-squares[None, :] / (2 * y[:, None] ** 2) - log_normaliser[:, None])


def _laplace_log_likelihood(values: Floats, x: Floats, y: Floats) -> Floats:
    deviations = np.array([np.abs(values - median).sum() for median in x.tolist()])
    return np.asarray(-deviations[None, :] / y[:, None] - len(values) * np.log(2 * y)[:, None])


def _check_numbers(data: Any) -> Floats:
    try:
        numbers = np.asarray(data, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        numbers = np.array([])
    if len(numbers) < 2 or not (np.abs(numbers) <= MAX_MAGNITUDE).all():
        raise errors.parameter_error(
            "surface", "data", f"two or more numbers of at most {MAX_MAGNITUDE:g}", data
        )
    return numbers
