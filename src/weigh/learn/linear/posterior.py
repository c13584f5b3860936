"""Posterior distributions of the weights of linear and logistic regression.

With noise of standard deviation σ (σ/√s for a row of weight s), the prior exp(−½ Σ l2ⱼ wⱼ² / σ²) and a flat
prior for the intercept,

    w ~ Normal(ŵ, C),  C = σ² (gram + diag(l2))⁻¹,   b | w ~ Normal(ȳ − m·w, σ²/N),

so the prediction for a new row x has the variance σ² + σ²/N + (x − m)ᵀ C (x − m), smallest at the mean m.
Without a prior σ² is estimated by Σ s r² / (n − rank − 1), and the normal distribution becomes Student's t
with as many degrees of freedom. n counts rows: weights are precisions, not frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats, Longs
from weigh.immutable import Immutable
from weigh.learn.linear.least_squares import LeastSquaresFit
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution
from weigh.model.inference import Posterior, PosteriorSource

MAX_LAPLACE_FEATURES = 1_000
MAX_LAPLACE_WORK = 2e10  # rows · features²: the cost of the Hessian


def gaussian_posterior(moments: Moments, l2: Floats, sigma: float, w: Floats | None = None) -> Posterior:
    """Return the posterior for known noise; `w` are the weights for these penalties, if already computed."""
    inverse = regularised_inverse(moments, l2)
    w = inverse @ moments.cross if w is None else w
    total = moments.total_weight if moments.has_intercept else 0.0
    b = float(moments.intercept(w))
    return Posterior(w, b, sigma**2 * inverse, moments.mean_x, sigma, total)


def classical_posterior(fit: LeastSquaresFit, n_rows: int, total: float) -> Posterior:
    """Return the sampling distribution of a least-squares fit; `total` is zero without an intercept."""
    n_weights = fit.rank + (total > 0)
    dof = n_rows - n_weights
    if dof <= 0:
        raise DataError(
            f"Standard errors need more rows than weights, but {n_rows} rows were given for {n_weights} "
            "weights, so the noise cannot be estimated. Give more rows or a prior."
        )
    sigma = math.sqrt(fit.squared_error / dof)
    covariance = sigma**2 * (fit.covariance_root @ fit.covariance_root.T)
    return Posterior(fit.w, fit.b, covariance, fit.mean_x, sigma, total, float(dof))


def regularised_inverse(moments: Moments, l2: Floats) -> Floats:
    """Return (gram + diag(l2))⁻¹, or the pseudo-inverse if unpenalised features are linearly dependent."""
    is_determined = (moments.std > 0) | (l2 > 0)
    hess = moments.gram + np.diag(l2)
    scale = np.where(is_determined, np.sqrt(np.maximum(np.diagonal(hess), 0.0)), 1.0)
    scale[scale == 0] = 1.0
    scaled = hess / scale[:, None] / scale[None, :]
    lower = algebra.cholesky(scaled) if is_determined.all() else None
    if lower is not None and np.square(np.diagonal(lower)).min(initial=1.0) > 1e-13:
        return algebra.cholesky_inverse(lower) / scale[:, None] / scale[None, :]
    scaled[~is_determined] = 0.0
    scaled[:, ~is_determined] = 0.0
    values, vectors = algebra.eigh(scaled)
    kept = values > 1e-13 * len(values) * max(1.0, float(values.max(initial=0.0)))
    root = (vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None]
    return np.asarray(root @ root.T)


@dataclass(frozen=True, eq=False)
class ReindexedPosterior(Immutable):
    """A posterior in the feature order of a model.

    `indices` are the positions of the model's features among the fitted ones, −1 for an offset, whose weight
    is exactly one. The fitted weights are relative to their `centre`.
    """

    maker: PosteriorSource
    indices: Longs
    centre: Floats | None

    def posterior(self) -> Posterior:
        """Return the posterior of the model's features."""
        posterior = self.maker.posterior()
        if self.centre is not None:
            posterior = replace(posterior, mean=posterior.mean + self.centre)
        if not (self.indices < 0).any():
            return posterior.reorder(self.indices)
        width = len(posterior.mean)
        covariance = np.zeros((width + 1, width + 1))
        covariance[:-1, :-1] = posterior.covariance
        with_offset = replace(
            posterior,
            mean=np.append(posterior.mean, 1.0),
            mean_x=np.append(posterior.mean_x, 0.0),
            covariance=covariance,
        )
        return with_offset.reorder(self.indices)


@dataclass(frozen=True, eq=False)
class LaplaceApproximation(Immutable):
    """Laplace approximation of binary logistic regression: moments of rows weighted by p (1 − p)."""

    moments: Moments
    l2: Floats
    w: Floats
    b: float

    @classmethod
    def at_solution(cls, problem: Problem, solution: Solution) -> LaplaceApproximation | None:
        """Return the approximation at a solution, or None if its Hessian would be too expensive."""
        X = problem.X
        if X.width > MAX_LAPLACE_FEATURES or X.n_rows * X.width**2 > MAX_LAPLACE_WORK:
            return None
        z = X.times(solution.w) + solution.b + (0.0 if problem.offset is None else problem.offset)
        variance = 1 / (2 + 2 * np.cosh(np.clip(z, -700.0, 700.0)))  # p (1 − p)
        weights = variance if problem.weights is None else problem.weights * variance
        moments = Moments.from_rows(X, z, np.maximum(weights, 1e-300), has_intercept=problem.has_intercept)
        return cls(moments, problem.l2, solution.w, float(solution.b))

    def posterior(self) -> Posterior:
        """Return the normal distribution around the weights."""
        return replace(gaussian_posterior(self.moments, self.l2, 1.0, self.w), intercept=self.b)
