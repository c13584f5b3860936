"""What a regression's certificate says, found again from its rows by plain sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.judge.verifying.checks import ROUNDING, Check, Mismatch
from weigh.judge.verifying.objectives import AbsoluteLoss, LogLoss, Loss, Objective, SquaredLoss
from weigh.judge.verifying.polish import gap
from weigh.judge.verifying.stated_penalties import UNKNOWN, Penalties, stated_penalties
from weigh.learn import Design, design
from weigh.model import LogisticModel, Optimality, RegressionModel
from weigh.source import Source

SAME = 1e-8  # relative, of objectives
NOISE = 1e-12  # of the empty model's objective, which rounding may be
UNSOLVED = "There are too many features without a penalty for the gap to be found again by plain sums."
ONLINE = "The weights were learned online, which proves nothing: only rows and classes were checked."


@dataclass(frozen=True, eq=False)
class _Point:
    """A model's weights [features, columns] as they were learned, in the order of the rows' features."""

    W: Floats
    b: Floats


def optimum_checks(
    model: RegressionModel | LogisticModel, source: Source
) -> tuple[int, list[Check], tuple[str, ...]]:
    """Return how many rows there are, the checks of a regression against them, and what was left out."""
    rows = design(source, None, model.schema)
    checks = [_same("rows", model.fit.rows, rows.n_rows)]
    if isinstance(model, LogisticModel):
        checks.append(_classes(model, rows))
    checks.append(_features(model, rows))
    if model.certificate is None:
        return rows.n_rows, checks, (ONLINE,)
    if not all(check.ok for check in checks[1:]):
        return rows.n_rows, checks, ()
    point = _point(model, rows)
    found = [_of_weights(model, model.certificate, rows, point, s) for s in _weightings(model, rows)]
    # Of class weights a model keeps nothing: the rows' own weights, or balanced ones, may be those it had.
    best = min(found, key=lambda each: sum(not check.ok for check in each[0]))
    return rows.n_rows, [*checks, *best[0]], best[1]


def _of_weights(
    model: RegressionModel | LogisticModel, proof: Optimality, rows: Design, point: _Point, s: Floats
) -> tuple[list[Check], tuple[str, ...]]:
    """Return the checks of loss, objective and gap if the rows have the weights s."""
    checks = [_same("total weight of the rows", model.fit.n, float(s.sum()))]
    loss = _loss(model, rows, s)
    none = np.zeros(rows.width)
    plain = Objective(rows, loss, none, none, model.fit.bias, point.W.shape[1])
    lost = loss.value(plain.scores(point.W, point.b))
    if model.fit.lost is not None:
        checks.append(_same("loss of all rows", model.fit.lost, lost, SAME, proof.null))
    penalties = stated_penalties(model, rows, s)
    if penalties is None:
        return checks, (UNKNOWN,)
    tried = list(_objectives(plain, point, penalties))
    values = [objective.value(away.W, away.b) for objective, away in tried]
    at = int(np.argmin([abs(value - proof.objective) for value in values]))
    checks.append(_same("objective", proof.objective, values[at], SAME, proof.null))
    objective, away = tried[at]
    found = gap(objective, away.W, away.b)
    if found is None:
        return checks, (UNSOLVED,)
    return [*checks, _gap_check(proof, found)], ()


def _objectives(plain: Objective, point: _Point, penalties: Penalties) -> Iterator[tuple[Objective, _Point]]:
    """Yield the objectives that may have been minimised, each with the weights that it is of.

    A column that was an offset has the weight one, exactly, and is not penalised.
    """
    priced = replace(plain, l1=penalties.l1, l2=penalties.l2)
    yield _from_centre(priced, point, penalties.centre, np.zeros(len(point.W), dtype=bool))
    for at in np.flatnonzero((point.W == 1.0).all(axis=1))[:10].tolist():
        yield _from_centre(priced, point, penalties.centre, np.arange(len(point.W)) == at)


def _from_centre(objective: Objective, point: _Point, centre: float, given: Any) -> tuple[Objective, _Point]:
    """Return an objective of distances from the centre; what is given, or the centre's, is an offset."""
    start = np.where(given, 1.0, centre)[:, None] * np.ones_like(point.W)
    if not start.any():
        return objective, point
    offset = objective.times(start[:, :1])[:, 0]
    l1, l2 = (np.where(given, 0.0, each) for each in (objective.l1, objective.l2))
    # The offset's own column has no part in the problem any more.
    rows = objective.rows
    values = np.where(given[rows.indices], 0.0, rows.values)
    changed = replace(objective, rows=replace(rows, values=values), l1=l1, l2=l2, offset=offset)
    return changed, _Point(point.W - start, point.b)


def _loss(model: RegressionModel | LogisticModel, rows: Design, s: Floats) -> Loss:
    if isinstance(model, LogisticModel):
        place = {label: at for at, label in enumerate(model.classes)}
        codes = np.array([place[label] for label in rows.classes], dtype=np.float64)[rows.codes]
        return LogLoss(codes, s, len(model.classes))
    try:
        y = np.array([float(label) for label in rows.classes])[rows.codes]
    except (TypeError, ValueError):
        raise errors.LabelError(
            f"A regression is checked against rows with a number each, and {model.label or 'the label'} has "
            f"others: {errors.listing(rows.classes)}."
        ) from None
    return SquaredLoss(y, s) if model.fit.loss == "squared" else AbsoluteLoss(y, s)


def _weightings(model: RegressionModel | LogisticModel, rows: Design) -> Iterator[Floats]:
    """Yield the weights that the rows may have had: their own, and with classes balanced."""
    s = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    yield s
    if isinstance(model, LogisticModel):
        counts = np.bincount(rows.codes, s, minlength=len(rows.classes))
        yield s * (s.sum() / (len(counts) * counts))[rows.codes]


def _point(model: RegressionModel | LogisticModel, rows: Design) -> _Point:
    terms: Any = model.terms
    table = np.concatenate([term.learned() for term in terms])
    if list(rows.names) != model.features:
        place = {name: at for at, name in enumerate(model.features)}
        table = table[[place[name] for name in rows.names]]
    if isinstance(model, LogisticModel) and len(model.classes) == 2:
        return _Point(table[:, 1:] - table[:, :1], model.base[1:] - model.base[:1])
    return _Point(table, model.base)


def _classes(model: LogisticModel, rows: Design) -> Check:
    every = dict.fromkeys([*model.classes, *rows.classes])
    told = [
        Mismatch(f"class {label!r}", _yes(label in model.classes), _yes(label in rows.classes))
        for label in every
        if (label in model.classes) != (label in rows.classes)
    ]
    return Check("classes", len(every), tuple(told))


def _features(model: RegressionModel | LogisticModel, rows: Design) -> Check:
    mine, again = set(model.features), set(rows.names)
    told = [Mismatch(name, _yes(name in mine), _yes(name in again)) for name in sorted(mine ^ again)]
    return Check("features", len(mine | again), tuple(told))


def _yes(there: bool) -> str:
    return "yes" if there else "no"


def _gap_check(proof: Optimality, found: float) -> Check:
    """Compare the gap that was found again with what was promised: the tolerance, or the stated gap."""
    name = "gap to the minimum"
    allowed = max(proof.tol * proof.null, proof.gap) * (1 + ROUNDING) + NOISE * proof.null
    if found <= allowed:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"≤ {allowed:.6g}", f"{found:.6g}"),))


def _same(name: str, stated: float, again: float, within: float = ROUNDING, size: float = 0.0) -> Check:
    if abs(stated - again) <= within * abs(again) + NOISE * size:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"{stated:.10g}", f"{again:.10g}"),))
