"""The penalised regression problem, its solution, and equivalent problems that are better conditioned.

minimise  Σ sᵢ loss(yᵢ, xᵢ·w + b + oᵢ) + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn.linear.matrix import EPS, DenseMatrix, Matrix, column_means_and_stds, to_dense

MAX_DENSE_CELLS = 50_000_000  # no larger matrix is copied into dense form
CONDITION_TOLERANCE = 1e-9  # reciprocal condition number below which a Gram matrix loses too many digits
MIN_SINGULAR_VALUE_RATIO = 1e-4  # to the largest one: above it a Gram matrix is accurate enough
MAX_MEAN_TO_STD = 100.0  # columns whose mean is farther from zero are centred
_CANCELLATION_TOLERANCE = 1e-9  # centred squares have lost most digits if they are this share of the raw ones


@dataclass(frozen=True, eq=False)
class PriorMeans:
    """The prior means that the weights of a problem are relative to, and its offset without their scores."""

    weights: Floats
    offset: Floats | None

    def select_rows(self, rows: Mask | slice) -> PriorMeans:
        """Return the same for some of the rows."""
        return replace(self, offset=None if self.offset is None else self.offset[rows])


@dataclass(frozen=True, eq=False)
class Problem:
    """Design matrix, targets and penalties; `weights` None means unit weights, `offset` None means zero.

    `y` [n] holds numbers: targets, zeros and ones (logistic regression) or class indices (softmax). With
    `prior_means` the weights are relative to them, and the offset includes their scores, which are rounded.
    """

    X: Matrix
    y: Floats
    l1: Floats
    l2: Floats
    has_intercept: bool = True
    weights: Floats | None = None
    offset: Floats | None = None
    prior_means: PriorMeans | None = None

    @property
    def total_weight(self) -> float:
        """Sum of the row weights."""
        return float(self.X.n_rows if self.weights is None else self.weights.sum())

    def penalty(self, w: Floats) -> float:
        """Return the penalty of weights [d] or [d, classes]."""
        # Sums over the classes first: a table of the size of w costs more than the arithmetic.
        W = w.reshape(len(w), math.prod(w.shape[1:]))
        squares = np.einsum("jk,jk->j", W, W)
        sizes = np.abs(W).sum(axis=1) if self.l1.any() else 0.0
        return float((self.l1 * sizes).sum() + 0.5 * (self.l2 * squares).sum())

    def round_weights(self, w: Floats) -> Floats:
        """Return weights relative to the prior means that stay the same when the means are added."""
        if self.prior_means is None:
            return w
        # (w + m) − m, rounded twice, is a fixed point of itself: Knuth, section 4.2.2, theorem D.
        return np.asarray((w + self.prior_means.weights) - self.prior_means.weights)

    def slice_rows(self, start: int, stop: int) -> Problem:
        """Return the problem of rows start to stop, without copying them."""
        return self._with_rows(self.X.slice_rows(start, stop), slice(start, stop))

    def select_rows(self, mask: Mask) -> Problem:
        """Return the problem of the rows where the mask is True."""
        return self._with_rows(self.X.select_rows(mask), mask)

    def _with_rows(self, X: Matrix, rows: Mask | slice) -> Problem:
        return replace(
            self,
            X=X,
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            offset=None if self.offset is None else self.offset[rows],
            prior_means=None if self.prior_means is None else self.prior_means.select_rows(rows),
        )

    def drop_zero_weights(self) -> Problem:
        """Return the problem without rows of weight zero."""
        if self.weights is None or (self.weights > 0).all():
            return self
        return self.select_rows(self.weights > 0)

    def with_penalties(self, l1: Floats, l2: Floats) -> Problem:
        """Return the problem with other penalties."""
        return replace(self, l1=l1, l2=l2)


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights and intercept with a certificate of optimality.

    `gap` is an upper bound on objective − minimum, from a dual point or from the gradient. `w` is [d] and `b`
    a number, or [d, classes] and [classes]. `dual` is the
    solver's dual point, if it is not that of the weights: residuals for squared loss, signed row weights for
    absolute loss, probabilities for log loss.
    """

    w: Floats
    b: Floats
    objective: float
    gap: float
    iterations: int
    method: str
    dual: Floats | None = None


