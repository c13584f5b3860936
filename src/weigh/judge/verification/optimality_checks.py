"""Recompute a regression's certificate from its rows: loss, objective and duality gap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.kinds import Products, Value
from weigh.judge.verification.checks import (
    NULL_TOLERANCE,
    ROUNDING_TOLERANCE,
    Check,
    Mismatch,
    RowChecks,
    Unchecked,
    check_classes,
    check_close,
    check_features,
)
from weigh.judge.verification.duality_gap import duality_gap
from weigh.judge.verification.objectives import AbsoluteLoss, ConvexLoss, LogLoss, Objective, SquaredLoss
from weigh.learn.design_matrix import DesignMatrix, build_design_matrix
from weigh.model.counts.count_table import have_same_names
from weigh.model.fit import Optimality
from weigh.model.logistic import LogisticModel
from weigh.model.regression import RegressionModel
from weigh.source.base import Source
from weigh.source.sparse_rows import SparseRows

OBJECTIVE_TOLERANCE = 1e-8
UNSOLVED_GAP = Unchecked(
    "gap to the minimum", "There are too many unpenalised features to recompute the gap."
)
UNKNOWN_PENALTIES = Unchecked(
    "objective and gap",
    "The features have individual penalties, which a model does not store: only the loss was checked.",
)


@dataclass(frozen=True, eq=False)
class _LearnedWeights:
    """A model's trained weights W [features, outputs], in the order of the rows' features, and b."""

    W: Floats
    b: Floats


def check_optimality(model: RegressionModel | LogisticModel, source: Source) -> RowChecks:
    """Check the certificate of a regression against its rows."""
    rows = build_design_matrix(source, None, model.schema, allows_fractions=True)
    checks = [check_close("rows", model.fit.rows, rows.n_rows)]
    if isinstance(model, LogisticModel):
        checks.append(check_classes(model, rows))
    checks.append(check_features(model, rows))
    assert model.certificate is not None
    if not all(check.ok for check in checks[1:]):
        return RowChecks(rows.n_rows, checks)
    learned = _learned_weights(model, rows)
    # A model does not store its class weights, so try the rows' weights and balanced ones.
    results = [
        _check_weighting(model, model.certificate, rows, learned, s)
        for s in candidate_weightings(model, rows)
    ]
    best_checks, unchecked = min(results, key=lambda result: sum(not check.ok for check in result[0]))
    return RowChecks(rows.n_rows, [*checks, *best_checks], unchecked)


def _check_weighting(
    model: RegressionModel | LogisticModel,
    certificate: Optimality,
    rows: DesignMatrix,
    learned: _LearnedWeights,
    s: Floats,
) -> tuple[list[Check], tuple[Unchecked, ...]]:
    """Return the checks of loss, objective and gap for rows with the weights s, and what has none."""
    checks = [check_close("total weight of the rows", model.fit.n, float(s.sum()))]
    loss = make_loss(model, rows, s)
    zeros, null = np.zeros(rows.width), certificate.null
    unpenalised = Objective(rows, loss, zeros, zeros, model.fit.bias, learned.W.shape[1])
    if model.fit.lost is not None:
        value = loss.value(unpenalised.scores(learned.W, learned.b))
        checks.append(check_close("loss of all rows", model.fit.lost, value, OBJECTIVE_TOLERANCE, null))
    penalties = feature_penalties(model, rows, s)
    if penalties is None:
        return checks, (UNKNOWN_PENALTIES,)
    candidates = list(_candidate_objectives(unpenalised, learned, penalties))
    values = [objective.value(shifted.W, shifted.b) for objective, shifted in candidates]
    best = int(np.argmin([abs(value - certificate.objective) for value in values]))
    checks.append(check_close("objective", certificate.objective, values[best], OBJECTIVE_TOLERANCE, null))
    objective, shifted = candidates[best]
    gap = duality_gap(objective, shifted.W, shifted.b)
    if gap is None:
        return checks, (UNSOLVED_GAP,)
    return [*checks, check_gap(certificate, gap)], ()


def _candidate_objectives(
    unpenalised: Objective, learned: _LearnedWeights, penalties: FeaturePenalties
) -> Iterator[tuple[Objective, _LearnedWeights]]:
    """Yield the objectives that may have been minimised, each with its variables.

    A model does not store which column was an offset; an offset has the weight exactly 1 and no penalty.
    """
    objective, mean = replace(unpenalised, l1=penalties.l1, l2=penalties.l2), penalties.prior_mean
    yield _shift_to_prior_mean(objective, learned, mean, np.zeros(len(learned.W), dtype=bool))
    for j in np.flatnonzero((learned.W == 1.0).all(axis=1))[:10].tolist():
        yield _shift_to_prior_mean(objective, learned, mean, np.arange(len(learned.W)) == j)


def _shift_to_prior_mean(
    objective: Objective, learned: _LearnedWeights, prior_mean: float, is_offset: Any
) -> tuple[Objective, _LearnedWeights]:
    """Return the objective as a function of W − prior mean; offset columns and the mean become an offset."""
    origin = np.where(is_offset, 1.0, prior_mean)[:, None] * np.ones_like(learned.W)
    if not origin.any():
        return objective, learned
    offset = objective.times(origin[:, :1])[:, 0]
    l1, l2 = np.where(is_offset, 0.0, objective.l1), np.where(is_offset, 0.0, objective.l2)
    # The offset column is no longer a feature.
    rows = objective.rows
    X = replace(rows.X, values=np.where(is_offset[rows.X.indices], 0.0, rows.X.entry_values()))
    shifted = replace(objective, rows=replace(rows, X=X), l1=l1, l2=l2, offset=offset)
    return shifted, _LearnedWeights(learned.W - origin, learned.b)


def make_loss(model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats) -> ConvexLoss:
    """Return the loss of rows with the weights s, of targets relative to the intercept of a regression."""
    if isinstance(model, LogisticModel):
        code_of_label = {label: code for code, label in enumerate(model.classes)}
        codes = np.array([code_of_label[label] for label in rows.classes], dtype=np.float64)[rows.codes]
        return LogLoss(codes, s, len(model.classes))
    try:
        y = (np.array([float(label) for label in rows.classes]) - float(model.base[0]))[rows.codes]
    except (TypeError, ValueError):
        raise errors.LabelError(
            f"A regression is checked against numbers, but {model.label or 'the label'} has other values: "
            f"{errors.quote_names(rows.classes)}."
        ) from None
    return SquaredLoss(y, s) if model.fit.loss == "squared" else AbsoluteLoss(y, s)


def candidate_weightings(model: RegressionModel | LogisticModel, rows: DesignMatrix) -> Iterator[Floats]:
    """Yield the weights that the rows may have had: the sample weights, and those balanced by class."""
    s = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    yield s
    if isinstance(model, LogisticModel):
        counts = np.bincount(rows.codes, s, minlength=len(rows.classes))
        yield s * (s.sum() / (len(counts) * counts))[rows.codes]


def _learned_weights(model: RegressionModel | LogisticModel, rows: DesignMatrix) -> _LearnedWeights:
    terms: Any = model.terms
    table = np.concatenate([term.trained_weights() for term in terms])
    if not have_same_names(rows.names, model.feature_names):
        index = {name: j for j, name in enumerate(model.features)}
        table = table[[index[name] for name in rows.names]]
    if isinstance(model, LogisticModel) and len(model.classes) == 2:
        return _LearnedWeights(table[:, 1:] - table[:, :1], model.base[1:] - model.base[:1])
    return _LearnedWeights(table, relative_intercepts(model))


def relative_intercepts(model: RegressionModel | LogisticModel) -> Floats:
    """Return the intercepts, zero for a regression: `make_loss` takes its targets relative to the intercept.

    Targets far from zero, such as seconds since 1970, would lose digits otherwise.
    """
    return model.base if isinstance(model, LogisticModel) else np.zeros_like(model.base)


def check_gap(certificate: Optimality, gap: float) -> Check:
    """Compare the recomputed gap with the certified one, or with the tolerance if that is larger."""
    name, null = "gap to the minimum", certificate.null
    allowed = max(certificate.tol * null, certificate.gap) * (1 + ROUNDING_TOLERANCE) + NULL_TOLERANCE * null
    if gap <= allowed:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"≤ {allowed:.6g}", f"{gap:.6g}"),))


@dataclass(frozen=True, eq=False)
class FeaturePenalties:
    """The l1 and l2 penalty of every feature, and the prior mean of its weight."""

    l1: Floats
    l2: Floats
    prior_mean: float = 0.0


def feature_penalties(
    model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats
) -> FeaturePenalties | None:
    """Return the penalties that a model states for rows with the weights s; None if it states none."""
    fit, mean = model.fit, _parse_prior_mean(model.fit.prior)
    if mean is None:
        return None
    ones = np.ones(rows.width)
    if fit.l1 is not None and fit.l2 is not None:
        return FeaturePenalties(fit.l1 * ones, fit.l2 * ones, mean)
    if fit.units is None:
        return None
    # A file of format 1 has no rule: all numbers were standardised.
    scales = _feature_scales(model, rows, s)
    return FeaturePenalties(fit.units[0] * scales, fit.units[1] * np.square(scales), mean)


def _parse_prior_mean(prior: str) -> float | None:
    """Return the mean in a prior's repr; None if it differs by column or is that of a model."""
    if "mean=" not in prior:
        return 0.0
    match = re.fullmatch(r"\w+\([^()]*, mean=([-+\d./e]+)\)", prior)
    return None if match is None else float(Fraction(match[1]))


