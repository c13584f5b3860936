"""Certificates of regression solutions, tolerances, environments, and the calls of adelie and glmnet.

Certificates are computed from the weights alone. Least squares minimises ½‖y − Xw − b‖² + l1 ‖w‖₁ + ½ l2
‖w‖², logistic regression Σ log(1 + exp(−y x·w)) plus the same penalties. A duality gap bounds the excess
over the minimum from above; the dual point is the rescaled residual. Gaps of least squares are relative to
the objective of the model without features, those of logistic regression to the objective itself.

A call takes rows (Fortran order or CSC), targets, the values of λ and a tolerance; it returns weights [k, d],
intercepts [k] and, after cross-validation, the chosen λ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.job import CORES, Contender

Floats = npt.NDArray[np.float64]

LOOSE, TIGHT = 1e-4, 1e-6  # duality gaps, or relative excess over the minimum
PACKAGES = ("weigh", "numpy", "scipy", "scikit-learn")
GLUM: dict[str, Any] = {"environment": "peers", "needs": ("glum",)}
STATSMODELS: dict[str, Any] = {"environment": "peers", "needs": ("statsmodels",)}
CELER: dict[str, Any] = {"environment": "peers", "needs": ("celer",)}
SKGLM: dict[str, Any] = {"environment": "peers", "needs": ("skglm",)}
ADELIE: dict[str, Any] = {"environment": "older", "needs": ("adelie",)}
GLMNET: dict[str, Any] = {"environment": "older", "needs": ("python-glmnet",)}


def ladder(first: int, last: int) -> tuple[float, ...]:
    """Return tolerances from 10^−first to 10^−last, two per power of ten."""
    return tuple(float(f"{10.0 ** (-k / 2):.0e}") for k in range(2 * first, 2 * last + 1))


class Solution(NamedTuple):
    """Weights [d] or [k, d], intercepts, and the scale of the penalty if the solver chose it."""

    weights: Any
    bias: Any = 0.0
    scale: float = 0.0


def fit(make: Callable[..., Any], problem: Any, tol: float | None = None) -> Solution:
    """Fit an estimator on the problem's rows and return its solution."""
    model = make(problem, tol).fit(problem.X, problem.y)
    return Solution(np.ravel(model.coef_), model.intercept_)


def estimator(name: str, make: Callable[[Any, float | None], Any], **fields: Any) -> Contender:
    return Contender(name, partial(fit, make), **fields)


def linear_model(name: str) -> Any:
    return getattr(import_module("sklearn.linear_model"), name)


def adelie_call(
    X: Any, y: Any, l1: Any, tol: float, method: str = "rows", last_of: int = 0
) -> tuple[Any, ...]:
    """Run adelie on a path, or to its last λ in `last_of` steps, which allows screening."""
    ad = import_module("adelie")
    n = len(y)
    if last_of:
        l1 = np.geomspace(l1[0], l1[-1], last_of + 1)[1:]
    settings = {"tol": tol, "early_exit": False, "progress_bar": False, "n_threads": CORES}
    if method == "gram":
        return _adelie_gram(ad, X, y, np.asarray(l1) / n, settings)
    wrap = ad.matrix.dense if isinstance(X, np.ndarray) else ad.matrix.sparse
    rows, loss = wrap(X, method="naive", n_threads=CORES), ad.glm.gaussian(y)
    if method == "cv":
        # Five folds over adelie's own grid of 100 values, then the path down to the selected one.
        cv = ad.cv_grpnet(rows, loss, n_folds=5, min_ratio=1e-3, seed=0, **settings)
        del settings["early_exit"]  # set by fit itself
        state = cv.fit(rows, loss, **settings)
        return state.betas[-1].toarray(), state.intercepts[-1:], float(cv.lmdas[cv.best_idx] * n)
    state = ad.grpnet(rows, loss, lmda_path=np.asarray(l1) / n, **settings)
    weights = state.betas.toarray()
    return (weights[-1:], state.intercepts[-1:]) if last_of else (weights, state.intercepts)


def _adelie_gram(ad: Any, X: Any, y: Any, path: Any, settings: dict[str, Any]) -> tuple[Any, ...]:
    """Run the covariance method; forming the Gram matrix of the centred rows is part of the call."""
    n, mean = len(y), X.mean(axis=0)
    A = np.asfortranarray((X.T @ X - n * np.outer(mean, mean)) / n)
    gram = ad.matrix.dense(A, method="cov", n_threads=CORES)
    state = ad.gaussian_cov(gram, X.T @ (y - y.mean()) / n, lmda_path=path, rdev_tol=0.0, **settings)
    weights = state.betas.toarray()
    return weights, y.mean() - weights @ mean


def glmnet_call(X: Any, y: Any, l1: Any, tol: float) -> tuple[Any, ...]:
    make = import_module("glmnet").ElasticNet
    path = np.asarray(l1) / len(y)
    model = make(alpha=1, lambda_path=path, standardize=False, n_splits=0, tol=tol).fit(X, y)
    return model.coef_path_.T, model.intercept_path_


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
