"""Mistake bounds for rows that no plane separates: what a plane gets wrong is paid for.

A perceptron that made M mistakes, on the examples S, ends at w = Σ_S y·x with ‖w‖ ≤ √M·R. For any
unit vector u and any γ > 0, the product w·u = Σ_S y·u·x is at least

* Mγ − √M·D, where D² = Σ max(0, γ − y·u·x)² over all examples shown: hence √M ≤ (R + D)/γ;
* γ(M − L), where L = Σ max(0, 1 − y·u·x/γ): hence M − L ≤ √M·R/γ, a quadratic in √M.

Both hold for every u and γ, so that the best ones may be searched after the fact.
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
    """The smallest bound found: its form, the unit vector u = (w, b) and the γ that prove it."""

    bound: float
    form: str
    u: Floats
    gamma: float
    loss: float


def hinge_bound(vertices: HullVertices, passes: int) -> HingeBound:
    """Search the unit vector and γ of the smallest bound."""
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
                short = np.maximum(1.0 - t * products, 0.0)
                loss = passes * float((short**2).sum() if root is _squared_hinge_root else short.sum())
                best = HingeBound(bound, form, w / np.linalg.norm(w), gamma, loss)
    return best


def _squared_hinge_root(products: Floats, radius: float, passes: int, t: float) -> float:
    """√M of the squared form with γ = 1/t, which is convex in t."""
    return radius * t + math.sqrt(passes) * float(np.linalg.norm(np.maximum(1.0 - t * products, 0.0)))


def _hinge_root(products: Floats, radius: float, passes: int, t: float) -> float:
    """√M of the linear form with γ = 1/t, which has one valley in t."""
    loss = passes * float(np.maximum(1.0 - t * products, 0.0).sum())
    return (radius * t + math.sqrt((radius * t) ** 2 + 4.0 * loss)) / 2.0


def _golden_section_minimum(
    products: Floats, radius: float, n: int, passes: int, root: Callable[[Floats, float, int, float], float]
) -> tuple[float, float]:
    """The t of the smallest root, by golden section: no root is smaller than R·t."""
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
    at = 0 if values[0] <= values[1] else 1
    return inner[at], values[at]


def _candidate_planes(vertices: HullVertices, passes: int) -> Iterator[Floats]:
    """Yield planes on the way to the smallest squared form, R‖w‖ + √T‖max(0, 1 − y·w·x)‖.

    Both norms lie below parabolas that touch them at the present w; the sum of the parabolas is a
    ridge problem, and each step to its minimum lowers the bound.
    """
    radius = float(vertices.norms.max())
    w = vertices.combine(np.full(vertices.n_vertices, 1.0 / vertices.n_vertices))
    if not w.any():
        # The sum is convex in w and its slope at zero is R then: no plane is better than none.
        return
    w = w / np.linalg.norm(w)
    yield w
    t, last = _golden_section_minimum(
        vertices.dot(w), radius, vertices.n_vertices, passes, _squared_hinge_root
    )
    w = w * t
    for _ in range(MAX_OUTER_STEPS):
        short = float(np.linalg.norm(np.maximum(1.0 - vertices.dot(w), 0.0)))
        norm = float(np.linalg.norm(w))
        if norm <= FLOAT64_EPSILON or short <= FLOAT64_EPSILON:
            break
        w = _minimise_ridge(vertices, w, radius * short / (math.sqrt(passes) * norm))
        yield w
        value = _squared_hinge_root(vertices.dot(w), radius, passes, 1.0)
        if value >= last * (1.0 - 1e-6):
            break
        last = value


def _minimise_ridge(vertices: HullVertices, w: Floats, c: float) -> Floats:
    """Take Newton steps towards the minimum of c‖w‖² + Σ max(0, 1 − y·w·x)²."""

    def value(at: Floats) -> float:
        return c * float(at @ at) + float((np.maximum(1.0 - vertices.dot(at), 0.0) ** 2).sum())

    present = value(w)
    for _ in range(MAX_NEWTON_STEPS):
        short = 1.0 - vertices.dot(w)
        active = (short > 0.0).astype(np.float64)
        step = _conjugate_gradient(vertices, active, c, vertices.combine(active * short) - c * w)
        length = 1.0
        while value(w + length * step) > present and length > 1e-6:
            length /= 2.0
        trial = value(w + length * step)
        if trial >= present * (1.0 - 1e-9):
            break
        w, present = w + length * step, trial
    return w


def _conjugate_gradient(vertices: HullVertices, active: Floats, c: float, right: Floats) -> Floats:
    """Solve (c + VᵀAV)·s = right by conjugate gradients."""
    s = np.zeros(vertices.width)
    residual, direction = right.copy(), right.copy()
    square = float(residual @ residual)
    start = square
    for _ in range(MAX_CG_STEPS):
        if square <= 1e-12 * start or square == 0.0:
            break
        along = c * direction + vertices.combine(active * vertices.dot(direction))
        rate = square / float(direction @ along)
        s += rate * direction
        residual -= rate * along
        square, before = float(residual @ residual), square
        direction = residual + square / before * direction
    return s
