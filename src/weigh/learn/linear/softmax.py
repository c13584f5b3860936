"""Proximal Newton steps of softmax loss with l1 and l2 over the weights of all classes at once.

All classes share the rows' probabilities, so steps of one class at a time converge slowly where penalties
are weak. The quadratic model here has the Hessian between all weights that are, or may become, non-zero. Its
blocks for the classes a and b are

    Xᵀ diag(s p_a (1 − p_a)) X  for a = b,  −Xᵀ diag(s p_a p_b) X  otherwise.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn.linear.coordinate_descent import GramLoss, solve_gram_lasso
from weigh.learn.linear.losses import CrossEntropyLoss, solve_newton_system
from weigh.learn.linear.matrix import InterceptMatrix, Matrix
from weigh.learn.linear.problem import Problem

MAX_UNKNOWNS = 2000  # up to which the Hessian is formed
MAX_HESSIAN_WORK = 2e10  # rows · unknowns²
_BLOCK_CELLS = 4_000_000  # rows times unknowns in memory at once
_CANDIDATE_SHARE = 0.9  # of l1: weights of zero whose |q| is smaller stay zero in a step
_MIN_VARIANCE = 1e-10  # of a probability: without it, steps of classes that are separated have no bound
_CONSTANT_CURVATURE = 1e-8  # of the Hessian diagonal, where softmax loss has none
_MAX_SWEEPS = 1_000
_INNER_GAP = 1e-3  # of the problem's gap: the gap at which the quadratic model is minimised


class SoftmaxSubproblem:
    """The quadratic model of softmax loss in the weights that are, or may become, non-zero."""

    def __init__(self, problem: Problem, loss: CrossEntropyLoss) -> None:
        self._loss, self._n_classes, self._has_intercept = loss, loss.n_outputs, problem.has_intercept
        self._X: Matrix = InterceptMatrix(problem.X) if problem.has_intercept else problem.X

    def select(self, W: Floats, Q: Floats, l1: Floats) -> Mask | None:
        """Return the weights [d, k] that may change in the next step, or None if they are too many."""
        size = np.abs(Q)
        selected = (W != 0) | (size > _CANDIDATE_SHARE * l1[:, None]) | (l1 == 0)[:, None]
        # Weights of all classes that change alike leave the loss as it is, so one of them can wait.
        size[W != 0] = np.inf
        every, first = np.arange(len(W)), size.argmin(axis=1)
        selected[every, first] &= ~(selected.all(axis=1) & (size[every, first] <= l1) & (l1 > 0))
        n_unknowns = int(selected.sum()) + self._n_classes * self._has_intercept
        is_large = n_unknowns > MAX_UNKNOWNS or self._X.n_rows * n_unknowns**2 > MAX_HESSIAN_WORK
        return None if is_large else selected

    def minimise(
        self, S: Floats, W: Floats, Q: Floats, selected: Mask, l1: Floats, l2: Floats, gap: float
    ) -> tuple[Floats, Floats]:
        """Minimise model plus penalty over the selected weights and the intercepts.

        `S` are the scores of the weights W [d, k], `Q` the negative gradient of the loss there, and `gap` a
        bound on what the objective can still fall. Returns the weights and the step of the intercepts.
        """
        p = self._loss.probabilities(S)
        if self._has_intercept:
            none = np.zeros((1, self._n_classes))
            W, l1, l2 = np.vstack([W, none]), np.append(l1, 0.0), np.append(l2, 0.0)
            Q = np.vstack([Q, -self._loss.score_gradient(p).sum(axis=0)])
            selected = np.vstack([selected, none == 0])
        classes, features = np.nonzero(selected.T)
        hess = self._hessian(p, features, classes)
        w, q = W[features, classes], Q[features, classes]
        hess_w = hess @ w
        # Σ s uᵀ D⁺ u of the rows' gradients u and Hessians D, so that the model is a sum of squares.
        squares = float((self._loss.weights[:, 0] * np.expm1(self._loss.row_values(S))).sum())
        yy = float(w @ hess_w + 2 * q @ w) + squares
        # In units in which the Hessian's diagonal is one, because the solver compares features.
        curvature = np.diagonal(hess)
        unit = 1 / np.sqrt(np.where(curvature > 0, curvature, 1.0))
        hess *= unit * unit[:, None]
        l1, l2, start = l1[features] * unit, l2[features] * unit**2, w / unit
        model, tol = GramLoss(hess, unit * (q + hess_w), yy), 2 * _INNER_GAP * gap / yy
        new_w = solve_gram_lasso(model, l1, l2, tol=tol, max_iter=_MAX_SWEEPS, start=start).w
        new_w = _refine(hess, unit * q - hess @ (new_w - start), new_w, l1, l2)
        new_W = np.zeros_like(W)
        new_W[features, classes] = unit * new_w
        return (new_W[:-1], new_W[-1]) if self._has_intercept else (new_W, np.zeros(self._n_classes))

    def _hessian(self, p: Floats, features: Longs, classes: Longs) -> Floats:
        """Return the Hessian of the loss in the weights of the features for the classes, sorted by class."""
        occurring, positions = np.unique(features, return_inverse=True)
        stops = np.cumsum(np.bincount(classes, minlength=self._n_classes))
        blocks = [slice(*bounds) for bounds in zip([0, *stops[:-1]], stops, strict=True)]
        # 1 − p without cancellation
        variance = np.maximum(p * (p @ (1 - np.eye(self._n_classes))), _MIN_VARIANCE)
        outer, diagonal_blocks = np.zeros((len(features),) * 2), [np.zeros(())] * self._n_classes
        size = max(1, _BLOCK_CELLS // len(features))
        for start in range(0, self._X.n_rows, size):
            rows = slice(start, min(start + size, self._X.n_rows))
            X = self._X.slice_rows(rows.start, rows.stop).dense_columns(occurring)[:, positions]
            X *= np.sqrt(self._loss.weights[rows])
            for a, block in enumerate(blocks):
                root = X[:, block] * np.sqrt(variance[rows, a, None])
                diagonal_blocks[a] = diagonal_blocks[a] + root.T @ root
            X *= p[rows][:, classes]
            outer += X.T @ X
        hess = -outer
        for block, values in zip(blocks, diagonal_blocks, strict=True):
            hess[block, block] = values
        self._add_constant_curvature(hess, features)
        return hess

    def _add_constant_curvature(self, hess: Floats, features: Longs) -> None:
        """Add a little curvature where a feature's weights of all classes change by the same value."""
        diagonal = np.diagonal(hess).copy()
        counts = np.bincount(features)
        for feature in np.flatnonzero(counts == self._n_classes).tolist():
            indices = np.flatnonzero(features == feature)
            hess[np.ix_(indices, indices)] += _CONSTANT_CURVATURE * diagonal[indices].mean()


def _refine(hess: Floats, q: Floats, w: Floats, l1: Floats, l2: Floats) -> Floats:
    """Solve for the weights w that are not zero once more, from their negative gradient q.

    The gap of the quadratic model is a difference of large sums, and small errors of q are lost in it.
    """
    active = (w != 0) | (l1 == 0)
    grad = (l1 * np.sign(w) + l2 * w - q)[active]
    step = solve_newton_system(hess[np.ix_(active, active)] + np.diag(l2[active]), grad[:, None])
    refined = w.copy()
    refined[active] += step[:, 0]
    return refined if (refined * w >= 0)[l1 > 0].all() else w


def centre_weights(W: Floats, l1: Floats, l2: Floats) -> Floats:
    """Add to each feature's weights [d, k] the constant that makes their penalty smallest, if l2 is zero.

    Softmax loss does not change. With l1 the weights' median becomes zero; without, their mean.
    """
    ordered = np.sort(W, axis=1)
    low, high = ordered[:, (W.shape[1] - 1) // 2], ordered[:, W.shape[1] // 2]
    median = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    constant = np.where(l1 > 0, median, W.mean(axis=1))
    return np.asarray(W - np.where(l2 > 0, 0.0, constant)[:, None])
