"""What a regression's certificate says, found again from its rows by plain sums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Value
from weigh.features.blocks import Floats
from weigh.judge.verification.checks import ROUNDING_TOLERANCE, Check, Mismatch
from weigh.judge.verification.duality_gap import duality_gap
from weigh.judge.verification.objectives import AbsoluteLoss, ConvexLoss, LogLoss, Objective, SquaredLoss
from weigh.learn import DesignMatrix, build_design_matrix
from weigh.model import LogisticModel, Optimality, RegressionModel
from weigh.source import Source

OBJECTIVE_TOLERANCE = 1e-8  # relative, of objectives
NULL_TOLERANCE = 1e-12  # of the empty model's objective, which rounding may be
UNSOLVED_GAP_NOTE = (
    "There are too many features without a penalty for the gap to be found again by plain sums."
)
ONLINE_NOTE = "The weights were learned online, which proves nothing: only rows and classes were checked."


@dataclass(frozen=True, eq=False)
class _LearnedWeights:
    """A model's weights [features, columns] as they were learned, in the order of the rows' features."""

    W: Floats
    b: Floats


def check_optimality(
    model: RegressionModel | LogisticModel, source: Source
) -> tuple[int, list[Check], tuple[str, ...]]:
    """Return how many rows there are, the checks of a regression against them, and what was left out."""
    rows = build_design_matrix(source, None, model.schema)
    checks = [_check_close("rows", model.fit.rows, rows.n_rows)]
    if isinstance(model, LogisticModel):
        checks.append(_check_classes(model, rows))
    checks.append(_check_features(model, rows))
    if model.certificate is None:
        return rows.n_rows, checks, (ONLINE_NOTE,)
    if not all(check.ok for check in checks[1:]):
        return rows.n_rows, checks, ()
    point = _learned_weights(model, rows)
    found = [
        _check_weighting(model, model.certificate, rows, point, s) for s in _candidate_weightings(model, rows)
    ]
    # Of class weights a model keeps nothing: the rows' own weights, or balanced ones, may be those it had.
    best = min(found, key=lambda each: sum(not check.ok for check in each[0]))
    return rows.n_rows, [*checks, *best[0]], best[1]


def _check_weighting(
    model: RegressionModel | LogisticModel,
    proof: Optimality,
    rows: DesignMatrix,
    point: _LearnedWeights,
    s: Floats,
) -> tuple[list[Check], tuple[str, ...]]:
    """Return the checks of loss, objective and gap if the rows have the weights s."""
    checks = [_check_close("total weight of the rows", model.fit.n, float(s.sum()))]
    loss = _make_loss(model, rows, s)
    none = np.zeros(rows.width)
    plain = Objective(rows, loss, none, none, model.fit.bias, point.W.shape[1])
    lost = loss.value(plain.scores(point.W, point.b))
    if model.fit.lost is not None:
        checks.append(_check_close("loss of all rows", model.fit.lost, lost, OBJECTIVE_TOLERANCE, proof.null))
    penalties = feature_penalties(model, rows, s)
    if penalties is None:
        return checks, (UNKNOWN_PENALTIES_NOTE,)
    tried = list(_candidate_objectives(plain, point, penalties))
    values = [objective.value(away.W, away.b) for objective, away in tried]
    at = int(np.argmin([abs(value - proof.objective) for value in values]))
    checks.append(_check_close("objective", proof.objective, values[at], OBJECTIVE_TOLERANCE, proof.null))
    objective, away = tried[at]
    found = duality_gap(objective, away.W, away.b)
    if found is None:
        return checks, (UNSOLVED_GAP_NOTE,)
    return [*checks, _check_gap(proof, found)], ()


def _candidate_objectives(
    plain: Objective, point: _LearnedWeights, penalties: FeaturePenalties
) -> Iterator[tuple[Objective, _LearnedWeights]]:
    """Yield the objectives that may have been minimised, each with the weights that it is of.

    A column that was an offset has the weight one, exactly, and is not penalised.
    """
    priced = replace(plain, l1=penalties.l1, l2=penalties.l2)
    yield _shift_to_prior_mean(priced, point, penalties.prior_mean, np.zeros(len(point.W), dtype=bool))
    for at in np.flatnonzero((point.W == 1.0).all(axis=1))[:10].tolist():
        yield _shift_to_prior_mean(priced, point, penalties.prior_mean, np.arange(len(point.W)) == at)


def _shift_to_prior_mean(
    objective: Objective, point: _LearnedWeights, centre: float, given: Any
) -> tuple[Objective, _LearnedWeights]:
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
    return changed, _LearnedWeights(point.W - start, point.b)


def _make_loss(model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats) -> ConvexLoss:
    if isinstance(model, LogisticModel):
        place = {label: at for at, label in enumerate(model.classes)}
        codes = np.array([place[label] for label in rows.classes], dtype=np.float64)[rows.codes]
        return LogLoss(codes, s, len(model.classes))
    try:
        y = np.array([float(label) for label in rows.classes])[rows.codes]
    except (TypeError, ValueError):
        raise errors.LabelError(
            f"A regression is checked against rows with a number each, and {model.label or 'the label'} has "
            f"others: {errors.quote_names(rows.classes)}."
        ) from None
    return SquaredLoss(y, s) if model.fit.loss == "squared" else AbsoluteLoss(y, s)


def _candidate_weightings(model: RegressionModel | LogisticModel, rows: DesignMatrix) -> Iterator[Floats]:
    """Yield the weights that the rows may have had: their own, and with classes balanced."""
    s = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    yield s
    if isinstance(model, LogisticModel):
        counts = np.bincount(rows.codes, s, minlength=len(rows.classes))
        yield s * (s.sum() / (len(counts) * counts))[rows.codes]


def _learned_weights(model: RegressionModel | LogisticModel, rows: DesignMatrix) -> _LearnedWeights:
    terms: Any = model.terms
    table = np.concatenate([term.trained_weights() for term in terms])
    if list(rows.names) != model.features:
        place = {name: at for at, name in enumerate(model.features)}
        table = table[[place[name] for name in rows.names]]
    if isinstance(model, LogisticModel) and len(model.classes) == 2:
        return _LearnedWeights(table[:, 1:] - table[:, :1], model.base[1:] - model.base[:1])
    return _LearnedWeights(table, model.base)


def _check_classes(model: LogisticModel, rows: DesignMatrix) -> Check:
    every = dict.fromkeys([*model.classes, *rows.classes])
    told = [
        Mismatch(
            f"class {label!r}",
            _format_presence(label in model.classes),
            _format_presence(label in rows.classes),
        )
        for label in every
        if (label in model.classes) != (label in rows.classes)
    ]
    return Check("classes", len(every), tuple(told))


def _check_features(model: RegressionModel | LogisticModel, rows: DesignMatrix) -> Check:
    mine, again = set(model.features), set(rows.names)
    told = [
        Mismatch(name, _format_presence(name in mine), _format_presence(name in again))
        for name in sorted(mine ^ again)
    ]
    return Check("features", len(mine | again), tuple(told))


def _format_presence(there: bool) -> str:
    return "yes" if there else "no"


def _check_gap(proof: Optimality, found: float) -> Check:
    """Compare the gap that was found again with what was promised: the tolerance, or the stated gap."""
    name = "gap to the minimum"
    allowed = max(proof.tol * proof.null, proof.gap) * (1 + ROUNDING_TOLERANCE) + NULL_TOLERANCE * proof.null
    if found <= allowed:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"≤ {allowed:.6g}", f"{found:.6g}"),))


def _check_close(
    name: str, stated: float, again: float, within: float = ROUNDING_TOLERANCE, size: float = 0.0
) -> Check:
    if abs(stated - again) <= within * abs(again) + NULL_TOLERANCE * size:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"{stated:.10g}", f"{again:.10g}"),))


UNKNOWN_PENALTIES_NOTE = (
    "The features have penalties of their own, which a model does not keep: only the loss was checked."
)


@dataclass(frozen=True, eq=False)
class FeaturePenalties:
    """l1 and l2 of every feature, and where the prior expects its weight."""

    l1: Floats
    l2: Floats
    prior_mean: float = 0.0


def feature_penalties(
    model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats
) -> FeaturePenalties | None:
    """Return the penalties that a model tells of rows with the weights s; None if it tells none."""
    fit, centre = model.fit, _parse_prior_mean(model.fit.prior)
    if centre is None:
        return None
    ones = np.ones(rows.width)
    if fit.l1 is not None and fit.l2 is not None:
        return FeaturePenalties(fit.l1 * ones, fit.l2 * ones, centre)
    if fit.units is None:
        return None
    units = _feature_scales(model, rows, s)
    return FeaturePenalties(fit.units[0] * units, fit.units[1] * np.square(units), centre)


def _parse_prior_mean(prior: str) -> float | None:
    """Return where a prior in words expects all weights; None if that is told of columns or a model."""
    if "mean=" not in prior:
        return 0.0
    found = re.fullmatch(r"\w+\([^()]*, mean=([-+\d./e]+)\)", prior)
    return None if found is None else float(Fraction(found[1]))


def _feature_scales(model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats) -> Floats:
    """Return the standard deviations of numbers; flags, levels and words keep their unit."""
    n = rows.n_rows
    place = np.repeat(np.arange(n), np.diff(rows.indptr))
    mean = np.bincount(rows.indices, s[place] * rows.values, minlength=rows.width) / s.sum()
    away = s[place] * np.square(rows.values - mean[rows.indices])
    seen = np.bincount(rows.indices, s[place], minlength=rows.width)
    # Zeros are not stored: they are as far from the mean as the mean from zero.
    variance = (
        np.bincount(rows.indices, away, minlength=rows.width) + (s.sum() - seen) * np.square(mean)
    ) / s.sum()
    is_number = np.zeros(rows.width, dtype=bool)
    first = 0
    for part, term in zip(model.schema.column_groups, model.terms, strict=True):
        last = first + len(term.features().names)
        is_number[first:last] = isinstance(part.kind, Value)
        first = last
    varies = variance > 1e-14 * np.square(mean)
    return np.where(is_number & varies, np.sqrt(variance), 1.0)
