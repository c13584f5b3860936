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

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats
from weigh.learn.regress.least_squares import Fit
from weigh.learn.regress.moments import Moments
from weigh.model.posterior import Posterior


def posterior(moments: Moments, l2: Floats, sigma: float, w: Floats | None = None) -> Posterior:
    """Return the posterior under known noise; `w` are the weights of the same penalties, if known already."""
    inverse = inverse_table(moments, l2)
    w = inverse @ moments.cross if w is None else w
    total = moments.total if moments.bias else 0.0
    b = float(moments.intercept(w))
    return Posterior(w, b, sigma**2 * inverse, moments.mean_x, sigma, total)


def classical_of(fit: Fit, n_rows: int, total: float) -> Posterior:
    """Return what a least-squares fit tells of its own errors; total is zero without a bias."""
    found = fit.rank + (total > 0)
    dof = n_rows - found
    if dof <= 0:
        raise DataError(
            f"Standard errors need more rows than weights: {n_rows} rows were given, which determine {found} "
            "weights, so nothing is left to measure the noise by. Give more rows or a prior."
        )
    sigma = math.sqrt(fit.squared_error / dof)
    return Posterior(fit.w, fit.b, sigma**2 * (fit.root @ fit.root.T), fit.mean_x, sigma, total, float(dof))


def inverse_table(moments: Moments, l2: Floats) -> Floats:
    """Return (gram + diag(l2))⁻¹; where features without a penalty repeat each other, the pseudo-inverse."""
    held = (moments.spread > 0) | (l2 > 0)
    table = moments.gram + np.diag(l2)
    scale = np.where(held, np.sqrt(np.maximum(np.diagonal(table), 0.0)), 1.0)
    scale[scale == 0] = 1.0
    unit = table / scale[:, None] / scale[None, :]
    lower = algebra.factor(unit) if held.all() else None
    if lower is not None and np.square(np.diagonal(lower)).min(initial=1.0) > 1e-13:
        return algebra.inverse(lower) / scale[:, None] / scale[None, :]
    unit[~held] = 0.0
    unit[:, ~held] = 0.0
    values, vectors = algebra.eigen(unit)
    kept = values > 1e-13 * len(values) * max(1.0, float(values.max(initial=0.0)))
    half = (vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None]
    return np.asarray(half @ half.T)
