"""From training data to a regression problem, and from its solution to the weights of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting, Text
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats, Longs
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Kind, Number, Products, Value
from weigh.features.width import check_table_memory
from weigh.learn.dataset import MissingCounts
from weigh.learn.linear.matrix import (
    Matrix,
    SparseMatrix,
    binary_features,
    column_means_and_stds,
    position_lookup,
)
from weigh.learn.linear.penalised_least_squares import MAX_COVARIANCE_FEATURES
from weigh.learn.linear.penalties import ColumnPriors, FeaturePriors
from weigh.learn.linear.posterior import ReindexedPosterior
from weigh.learn.linear.problem import PriorMeans, Problem, Solution
from weigh.learn.linear.training_data import TrainingData
from weigh.model.fit import Optimality
from weigh.model.inference import PosteriorSource
from weigh.priors.conversion import WeightPrior
from weigh.text import format_quantity

# The kinds whose features are standardised, by `scale`.
NUMBER_KINDS: dict[str | None, tuple[type[Kind], ...]] = {
    None: (),
    "unit": (Value,),
    "auto": (Value, Products),
}
MAX_NAMED_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class ProblemSetup:
    """A problem without its penalties, the priors of its features, and the map to the model's features.

    The problem's weights are relative to their `centre`, the prior means. `feature_indices` are its features
    among those of the data. The offset column is not one of them and has weight one; features that are zero
    in all rows may be left out and have weight zero.
    """

    data: TrainingData
    problem: Problem
    priors: FeaturePriors
    centre: Floats | None
    feature_indices: Longs
    offset_index: int | None = None
    scale: str | None = None

    def full_weights(self, w: Floats) -> Floats:
        """Return the weights of all features of the data, [features] or [features, outputs]."""
        full = np.zeros((self.data.feature_index.width, *w.shape[1:]))
        full[self.feature_indices] = w if self.centre is None else w + self.centre
        if self.offset_index is not None:
            full[self.offset_index] = 1.0
        return full

    @property
    def baseline_weights(self) -> Floats:
        """Weights of all features before learning: the prior means, and one for the offset."""
        return self.full_weights(np.zeros(len(self.feature_indices)))

    def build_terms(self, weights: Floats) -> list[Any]:
        """Return the terms of a model with the weights [features, outputs]."""
        orders = self.data.feature_orders
        ordered = np.ascontiguousarray(weights[np.concatenate(orders)])
        return self.data.feature_index.build_terms(orders, ordered)

    @property
    def scaling(self) -> str | None:
        """The rule by which numbers are standardised; None if no number is."""
        if (self.priors.feature_scales != 1).any():
            return self.scale
        return "kind" if self.data.feature_index.standardisations() else None

    @property
    def model_order(self) -> Longs:
        """The indices of the features that were not left out, in the order of the model."""
        is_kept = np.zeros(self.data.feature_index.width, dtype=bool)
        is_kept[self.feature_indices] = True
        if self.offset_index is not None:
            is_kept[self.offset_index] = True
        order = np.concatenate(self.data.feature_orders)
        return order[is_kept[order]]

    @property
    def model_indices(self) -> Longs:
        """model_indices[k] is the problem's index of the model's k-th feature, −1 if it has none."""
        positions = np.full(self.data.feature_index.width, -1)
        positions[self.feature_indices] = np.arange(len(self.feature_indices))
        return positions[np.concatenate(self.data.feature_orders)]

    def reindex_posterior(self, maker: PosteriorSource | None) -> ReindexedPosterior | None:
        """Return the posterior in the order of the model's features; None if features were left out."""
        n_features = len(self.feature_indices) + (self.offset_index is not None)
        if maker is None or n_features < self.data.feature_index.width:
            return None
        return ReindexedPosterior(maker, self.model_indices, self.centre)


