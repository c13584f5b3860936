"""Lasso and elastic net where only the moments of the rows are known.

The objective is

    ½ yy − cᵀw + ½ wᵀGw + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²

with G = XᵀX, c = Xᵀy and yy = yᵀy of centred rows. Features with l1 = 0 are taken out first: for given other
weights theirs solve a linear system, and what is left is a problem of the same form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from weigh import _core, algebra
from weigh.features.blocks import Floats, Ints, Longs
from weigh.learn.linear.matrix import Matrix, SparseMatrix
from weigh.model.parallel import available_cores

# Sweeps before the first exact solution of a support, and between further ones.
_SWEEPS_BEFORE_NEWTON, _SWEEPS_BETWEEN_NEWTON = 25, 4
# Rounds without any gain after which rounding is all that is left.
_MAX_STALLED_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class GramLoss:
    """The loss ½ yy − cᵀw + ½ wᵀGw, where G is symmetric."""

    gram: Floats
    cross: Floats
    yy: float


@dataclass(frozen=True, eq=False)
class GramSolution:
    """Weights, q = c − Gw, and how far the objective may be above its minimum."""

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
    """Return the weights of least objective; the gap is to be below tol times what w = 0 costs."""
    taken = SchurComplement.eliminate(loss, l1, l2)
    inner = _initial_solution(taken.loss, None if start is None else start[taken.penalised])
    return taken.restore(_descend(taken, inner, tol, max_iter))


def gram_lasso_path(
    loss: GramLoss, penalties: Iterable[tuple[Floats, Floats]], *, tol: float, max_iter: int = 10_000
) -> list[GramSolution]:
    """Return the best weights for one pair (l1, l2) after the other.

    While support and signs stay, weights are linear in l1: where the last two solutions point to is where
    the next one begins.
    """
    found: list[GramSolution] = []
    past: list[tuple[float, GramSolution]] = []
    kept: Longs | None = None
    for l1, l2 in penalties:
        taken = SchurComplement.eliminate(loss, l1, l2)
        if kept is None or not np.array_equal(kept, taken.penalised) or l2[l1 == 0].any():
            past, kept = past[:0], taken.penalised
        scale = float(taken.l1.sum())
        if len(past) == 2 and past[0][0] != past[1][0]:
            begin = _extrapolate(taken.loss, past, scale)
        elif past:
            begin = past[-1][1]
        else:
            begin = _initial_solution(taken.loss, found[-1].w[taken.penalised] if found else None)
        inner = _descend(taken, begin, tol, max_iter)
        past = [*past[-1:], (scale, inner)]
        found.append(taken.restore(inner))
    return found


@dataclass(frozen=True, eq=False)
class SchurComplement:
    """A problem without the features that have no l1, and the way back."""

    loss: GramLoss
    l1: Floats
    l2: Floats
    full_loss: GramLoss
    penalised: Longs
    unpenalised: Longs
    inverse: Floats

    @classmethod
    def eliminate(cls, loss: GramLoss, l1: Floats, l2: Floats) -> SchurComplement:
        """Return what is left when weights without l1 follow the others."""
        others, kept = np.flatnonzero(l1 == 0), np.flatnonzero(l1)
        if not len(others):
            return cls(loss, l1, l2, loss, kept, others, np.zeros((0, 0)))
        inverse = _pseudo_inverse(loss.gram[np.ix_(others, others)] + np.diag(l2[others]))
        between, cross = loss.gram[np.ix_(kept, others)], loss.cross[others]
        led = between @ inverse
        gram = loss.gram[np.ix_(kept, kept)] - led @ between.T
        yy = float(loss.yy - cross @ inverse @ cross)
        left = GramLoss((gram + gram.T) / 2, loss.cross[kept] - led @ cross, yy)
        return cls(left, l1[kept], l2[kept], loss, kept, others, inverse)

    def restore(self, point: GramSolution) -> GramSolution:
        """Return the same point with all its weights."""
        if not len(self.unpenalised):
            return point
        w = np.zeros(len(self.full_loss.cross))
        w[self.penalised] = point.w
        w[self.unpenalised] = self.inverse @ (
            self.full_loss.cross[self.unpenalised] - self.full_loss.gram[self.unpenalised] @ w
        )
        return GramSolution(w, self.full_loss.cross - self.full_loss.gram @ w, point.gap, point.sweeps)


def _pseudo_inverse(table: Floats) -> Floats:
    """Return the inverse where there is one; columns that repeat others share their weight."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(table), np.finfo(np.float64).tiny))
    values, vectors = algebra.eigh(table * scale * scale[:, None])
    sure = values > len(table) * 1e-13
    turned = vectors[:, sure] * scale[:, None]
    return np.asarray((turned / values[sure]) @ turned.T)


