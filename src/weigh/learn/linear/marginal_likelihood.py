"""Marginal likelihood of a linear model, and the prior scale and noise that maximise it (empirical Bayes).

The model is y = b + X w + noise with w ~ Normal(0, γ² / direction) and noise of standard deviation σ (σ/√s
for a row of weight s). The intercept and features of direction zero have a flat prior of density one and are
integrated out. With α = σ²/γ², the reduced moments `gram`, `rhs` and `yy` (see `ReducedMoments`), k features
without a prior, and m = n − k − 1 (n − k without an intercept),

    log p(y) = −m/2 log(2πσ²) − (yy − rhsᵀ (gram + α)⁻¹ rhs) / (2σ²) − ½ log det(I + gram / α)
               + ½ Σ log sᵢ − ½ log N − ½ log det(Gram matrix of those k),

where log N occurs only with an intercept. Reference: MacKay (1992), "Bayesian interpolation".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.advice import Call, Setting
from weigh.errors import DataError
from weigh.features.blocks import Floats
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import regularised_inverse
from weigh.learn.linear.ridge import ReducedMoments

_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class ScaleEstimate:
    """The prior scale γ, the noise σ, and log p(y) at both."""

    gamma: float
    sigma: float
    log_marginal_likelihood: float


class MarginalLikelihood:
    """The marginal likelihood for any γ and σ, from one tridiagonal reduction of the moments."""

    def __init__(self, moments: Moments, direction: Floats | None = None) -> None:
        direction = np.ones(moments.width) if direction is None else direction
        reduced = ReducedMoments.from_moments(moments, direction)
        self.tridiagonal = algebra.TridiagonalReduction(reduced.gram)
        self.rhs, self.yy = self.tridiagonal.apply_q_transpose(reduced.rhs), reduced.yy
        self.mean_eigenvalue = float(np.trace(reduced.gram) / max(1, len(reduced.gram))) or 1.0
        self.degrees_of_freedom = moments.n_rows - len(reduced.unpenalised_weights) - moments.has_intercept
        if self.degrees_of_freedom < 1:
            raise DataError(
                f"{moments.n_rows} rows cannot determine the prior's scale: the bias and the features "
                "without a prior fit them exactly. Give more rows."
            )
        self.constant = 0.5 * moments.sum_log_weights - (
            0.5 * math.log(moments.total_weight) if moments.has_intercept else 0.0
        )
        if len(reduced.unpenalised_root):
            # F Fᵀ is the inverse of their Gram matrix, and F is triangular.
            self.constant += float(np.log(np.abs(np.diagonal(reduced.unpenalised_root))).sum())

    def residual_and_log_determinant(self, alpha: float) -> tuple[float, float]:
        """Return yy − rhsᵀ (gram + α)⁻¹ rhs and log det(I + gram / α)."""
        v, log_det = self.tridiagonal.solve_with_shift(alpha, self.rhs)
        residual = self.yy - float(self.rhs @ v)
        return max(residual, np.finfo(np.float64).tiny), log_det - self.tridiagonal.width * math.log(alpha)

    def log_density(self, gamma: float, sigma: float) -> float:
        """Return log p(y)."""
        residual, log_det = self.residual_and_log_determinant(sigma**2 / gamma**2)
        misfit = self.degrees_of_freedom * math.log(2 * math.pi * sigma**2) + residual / sigma**2
        return self.constant - 0.5 * (misfit + log_det)

    def optimal_noise(self, alpha: float) -> float:
        """Return the σ that maximises the likelihood for a given α = σ²/γ²."""
        return math.sqrt(self.residual_and_log_determinant(alpha)[0] / self.degrees_of_freedom)

    def profile_log_density(self, alpha: float) -> float:
        """Return log p(y) for α = σ²/γ² at the optimal σ."""
        sigma = self.optimal_noise(alpha)
        return self.log_density(sigma / math.sqrt(alpha), sigma)


def log_marginal_likelihood(
    moments: Moments, gamma: float, sigma: float, direction: Floats | None = None
) -> float:
    """Return log p(y) with weights and intercept integrated out."""
    return MarginalLikelihood(moments, direction).log_density(gamma, sigma)


def estimate_scales(moments: Moments, direction: Floats | None = None) -> ScaleEstimate:
    """Return the γ and σ that maximise the marginal likelihood."""
    likelihood = MarginalLikelihood(moments, direction)
    mean = likelihood.mean_eigenvalue
    alpha = _maximise(likelihood.profile_log_density, 1e-9 * mean, 1e9 * mean)
    sigma = likelihood.optimal_noise(alpha)
    return ScaleEstimate(sigma / math.sqrt(alpha), sigma, likelihood.profile_log_density(alpha))


def estimate_noise(moments: Moments, gamma: float, direction: Floats | None = None) -> ScaleEstimate:
    """Return the σ that maximises the marginal likelihood for a given γ."""
    likelihood = MarginalLikelihood(moments, direction)
    # For smaller values the residual is lost in the rounding of the targets' squares.
    low = 1e-9 * likelihood.mean_eigenvalue
    high = max(likelihood.yy / likelihood.degrees_of_freedom / gamma**2, 100 * low)
    alpha = _maximise(lambda x: likelihood.log_density(gamma, gamma * math.sqrt(x)), low, 2 * high)
    sigma = gamma * math.sqrt(alpha)
    return ScaleEstimate(gamma, sigma, likelihood.log_density(gamma, sigma))


def effective_degrees_of_freedom(moments: Moments, l2: Floats) -> float:
    """Return the trace of gram (gram + diag(l2))⁻¹, plus one for the intercept."""
    return float((moments.gram * regularised_inverse(moments, l2)).sum()) + moments.has_intercept


def residual_noise_std(moments: Moments, w: Floats, l2: Floats) -> float:
    """Estimate the noise from the residuals: √(Σ s r² / (n − effective degrees of freedom))."""
    dof = moments.n_rows - effective_degrees_of_freedom(moments, l2)
    if dof <= 0.5:
        raise DataError(
            f"The weights fit all {moments.n_rows} rows, so the noise cannot be estimated from the "
            "residuals.",
            hint=("State it, for example ", Setting("noise", Call("Normal", 1.0)), ", or give more rows."),
        )
    return math.sqrt(float(moments.squared_error(w)) / dof)


def _maximise(f: Callable[[float], float], low: float, high: float) -> float:
    """Maximise f over low ≤ x ≤ high: on a logarithmic grid, then by golden-section search."""
    grid = np.linspace(math.log(low), math.log(high), 6 * max(2, round(math.log10(high / low))) + 1)
    best = int(np.argmax([f(math.exp(log_x)) for log_x in grid.tolist()]))
    left, right = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    while right - left > 1e-9:
        a, b = right - _GOLDEN_RATIO * (right - left), left + _GOLDEN_RATIO * (right - left)
        if f(math.exp(a)) >= f(math.exp(b)):
            right = b
        else:
            left = a
    return math.exp((left + right) / 2)
