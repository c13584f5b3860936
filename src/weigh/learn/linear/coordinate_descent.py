"""Coordinate descent for lasso and elastic net, from a Gram matrix or along the columns of X.

With G = XᵀX, c = Xᵀy and yy = yᵀy of centred rows the objective is

    ½ yy − cᵀw + ½ wᵀGw + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ².

Features with l1 = 0 are eliminated first: given the other weights, theirs solve a linear system, and what
remains (the Schur complement) has the same form. Where sweeps converge slowly, they alternate with Newton
steps on the support. The subproblems of proximal Newton for log loss are solved by the same routines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from weigh import _core, algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.matrix import Matrix, SparseMatrix, position_lookup
from weigh.model.parallel import available_cores

_SWEEPS_BEFORE_NEWTON, _SWEEPS_BETWEEN_NEWTON = 25, 4
_MAX_STALLED_ROUNDS = 50  # rounds without a smaller gap, after which only rounding is left
_EARLY_SWEEPS = (1, 2, 3, 5)  # at most, in the first rounds of proximal Newton
_MAX_SWEEPS = 30  # in later rounds
_GAIN_TOLERANCE = 0.1  # of the first sweep's gain: a round ends at a sweep that gains no more
_SWEEPS_NEAR_OPTIMUM = 5  # there sweeps only have to find the signs
_LAST_SINGLE_ROUND = 8  # later rounds, and all near the optimum, have residuals in double precision


@dataclass(frozen=True, eq=False)
class GramLoss:
    """The squared loss ½ yy − cᵀw + ½ wᵀGw, with G symmetric and `cross` = c."""

    gram: Floats
    cross: Floats
    yy: float


@dataclass(frozen=True, eq=False)
class GramSolution:
    """Weights, q = c − Gw, and an upper bound `gap` on objective − minimum."""

    w: Floats
    q: Floats
    gap: float
    sweeps: int


def solve_gram_lasso(
    loss: GramLoss,
    l1: Floats,
    l2: Floats,
    *,
    tol: float,
    max_iter: int = 10_000,
    start: Floats | None = None,
) -> GramSolution:
    """Minimise the objective until the gap is at most tol times its value with all l1 weights zero."""
    reduced = SchurComplement.eliminate(loss, l1, l2)
    point = _initial_solution(reduced.loss, None if start is None else start[reduced.l1_indices])
    return reduced.restore(_descend(reduced, point, tol, max_iter))


def gram_lasso_path(
    loss: GramLoss, penalties: Iterable[tuple[Floats, Floats]], *, tol: float, max_iter: int = 10_000
) -> list[GramSolution]:
    """Solve for a sequence of penalties (l1, l2).

    If l1 is a multiple of a fixed vector and l2 is constant, the weights are piecewise linear in the
    multiple. Each solution therefore starts from the extrapolation of the last two.
    """
    solutions: list[GramSolution] = []
    history: list[PathPoint] = []
    l1_indices: Longs | None = None
    for l1, l2 in penalties:
        reduced = SchurComplement.eliminate(loss, l1, l2)
        # The reduced loss stays the same only if the same weights are eliminated and none of them has l2.
        if l1_indices is None or not np.array_equal(l1_indices, reduced.l1_indices) or l2[l1 == 0].any():
            history, l1_indices = [], reduced.l1_indices
        total_l1 = float(reduced.l1.sum())  # stands for the multiple
        if len(history) == 2 and history[0].total_l1 != history[1].total_l1:
            start = _extrapolate(reduced.loss, history, total_l1)
        elif history:
            start = history[-1].solution
        else:
            start = _initial_solution(
                reduced.loss, solutions[-1].w[reduced.l1_indices] if solutions else None
            )
        point = _descend(reduced, start, tol, max_iter)
        history = [*history[-1:], PathPoint(total_l1, point)]
        solutions.append(reduced.restore(point))
    return solutions


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A solution of the reduced problem, and the sum of its l1 penalties."""

    total_l1: float
    solution: GramSolution


