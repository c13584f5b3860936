"""Standard errors of weights that do not rely on equal variances or independent rows.

With the inverse Hessian B of the fit, over the weights and the intercept, and the gradient gᵢ of each row,

    HC3: B [Σ gᵢ gᵢᵀ / (1 − hᵢ)²] B,  with the leverage hᵢ of the row,
    clustered: G/(G − 1) · (n − 1)/(n − k) · B [Σ_c g_c g_cᵀ] B,  with the sum g_c of the rows of cluster c.

MacKinnon and White (1985), "Some heteroskedasticity-consistent covariance matrix estimators with improved
finite sample properties"; Liang and Zeger (1986), "Longitudinal data analysis using generalized linear
models".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import Floats, Longs
from weigh.features.columns import is_missing
from weigh.model.inference import Posterior, RobustErrors
from weigh.model.linear import standardisation_of
from weigh.model.regression import RegressionModel
from weigh.model.row_gradients import RowGradients, iterate_row_gradients

METHODS = ("hc3", "clustered")
MIN_RESIDUAL_SHARE = 1e-10  # 1 − leverage of a row that its weights fit whatever its label


@dataclass(frozen=True, eq=False)
class RowsForErrors:
    """The rows that a model was trained on, as `summary` takes them."""

    data: Any
    y: Any
    weights: Any
    groups: Any


def robust_errors(model: Any, method: str | None, rows: RowsForErrors) -> RobustErrors:
    """Return the standard errors of a model with a posterior, by a method, from its training rows."""
    _check_arguments(method, rows)
    posterior: Posterior = model.training_posterior
    inverse = _inverse_hessian(posterior)
    n, n_weights = model.fit.rows, int((np.diagonal(inverse) > 0).sum())
    has_intercept, dof = bool(posterior.total), posterior.dof
    groups = None if method == "hc3" else _group_codes(rows.groups, n)
    parts = iterate_row_gradients(model, rows.data, rows.y, rows.weights)
    if groups is None:
        middle, description = np.zeros_like(inverse), "HC3, for variances that differ between rows"
        for start, part in _check_number_of_rows(parts, n):
            A = _with_intercept(part, has_intercept=has_intercept)
            A *= (part.residuals[:, -1] / _residual_shares(A, part.curvature, inverse, start))[:, None]
            middle += A.T @ A
    else:
        if n <= n_weights:
            raise errors.DataError(
                f"Clustered errors need more rows than weights, but {n:,} rows have {n_weights:,} weights.",
                hint=("Use ", Setting("errors", "hc3"), ", or give more rows."),
            )
        n_groups = int(groups.max()) + 1
        sums = np.zeros((n_groups, len(inverse)))
        for start, part in _check_number_of_rows(parts, n):
            A = _with_intercept(part, has_intercept=has_intercept) * part.residuals[:, -1:]
            np.add.at(sums, groups[start : start + len(A)], A)
        middle = n_groups / (n_groups - 1) * (n - 1) / (n - n_weights) * sums.T @ sums
        dof = n_groups - 1.0 if isinstance(model, RegressionModel) else math.inf
        description = f"clustered, for rows that are correlated within {n_groups:,} groups"
    return _in_original_units(model, inverse @ middle @ inverse, has_intercept, dof, description)


def _check_number_of_rows(parts: Iterator[RowGradients], n_rows: int) -> Iterator[tuple[int, RowGradients]]:
    """Yield the parts with the number of their first row; raise DataError unless they have `n_rows` rows."""
    start = 0
    for part in parts:
        size = part.X.shape[0]
        if start + size > n_rows:
            raise _other_rows_error(n_rows, "more")
        yield start, part
        start += size
    if start < n_rows:
        raise _other_rows_error(n_rows, f"{start:,}")


def _other_rows_error(n_rows: int, found: str) -> errors.DataError:
    return errors.DataError(
        f"The model was fitted to {n_rows:,} rows, but data has {found}. Give the rows it was trained on."
    )


def _check_arguments(method: str | None, rows: RowsForErrors) -> None:
    if method is None:
        raise errors.ParameterError(
            "summary: data, y, weights and groups are for robust standard errors, but errors is None.",
            hint=("Give ", Setting("errors", "hc3"), ", or leave the rows out."),
        )
    if method not in METHODS:
        raise errors.parameter_error("summary", "errors", "None, 'hc3' or 'clustered'", method)
    if rows.data is None:
        raise errors.ParameterError(
            (
                "summary: ",
                Setting("errors", method),
                " needs the rows of the training, which a model does not keep.",
            ),
            hint="Give data, and y if the labels are not a column of it.",
        )
    if (method == "clustered") != (rows.groups is not None):
        raise errors.ParameterError(
            ("summary: groups and ", Setting("errors", "clustered"), " need each other."),
            hint="Give both, with one group per row, or neither.",
        )


def _group_codes(groups: Any, n_rows: int) -> Longs:
    """Return the number of each row's group."""
    # In a list of mixed types, NumPy would turn missing values into text.
    values = np.asarray(groups, dtype=object if isinstance(groups, Sequence) else None)
    if values.shape != (n_rows,):
        raise errors.DataError(
            f"groups must have one value for each of the {n_rows:,} rows, got the shape {values.shape}."
        )
    code_by_group: dict[Any, int] = {}
    codes = np.empty(n_rows, dtype=np.int64)
    for row, group in enumerate(values.tolist()):
        if is_missing(group):
            raise errors.DataError(
                f"The group of row {row:,} (the first is 0) is missing. Give every row a group; a row that "
                "belongs to none is a group of its own."
            )
        codes[row] = code_by_group.setdefault(group, len(code_by_group))
    if len(code_by_group) < 2:
        raise errors.DataError("All rows are in the same group; clustered errors need two groups at least.")
    return codes


def _inverse_hessian(posterior: Posterior) -> Floats:
    """Return the inverse Hessian of loss and penalty, over the weights and the intercept if there is one."""
    C = posterior.covariance / (posterior.sigma**2 or 1.0)
    if not posterior.total:
        return C
    shared = -C @ posterior.mean_x
    variance = 1 / posterior.total - posterior.mean_x @ shared
    return np.block([[C, shared[:, None]], [shared[None], np.array([[variance]])]])


def _with_intercept(part: RowGradients, *, has_intercept: bool) -> Floats:
    X = part.X.to_dense()
    return np.column_stack([X, np.ones(len(X))]) if has_intercept else X


def _residual_shares(A: Floats, curvature: Floats, inverse: Floats, first: int) -> Floats:
    """Return 1 − h for the leverage h of each row."""
    shares = 1 - curvature * np.einsum("ij,ij->i", A @ inverse, A)
    if shares.min(initial=1.0) < MIN_RESIDUAL_SHARE:
        row = first + int(np.argmin(shares))
        raise errors.DataError(
            f"Row {row:,} (the first is 0) alone determines a weight, so HC3 cannot tell its error. Leave "
            "the row out, or give a prior."
        )
    return np.asarray(shares)


def _in_original_units(
    model: Any, covariance: Floats, has_intercept: bool, dof: float, description: str
) -> RobustErrors:
    """Return the errors of the weights of features x from the covariance of those of (x − centre) / unit."""
    centres, units = standardisation_of(model.terms)
    variances = np.diagonal(covariance)
    d = len(units)
    sd = np.sqrt(np.maximum(variances[:d], 0.0)) / units
    intercept_sd = 0.0
    if has_intercept:
        direction = np.append(-centres / units, 1.0)
        intercept_sd = math.sqrt(max(0.0, float(direction @ covariance @ direction)))
    return RobustErrors(sd, intercept_sd, dof, description)
