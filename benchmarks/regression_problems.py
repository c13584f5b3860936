"""How good an answer is, from its weights alone: objectives and duality gaps in a few lines of NumPy.

Squares: ½‖y − Xw − b‖² + l1 ‖w‖₁ + ½ l2 ‖w‖²; logistic: Σ log(1 + exp(−y x·w)) + the same penalties. A gap is
an upper bound of the distance to the minimum, from a dual point that the residuals make; it is told as a
share of the objective of the model without features.
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
    """Rows and targets of least squares with an unpenalised bias."""

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
        """The least l1 at which all weights are zero."""
        return float(np.abs(self.X.T @ self.centred).max())

    @cached_property
    def gram(self) -> Floats:
        """The Gram matrix of centred rows."""
        return np.asarray(self.X.T @ self.X - len(self.y) * np.outer(self.means, self.means))

    def _residuals(self, W: Floats, b: Any) -> tuple[Floats, Floats, Floats]:
        """Return centred residuals [n, k], their mean and their products with the columns [d, k]."""
        R = self.y[:, None] - self.X @ W.T - np.asarray(b).reshape(1, -1)
        mean = R.mean(axis=0)
        R -= mean
        return R, mean, np.asarray(self.X.T @ R)

    def lasso_gap(self, W: Any, b: Any, l1: Any) -> Floats:
        """Relative gaps of weights [k, d], one per l1."""
        W, l1 = np.atleast_2d(np.asarray(W, float)), np.atleast_1d(np.asarray(l1, float))
        R, mean, slopes = self._residuals(W, b)
        squares = np.einsum("nk,nk->k", R, R)
        primal = 0.5 * (squares + len(self.y) * mean**2) + l1 * np.abs(W).sum(axis=1)
        scale = l1 / np.maximum(np.abs(slopes).max(axis=0), l1)
        along = self.centred @ R
        # The best multiple of the residuals within |Xᵀθ| ≤ l1.
        best = np.clip(along / np.maximum(squares, 1e-300), 0.0, scale)
        dual = best * along - 0.5 * best**2 * squares
        return np.asarray((primal - dual) / self.null)

    def ridge_gap(self, w: Any, b: Any, l2: float) -> float:
        """The relative gap of weights [d]."""
        w = np.asarray(w, float)
        _, mean, slopes = self._residuals(w[None], b)
        excess = 0.5 * len(self.y) * float(mean[0]) ** 2
        return (excess + 0.5 * float(np.square(l2 * w - slopes[:, 0]).sum()) / l2) / self.null

    def excess(self, w: Any, b: Any) -> float:
        """What the sum of squares is above its minimum, exactly, as a share of the null model's."""
        _, mean, slopes = self._residuals(np.asarray(w, float)[None], b)
        step = np.linalg.solve(self.gram, slopes[:, 0])
        return 0.5 * (len(self.y) * float(mean[0]) ** 2 + float(step @ slopes[:, 0])) / self.null


@dataclass(frozen=True)
class LogisticCertificate:
    """Rows and labels of −1 and 1, without a bias."""

    X: Any
    y: Floats
    l1: float = 0.0
    l2: float = 0.0

    def objective(self, w: Any) -> float:
        w = np.asarray(w, float).ravel()
        loss = float(np.logaddexp(0.0, -self.y * (self.X @ w)).sum())
        return loss + self.l1 * float(np.abs(w).sum()) + 0.5 * self.l2 * float(w @ w)

    def gap(self, w: Any) -> float:
        """An upper bound of what the objective is above its minimum, as a share of the objective."""
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
INFORMATIVE_SHARE = 0.2  # share of the dense columns that matter


@dataclass(frozen=True)
class RegressionTable:
    """Rows in C order and targets, with copies as some peers want them, made before anything is timed."""

    X: Floats
    y: Floats

    @cached_property
    def fortran(self) -> Floats:
        return np.asfortranarray(self.X)

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """Fortran rows and targets without their means, for paths that know no bias."""
        return np.asfortranarray(self.X - self.X.mean(axis=0)), self.y - self.y.mean()


def make_dense(rows: int, width: int) -> RegressionTable:
    """Return correlated normal columns around means of their own; a fifth of them matters."""
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
    """Return few rows of many normal columns, of which 50 matter; the rows are in Fortran order."""
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.standard_normal((rows, width)))
    w = np.zeros(width)
    w[rng.choice(width, 50, replace=False)] = rng.standard_normal(50)
    return RegressionTable(X, X @ w + rng.standard_normal(rows))


def make_wide_sparse(rows: int, width: int, entries: int) -> tuple[Any, Floats]:
    """Return rows like texts with a number each, which 200 of the columns tell in part."""
    X, _ = make_text_like_rows(rows, width, entries)
    rng = np.random.default_rng(2)
    w = np.zeros(width)
    w[rng.choice(width // 10, 200, replace=False)] = rng.standard_normal(200)
    signal = X @ w
    return X, np.asarray(signal + 0.5 * signal.std() * rng.standard_normal(rows))


def make_labelled(rows: int, width: int, entries: int, *, with_noise: bool) -> tuple[Any, Floats]:
    """Return rows like texts with labels of −1 and 1, as they are or a third of them flipped."""
    X, y = make_text_like_rows(rows, width, entries)
    return X, (flip_some_labels(y) if with_noise else y).astype(np.float64)