@dataclass(frozen=True, eq=False)
class CentredProblem:
    """Squared loss with the intercept eliminated: X and targets relative to their weighted means.

    Without an intercept the means are zero. X itself is never shifted, so sparse rows stay sparse. `cross` is
    Σ sᵢ (xᵢ − m)(yᵢ − ȳ).
    """

    X: Matrix
    target: Floats
    weights: Floats | None
    mean_x: Floats
    mean_y: float
    cross: Floats
    total_weight: float
    has_intercept: bool

    @classmethod
    def from_problem(cls, problem: Problem) -> CentredProblem:
        """Centre a problem; its offset is subtracted from the targets."""
        X, s, total = problem.X, problem.weights, problem.total_weight
        y = problem.y if problem.offset is None else problem.y - problem.offset
        if not problem.has_intercept or not total > 0:
            cross = X.transposed_times(y if s is None else s * y)
            return cls(X, y, s, np.zeros(X.width), 0.0, cross, total, problem.has_intercept)
        weights = np.ones(X.n_rows) if s is None else s
        mean_y = float(weights @ y) / total
        sums = X.transposed_times(np.column_stack([weights, weights * (y - mean_y)]))
        mean_x = sums[:, 0] / total
        # The targets' mean is rounded, so the centred ones do not quite sum to zero.
        remainder = float((weights * (y - mean_y)).sum())
        cross = sums[:, 1] - remainder * mean_x
        return cls(X, y - mean_y, s, mean_x, mean_y, cross, total, problem.has_intercept)

    @property
    def yy(self) -> float:
        """Weighted sum of squares of the centred targets."""
        return self.dot(self.target, self.target)

    def dot(self, a: Floats, b: Floats) -> float:
        """Return Σ sᵢ aᵢ bᵢ."""
        return float(a @ b if self.weights is None else (self.weights * a) @ b)

    def weighted(self, r: Floats) -> Floats:
        """Return sᵢ rᵢ."""
        return r if self.weights is None else self.weights * r

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w."""
        return self.X.times(w) - float(self.mean_x @ w)

    def residual_correlations(self, r: Floats) -> Floats:
        """Return Σ sᵢ (xᵢ − m) rᵢ for each feature."""
        u = self.weighted(r)
        correlations = self.X.transposed_times(u)
        return correlations - float(u.sum()) * self.mean_x if self.has_intercept else correlations

    def intercept(self, w: Floats) -> float:
        """Return the optimal intercept for the weights."""
        return self.mean_y - float(self.mean_x @ w)

    def gram_diagonal(self) -> Floats:
        """Return Σ sᵢ (xᵢⱼ − mⱼ)² for each feature, exactly zero for a constant one."""
        squares = self.X.squared_times(np.ones(self.X.n_rows) if self.weights is None else self.weights)
        diagonal = squares - self.total_weight * np.square(self.mean_x)
        for feature in np.flatnonzero(diagonal < _CANCELLATION_TOLERANCE * squares):
            x = self.X.dense_columns(np.array([feature]))[:, 0]
            # The first entry is exact and a mean is not: subtracting it makes a constant column zero.
            x = x - x[0]
            x = x - float(self.weighted(x).sum()) / self.total_weight
            xx = self.dot(x, x)
            diagonal[feature] = xx if xx > np.square(8 * EPS) * squares[feature] else 0.0
        return diagonal


@dataclass(frozen=True, eq=False)
class Orthogonalisation:
    """Linear map between the weights of collinear features and of orthogonal ones that span the same space.

    The orthogonal features come first, then `other_indices` unchanged. `forward` [rank, k] maps the weights
    of the k features `indices`, relative to their `mean`, to the orthogonal ones; `backward` [k, rank] maps
    them back to the weights of minimum norm.
    """

    indices: Longs
    other_indices: Longs
    forward: Floats
    backward: Floats
    mean: Floats

    def to_orthogonal(self, start: Solution) -> Solution:
        """Express a solution in the orthogonal features."""
        collinear = start.w[self.indices]
        w = np.concatenate([self.forward @ collinear, start.w[self.other_indices]])
        return replace(start, w=w, b=np.asarray(start.b + self.mean @ collinear))

    def from_orthogonal(self, solution: Solution) -> Solution:
        """Express a solution in the original features."""
        rank = len(self.forward)
        w = np.empty((len(self.indices) + len(self.other_indices), *solution.w.shape[1:]))
        collinear = self.backward @ solution.w[:rank]
        w[self.indices], w[self.other_indices] = collinear, solution.w[rank:]
        return replace(solution, w=w, b=np.asarray(solution.b - self.mean @ collinear))


def orthogonalise(problem: Problem) -> tuple[Problem, Orthogonalisation | None]:
    """Replace nearly collinear unpenalised features by orthogonal ones, by singular value decomposition.

    Returns the problem unchanged and None if its Gram matrix is accurate enough, if the collinearity is exact
    (as with the levels of a category), or if the matrix is too large for a dense copy.
    """
    free = (problem.l1 == 0) & (problem.l2 == 0)
    X = problem.X
    if free.sum() < 2 or X.n_rows * X.width > MAX_DENSE_CELLS:
        return problem, None
    A = to_dense(X.select_features(free))
    mean = A.mean(axis=0) if problem.has_intercept else np.zeros(A.shape[1])
    A -= mean
    norms = np.sqrt(np.square(A).sum(axis=0))
    norms[norms <= 8 * EPS * np.abs(mean) * np.sqrt(len(A))] = np.inf  # constant but for rounding
    A /= norms
    if not _is_ill_conditioned(A):
        return problem, None
    U, s, V = algebra.svd(A)
    kept = s > EPS * max(A.shape) * s.max(initial=0.0)
    if s[kept].min(initial=1.0) > MIN_SINGULAR_VALUE_RATIO:
        return problem, None
    root = np.sqrt(len(A))
    forward = (s[kept, None] * V[:, kept].T) * np.where(np.isfinite(norms), norms, 0.0) / root
    backward = V[:, kept] / s[kept] * root / norms[:, None]
    others = np.flatnonzero(~free)
    rows = np.hstack([U[:, kept] * root, to_dense(X.select_features(~free))])
    none = np.zeros(int(kept.sum()))
    l1, l2 = (np.concatenate([none, penalty[others]]) for penalty in (problem.l1, problem.l2))
    orthogonalisation = Orthogonalisation(np.flatnonzero(free), others, forward, backward, mean)
    return replace(problem, X=DenseMatrix(rows), l1=l1, l2=l2), orthogonalisation


def _is_ill_conditioned(A: Floats) -> bool:
    """Check whether the Gram matrix of columns of unit norm loses too many digits."""
    gram = A.T @ A
    if not np.diagonal(gram).all():
        return False  # constant features are handled elsewhere
    lower = algebra.cholesky(gram)
    return lower is None or algebra.reciprocal_condition(lower, algebra.one_norm(gram)) < CONDITION_TOLERANCE


def centre_distant_columns(problem: Problem) -> tuple[Problem, Floats | None]:
    """Subtract the means of columns that lie far from zero, whose products would lose digits.

    Returns the problem and the shift [d], or the problem unchanged and None if no column is far.
    """
    X = problem.X
    if not problem.has_intercept or X.n_rows * X.width > MAX_DENSE_CELLS:
        return problem, None
    mean, std = column_means_and_stds(X, problem.weights)
    is_distant = (np.abs(mean) > MAX_MEAN_TO_STD * std) & (std > 0)
    if not is_distant.any():
        return problem, None
    shift = np.where(is_distant, mean, 0.0)
    return replace(problem, X=DenseMatrix(to_dense(X, shift))), shift


def centre_solution(start: Solution | None, shift: Floats | None) -> Solution | None:
    """Express a solution of the original columns in the shifted ones."""
    if start is None or shift is None:
        return start
    return replace(start, b=np.asarray(start.b + shift @ start.w))


def uncentre_solution(solution: Solution, shift: Floats | None) -> Solution:
    """Express a solution of the shifted columns in the original ones."""
    return solution if shift is None else replace(solution, b=np.asarray(solution.b - shift @ solution.w))


def centre_offset(problem: Problem) -> tuple[Problem, Floats]:
    """Subtract the mean of the offset, as far as the intercept can add it: at scores far from zero, log loss
    is flat or straight.

    Returns the problem and what was subtracted, a number or [classes].
    """
    if problem.offset is None or not problem.has_intercept:
        return problem, np.zeros(())
    mean = np.asarray(np.average(problem.offset, axis=0, weights=problem.weights))
    return replace(problem, offset=problem.offset - mean, prior_means=None), mean


def null_objective(problem: Problem, is_absolute: bool) -> tuple[float, float]:
    """Return the objective without features and the standard deviation of the targets."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    weights = np.ones(len(y)) if problem.weights is None else problem.weights
    mean = float(np.average(y, weights=weights))
    spread = math.sqrt(float(weights @ np.square(y - mean)) / problem.total_weight)
    if is_absolute:
        centre = weighted_median(y, weights) if problem.has_intercept else 0.0
        return float(weights @ np.abs(y - centre)), spread
    residual = y - mean if problem.has_intercept else y
    return 0.5 * float(weights @ np.square(residual)), spread


def weighted_median(y: Floats, weights: Floats) -> float:
    """Return a number with at most half of the weight on either side."""
    order = np.argsort(y)
    cumulative = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(cumulative, cumulative[-1] / 2)]])
