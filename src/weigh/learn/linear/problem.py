"""Features without a penalty that are nearly alike, replaced by orthogonal ones with the same scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn.linear.matrix import DenseMatrix, Matrix, column_means_and_stds, to_dense

CONDITION_TOLERANCE = 1e-9  # a condition at which sums of squares no longer tell features apart
MIN_SINGULAR_VALUE_RATIO = (
    1e-4  # of the largest singular value: so far apart features are told apart by sums of squares too
)
MAX_DENSE_CELLS = 50_000_000  # that are copied
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Orthogonalisation:
    """The way between weights of the features as they are, `places`, and of the orthogonal ones, put first.

    `there` [rank, features] leads to them, `back` [features, rank] to the shortest weights; both are of
    features counted from their `mean`. The other features are `rest`.
    """

    indices: Longs
    other_indices: Longs
    forward: Floats
    backward: Floats
    mean: Floats

    def to_orthogonal(self, start: Solution) -> Solution:
        """Return a solution of the features as they are as one of the orthogonal ones."""
        own = start.w[self.indices]
        w = np.concatenate([self.forward @ own, start.w[self.other_indices]])
        return replace(start, w=w, b=np.asarray(start.b + self.mean @ own))

    def from_orthogonal(self, found: Solution) -> Solution:
        """Return a solution of the features as they are."""
        w = np.empty((len(self.indices) + len(self.other_indices), *found.w.shape[1:]))
        own = self.backward @ found.w[: len(self.forward)]
        w[self.indices], w[self.other_indices] = own, found.w[len(self.forward) :]
        return replace(found, w=w, b=np.asarray(found.b - self.mean @ own))


def orthogonalise(problem: Problem) -> tuple[Problem, Orthogonalisation | None]:
    """Return the same problem over features that can be told apart, and the way back; None if they can be."""
    free = (problem.l1 == 0) & (problem.l2 == 0)
    X = problem.X
    if free.sum() < 2 or X.n_rows * X.width > MAX_DENSE_CELLS:
        return problem, None
    own = to_dense(X.select_features(free))
    mean = own.mean(axis=0) if problem.has_intercept else np.zeros(own.shape[1])
    own -= mean
    size = np.sqrt(np.square(own).sum(axis=0))
    size[size <= 8 * EPS * np.abs(mean) * np.sqrt(len(own))] = np.inf  # rounding alone tells its values apart
    own /= size
    if not _is_ill_conditioned(own):
        return problem, None
    U, s, V = algebra.svd(own)
    held = s > EPS * max(own.shape) * s.max(initial=0.0)
    if s[held].min(initial=1.0) > MIN_SINGULAR_VALUE_RATIO:
        return problem, None  # features repeat others exactly, as levels of a category do
    root = np.sqrt(len(own))
    there, back = (s[held, None] * V[:, held].T) * _zero_if_infinite(size) / root, V[:, held] / s[held] * root
    rest = np.flatnonzero(~free)
    table = np.hstack([U[:, held] * root, to_dense(X.select_features(~free))])
    none = np.zeros(int(held.sum()))
    l1, l2 = (np.concatenate([none, each[rest]]) for each in (problem.l1, problem.l2))
    straight = Orthogonalisation(np.flatnonzero(free), rest, there, back / size[:, None], mean)
    return replace(problem, X=DenseMatrix(table), l1=l1, l2=l2), straight


def _is_ill_conditioned(unit: Floats) -> bool:
    table = unit.T @ unit
    if not np.diagonal(table).all():
        return False  # a feature that never varies is left out elsewhere
    lower = algebra.cholesky(table)
    return lower is None or algebra.reciprocal_condition(lower, algebra.one_norm(table)) < CONDITION_TOLERANCE


def _zero_if_infinite(size: Floats) -> Floats:
    return np.where(np.isfinite(size), size, 0.0)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, targets and penalties; weights None means one each, offset None nothing.

    `y` [n] holds numbers; of logistic regression zeros and ones, of softmax the classes' numbers.
    """

    X: Matrix
    y: Floats
    l1: Floats
    l2: Floats
    has_intercept: bool = True
    weights: Floats | None = None
    offset: Floats | None = None

    @property
    def total_weight(self) -> float:
        """The sum of all weights."""
        return float(self.X.n_rows if self.weights is None else self.weights.sum())

    def penalty(self, w: Floats) -> float:
        """What the weights cost: of several classes together."""
        l1, l2 = (each.reshape(-1, *[1] * (w.ndim - 1)) for each in (self.l1, self.l2))
        return float((l1 * np.abs(w)).sum() + 0.5 * (l2 * np.square(w)).sum())

    def slice_rows(self, start: int, stop: int) -> Problem:
        """Return the same problem of some consecutive rows, which are not copied."""
        weights = None if self.weights is None else self.weights[start:stop]
        offset = None if self.offset is None else self.offset[start:stop]
        return replace(
            self, X=self.X.slice_rows(start, stop), y=self.y[start:stop], weights=weights, offset=offset
        )

    def select_rows(self, kept: Mask) -> Problem:
        """Return the same problem of some of the rows."""
        weights = None if self.weights is None else self.weights[kept]
        offset = None if self.offset is None else self.offset[kept]
        return replace(self, X=self.X.select_rows(kept), y=self.y[kept], weights=weights, offset=offset)

    def drop_zero_weights(self) -> Problem:
        """Return the same problem without the rows of weight zero."""
        if self.weights is None or (self.weights > 0).all():
            return self
        return self.select_rows(self.weights > 0)

    def with_penalties(self, l1: Floats, l2: Floats) -> Problem:
        """Return the same problem with other penalties."""
        return replace(self, l1=l1, l2=l2)


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and the proof of how good they are.

    `gap` is an upper bound of what the objective is above its minimum, proved by a dual point or by the
    gradient; `w` is [d], or [d, classes], `b` a number or one per class.
    """

    w: Floats
    b: Floats
    objective: float
    gap: float
    iterations: int
    method: str


# Squares around a mean have lost most digits when they are this share of the squares around zero.
_CANCELLATION_TOLERANCE = 1e-9
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class CentredProblem:
    """Rows, weights and targets around their means, which are zero without a bias.

    `cross` is how the targets pull at the features.
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
        """Return the rows of a problem; its offset is taken from the targets."""
        X, s, total = problem.X, problem.weights, problem.total_weight
        y = problem.y if problem.offset is None else problem.y - problem.offset
        if not problem.has_intercept or not total > 0:
            cross = X.transposed_times(y if s is None else s * y)
            return cls(X, y, s, np.zeros(X.width), 0.0, cross, total, problem.has_intercept)
        ones = np.ones(X.n_rows) if s is None else s
        mean_y = float(ones @ y) / total
        both = X.transposed_times(np.column_stack([ones, ones * (y - mean_y)]))
        mean_x = both[:, 0] / total
        left = float((ones * (y - mean_y)).sum())
        return cls(X, y - mean_y, s, mean_x, mean_y, both[:, 1] - left * mean_x, total, problem.has_intercept)

    @property
    def yy(self) -> float:
        """The squares of the targets."""
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
        """Return Σ sᵢ (xᵢ − m) rᵢ, feature by feature."""
        u = self.weighted(r)
        found = self.X.transposed_times(u)
        return found - float(u.sum()) * self.mean_x if self.has_intercept else found

    def intercept(self, w: Floats) -> float:
        """Return the bias that goes with the weights."""
        return self.mean_y - float(self.mean_x @ w)

    def gram_diagonal(self) -> Floats:
        """Return Σ sᵢ (xᵢⱼ − mⱼ)² for every feature; that of a constant one is zero, without rounding."""
        squares = self.X.squared_times(np.ones(self.X.n_rows) if self.weights is None else self.weights)
        found = squares - self.total_weight * np.square(self.mean_x)
        for feature in np.flatnonzero(found < _CANCELLATION_TOLERANCE * squares):
            x = self.X.dense_columns(np.array([feature]))[:, 0]
            # The first entry is exact, as no mean is: a constant column is zero around it.
            x = x - x[0]
            x = x - float(self.weighted(x).sum()) / self.total_weight
            length = self.dot(x, x)
            found[feature] = length if length > np.square(8 * _EPS) * squares[feature] else 0.0
        return found


MAX_MEAN_TO_STD = 100.0  # spreads that a mean is away from zero


def centre_distant_columns(problem: Problem) -> tuple[Problem, Floats | None]:
    """Return a problem whose far columns are counted from their means, and those means; None if none is far.

    Products of numbers far from zero lose the digits in which they differ.
    """
    X = problem.X
    if not problem.has_intercept or X.n_rows * X.width > MAX_DENSE_CELLS:
        return problem, None
    mean, spread = column_means_and_stds(X, problem.weights)
    far = (np.abs(mean) > MAX_MEAN_TO_STD * spread) & (spread > 0)
    if not far.any():
        return problem, None
    shift = np.where(far, mean, 0.0)
    return replace(problem, X=DenseMatrix(to_dense(X, shift))), shift


def uncentre_solution(found: Solution, shift: Floats | None) -> Solution:
    """Return a solution of the columns as they are."""
    return found if shift is None else replace(found, b=np.asarray(found.b - shift @ found.w))


def centre_solution(start: Solution | None, shift: Floats | None) -> Solution | None:
    """Return a solution of the columns as they are as one of those from their means."""
    if start is None or shift is None:
        return start
    return replace(start, b=np.asarray(start.b + shift @ start.w))
