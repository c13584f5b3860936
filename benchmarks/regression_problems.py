"""Regression problems, and certificates of their solutions computed from the weights alone.

Least squares minimises ½‖y − Xw − b‖² + l1 ‖w‖₁ + ½ l2 ‖w‖², logistic regression Σ log(1 + exp(−y x·w)) plus
the same penalties. A duality gap bounds the excess over the minimum from above; the dual point is the
rescaled residual. Gaps of least squares are relative to the objective of the model without features, those
of logistic regression to the objective itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.online_speed import flip_some_labels, make_text_like_rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LeastSquaresCertificate:
    """Duality gaps of least squares with an unpenalised intercept."""

    X: Any
    y: Floats

    @cached_property
    def centred(self) -> Floats:
        return np.asarray(self.y - self.y.mean())

    @property
    def null(self) -> float:
        return 0.5 * float(self.centred @ self.centred)

    @cached_property
    def means(self) -> Floats:
        return np.asarray(self.X.mean(axis=0)).ravel()

    @cached_property
    def largest_l1(self) -> float:
        """λmax: the smallest l1 at which all weights are zero."""
        return float(np.abs(self.X.T @ self.centred).max())

    @cached_property
    def gram(self) -> Floats:
        """The Gram matrix of the centred rows."""
        return np.asarray(self.X.T @ self.X - len(self.y) * np.outer(self.means, self.means))

    def _residuals(self, W: Floats, b: Any) -> tuple[Floats, Floats, Floats]:
        """Return the centred residuals R [n, k], their means [k] and XᵀR [d, k]."""
        R = self.y[:, None] - self.X @ W.T - np.asarray(b).reshape(1, -1)
        mean = R.mean(axis=0)
        R -= mean
        return R, mean, np.asarray(self.X.T @ R)

    def lasso_gap(self, W: Any, b: Any, l1: Any) -> Floats:
        """Return the relative gaps of weights [k, d], one per l1."""
        W, l1 = np.atleast_2d(np.asarray(W, float)), np.atleast_1d(np.asarray(l1, float))
        R, mean, correlations = self._residuals(W, b)
        squares = np.einsum("nk,nk->k", R, R)
        primal = 0.5 * (squares + len(self.y) * mean**2) + l1 * np.abs(W).sum(axis=1)
        scale = l1 / np.maximum(np.abs(correlations).max(axis=0), l1)
        y_dot_R = self.centred @ R
        # The multiple of the residuals with the highest dual objective subject to |Xᵀθ| ≤ l1.
        step = np.clip(y_dot_R / np.maximum(squares, 1e-300), 0.0, scale)
        dual = step * y_dot_R - 0.5 * step**2 * squares
        return np.asarray((primal - dual) / self.null)

    def ridge_gap(self, w: Any, b: Any, l2: float) -> float:
        """Return the relative gap of weights [d]."""
        w = np.asarray(w, float)
        _, mean, correlations = self._residuals(w[None], b)
        excess = 0.5 * len(self.y) * float(mean[0]) ** 2
        return (excess + 0.5 * float(np.square(l2 * w - correlations[:, 0]).sum()) / l2) / self.null

    def excess(self, w: Any, b: Any) -> float:
        """Return the exact excess of the sum of squares over its minimum, relative to the null model."""
        _, mean, correlations = self._residuals(np.asarray(w, float)[None], b)
        step = np.linalg.solve(self.gram, correlations[:, 0])
        return 0.5 * (len(self.y) * float(mean[0]) ** 2 + float(step @ correlations[:, 0])) / self.null


@dataclass(frozen=True)
class LogisticCertificate:
    """Objective and duality gap of logistic regression without intercept; labels are −1 and 1."""

    X: Any
    y: Floats
    l1: float = 0.0
    l2: float = 0.0

    def objective(self, w: Any) -> float:
        w = np.asarray(w, float).ravel()
        loss = float(np.logaddexp(0.0, -self.y * (self.X @ w)).sum())
        return loss + self.l1 * float(np.abs(w).sum()) + 0.5 * self.l2 * float(w @ w)

    def gap(self, w: Any) -> float:
        """Return an upper bound of the objective's excess over its minimum, relative to the objective."""
        w = np.asarray(w, float).ravel()
        primal = self.objective(w)
        a = 1.0 / (1.0 + np.exp(self.y * (self.X @ w)))
        slopes = self.X.T @ (self.y * a)
        if self.l1:
            a = a * min(1.0, self.l1 / float(np.abs(slopes).max()))
        entropy = -float((_x_log_x(a) + _x_log_x(1.0 - a)).sum())
        dual = entropy - (0.0 if self.l1 else 0.5 * float(slopes @ slopes) / self.l2)
        return (primal - dual) / primal


def _x_log_x(a: Floats) -> Floats:
    return np.asarray(a * np.log(np.maximum(a, 1e-300)))


COLUMN_CORRELATION = 0.5  # correlation of neighbouring columns of the dense tables
INFORMATIVE_SHARE = 0.2  # share of the dense columns with a non-zero weight


@dataclass(frozen=True)
class RegressionTable:
    """Rows and targets, with copies in the formats of some peers, made before anything is timed."""

    X: Floats
    y: Floats

    @cached_property
    def fortran(self) -> Floats:
        return np.asfortranarray(self.X)

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """Centred rows in Fortran order and centred targets, for paths without an intercept."""
        return np.asfortranarray(self.X - self.X.mean(axis=0)), self.y - self.y.mean()


def make_dense(rows: int, width: int) -> RegressionTable:
    """Return rows of correlated normal columns with different means; a fifth of them are informative."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(0)
    X = lfilter(
        [np.sqrt(1 - COLUMN_CORRELATION**2)],
        [1.0, -COLUMN_CORRELATION],
        rng.standard_normal((rows, width)),
        axis=1,
    )
    X += rng.standard_normal(width)
    w = rng.standard_normal(width) * (rng.random(width) < INFORMATIVE_SHARE)
    y = X @ w + 10.0 * rng.standard_normal(rows)
    return RegressionTable(np.ascontiguousarray(X), y)


def make_wide(rows: int, width: int) -> RegressionTable:
    """Return few rows of many normal columns, 50 of them informative, in Fortran order."""
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.standard_normal((rows, width)))
    w = np.zeros(width)
    w[rng.choice(width, 50, replace=False)] = rng.standard_normal(50)
    return RegressionTable(X, X @ w + rng.standard_normal(rows))


def make_wide_sparse(rows: int, width: int, entries: int) -> tuple[Any, Floats]:
    """Return text-like sparse rows and noisy targets that depend on 200 columns."""
    X, _ = make_text_like_rows(rows, width, entries)
    rng = np.random.default_rng(2)
    w = np.zeros(width)
    w[rng.choice(width // 10, 200, replace=False)] = rng.standard_normal(200)
    signal = X @ w
    return X, np.asarray(signal + 0.5 * signal.std() * rng.standard_normal(rows))


def make_labelled(rows: int, width: int, entries: int, *, with_noise: bool) -> tuple[Any, Floats]:
    """Return text-like sparse rows with labels −1 and 1, separable or with noise."""
    X, y = make_text_like_rows(rows, width, entries)
    return X, (flip_some_labels(y) if with_noise else y).astype(np.float64)
