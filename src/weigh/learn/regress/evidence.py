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
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.posterior import inverse_table
from weigh.learn.regress.spectrum import Reduced

_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Scales:
    """The prior's scale γ, the noise's σ, and the evidence log p(y) at them."""

    gamma: float
    sigma: float
    log_evidence: float


class Evidence:
    """The evidence of any γ and σ, from one decomposition of the moments."""

    def __init__(self, moments: Moments, direction: Floats | None = None) -> None:
        direction = np.ones(moments.width) if direction is None else direction
        reduced = Reduced.of(moments, direction)
        self.form = algebra.Tridiagonal(reduced.table)
        self.right, self.yy = self.form.turned(reduced.right), reduced.yy
        self.size = float(np.trace(reduced.table) / max(1, len(reduced.table))) or 1.0
        self.m = moments.n_rows - len(reduced.fixed) - moments.bias
        if self.m < 1:
            raise DataError(
                f"The evidence of {moments.n_rows} rows is the same for all scales: the bias and what "
                "has no prior fit them exactly. Give more rows."
            )
        self.constant = 0.5 * moments.log_weights - (0.5 * math.log(moments.total) if moments.bias else 0.0)
        if len(reduced.free):
            # F Fᵀ is the inverse of their gram, and F is triangular.
            self.constant += float(np.log(np.abs(np.diagonal(reduced.free))).sum())

    def parts(self, alpha: float) -> tuple[float, float]:
        """Return what is left of the targets' squares at σ²/γ² = α, and log det(1 + table / α)."""
        found, determinant = self.form.solved(alpha, self.right)
        left = self.yy - float(self.right @ found)
        return max(left, np.finfo(np.float64).tiny), determinant - self.form.width * math.log(alpha)

    def at(self, gamma: float, sigma: float) -> float:
        """Return log p(y)."""
        left, determinant = self.parts(sigma**2 / gamma**2)
        fit = self.m * math.log(2 * math.pi * sigma**2) + left / sigma**2
        return self.constant - 0.5 * (fit + determinant)

    def best_noise(self, alpha: float) -> float:
        """Return the σ that makes the targets most probable at a given σ²/γ²."""
        return math.sqrt(self.parts(alpha)[0] / self.m)

    def along(self, alpha: float) -> float:
        """Return log p(y) at σ²/γ² = α and the best σ for it."""
        sigma = self.best_noise(alpha)
        return self.at(sigma / math.sqrt(alpha), sigma)


def log_evidence(moments: Moments, gamma: float, sigma: float, direction: Floats | None = None) -> float:
    """Return the logarithm of the targets' density, weights and bias integrated out."""
    return Evidence(moments, direction).at(gamma, sigma)


def choose_scale_by_evidence(moments: Moments, direction: Floats | None = None) -> Scales:
    """Return the γ and σ that make the targets most probable."""
    evidence = Evidence(moments, direction)
    alpha = _summit(evidence.along, 1e-9 * evidence.size, 1e9 * evidence.size)
    sigma = evidence.best_noise(alpha)
    return Scales(sigma / math.sqrt(alpha), sigma, evidence.along(alpha))


def choose_noise_by_evidence(moments: Moments, gamma: float, direction: Floats | None = None) -> Scales:
    """Return the σ that makes the targets most probable under a prior of a given scale γ."""
    evidence = Evidence(moments, direction)
    # Below the least, what is left of the targets is lost in their rounding.
    least = 1e-9 * evidence.size
    most = max(evidence.yy / evidence.m / gamma**2, 100 * least)
    alpha = _summit(lambda each: evidence.at(gamma, gamma * math.sqrt(each)), least, 2 * most)
    sigma = gamma * math.sqrt(alpha)
    return Scales(gamma, sigma, evidence.at(gamma, sigma))


def effective_weights(moments: Moments, l2: Floats) -> float:
    """Return how many weights the rows determine: the trace of gram (gram + diag(l2))⁻¹, one for the bias."""
    return float((moments.gram * inverse_table(moments, l2)).sum()) + moments.bias


def noise_sd(moments: Moments, w: Floats, l2: Floats) -> float:
    """Return the noise's standard deviation from residuals: √(Σ s r² / (n − effective weights))."""
    left = moments.n_rows - effective_weights(moments, l2)
    if left <= 0.5:
        raise DataError(
            f"The weights fit all {moments.n_rows} rows, so the residuals tell nothing of the noise: "
            "state it, as in noise=Normal(1.0), or give more rows."
        )
    return math.sqrt(float(moments.squared_error(w)) / left)


def _summit(height: Callable[[float], float], low: float, high: float) -> float:
    """Return where a curve over a positive number is highest: on a grid, then by golden section."""
    grid = np.linspace(math.log(low), math.log(high), 6 * max(2, round(math.log10(high / low))) + 1)
    best = int(np.argmax([height(math.exp(each)) for each in grid.tolist()]))
    left, right = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    while right - left > 1e-9:
        a, b = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        if height(math.exp(a)) >= height(math.exp(b)):
            right = b
        else:
            left = a
    return math.exp((left + right) / 2)
