"""How probable the targets are before any weight is known, and the scales that make them most probable.

The model is y = b + X w + noise, w ~ Normal(0, γ² / direction), noise of standard deviation σ (σ/√s of a row
of weight s). Of the bias, and of features with direction zero, nothing is known beforehand: their density is
one everywhere, and they are integrated out. With α = σ²/γ², the moments reduced to `table`, `right` and `yy`
(see spectrum.py), k features without a prior, and m = n − k − 1 (n − k without a bias),

    log p(y) = −m/2 log(2πσ²) − (yy − rightᵀ (table + α)⁻¹ right) / (2σ²) − ½ log det(1 + table / α)
               + ½ Σ log sᵢ − ½ log N − ½ log det(gram of those k)       (log N only with a bias).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import regularised_inverse
from weigh.learn.linear.ridge import ReducedMoments

_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class ScaleEstimate:
    """The prior's scale γ, the noise's σ, and the evidence log p(y) at them."""

    gamma: float
    sigma: float
    log_marginal_likelihood: float


class MarginalLikelihood:
    """The evidence of any γ and σ, from one decomposition of the moments."""

    def __init__(self, moments: Moments, direction: Floats | None = None) -> None:
        direction = np.ones(moments.width) if direction is None else direction
        reduced = ReducedMoments.from_moments(moments, direction)
        self.tridiagonal = algebra.TridiagonalReduction(reduced.gram)
        self.rhs, self.yy = self.tridiagonal.apply_q_transpose(reduced.rhs), reduced.yy
        self.mean_eigenvalue = float(np.trace(reduced.gram) / max(1, len(reduced.gram))) or 1.0
        self.degrees_of_freedom = moments.n_rows - len(reduced.unpenalised_weights) - moments.has_intercept
        if self.degrees_of_freedom < 1:
            raise DataError(
                f"The evidence of {moments.n_rows} rows is the same for all scales: the bias and what "
                "has no prior fit them exactly. Give more rows."
            )
        self.constant = 0.5 * moments.sum_log_weights - (
            0.5 * math.log(moments.total_weight) if moments.has_intercept else 0.0
        )
        if len(reduced.unpenalised_root):
            # F Fᵀ is the inverse of their gram, and F is triangular.
            self.constant += float(np.log(np.abs(np.diagonal(reduced.unpenalised_root))).sum())

    def residual_and_log_determinant(self, alpha: float) -> tuple[float, float]:
        """Return what is left of the targets' squares at σ²/γ² = α, and log det(1 + table / α)."""
        found, determinant = self.tridiagonal.solve_with_shift(alpha, self.rhs)
        left = self.yy - float(self.rhs @ found)
        return max(left, np.finfo(np.float64).tiny), determinant - self.tridiagonal.width * math.log(alpha)

    def log_density(self, gamma: float, sigma: float) -> float:
        """Return log p(y)."""
        left, determinant = self.residual_and_log_determinant(sigma**2 / gamma**2)
        fit = self.degrees_of_freedom * math.log(2 * math.pi * sigma**2) + left / sigma**2
        return self.constant - 0.5 * (fit + determinant)

    def optimal_noise(self, alpha: float) -> float:
        """Return the σ that makes the targets most probable at a given σ²/γ²."""
        return math.sqrt(self.residual_and_log_determinant(alpha)[0] / self.degrees_of_freedom)

    def profile_log_density(self, alpha: float) -> float:
        """Return log p(y) at σ²/γ² = α and the best σ for it."""
        sigma = self.optimal_noise(alpha)
        return self.log_density(sigma / math.sqrt(alpha), sigma)


def log_marginal_likelihood(
    moments: Moments, gamma: float, sigma: float, direction: Floats | None = None
) -> float:
    """Return the logarithm of the targets' density, weights and bias integrated out."""
    return MarginalLikelihood(moments, direction).log_density(gamma, sigma)


def estimate_scales(moments: Moments, direction: Floats | None = None) -> ScaleEstimate:
    """Return the γ and σ that make the targets most probable."""
    evidence = MarginalLikelihood(moments, direction)
    alpha = _maximise(
        evidence.profile_log_density, 1e-9 * evidence.mean_eigenvalue, 1e9 * evidence.mean_eigenvalue
    )
    sigma = evidence.optimal_noise(alpha)
    return ScaleEstimate(sigma / math.sqrt(alpha), sigma, evidence.profile_log_density(alpha))


def estimate_noise(moments: Moments, gamma: float, direction: Floats | None = None) -> ScaleEstimate:
    """Return the σ that makes the targets most probable under a prior of a given scale γ."""
    evidence = MarginalLikelihood(moments, direction)
    # Below the least, what is left of the targets is lost in their rounding.
    least = 1e-9 * evidence.mean_eigenvalue
    most = max(evidence.yy / evidence.degrees_of_freedom / gamma**2, 100 * least)
    alpha = _maximise(lambda each: evidence.log_density(gamma, gamma * math.sqrt(each)), least, 2 * most)
    sigma = gamma * math.sqrt(alpha)
    return ScaleEstimate(gamma, sigma, evidence.log_density(gamma, sigma))


def effective_degrees_of_freedom(moments: Moments, l2: Floats) -> float:
    """Return how many weights the rows determine: the trace of gram (gram + diag(l2))⁻¹, one for the bias."""
    return float((moments.gram * regularised_inverse(moments, l2)).sum()) + moments.has_intercept


def residual_noise_std(moments: Moments, w: Floats, l2: Floats) -> float:
    """Return the noise's standard deviation from residuals: √(Σ s r² / (n − effective weights))."""
    left = moments.n_rows - effective_degrees_of_freedom(moments, l2)
    if left <= 0.5:
        raise DataError(
            f"The weights fit all {moments.n_rows} rows, so the residuals tell nothing of the noise: "
            "state it, as in noise=Normal(1.0), or give more rows."
        )
    return math.sqrt(float(moments.squared_error(w)) / left)


def _maximise(height: Callable[[float], float], low: float, high: float) -> float:
    """Return where a curve over a positive number is highest: on a grid, then by golden section."""
    grid = np.linspace(math.log(low), math.log(high), 6 * max(2, round(math.log10(high / low))) + 1)
    best = int(np.argmax([height(math.exp(each)) for each in grid.tolist()]))
    left, right = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    while right - left > 1e-9:
        a, b = right - _GOLDEN_RATIO * (right - left), left + _GOLDEN_RATIO * (right - left)
        if height(math.exp(a)) >= height(math.exp(b)):
            right = b
        else:
            left = a
    return math.exp((left + right) / 2)