def _initial_solution(loss: GramLoss, w: Floats | None) -> GramSolution:
    if w is None or not w.any():
        return GramSolution(np.zeros(len(loss.cross)), loss.cross.copy(), np.inf, 0)
    return GramSolution(w, loss.cross - loss.gram @ w, np.inf, 0)


def _extrapolate(loss: GramLoss, past: list[tuple[float, GramSolution]], scale: float) -> GramSolution:
    (far_scale, far), (near_scale, near) = past
    step = (scale - near_scale) / (near_scale - far_scale)
    w, q = near.w + step * (near.w - far.w), near.q + step * (near.q - far.q)
    turned = np.flatnonzero(w * near.w < 0)
    q += w[turned] @ loss.gram[turned]
    w[turned] = 0.0
    return GramSolution(w, q, np.inf, 0)


def _descend(taken: SchurComplement, begin: GramSolution, tol: float, max_iter: int) -> GramSolution:
    """Sweep; where sweeps do not do, solve for the support exactly in between."""
    loss, goal = taken.loss, tol * taken.loss.yy / 2
    gram, cross = np.ascontiguousarray(loss.gram), np.ascontiguousarray(loss.cross)
    w, q, sweeps = begin.w.copy(), begin.q.copy(), 0
    least, stalled = np.inf, 0
    while True:
        most = min(_SWEEPS_BETWEEN_NEWTON if sweeps else _SWEEPS_BEFORE_NEWTON, max_iter - sweeps)
        done, gap = _core.coordinate_descent_gram(gram, cross, loss.yy, taken.l1, taken.l2, goal, most, w, q)
        sweeps += done
        least, stalled = (gap, 0) if gap < 0.99 * least else (least, stalled + 1)
        if gap <= goal or sweeps >= max_iter or stalled > _MAX_STALLED_ROUNDS:
            return GramSolution(w, q, gap, sweeps)
        w, q = _newton_on_support(taken, w, q)
        sweeps += 1