def set_up_problem(
    data: TrainingData,
    prior: WeightPrior | ColumnPriors | None,
    default_prior: WeightPrior | None,
    *,
    has_intercept: bool,
    scale: str | None,
    offset: str | None,
    owner: str,
    n_outputs: int = 1,
    feature_stds: Floats | None = None,
) -> ProblemSetup:
    """Set up the problem of training data and the prior of every feature.

    `default_prior` is for the columns that a mapping of priors does not name. `owner` is the estimator name
    for error messages. `n_outputs` is the number of classes, or 1 for two classes and for regression.
    `feature_stds` are the features' standard deviations, if they cannot be computed from the rows.
    """
    check_table_memory(data.feature_index.width, n_outputs)
    _warn_missing_numbers(data)
    X, indices = select_occurring_features(data, prior)
    o, offset_index = None, None
    if offset is not None and n_outputs > 1:
        raise errors.ParameterError(
            f"{owner}: offset is added to the log-odds of two classes, but there are {n_outputs:,} classes. "
            "Leave it out."
        )
    if offset is not None:
        offset_index = _offset_index(data, offset, owner)
        o = data.X.dense_columns(np.array([offset_index]))[:, 0]
        X, indices = X.select_features(indices != offset_index), indices[indices != offset_index]
    if scale is None:
        feature_stds = np.ones(data.feature_index.width)
    if feature_stds is None:
        feature_stds = np.zeros(data.feature_index.width)
        feature_stds[indices] = column_means_and_stds(X, data.weights)[1]
    feature_scales = _feature_scales(data, feature_stds, scale)
    priors = FeaturePriors.from_prior(prior, default_prior, data, feature_scales, owner).select(indices)
    centre = priors.centres(n_outputs)
    priors.check_centre_classes(data.classes)
    means = None
    if centre is not None:
        means, shift = PriorMeans(centre, o), X.times(centre)
        o = shift if o is None else (o if shift.ndim == 1 else o[:, None]) + shift
    none = np.zeros(X.width)
    y = np.asarray(data.y, dtype=np.float64)
    problem = Problem(X, y, none, none, has_intercept, data.weights, o, means)
    return ProblemSetup(data, problem, priors, centre, indices, offset_index, scale)


def select_occurring_features(
    data: TrainingData, prior: WeightPrior | ColumnPriors | None
) -> tuple[Matrix, Longs]:
    """Return the matrix and the indices of its features, without the zero ones if these are the majority.

    A feature that is zero in all rows has weight zero unless its prior has another mean. A wide sparse matrix
    may have millions of them. Narrow matrices keep them, because their posterior is needed.
    """
    X, every = data.X, np.arange(data.X.width)
    priors = prior.values() if isinstance(prior, Mapping) else [prior]
    are_centred = all(each is None or each.is_centred for each in priors)
    if not isinstance(X, SparseMatrix) or X.width <= MAX_COVARIANCE_FEATURES or not are_centred:
        return X, every
    occurs = np.zeros(X.width, dtype=bool)
    occurs[X.rows.indices] = True
    indices = np.flatnonzero(occurs)
    if 2 * len(indices) > X.width:
        return X, every
    return SparseMatrix(X.rows.renumber(position_lookup(indices, X.width), len(indices))), indices


def absorb_constants(setup: ProblemSetup, solution: Solution) -> Solution:
    """Move the weights of features that are constant in a named table into the intercept.

    The scores of all rows stay the same, and the penalty of weights centred at zero does not grow.
    """
    problem = setup.problem
    if not (setup.data.schema.named and problem.has_intercept and setup.centre is None):
        return solution
    first_row, constant = _constant_features(problem.X)
    if not len(constant):
        return solution
    w = solution.w.copy()
    b = np.asarray(solution.b + first_row[constant] @ w[constant])
    w[constant] = 0.0
    return replace(solution, w=w, b=b)


def _constant_features(X: Matrix) -> tuple[Floats, Longs]:
    """Return the first row, and the indices of the features that have its value, not zero, in all rows."""
    first_row = X.slice_rows(0, 1).transposed_times(np.ones(1))
    totals = X.transposed_times(np.ones(X.n_rows))
    is_close = np.abs(totals - X.n_rows * first_row) <= 1e-9 * X.n_rows * np.abs(first_row)
    # Sums are rounded, so compare the few columns that they suggest.
    candidates = np.flatnonzero(is_close & (first_row != 0))
    is_equal = [bool((X.dense_columns(candidates[j : j + 1]) == first_row[c]).all())
                for j, c in enumerate(candidates)]  # fmt: skip
    return first_row, candidates[np.array(is_equal, dtype=bool)]


def _warn_missing_numbers(data: TrainingData) -> None:
    scaled = {g.names[0] for g in data.schema.column_groups if isinstance(g.kind, Number)}
    means = MissingCounts({name: n for name, n in data.n_missing.items() if name in scaled})
    _warn_missing(means, "the mean of the column", "")
    zeros = data.n_missing - means
    it = "it" if zeros.total() == 1 else "them"
    hint: Text = f"Fill {it} in first (for example with the column's mean), or leave such rows out."
    if names := [name for name in zeros if name]:
        mean = {name: _mean_kind(data.schema.made.get(name)) for name in names[:MAX_NAMED_COLUMNS]}
        hint = ("To count them as the column's mean instead, use ", Setting("columns", mean), ".")
    _warn_missing(zeros, "zero", hint)