@dataclass(frozen=True, eq=False)
class SchurComplement:
    """The problem in the weights with l1 alone, with what is needed to restore the others."""

    loss: GramLoss
    l1: Floats
    l2: Floats
    full_loss: GramLoss
    l1_indices: Longs
    other_indices: Longs
    inverse: Floats

    @classmethod
    def eliminate(cls, loss: GramLoss, l1: Floats, l2: Floats) -> SchurComplement:
        """Eliminate the weights without l1."""
        without_l1, with_l1 = np.flatnonzero(l1 == 0), np.flatnonzero(l1)
        if not len(without_l1):
            return cls(loss, l1, l2, loss, with_l1, without_l1, np.zeros((0, 0)))
        inverse = _pseudo_inverse(loss.gram[np.ix_(without_l1, without_l1)] + np.diag(l2[without_l1]))
        coupling, cross = loss.gram[np.ix_(with_l1, without_l1)], loss.cross[without_l1]
        projection = coupling @ inverse
        gram = loss.gram[np.ix_(with_l1, with_l1)] - projection @ coupling.T
        yy = float(loss.yy - cross @ inverse @ cross)
        reduced = GramLoss((gram + gram.T) / 2, loss.cross[with_l1] - projection @ cross, yy)
        return cls(reduced, l1[with_l1], l2[with_l1], loss, with_l1, without_l1, inverse)

    def restore(self, point: GramSolution) -> GramSolution:
        """Return the solution with all weights."""
        if not len(self.other_indices):
            return point
        w = np.zeros(len(self.full_loss.cross))
        w[self.l1_indices] = point.w
        w[self.other_indices] = self.inverse @ (
            self.full_loss.cross[self.other_indices] - self.full_loss.gram[self.other_indices] @ w
        )
        return GramSolution(w, self.full_loss.cross - self.full_loss.gram @ w, point.gap, point.sweeps)

    def objective(self, w: Floats, q: Floats) -> float:
        """Return the objective of the weights w with l1, given q = c − Gw."""
        squares = self.loss.yy - (self.loss.cross + q) @ w
        return float(squares / 2 + self.l1 @ np.abs(w) + self.l2 @ np.square(w) / 2)


def _pseudo_inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse of a positive semi-definite matrix; duplicate columns share their weight."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(matrix), np.finfo(np.float64).tiny))
    values, vectors = algebra.eigh(matrix * scale * scale[:, None])
    kept = values > len(matrix) * 1e-13
    V = vectors[:, kept] * scale[:, None]
    return np.asarray((V / values[kept]) @ V.T)


def _initial_solution(loss: GramLoss, w: Floats | None) -> GramSolution:
    if w is None or not w.any():
        return GramSolution(np.zeros(len(loss.cross)), loss.cross.copy(), np.inf, 0)
    return GramSolution(w, loss.cross - loss.gram @ w, np.inf, 0)


def _extrapolate(loss: GramLoss, history: list[PathPoint], total_l1: float) -> GramSolution:
    """Continue the last two solutions linearly; weights whose sign would change become zero."""
    older, newer = (point.solution for point in history)
    step = (total_l1 - history[1].total_l1) / (history[1].total_l1 - history[0].total_l1)
    w, q = newer.w + step * (newer.w - older.w), newer.q + step * (newer.q - older.q)
    sign_changes = np.flatnonzero(w * newer.w < 0)
    q += w[sign_changes] @ loss.gram[sign_changes]
    w[sign_changes] = 0.0
    return GramSolution(w, q, np.inf, 0)


def _descend(reduced: SchurComplement, start: GramSolution, tol: float, max_iter: int) -> GramSolution:
    """Alternate sweeps with Newton steps on the support until the gap is small enough or stalls."""
    loss, max_gap = reduced.loss, tol * reduced.loss.yy / 2
    gram, cross = np.ascontiguousarray(loss.gram), np.ascontiguousarray(loss.cross)
    w, q, sweeps = start.w.copy(), start.q.copy(), 0
    best_gap, n_stalled = np.inf, 0
    while True:
        max_sweeps = min(_SWEEPS_BETWEEN_NEWTON if sweeps else _SWEEPS_BEFORE_NEWTON, max_iter - sweeps)
        done, gap = _core.coordinate_descent_gram(
            gram, cross, loss.yy, reduced.l1, reduced.l2, max_gap, max_sweeps, w, q
        )
        sweeps += done
        best_gap, n_stalled = (gap, 0) if gap < 0.99 * best_gap else (best_gap, n_stalled + 1)
        if gap <= max_gap or sweeps >= max_iter or n_stalled > _MAX_STALLED_ROUNDS:
            return GramSolution(w, q, gap, sweeps)
        w, q = _newton_on_support(reduced, w, q)
        sweeps += 1


