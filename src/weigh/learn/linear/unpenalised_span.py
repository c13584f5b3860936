"""Bounds on the projection of a dual point onto the span of the unpenalised columns.

The dual point of a certificate must be orthogonal to every unpenalised column, the intercept's among them. In
floating point it hardly ever is; the norm of its projection onto their span says how much is missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.double_double import exact, two_product
from weigh.learn.linear.matrix import EPS, Matrix
from weigh.learn.linear.problem import MAX_DENSE_CELLS
from weigh.learn.linear.row_products import EXTENDED_EPS, column_terms

_MAX_ERROR = 0.5  # of a decomposition, relative to what it decomposes
_MIN_INDEPENDENCE = 1e-3  # of directions of unit norm: less is not told from rounding
_N_FURTHER_ROUNDINGS = 8  # of roots of weights, and of means that were subtracted and added again
_EXACT = 2.0**-90  # a residual relative to its terms that counts as an exact dependency
_ORTHOGONAL = 1e-9  # the share of a residual along the kept columns that is small enough
_MAX_REFINEMENTS = 50


@dataclass(frozen=True, eq=False)
class UnpenalisedSpan:
    """The span of columns U with row weights t: with A = √t U, A C is orthonormal but for rounding.

    C = `inverse_root` combines the columns `kept`; `error` bounds how far ‖A C x‖ is from ‖x‖. The columns
    that are left out may differ from combinations of the others by rounding alone. `directions` [n, m] are
    the orthonormal directions in which they do; None if these cannot be found. `direction_error` bounds how
    much less of a point of norm 1 lies along them than along the exact directions.
    """

    inverse_root: Floats
    kept: Longs
    error: float
    directions: Floats | None
    direction_error: float = 0.0

    @classmethod
    def decompose(cls, U: Matrix, t: Floats, gram: Floats | None = None) -> UnpenalisedSpan:
        """Decompose the Gram matrix or, where it loses too many digits, the columns themselves.

        `gram` is Uᵀ diag(t) U if it is already known, from sums of products that were not shifted.
        """
        if not U.width:
            return cls(np.zeros((0, 0)), np.zeros(0, np.int64), 0.0, np.zeros((U.n_rows, 0)))
        span = cls._from_gram(U, t, gram)
        if span is not None:
            return span
        if U.n_rows * U.width > MAX_DENSE_CELLS:
            return cls(np.zeros((0, 0)), np.zeros(0, np.int64), 0.0, None)
        return cls._from_columns(U.dense_columns(np.arange(U.width)), t)

    @classmethod
    def _from_gram(cls, U: Matrix, t: Floats, known: Floats | None) -> UnpenalisedSpan | None:
        has_unit_weights = bool((t == 1).all())
        gram = U.weighted_gram(None if has_unit_weights else t) if known is None else known
        norms = np.sqrt(np.diagonal(gram))
        if not norms.all() or not np.isfinite(gram).all():
            return None
        lower = algebra.cholesky(gram / norms / norms[:, None])
        if lower is None:
            return None
        inverse = algebra.triangular_inverse(lower).T
        n_terms = U.width + U.n_rows + (0 if known is None else _N_FURTHER_ROUNDINGS)
        if known is None and not has_unit_weights:
            n_terms = U.width + column_terms(U)
        error = 2 * n_terms * EPS * float(np.square(np.abs(inverse).sum(axis=0)).sum())
        if error > _MAX_ERROR:
            return None
        every = np.arange(U.width)
        return cls(inverse / norms[:, None], every, error, np.zeros((U.n_rows, 0)))

    @classmethod
    def _from_columns(cls, columns: Floats, t: Floats) -> UnpenalisedSpan:
        root = np.sqrt(t)[:, None]
        norms = np.sqrt(np.square(root * columns).sum(axis=0))
        # Powers of two keep exact dependencies exact.
        scale = np.exp2(np.round(np.log2(np.where(norms > 0, norms, 1.0))))
        columns = columns / scale
        A = root * columns
        order, added = algebra.pivoted_qr(A)
        n_kept = int((added > EPS * max(A.shape) * added.max(initial=0.0)).sum())
        while True:
            kept = np.sort(order[:n_kept])
            Q, R = algebra.qr(A[:, kept])
            inverse = algebra.solve_triangular(R.T, np.eye(n_kept), transposed=True) if n_kept else R
            # The norm of the rounding errors of QR, measured but for those of this product.
            rounding = np.abs(A[:, kept] - Q @ R) + (n_kept + 2) * EPS * (np.abs(Q) @ np.abs(R))
            error = float(np.linalg.norm(np.sqrt(np.square(rounding).sum(axis=0)) @ np.abs(inverse)))
            error += float(np.linalg.norm(Q.T @ Q - np.eye(n_kept))) + len(Q) * n_kept * EPS
            if error <= _MAX_ERROR or not n_kept:
                break
            n_kept -= 1
        others = np.sort(order[n_kept:])
        found = _residual_directions(columns[:, others], columns[:, kept], root, Q, inverse, error)
        directions, direction_error = (None, 0.0) if found is None else found
        return cls(inverse / scale[kept, None], kept, error, directions, direction_error)

    def projection_norm(self, products: Floats, errors: Floats, point: Floats) -> float:
        """Return an upper bound on the norm of the projection of a point √t r.

        `products` are Uᵀ t r, with bounds on their errors.
        """
        size = float(np.linalg.norm(point)) * (1 + len(point) * EPS)
        return min(size, float(np.hypot(*self._projection_parts(products, errors, point))))

    def largest_step(self, U: Matrix, t: Floats, products: Floats, errors: Floats, point: Floats) -> float:
        """Return an upper bound on the largest |uᵢ·c|, where √t U c is the projection of the point."""
        if self.directions is None:
            return math.inf
        along, beside = self._projection_parts(products, errors, point)
        sizes = np.sqrt(U.squared_times(np.ones(U.n_rows)))[self.kept]
        row_norm = float(sizes @ np.sqrt(np.square(self.inverse_root).sum(axis=1)))
        if along * row_norm > 0.5 and U.n_rows * U.width <= MAX_DENSE_CELLS:
            # Of nearly collinear columns the weights are large, but their sums need not be.
            columns = U.dense_columns(self.kept)
            rows = np.abs(columns @ self.inverse_root)
            rows += (len(self.kept) + 2) * EPS * (np.abs(columns) @ np.abs(self.inverse_root))
            row_norm = float(np.sqrt(np.square(rows).sum(axis=1).max(initial=0.0)))
        largest = along * row_norm / (1 - self.error)
        if self.directions.size:
            largest += beside * float(np.sqrt(np.square(self.directions).sum(axis=1) / t).max())
        return largest * (1 + (U.n_rows + U.width) * EPS)

    def _projection_parts(self, products: Floats, errors: Floats, point: Floats) -> tuple[float, float]:
        """Bound the projections onto the kept columns, and onto the directions that others add."""
        if self.directions is None:
            return math.inf, math.inf
        values, slack = self.basis_products(products, errors, point)
        parts = (slice(len(self.kept)), slice(len(self.kept), None))
        along, beside = (float(np.linalg.norm(values[at]) + np.linalg.norm(slack[at])) for at in parts)
        if self.directions.size:
            beside += self.error * along
        return along / (1 - self.error), beside / (1 - self.error)

    def basis_products(self, products: Floats, errors: Floats, point: Floats) -> tuple[Floats, Floats]:
        """Return the products of points √t r [n] or [n, k] with the orthonormal columns, and their errors.

        `products` are Uᵀ t r, with bounds on their errors.
        """
        assert self.directions is not None
        C, products = self.inverse_root, products[self.kept]
        errors = errors[self.kept] + (len(C) + 2) * EPS * np.abs(products)
        beside = self.directions.T @ point
        slack = (self.direction_error + len(point) * EPS) * np.linalg.norm(point, axis=0)
        parts = [np.abs(C).T @ errors, np.broadcast_to(slack * (1 + len(point) * EPS), beside.shape)]
        return np.concatenate([C.T @ products, beside]), np.concatenate(parts)

    def basis(self, U: Matrix, t: Floats) -> tuple[Floats, float]:
        """Return columns Z [n, rank] with the same span for which √t Z is orthonormal.

        The second number bounds the norms of the rounding errors of the columns of √t Z.
        """
        assert self.directions is not None
        sizes = np.sqrt(U.squared_times(t))[self.kept] @ np.abs(self.inverse_root)
        rounding = (len(self.kept) + 2) * EPS * float(sizes.max(initial=1.0)) * (1 + U.n_rows * EPS)
        Z = U.dense_columns(self.kept) @ self.inverse_root
        return np.hstack([Z, self.directions / np.sqrt(t)[:, None]]), rounding + self.direction_error


def _residual_directions(
    others: Floats, kept: Floats, root: Floats, Q: Floats, inverse: Floats, error: float
) -> tuple[Floats, float] | None:
    """Return orthonormal directions in which columns differ from their combinations of the kept ones.

    `root` [n, 1] are the roots of the row weights, and Q = root · kept · inverse. Returns also the
    `direction_error` of the directions, or None if one of them is not told from rounding.
    """
    found, squared_error = np.zeros((len(others), 0)), 0.0
    for column in others.T:
        residual, rounding = _refined_residual(column, kept, root[:, 0], Q, inverse)
        size = float(np.linalg.norm(residual))
        if not size:
            continue
        first = Q.T @ residual
        direction = residual - Q @ first
        second = Q.T @ direction
        direction -= Q @ second
        norm = float(np.linalg.norm(direction))
        # Q is the span of the kept columns up to `error`.
        along = float(np.linalg.norm(first) + np.linalg.norm(second))
        rounding += (error + len(first) ** 2 * EPS) * along + 4 * EPS * size
        if norm <= 4 * (rounding + 16 * EPS * size):
            return None
        found = np.column_stack([found, direction / norm])
        squared_error += (rounding / norm) ** 2
    if not found.size:
        return found, 0.0
    directions, singular_values, _ = algebra.svd(found)
    smallest = float(singular_values.min())
    if found.shape[1] > len(others) or smallest < max(_MIN_INDEPENDENCE, 2 * math.sqrt(squared_error)):
        return None
    return directions, 4 * math.sqrt(squared_error) / smallest


def _refined_residual(
    column: Floats, kept: Floats, root: Floats, Q: Floats, inverse: Floats
) -> tuple[Floats, float]:
    """Return what a column differs by from its combination of the kept ones, times `root`.

    The coefficients and the residual have about 32 digits, because columns that nearly coincide differ only
    after the 16th. The residual of an exact dependency is zero. The second number bounds the norm of its
    rounding errors.
    """
    coefficients, smallest = exact(np.zeros(kept.shape[1])), np.inf
    for _ in range(_MAX_REFINEMENTS):
        combined = two_product(kept, coefficients.high).sum(axis=1).plus(exact(kept @ coefficients.low))
        residual = exact(column).minus(combined).high
        terms = np.abs(column) + np.abs(kept) @ np.abs(coefficients.high)
        # In every row: rows of little weight may still tell the columns apart.
        if (np.abs(residual) <= _EXACT * terms).all():
            return np.zeros_like(residual), 0.0
        residual, size = root * residual, float(np.linalg.norm(root * terms))
        along = Q.T @ residual
        remaining = float(np.linalg.norm(along))
        if remaining <= _ORTHOGONAL * np.linalg.norm(residual) or remaining >= smallest:
            break
        smallest, coefficients = remaining, coefficients.plus(exact(inverse @ along))
    return residual, (kept.shape[1] + 6) * EXTENDED_EPS * size