def _newton_on_support(taken: SchurComplement, w: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the best point of the support's signs, without the features whose sign would turn on the way."""
    support = np.flatnonzero(w)
    part = taken.loss.gram[np.ix_(support, support)]
    part[np.diag_indices_from(part)] += taken.l2[support]
    lower = algebra.cholesky(part)
    if lower is None:
        # Columns that repeat each other: any of their best weights will do.
        part[np.diag_indices_from(part)] += 1e-9 * np.diagonal(part).max()
        lower = algebra.cholesky(part)
    if lower is None:
        return w, q
    past = w[support]
    slope = q[support] - taken.l1[support] * np.sign(past) - taken.l2[support] * past
    step = algebra.cholesky_solve(lower, slope)
    if (past * (past + step) <= 0).any():
        step = _newton_with_zero_crossings(algebra.cholesky_inverse(lower), past, slope) - past
    there = w.copy()
    there[support] = past + step
    gradient = q - step @ taken.loss.gram[support]
    return (there, gradient) if _objective(taken, there, gradient) < _objective(taken, w, q) else (w, q)


def _newton_with_zero_crossings(inverse: Floats, w: Floats, slope: Floats) -> Floats:
    """Go to the best point of a support; each feature that reaches zero on the way stays there.

    What is left of the inverse when a feature is taken out follows from the inverse itself.
    """
    w, left, product = w.copy(), np.ones(len(w), dtype=bool), np.empty_like(inverse)
    for _ in range(len(w)):
        step = inverse @ np.where(left, slope, 0.0)
        turning = np.flatnonzero(left & (w * (w + step) <= 0) & (w != 0))
        if not len(turning):
            return w + step
        lengths = -w[turning] / step[turning]
        length = float(lengths.min())
        gone = turning[lengths <= length * (1 + 1e-12)]
        w += length * step
        slope = slope * (1 - length)
        for each in gone:
            w[each], left[each] = 0.0, False
            column = inverse[each].copy()
            inverse -= np.multiply.outer(column, column / column[each], out=product)
            inverse[each], inverse[:, each] = 0.0, 0.0
    return w


def _objective(taken: SchurComplement, w: Floats, q: Floats) -> float:
    squares = taken.loss.yy - (taken.loss.cross + q) @ w
    return float(squares / 2 + taken.l1 @ np.abs(w) + taken.l2 @ np.square(w) / 2)


def position_lookup(which: Longs, width: int) -> Ints:
    """Return where each feature stands among the chosen ones; −1 if it is not one of them."""
    places = np.full(width, -1, np.int32)
    places[which] = np.arange(len(which), dtype=np.int32)
    return places


@singledispatch
def build_columns(X: Matrix, which: Longs) -> _core.ColumnSubset:
    """Return some features for descent along columns."""
    size = len(which)
    values = np.ascontiguousarray(X.dense_columns(which)).ravel()
    indptr = np.arange(0, len(values) + 1, max(size, 1), dtype=np.int64)
    every = np.arange(size, dtype=np.int32)
    if not size:
        indptr = np.zeros(X.n_rows + 1, np.int64)
    return _core.ColumnSubset(indptr, np.tile(every, X.n_rows), values, every, size, available_cores())


@build_columns.register
def _(X: SparseMatrix, which: Longs) -> _core.ColumnSubset:
    return _core.ColumnSubset(
        X.indptr, X.indices, X.values, position_lookup(which, X.width), len(which), available_cores()
    )


# How many sweeps the first rounds are worth; later ones go on until a sweep gains a tenth of the first.
_EARLY_SWEEPS = (1, 2, 3, 5)
_MAX_SWEEPS, _RELATIVE_DECREASE = 30, 0.1
# Near the optimum sweeps only find the signs.
_SWEEPS_NEAR_OPTIMUM = 5


@dataclass(frozen=True)
class SweepBudget:
    """How many rounds there were, and whether the optimum is near."""

    rounds: int
    is_near_optimum: bool

    @property
    def n_sweeps(self) -> int:
        """How many sweeps the next round is worth."""
        if self.is_near_optimum:
            return _SWEEPS_NEAR_OPTIMUM
        return _EARLY_SWEEPS[self.rounds] if self.rounds < len(_EARLY_SWEEPS) else _MAX_SWEEPS


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """The bends h > 0 and pulls u of the rows, and whether there is a bias."""

    h: Floats
    u: Floats
    has_intercept: bool

    def optimise_intercept(self) -> tuple[Floats, float]:
        """Return the pulls with the best bias, and how far that is."""
        if not self.has_intercept:
            return self.u, 0.0
        shift = float(self.u.sum() / self.h.sum())
        return self.u - shift * self.h, shift


class GramSubproblem:
    """The parabola as a table of all features."""

    def __init__(self, X: Matrix) -> None:
        self._X = X

    def minimise(
        self, pull: QuadraticModel, w: Floats, q: Floats, l1: Floats, l2: Floats, effort: SweepBudget
    ) -> tuple[Floats, float]:
        """Return the weights of least model and penalty, and the change of the bias."""
        u, shift = pull.optimise_intercept()
        gram, q = self._X.weighted_gram(pull.h), self._X.transposed_times(u)
        mean = np.zeros(len(w))
        if pull.has_intercept:
            total = float(pull.h.sum())
            mean = self._X.transposed_times(pull.h) / total
            raw = np.diagonal(gram).copy()
            gram -= total * np.outer(mean, mean)
            constant = np.diagonal(gram) <= 1e-12 * raw
            gram[constant], gram[:, constant] = 0.0, 0.0
            q = np.where(constant, 0.0, q)
        led = gram @ w
        yy = float(w @ led + 2 * q @ w + (u * u / pull.h).sum())
        there = solve_gram_lasso(GramLoss(gram, q + led, yy), l1, l2, tol=1e-13, start=w).w
        return there, shift - float(mean @ (there - w))


class ColumnSubproblem:
    """The parabola along columns of those features that may pull more than their l1."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._working_set: Longs = np.zeros(0, np.int64)
        self._columns: _core.ColumnSubset | None = None

    def minimise(
        self, pull: QuadraticModel, w: Floats, q: Floats, l1: Floats, l2: Floats, effort: SweepBudget
    ) -> tuple[Floats, float]:
        """Return weights of a lower model and penalty, and the change of the bias."""
        columns = self._working_columns(q, w, l1)
        chosen = self._working_set
        active = (w[chosen] != 0) | (np.abs(q[chosen]) > 0.8 * l1[chosen]) | (l1[chosen] == 0)
        u, shift = pull.optimise_intercept()
        is_fine = effort.is_near_optimum or effort.rounds > 8
        settings = _core.CoordinateDescentSettings(
            pull.has_intercept, is_fine, _RELATIVE_DECREASE, effort.n_sweeps, available_cores(), effort.rounds
        )
        found = w[chosen]
        which = np.flatnonzero(active).astype(np.int32)
        pulls = self._X.transposed_times(u)[chosen] if shift else q[chosen]
        penalties = l1[chosen], l2[chosen]
        _, further = _core.coordinate_descent_columns(
            columns, which, *penalties, pull.h, u, pulls, settings, found
        )
        there = np.zeros_like(w)
        there[chosen] = found
        return there, shift + further

    def _working_columns(self, q: Floats, w: Floats, l1: Floats) -> _core.ColumnSubset:
        """Return the columns of all features that pull, and of those that soon may."""
        held = np.zeros(len(w), dtype=bool)
        held[self._working_set] = True
        needed = (np.abs(q) > l1) | (w != 0) | (l1 == 0)
        if self._columns is None or (needed & ~held).any():
            soon = held | needed | (np.abs(q) > 0.5 * l1)
            # To build columns anew costs more than to have some that are never needed.
            self._working_set = np.flatnonzero(soon) if 4 * soon.sum() < len(w) else np.arange(len(w))
            self._columns = build_columns(self._X, self._working_set)
        return self._columns