def _newton_on_support(reduced: SchurComplement, w: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Solve for the non-zero weights with their signs fixed; weights that would cross zero become zero.

    Returns w and q = c − Gw unchanged if the objective does not fall.
    """
    support = np.flatnonzero(w)
    hess = reduced.loss.gram[np.ix_(support, support)]
    hess[np.diag_indices_from(hess)] += reduced.l2[support]
    lower = algebra.cholesky(hess)
    if lower is None:
        # Collinear columns have many optimal weights, and any of them will do.
        hess[np.diag_indices_from(hess)] += 1e-9 * np.diagonal(hess).max()
        lower = algebra.cholesky(hess)
    if lower is None:
        return w, q
    w_support = w[support]
    negative_gradient = (
        q[support] - reduced.l1[support] * np.sign(w_support) - reduced.l2[support] * w_support
    )
    step = algebra.cholesky_solve(lower, negative_gradient)
    if (w_support * (w_support + step) <= 0).any():
        inverse = algebra.cholesky_inverse(lower)
        step = _newton_with_zero_crossings(inverse, w_support, negative_gradient) - w_support
    new_w = w.copy()
    new_w[support] = w_support + step
    new_q = q - step @ reduced.loss.gram[support]
    return (new_w, new_q) if reduced.objective(new_w, new_q) < reduced.objective(w, q) else (w, q)


def _newton_with_zero_crossings(inverse: Floats, w: Floats, negative_gradient: Floats) -> Floats:
    """Follow the Newton path; each weight that reaches zero on the way stays there.

    Removing a feature is a rank-one update of the inverse Hessian, which is overwritten.
    """
    w, active, outer = w.copy(), np.ones(len(w), dtype=bool), np.empty_like(inverse)
    for _ in range(len(w)):
        step = inverse @ np.where(active, negative_gradient, 0.0)
        crossing = np.flatnonzero(active & (w * (w + step) <= 0) & (w != 0))
        if not len(crossing):
            return w + step
        lengths = -w[crossing] / step[crossing]
        length = float(lengths.min())
        removed = crossing[lengths <= length * (1 + 1e-12)]
        w += length * step
        negative_gradient = negative_gradient * (1 - length)
        for j in removed:
            w[j], active[j] = 0.0, False
            column = inverse[j].copy()
            inverse -= np.multiply.outer(column, column / column[j], out=outer)
            inverse[j], inverse[:, j] = 0.0, 0.0
    return w


@singledispatch
def build_columns(X: Matrix, indices: Longs) -> _core.ColumnSubset:
    """Return a subset of the features, stored by column for coordinate descent."""
    size = len(indices)
    values = np.ascontiguousarray(X.dense_columns(indices)).ravel()
    indptr = np.arange(0, len(values) + 1, max(size, 1), dtype=np.int64)
    every = np.arange(size, dtype=np.int32)
    if not size:
        indptr = np.zeros(X.n_rows + 1, np.int64)
    return _core.ColumnSubset(indptr, np.tile(every, X.n_rows), values, every, size, available_cores())


@build_columns.register
def _(X: SparseMatrix, indices: Longs) -> _core.ColumnSubset:
    positions = position_lookup(indices, X.width)
    return _core.ColumnSubset(*X.rows.csr, positions, len(indices), available_cores())


@dataclass(frozen=True)
class SweepBudget:
    """The rounds of proximal Newton so far, and whether the optimum is near."""

    rounds: int
    is_near_optimum: bool

    @property
    def n_sweeps(self) -> int:
        """Number of sweeps for the next round."""
        if self.is_near_optimum:
            return _SWEEPS_NEAR_OPTIMUM
        return _EARLY_SWEEPS[self.rounds] if self.rounds < len(_EARLY_SWEEPS) else _MAX_SWEEPS


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """Second-order model of a loss in a change d of the scores: Σ (½ hᵢ dᵢ² − uᵢ dᵢ).

    `h` > 0 are the second derivatives of the rows and `u` the negative gradients.
    """

    h: Floats
    u: Floats
    has_intercept: bool

    def optimise_intercept(self) -> tuple[Floats, float]:
        """Return u at the optimal intercept of the model, and the step of the intercept."""
        if not self.has_intercept:
            return self.u, 0.0
        step = float(self.u.sum() / self.h.sum())
        return self.u - step * self.h, step


class GramSubproblem:
    """Proximal Newton subproblem, solved to high accuracy on the weighted Gram matrix of all features."""

    def __init__(self, X: Matrix) -> None:
        self._X = X

    def minimise(
        self, quadratic: QuadraticModel, w: Floats, q: Floats, l1: Floats, l2: Floats, budget: SweepBudget
    ) -> tuple[Floats, float]:
        """Minimise model plus penalty; return the weights and the step of the intercept.

        `q` and `budget` are unused: q is recomputed at the optimal intercept, and sweeps are cheap here.
        """
        u, intercept_step = quadratic.optimise_intercept()
        gram, q = self._X.weighted_gram(quadratic.h), self._X.transposed_times(u)
        mean = np.zeros(len(w))
        if quadratic.has_intercept:
            total = float(quadratic.h.sum())
            mean = self._X.transposed_times(quadratic.h) / total
            raw_diagonal = np.diagonal(gram).copy()
            gram -= total * np.outer(mean, mean)
            is_constant = np.diagonal(gram) <= 1e-12 * raw_diagonal
            gram[is_constant], gram[:, is_constant] = 0.0, 0.0
            q = np.where(is_constant, 0.0, q)
        gram_w = gram @ w
        yy = float(w @ gram_w + 2 * q @ w + (u * u / quadratic.h).sum())
        new_w = solve_gram_lasso(GramLoss(gram, q + gram_w, yy), l1, l2, tol=1e-13, start=w).w
        return new_w, intercept_step - float(mean @ (new_w - w))


class ColumnSubproblem:
    """Proximal Newton subproblem, solved by sweeps along the columns of a working set.

    The working set holds every feature that is non-zero, has l1ⱼ = 0 or had |qⱼ| > 0.5 l1ⱼ when the set was
    last extended. Sweeps visit only those that are non-zero, have l1ⱼ = 0 or |qⱼ| > 0.8 l1ⱼ.
    """

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._working_set: Longs = np.zeros(0, np.int64)
        self._columns: _core.ColumnSubset | None = None

    def minimise(
        self, quadratic: QuadraticModel, w: Floats, q: Floats, l1: Floats, l2: Floats, budget: SweepBudget
    ) -> tuple[Floats, float]:
        """Lower model plus penalty; return the weights and the step of the intercept."""
        columns = self._working_columns(q, w, l1)
        working = self._working_set
        is_active = (w[working] != 0) | (np.abs(q[working]) > 0.8 * l1[working]) | (l1[working] == 0)
        u, intercept_step = quadratic.optimise_intercept()
        use_double = budget.is_near_optimum or budget.rounds > _LAST_SINGLE_ROUND
        settings = _core.CoordinateDescentSettings(
            bias=quadratic.has_intercept,
            double_precision=use_double,
            gain_tolerance=_GAIN_TOLERANCE,
            max_sweeps=budget.n_sweeps,
            threads=available_cores(),
            seed=budget.rounds,
        )
        w_working = w[working]
        active = np.flatnonzero(is_active).astype(np.int32)
        q_working = self._X.transposed_times(u)[working] if intercept_step else q[working]
        _, further_step = _core.coordinate_descent_columns(
            columns, active, l1[working], l2[working], quadratic.h, u, q_working, settings, w_working
        )
        new_w = np.zeros_like(w)
        new_w[working] = w_working
        return new_w, intercept_step + further_step

    def _working_columns(self, q: Floats, w: Floats, l1: Floats) -> _core.ColumnSubset:
        """Return the columns of the working set, adding features that may become non-zero."""
        is_present = np.zeros(len(w), dtype=bool)
        is_present[self._working_set] = True
        is_needed = (np.abs(q) > l1) | (w != 0) | (l1 == 0)
        if self._columns is None or (is_needed & ~is_present).any():
            selected = is_present | is_needed | (np.abs(q) > 0.5 * l1)
            # Rebuilding columns costs more than storing some that are never needed.
            is_small = 4 * selected.sum() < len(w)
            self._working_set = np.flatnonzero(selected) if is_small else np.arange(len(w))
            self._columns = build_columns(self._X, self._working_set)
        return self._columns