def _mean_kind(made: Kind | None) -> Call:
    """Return the kind whose missing numbers count as the column's mean; a derived column stays derived."""
    if isinstance(made, Lag):
        return Call("Lag", made.column, made.by, Call("weigh.Number", scale="unit"))
    if isinstance(made, Derived):
        return Call("Derived", ..., Call("weigh.Number", scale="unit"))
    return Call("Number", scale="unit")


def _warn_missing(counts: MissingCounts, value: str, hint: Text) -> None:
    total, names = counts.total(), [name for name in counts if name]
    if not total:
        return
    number = "1 number is missing and counts" if total == 1 else f"{total:,} numbers are missing and count"
    where = ""
    if names:
        listed = [f"{name!r} ({counts[name]:,})" for name in names[:MAX_NAMED_COLUMNS]]
        others = f" and {len(names) - MAX_NAMED_COLUMNS:,} more" if len(names) > MAX_NAMED_COLUMNS else ""
        where = f", in {', '.join(listed)}{others}"
    warn(errors.MissingNumbers(f"{number} as {value}{where}.", hint=hint), names)


def _offset_index(data: TrainingData, offset: str, owner: str) -> int:
    """Return the index of the offset feature."""
    columns = dict(data.column_features)
    if offset not in columns:
        raise errors.unknown_column_error(
            offset, columns, f"{owner}: offset names an unknown column: the table", "offset"
        )
    if len(columns[offset]) != 1 or len(columns) < 2:
        raise errors.ParameterError(
            f"{owner}: offset must be a column of numbers beside other columns, got {offset!r}, which has "
            f"{len(columns[offset]):,} of {data.feature_index.width:,} features."
        )
    return int(columns[offset][0])


def _feature_scales(data: TrainingData, stds: Floats, scale: str | None) -> Floats:
    """Return each feature's scale: the standard deviation of numbers, one for flags, levels and words.

    With "auto", products of numbers are numbers, and features of 0 and 1 are not.
    """
    is_number = np.zeros(len(stds), dtype=bool)
    for group, indices in zip(data.schema.column_groups, data.feature_orders, strict=True):
        is_number[indices] = isinstance(group.kind, NUMBER_KINDS[scale])
    if scale == "auto":
        is_number &= ~(binary_features(data.X) if data.is_binary is None else data.is_binary)
    return np.where(is_number & (stds > 0), stds, 1.0)


def select_fields(task: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are fields of a task."""
    return {field.name: values[field.name] for field in fields(task) if field.name in values}


def optimality_certificate(solution: Solution, null: float, tol: float) -> Optimality:
    """Return the certificate of a solution; its gap is at least the rounding error of the objective."""
    gap = max(solution.gap, float(np.finfo(np.float64).eps) * abs(solution.objective))
    return Optimality(solution.objective, gap, null, tol, solution.iterations, solution.method)


def _more_iterations(max_iter: int) -> Text:
    return (
        "Try ",
        Setting("max_iter", 10 * max_iter),
        " or a larger tol, give a stronger prior, or set ",
        Setting("scale", "unit"),
        " if the columns have very different scales.",
    )


def warn_unless_optimal(certificate: Optimality, owner: str, max_iter: int) -> None:
    """Warn if the gap of a fit is above its tolerance."""
    if certificate.converged:
        return
    iterations = format_quantity(certificate.iterations, "iteration")
    reason, hint = "", _more_iterations(max_iter)
    if certificate.iterations < max_iter:
        reason = " Rounding prevents a smaller bound: columns nearly coincide or have very different scales."
        hint = (
            "Leave out columns that repeat others but for rounding, give a stronger prior or larger tol, or "
            "set ",
            Setting("scale", "unit"),
            ".",
        )
    warn(
        errors.NotOptimal(
            f"{owner} stopped with its objective up to {certificate.gap:.3g} above the minimum, "
            f"{certificate.relative_gap:.1g} of the objective without features; tol={certificate.tol:g} "
            f"was not reached ({certificate.method}, {iterations}).{reason}",
            hint=hint,
        )
    )


def format_prior(prior: WeightPrior | ColumnPriors | None) -> str:
    """Return a prior as text."""
    if isinstance(prior, Mapping):
        return ", ".join(f"{name}: {value!r}" for name, value in prior.items())
    return repr(prior)


def common_value(penalties: Floats) -> float | None:
    """Return the penalty that all features have, or None if they differ."""
    first = float(penalties[0]) if len(penalties) else 0.0
    return first if np.all(penalties == first) else None