def _feature_scales(model: RegressionModel | LogisticModel, rows: DesignMatrix, s: Floats) -> Floats:
    """Return the standard deviations of number features; flags, levels and words have the scale 1."""
    X, deviations = rows.X, standard_deviations(rows.X, s)
    kinds = (Value, Products) if model.fit.scaling == "auto" else (Value,)
    is_number = np.zeros(rows.width, dtype=bool)
    start = 0
    for part, term in zip(model.schema.column_groups, model.terms, strict=True):
        stop = start + len(term.features().names)
        is_number[start:stop] = isinstance(part.kind, kinds)
        start = stop
    if model.fit.scaling == "auto":
        # Features of 0 and 1 are not rescaled.
        values = X.entry_values()
        is_number &= X.sum_by_column(((values != 0) & (values != 1)).astype(np.float64)) > 0
    return np.where(is_number & (deviations > 0), deviations, 1.0)


def standard_deviations(X: SparseRows, s: Floats) -> Floats:
    """Return the standard deviation of each feature for the row weights s, 0 if only rounding varies."""
    weights = s[X.entry_rows()]
    mean = X.sum_by_column(weights * X.entry_values()) / s.sum()
    squares = X.sum_by_column(weights * np.square(X.entry_values() - mean[X.indices]))
    stored = X.sum_by_column(weights)
    # Zeros are not stored: each contributes the squared mean.
    variance = (squares + (s.sum() - stored) * np.square(mean)) / s.sum()
    return np.sqrt(np.where(variance > 1e-14 * np.square(mean), variance, 0.0))
