"""Likelihood, prior and posterior over two weights of a regression, all others held as they were fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.asked import labelled_chunks, labels_of
from weigh.explain.surface_result import Surface, Top
from weigh.features.blocks import Floats
from weigh.features.value_checks import HUGE
from weigh.model import LogisticModel, RegressionModel
from weigh.model.dense import dense_rows
from weigh.text import cut

BIAS = "bias"
WIDE = 4.0  # standard errors to either side
ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Pair:
    """Two weights of a fit: their names and values, what their features are [rows, 2], and their penalties.

    Changes d of both change the scores by `features` @ d.
    """

    names: tuple[str, str]
    fitted: Floats
    features: Floats
    penalised: Floats


@dataclass(frozen=True, eq=False)
class Squared:
    """Targets with Gaussian noise: `residuals` of the fit, over the `noise`."""

    residuals: Floats
    noise: float

    def logs(self, shifts: Floats) -> Floats:
        """Return the log-likelihood after shifts [places, rows] of what is predicted."""
        rows = self.residuals - shifts
        constant = len(self.residuals) * math.log(self.noise * math.sqrt(2 * math.pi))
        return np.asarray(-0.5 * np.square(rows).sum(axis=1) / self.noise**2 - constant)

    def slope(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return how the rows pull on the scores, and how the pull wanes."""
        return (self.residuals - shift) / self.noise**2, np.full(len(self.residuals), self.noise**-2)


