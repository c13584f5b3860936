"""What is known of the weights of a linear model after the rows: a normal curve around them.

With noise of standard deviation σ (of a row of weight s, σ/√s), the prior exp(−½ Σ l2ⱼ wⱼ² / σ²) and a bias
of which nothing is known beforehand,

    w ~ Normal(ŵ, C),  C = σ² (gram + diag(l2))⁻¹,   b | w ~ Normal(ȳ − m·w, σ²/N),

so a new row x has the variance σ² + σ²/N + (x − m)ᵀ C (x − m), least at the mean of the rows. Without a prior
σ² is the residuals' Σ s r² / (n − rank − 1), and the normal curve becomes Student's with as many degrees of
freedom: n counts rows, for weights tell how exact a row is, not how often it occurred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.least_squares import LeastSquaresFit
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution
from weigh.model.inference import Posterior, PosteriorSource


def gaussian_posterior(moments: Moments, l2: Floats, sigma: float, w: Floats | None = None) -> Posterior:
    """Return the posterior under known noise; `w` are the weights of the same penalties, if known already."""
    inverse = regularised_inverse(moments, l2)
    w = inverse @ moments.cross if w is None else w
    total = moments.total_weight if moments.has_intercept else 0.0
    b = float(moments.intercept(w))
    return Posterior(w, b, sigma**2 * inverse, moments.mean_x, sigma, total)


def classical_posterior(fit: LeastSquaresFit, n_rows: int, total: float) -> Posterior:
    """Return what a least-squares fit tells of its own errors; total is zero without a bias."""
    found = fit.rank + (total > 0)
    dof = n_rows - found
    if dof <= 0:
        raise DataError(
            f"Standard errors need more rows than weights: {n_rows} rows were given, which determine {found} "
            "weights, so nothing is left to measure the noise by. Give more rows or a prior."
        )
    sigma = math.sqrt(fit.squared_error / dof)
    return Posterior(
        fit.w,
        fit.b,
        sigma**2 * (fit.covariance_root @ fit.covariance_root.T),
        fit.mean_x,
        sigma,
        total,
        float(dof),
    )


def regularised_inverse(moments: Moments, l2: Floats) -> Floats:
    """Return (gram + diag(l2))⁻¹; where features without a penalty repeat each other, the pseudo-inverse."""
    held = (moments.std > 0) | (l2 > 0)
    table = moments.gram + np.diag(l2)
    scale = np.where(held, np.sqrt(np.maximum(np.diagonal(table), 0.0)), 1.0)
    scale[scale == 0] = 1.0
    unit = table / scale[:, None] / scale[None, :]
    lower = algebra.cholesky(unit) if held.all() else None
    if lower is not None and np.square(np.diagonal(lower)).min(initial=1.0) > 1e-13:
        return algebra.cholesky_inverse(lower) / scale[:, None] / scale[None, :]
    unit[~held] = 0.0
    unit[:, ~held] = 0.0
    values, vectors = algebra.eigh(unit)
    kept = values > 1e-13 * len(values) * max(1.0, float(values.max(initial=0.0)))
    half = (vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None]
    return np.asarray(half @ half.T)


@dataclass(frozen=True, eq=False)
class ReindexedPosterior:
    """The posterior of features as they were learned, told of a model's features.

    `places` are where the model's features are among those learned; −1 is an offset, whose weight is one
    and known. The learned weights are distances from their `centre`.
    """

    maker: PosteriorSource
    indices: Longs
    centre: Floats | None

    def posterior(self) -> Posterior:
        """Return the posterior of the model's features."""
        found = self.maker.posterior()
        if self.centre is not None:
            found = replace(found, mean=found.mean + self.centre)
        known = self.indices < 0
        if not known.any():
            return found.reorder(self.indices)
        width = len(found.mean)
        covariance = np.zeros((width + 1, width + 1))
        covariance[:-1, :-1] = found.covariance
        wider = replace(
            found,
            mean=np.append(found.mean, 1.0),
            mean_x=np.append(found.mean_x, 0.0),
            covariance=covariance,
        )
        return wider.reorder(self.indices)


MAX_LAPLACE_FEATURES, MAX_LAPLACE_WORK = (
    1_000,
    2e10,
)  # features; rows × features², of which the curvature is made


@dataclass(frozen=True, eq=False)
class LaplaceApproximation:
    """The posterior of a logistic regression of two classes; rows count as much as they are unsure."""

    moments: Moments
    l2: Floats
    w: Floats
    b: float

    @classmethod
    def at_solution(cls, problem: Problem, solution: Solution) -> LaplaceApproximation | None:
        """Return what the curvature at a solution tells; None where it would cost too much."""
        X = problem.X
        if X.width > MAX_LAPLACE_FEATURES or X.n_rows * X.width**2 > MAX_LAPLACE_WORK:
            return None
        z = X.times(solution.w) + solution.b + (0.0 if problem.offset is None else problem.offset)
        unsure = 1 / (2 + 2 * np.cosh(np.clip(z, -700.0, 700.0)))
        weights = unsure if problem.weights is None else problem.weights * unsure
        moments = Moments.from_rows(X, z, np.maximum(weights, 1e-300), bias=problem.has_intercept)
        return cls(moments, problem.l2, solution.w, float(solution.b))

    def posterior(self) -> Posterior:
        """Return the normal curve around the weights."""
        found = gaussian_posterior(self.moments, self.l2, 1.0, self.w)
        total = self.moments.total_weight if self.moments.has_intercept else 0.0
        return Posterior(found.mean, self.b, found.covariance, found.mean_x, 1.0, total)
