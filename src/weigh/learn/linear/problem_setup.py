"""A learner's question to its rows: a problem for solvers, and their answer as weights of a model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Value
from weigh.features.blocks import Floats, Longs
from weigh.features.validation import check_bool, check_finite, check_integer
from weigh.learn.linear.matrix import column_means_and_stds
from weigh.learn.linear.penalties import ColumnPriors, FeaturePriors
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.training_data import TrainingData
from weigh.model import Optimality
from weigh.priors import Laplace, Normal
from weigh.priors.conversion import WeightPrior
from weigh.text import format_quantity


@dataclass(frozen=True, eq=False)
class ProblemSetup:
    """A problem without its penalties, and what it leaves out.

    Weights are learned as distances from their `centre`; features that are not `kept` are the offset's, whose
    weight is one.
    """

    data: TrainingData
    problem: Problem
    priors: FeaturePriors
    centre: Floats | None
    feature_indices: Longs

    def full_weights(self, w: Floats) -> Floats:
        """Return the weights of all features, [features] or [features, results]."""
        full = np.ones((self.data.feature_index.width, *w.shape[1:]))
        full[self.feature_indices] = w if self.centre is None else w + self.centre
        return full

    @property
    def baseline_weights(self) -> Floats:
        """The weights of all features where nothing was learned: their centres, and one of the offset."""
        return self.full_weights(np.zeros(len(self.feature_indices)))

    def build_terms(self, table: Floats) -> list[Any]:
        """Return the terms of a model with the weights [features, results]."""
        orders = self.data.feature_orders
        return self.data.feature_index.build_terms(
            orders, np.ascontiguousarray(table[np.concatenate(orders)])
        )

    @property
    def model_indices(self) -> Longs:
        """Where the features of a model, in its order, are among those that were learned; −1 if nowhere."""
        found = np.full(self.data.feature_index.width, -1)
        found[self.feature_indices] = np.arange(len(self.feature_indices))
        return found[np.concatenate(self.data.feature_orders)]


def set_up_problem(
    rows: TrainingData,
    prior: WeightPrior | ColumnPriors | None,
    rest: WeightPrior | None,
    *,
    bias: bool,
    scale: str | None,
    offset: str | None,
    owner: str,
    classes: int = 1,
    units: Floats | None = None,
) -> ProblemSetup:
    """Return the problem of gathered rows, and the prior of every feature in it.

    `units` are the features' standard deviations, where the rows cannot tell them.
    """
    _warn_missing_numbers(rows)
    X, o = rows.X, None
    kept = np.arange(rows.feature_index.width)
    if offset is not None and classes > 1:
        raise errors.ParameterError(
            f"{owner}: an offset is added to the log-odds of two classes; there are {classes:,}. Leave it "
            f"out."
        )
    if offset is not None:
        place = _offset_index(rows, offset, owner)
        kept = np.delete(kept, place)
        o = X.dense_columns(np.array([place]))[:, 0]
        X = X.select_features(np.arange(X.width) != place)
    if scale is None:
        units = np.ones(rows.feature_index.width)
    units = _feature_scales(rows, column_means_and_stds(rows.X, rows.weights)[1] if units is None else units)
    priors = FeaturePriors.from_prior(prior, rest, rows, units, owner).select(kept)
    centre = priors.centres(classes)
    priors.check_centre_classes(rows.classes)
    if centre is not None:
        shift = X.times(centre)
        o = shift if o is None else (o if shift.ndim == 1 else o[:, None]) + shift
    none = np.zeros(X.width)
    y = np.asarray(rows.y, dtype=np.float64)
    return ProblemSetup(rows, Problem(X, y, none, none, bias, rows.weights, o), priors, centre, kept)


def _warn_missing_numbers(rows: TrainingData) -> None:
    if rows.n_missing:
        one = "1 number is missing, and counts as zero. Fill it in"
        many = f"{rows.n_missing:,} numbers are missing, and count as zero. Fill them in"
        warnings.warn(
            f"{one if rows.n_missing == 1 else many} before (by the column's mean, say), or leave such rows out.",
            errors.MissingNumbers,
            stacklevel=2,
        )


def _offset_index(rows: TrainingData, offset: str, owner: str) -> int:
    """Return the feature that is the offset."""
    columns = dict(rows.column_features)
    if offset not in columns:
        raise errors.unknown_column_error(
            offset, columns, f"{owner}: offset names what is no column; the table"
        )
    if len(columns[offset]) != 1 or len(columns) < 2:
        raise errors.ParameterError(
            f"{owner}: offset must be a column of numbers beside others, got {offset!r}, which has "
            f"{len(columns[offset]):,} features of {rows.feature_index.width:,}."
        )
    return int(columns[offset][0])


def _feature_scales(rows: TrainingData, spreads: Floats) -> Floats:
    """Return what counts as one unit: of numbers their spread; flags, levels and words keep theirs."""
    is_number = np.zeros(len(spreads), dtype=bool)
    for part, places in zip(rows.schema.column_groups, rows.feature_orders, strict=True):
        is_number[places] = isinstance(part.kind, Value)
    return np.where(is_number & (spreads > 0), spreads, 1.0)


NOISE_CONSTRAINT = "'normal', 'laplace', Normal(σ) or Laplace(b)"


def check_noise(noise: Any, owner: str) -> Normal | Laplace | str:
    """Return the noise; refuse what is none, or has another centre than zero."""
    if isinstance(noise, str) and noise in ("normal", "laplace"):
        return noise
    if not isinstance(noise, Normal | Laplace) or noise.is_scale_automatic or not noise.is_centred:
        raise errors.parameter_error(owner, "noise", NOISE_CONSTRAINT, noise)
    return noise


def check_solver_parameters(
    owner: str, *, bias: Any, scale: Any, offset: Any, folds: Any, tol: Any, max_iter: Any
) -> None:
    """Refuse the first of the settings that all solvers share that is none."""
    check_bool(owner, "bias", bias)
    if not isinstance(scale, str | None) or scale not in (None, "unit"):
        raise errors.parameter_error(owner, "scale", "None or 'unit'", scale)
    if not isinstance(offset, str | None):
        raise errors.parameter_error(owner, "offset", "the name of a column, or None", offset)
    if folds != "loo" or owner != "LinearRegression":
        check_integer(owner, "folds", folds, 2)
    check_integer(owner, "max_iter", max_iter, 1)
    if not 0 < check_finite(owner, "tol", tol, "a number between 0 and 1") < 1:
        raise errors.parameter_error(owner, "tol", "a number between 0 and 1", tol)


def optimality_certificate(solution: Solution, null: float, tol: float) -> Optimality:
    """Return the proof of a solution; no gap is smaller than what sums of such a size are rounded by."""
    gap = max(solution.gap, float(np.finfo(np.float64).eps) * abs(solution.objective))
    return Optimality(solution.objective, gap, null, tol, solution.iterations, solution.method)


def warn_unless_optimal(proof: Optimality, owner: str, max_iter: int) -> None:
    """Warn of a fit whose proof is not good enough, and say what to do."""
    if not proof.converged:
        warnings.warn(
            f"{owner} stopped with its objective up to {proof.gap:.3g} above the minimum, "
            f"{proof.relative_gap:.1g} of the empty model's, where tol={proof.tol:g} was asked for "
            f"({proof.method}, {format_quantity(proof.iterations, 'iteration')}). Raise max_iter={max_iter:,}, give "
            f"a larger tol, a stronger prior, or scale='unit' if columns differ much in size.",
            errors.NotOptimal,
            stacklevel=3,
        )


def format_prior(prior: WeightPrior | ColumnPriors | None) -> str:
    """Return a prior in words."""
    if isinstance(prior, Mapping):
        return ", ".join(f"{name}: {own!r}" for name, own in prior.items())
    return repr(prior)


def common_value(penalties: Floats) -> float | None:
    """Return the penalty that all features have, or None if they differ."""
    first = float(penalties[0]) if len(penalties) else 0.0
    return first if np.all(penalties == first) else None
