"""Mistake bounds for inseparable rows, in terms of the hinge loss of a plane.

A perceptron that made M mistakes, on the examples S, ends at w = Σ_S y·x with ‖w‖ ≤ √M·R. For any
unit vector u and any γ > 0, the product w·u = Σ_S y·u·x is at least

* Mγ − √M·D, where D² = Σ max(0, γ − y·u·x)² over all examples shown: hence √M ≤ (R + D)/γ;
* γ(M − L), where L = Σ max(0, 1 − y·u·x/γ): hence M − L ≤ √M·R/γ, a quadratic in √M.

Both hold for every u and γ, so they may be chosen to minimise the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.margins.convex_hulls import FLOAT64_EPSILON, HullVertices, product_lower_bounds

MAX_OUTER_STEPS = 30
MAX_NEWTON_STEPS = 4
MAX_CG_STEPS = 30
GOLDEN_SECTION = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class HingeBound:
    """The smallest bound found, with its form and the unit vector u = (w, b) and γ that prove it."""

    bound: float
    form: str
    u: Floats
    gamma: float
    loss: float


def hinge_bound(vertices: HullVertices, passes: int) -> HingeBound:
    """Search for the unit vector and γ of the smallest bound."""
    best = HingeBound(float(vertices.n_vertices * passes), "count", np.zeros(vertices.width), math.inf, 0.0)
    for w in _candidate_planes(vertices, passes):
        if not w.any():
            continue
        products = product_lower_bounds(vertices, w)
        for form, root in (("squared hinge", _squared_hinge_root), ("hinge", _hinge_root)):
            t, value = _golden_section_minimum(
                products, float(vertices.norms.max()), vertices.n_vertices, passes, root
            )
            bound = value**2 * (1.0 + 2 * FLOAT64_EPSILON * (vertices.n_vertices + vertices.width + 16))
            if bound < best.bound:
                gamma = vertices.scale / t
                hinge = np.maximum(1.0 - t * products, 0.0)
                loss = passes * float((hinge**2).sum() if root is _squared_hinge_root else hinge.sum())
                best = HingeBound(bound, form, w / np.linalg.norm(w), gamma, loss)
    return best


def _squared_hinge_root(products: Floats, radius: float, passes: int, t: float) -> float:
    """Return the bound on √M of the squared form with γ = 1/t; convex in t."""
    return radius * t + math.sqrt(passes) * float(np.linalg.norm(np.maximum(1.0 - t * products, 0.0)))


def _hinge_root(products: Floats, radius: float, passes: int, t: float) -> float:
    """Return the bound on √M of the linear form with γ = 1/t; unimodal in t."""
    loss = passes * float(np.maximum(1.0 - t * products, 0.0).sum())
    return (radius * t + math.sqrt((radius * t) ** 2 + 4.0 * loss)) / 2.0


def _golden_section_minimum(
    products: Floats, radius: float, n: int, passes: int, root: Callable[[Floats, float, int, float], float]
) -> tuple[float, float]:
    """Return the minimiser t of the root and its minimum, by golden-section search.

    The root is at least R·t and is √(n·passes) at t = 0, which bounds t from above.
    """
    low, high = 0.0, math.sqrt(n * passes) / radius
    inner = [high - GOLDEN_SECTION * (high - low), low + GOLDEN_SECTION * (high - low)]
    values = [root(products, radius, passes, t) for t in inner]
    for _ in range(80):
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - GOLDEN_SECTION * (high - low)
            values[0] = root(products, radius, passes, inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + GOLDEN_SECTION * (high - low)
            values[1] = root(products, radius, passes, inner[1])
    best = 0 if values[0] <= values[1] else 1
    return inner[best], values[best]


def _candidate_planes(vertices: HullVertices, passes: int) -> Iterator[Floats]:
    """Yield the iterates that minimise the squared form, R‖w‖ + √T‖max(0, 1 − y·w·x)‖.

    Majorisation–minimisation: both norms are majorised by parabolas that touch them at the current w. The sum
    of the parabolas is a ridge problem, and each step to its minimum lowers the bound.
    """
    radius = float(vertices.norms.max())
    w = vertices.combine(np.full(vertices.n_vertices, 1.0 / vertices.n_vertices))
    if not w.any():
        # The objective is convex in w and increases from zero in every direction: zero is optimal.
        return
    w = w / np.linalg.norm(w)
    yield w
    t, last = _golden_section_minimum(
        vertices.dot(w), radius, vertices.n_vertices, passes, _squared_hinge_root
    )
    w = w * t
    for _ in range(MAX_OUTER_STEPS):
        hinge_norm = float(np.linalg.norm(np.maximum(1.0 - vertices.dot(w), 0.0)))
        norm = float(np.linalg.norm(w))
        if norm <= FLOAT64_EPSILON or hinge_norm <= FLOAT64_EPSILON:
            break
        w = _minimise_ridge(vertices, w, radius * hinge_norm / (math.sqrt(passes) * norm))
        yield w
        value = _squared_hinge_root(vertices.dot(w), radius, passes, 1.0)
        if value >= last * (1.0 - 1e-6):
            break
        last = value


def _minimise_ridge(vertices: HullVertices, w: Floats, c: float) -> Floats:
    """Minimise c‖w‖² + Σ max(0, 1 − y·w·x)² by a few Newton steps with backtracking."""

    def objective(w: Floats) -> float:
        return c * float(w @ w) + float((np.maximum(1.0 - vertices.dot(w), 0.0) ** 2).sum())

    value = objective(w)
    for _ in range(MAX_NEWTON_STEPS):
        hinge = 1.0 - vertices.dot(w)
        active = (hinge > 0.0).astype(np.float64)
        step = _conjugate_gradient(vertices, active, c, vertices.combine(active * hinge) - c * w)
        alpha = 1.0
        while objective(w + alpha * step) > value and alpha > 1e-6:
            alpha /= 2.0
        trial = objective(w + alpha * step)
        if trial >= value * (1.0 - 1e-9):
            break
        w, value = w + alpha * step, trial
    return w


def _conjugate_gradient(vertices: HullVertices, active: Floats, c: float, rhs: Floats) -> Floats:
    """Solve (c I + VᵀAV) s = rhs by conjugate gradients, with A = diag(active)."""
    s = np.zeros(vertices.width)
    residual, direction = rhs.copy(), rhs.copy()
    rho = rho_0 = float(residual @ residual)
    for _ in range(MAX_CG_STEPS):
        if rho <= 1e-12 * rho_0 or rho == 0.0:
            break
        product = c * direction + vertices.combine(active * vertices.dot(direction))
        alpha = rho / float(direction @ product)
        s += alpha * direction
        residual -= alpha * product
        rho_old, rho = rho, float(residual @ residual)
        direction = residual + rho / rho_old * direction
    return s