@dataclass(frozen=True, eq=False)
class Logistic:
    """Labels as −1 and +1, and the log-odds of the fit."""

    signs: Floats
    odds: Floats

    def logs(self, shifts: Floats) -> Floats:
        """Return the log-likelihood after shifts [places, rows] of the log-odds."""
        return np.asarray(-np.logaddexp(0.0, -self.signs * (self.odds + shifts)).sum(axis=1))

    def slope(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return how the rows pull on the scores, and how the pull wanes."""
        miss = np.exp(-np.logaddexp(0.0, self.signs * (self.odds + shift)))
        return self.signs * miss, miss * (1 - miss)


Loss = Squared | Logistic


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
    chunks = labelled_chunks(model, rows, y)
    terms: Any = model.terms
    table = np.vstack([dense_rows(terms, model.schema.encode(chunk), chunk.n_rows) for chunk in chunks])
    learned = np.concatenate([term.learned() for term in terms])
    weights = learned[:, -1] - (learned[:, 0] if learned.shape[1] == 2 else 0.0)
    base = float(model.base[-1] - (model.base[0] if len(model.base) == 2 else 0.0))
    scores = table @ weights + base
    labels = labels_of(chunks)
    loss = (
        _logistic(model, scores, labels)
        if isinstance(model, LogisticModel)
        else _squared(model, scores, labels)
    )
    pair = _pair(model, table, weights, base, wanted)
    return _surface(model, pair, loss, cells)


def _pair(model: Any, table: Floats, weights: Floats, base: float, wanted: tuple[Any, Any]) -> Pair:
    names = list(model.features) + [BIAS] * model.fit.bias
    values = np.append(weights, base)
    for name in wanted:
        if name is not None and not (isinstance(name, str) and name in names):
            raise errors.unknown_column(str(name), names, "The regression")
    order = np.argsort(-np.abs(weights), kind="stable").tolist() + [len(weights)] * model.fit.bias
    left = [at for at in order if names[at] not in wanted]
    found = [names.index(name) if name is not None else left.pop(0) if left else -1 for name in wanted]
    if -1 in found or found[0] == found[1]:
        raise errors.Unsupported(
            f"surface goes over two different weights; the regression has {errors.listing(names)}."
        )
    full = np.column_stack([table, np.ones(len(table))])[:, found]
    penalised = np.array([at < len(weights) for at in found], dtype=np.float64)
    return Pair((names[found[0]], names[found[1]]), values[found], full, penalised)


def _squared(model: RegressionModel, scores: Floats, labels: list[Any]) -> Squared:
    try:
        targets = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError):
        targets = np.array([math.nan])
    if not (np.abs(targets) <= HUGE).all():
        raise errors.LabelError(
            f"surface needs a number of at most {HUGE:g} for every row of a linear regression. Give y."
        )
    residuals = targets - scores
    noise = model.fit.sigma or math.sqrt(float(np.square(residuals).mean()))
    if not noise:
        raise errors.Unsupported(
            "The rows are fitted exactly, so that their noise, and the surface, has no width."
        )
    return Squared(residuals, noise)


def _logistic(model: LogisticModel, scores: Floats, labels: list[Any]) -> Logistic:
    signs = dict(zip(model.classes, (-1.0, 1.0), strict=True))
    strange = [label for label in labels if label not in signs]
    if strange:
        raise errors.LabelError(
            f"surface needs rows labelled {errors.listing(model.classes)}, got {strange[0]!r}. Give y."
        )
    return Logistic(np.array([signs[label] for label in labels]), scores)


def _surface(model: Any, pair: Pair, loss: Loss, cells: int) -> Surface:
    scale = loss.noise**-2 if isinstance(loss, Squared) else 1.0
    l1, l2 = (None if each is None else each * scale for each in (model.fit.l1, model.fit.l2))
    believed = l1 is not None and l2 is not None and model.fit.is_centred and (l1 > 0 or l2 > 0)
    tops: dict[str, Top] = {}
    likeliest = _likeliest(pair, loss)
    if likeliest is not None:
        tops["likelihood"] = tuple(likeliest.tolist())
    if believed:
        tops["posterior"] = tuple(pair.fitted.tolist())
    x, y = _axes(pair, loss, l2 if believed and l2 else 0.0, list(tops.values()), cells)
    logs = {"likelihood": np.vstack([_line(pair, loss, x, each) for each in y.tolist()])}
    if believed:
        costs = [
            _cost(axis, on, l1 or 0.0, l2 or 0.0) for axis, on in zip((x, y), pair.penalised, strict=True)
        ]
        logs["prior"] = -(costs[0][None, :] + costs[1][:, None])
        logs["posterior"] = logs["likelihood"] + logs["prior"]
    task = "Logistic" if isinstance(loss, Logistic) else "Linear"
    title = f"{task} regression of {cut(model.label or 'y', 24)}"
    return Surface(title, pair.names, x, y, logs, tops)


def _line(pair: Pair, loss: Loss, x: Floats, y: float) -> Floats:
    """Return the log-likelihood along x at one y."""
    first = np.outer(x - pair.fitted[0], pair.features[:, 0])
    return loss.logs(first + (y - pair.fitted[1]) * pair.features[:, 1])


def _cost(weights: Floats, on: float, l1: float, l2: float) -> Floats:
    return np.asarray(on * (l1 * np.abs(weights) + 0.5 * l2 * np.square(weights)))


def _likeliest(pair: Pair, loss: Loss) -> Floats | None:
    """Return the two weights of greatest likelihood, by Newton's steps; None where there are none."""
    away = np.zeros(2)
    for _ in range(ROUNDS):
        pull, bend = loss.slope(pair.features @ away)
        curved = (pair.features * bend[:, None]).T @ pair.features
        if not np.linalg.cond(curved) < 1e12:
            return None
        step = np.linalg.solve(curved, pair.features.T @ pull)
        before = loss.logs((pair.features @ away)[None, :])[0]
        while loss.logs((pair.features @ (away + step))[None, :])[0] < before and np.abs(step).max() > 1e-15:
            step = step / 2
        away = away + step
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(away).max()):
            return np.asarray(pair.fitted + away)
    return None


def _axes(pair: Pair, loss: Loss, l2: float, tops: list[Top], cells: int) -> tuple[Floats, Floats]:
    """Return the values of both weights: some standard errors around the fit, and as far as the tops."""
    _, bend = loss.slope(np.zeros(len(pair.features)))
    curved = (pair.features * bend[:, None]).T @ pair.features + np.diag(l2 * pair.penalised)
    errors_ = np.sqrt(np.maximum(np.diagonal(np.linalg.pinv(curved)), 0.0))
    axes = []
    for at in (0, 1):
        reach = WIDE * float(errors_[at]) or 1.0
        ends = [pair.fitted[at] - reach, pair.fitted[at] + reach]
        ends += [float(top[at]) + side * reach / 4 for top in tops for side in (-1, 1)]
        axes.append(apart(np.linspace(min(ends), max(ends), cells)))
    return axes[0], axes[1]


def apart(axis: Floats) -> Floats:
    """Return values of a parameter, refused where they are too near to each other to be told apart."""
    if not (np.diff(axis) > 0).all():
        raise errors.Unsupported(
            f"The rows tell {axis[0]:.6g} to the last digit, so that the surface has no width around it."
        )
    return axis
