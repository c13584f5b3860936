"""Small additive problems, and the same objective written out over dense arrays.

The reference does not use the library's coordinates: its unknowns are the intercepts and, for each effect,
the increments of a curve, the levels or the cells. It centres the heights itself and writes each penalty as a
sum over the heights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize, special

from weigh.learn.additive.effects import Effect, curve_effect, level_effect, pair_effect
from weigh.learn.additive.models import LossMaker
from weigh.learn.additive.problem import AdditiveProblem
from weigh.learn.linear.matrix import SparseMatrix
from weigh.source.sparse_rows import SparseRows

WALK, LINE, MISSING, LEVELS, SURFACE = 3.0, 0.4, 1.3, 0.8, 1.7  # strengths of the reference's penalties


@dataclass
class ReferenceEffect:
    """An effect whose heights are to_heights @ unknowns, with a penalty of the heights."""

    features: Any
    to_heights: Any
    penalty: Any
    bounded: Any
    effect: Effect

    @property
    def size(self) -> int:
        return int(self.to_heights.shape[1])


@dataclass
class Case:
    """An additive problem with its strengths, its targets, and the reference's effects."""

    problem: AdditiveProblem
    strengths: dict[Any, float]
    y: Any
    weights: Any
    n_classes: int
    effects: list[ReferenceEffect]

    @property
    def n_outputs(self) -> int:
        return self.n_classes if self.n_classes > 2 else 1

    def split(self, v: Any) -> tuple[list[Any], Any]:
        """Return the unknowns of each effect [unknowns, outputs], and the intercepts."""
        k = self.n_outputs
        ends = np.cumsum([effect.size * k for effect in self.effects])
        parts = np.split(v, ends)
        return [part.reshape(-1, k) for part in parts[:-1]], parts[-1]

    def objective(self, v: Any) -> tuple[float, Any]:
        """Return the objective and its gradient at a vector of all unknowns and the intercepts."""
        parts, b = self.split(v)
        S, penalty = np.tile(b, (len(self.y), 1)), 0.0
        heights = [e.to_heights @ u for e, u in zip(self.effects, parts, strict=True)]
        for e, f in zip(self.effects, heights, strict=True):
            S = S + e.features @ f
            penalty += 0.5 * float((f * (e.penalty @ f)).sum())
        loss, R = reference_loss(S, self.y, self.weights, self.n_classes)
        gradient = [
            (e.to_heights.T @ (e.features.T @ R + e.penalty @ f)).ravel()
            for e, f in zip(self.effects, heights, strict=True)
        ]
        return loss + penalty, np.concatenate([*gradient, R.sum(axis=0)])

    def minimise(self) -> tuple[float, Any, Any]:
        """Return the minimum by L-BFGS-B, the heights of all features and the intercepts."""
        bounds: list[tuple[float | None, None]] = []
        for e in self.effects:
            bounds += [
                (0.0 if is_bounded else None, None) for is_bounded in np.repeat(e.bounded, self.n_outputs)
            ]
        bounds += [(None, None)] * self.n_outputs
        v = np.zeros(len(bounds))
        for _ in range(3):  # restarts forget a poor approximation of the Hessian
            v = optimize.minimize(
                self.objective,
                v,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20_000, "maxfun": 40_000, "maxcor": 50},
            ).x
        parts, b = self.split(v)
        heights = [e.to_heights @ u for e, u in zip(self.effects, parts, strict=True)]
        return self.objective(v)[0], np.concatenate(heights), b


def reference_loss(S: Any, y: Any, s: Any, n_classes: int) -> tuple[float, Any]:
    """Return the loss and its gradient with respect to the scores."""
    if not n_classes:
        residual = S[:, 0] - y
        return 0.5 * float(s @ residual**2), (s * residual)[:, None]
    scores = np.hstack([np.zeros_like(S), S]) if n_classes == 2 else S
    log_p = scores - special.logsumexp(scores, axis=1, keepdims=True)
    R = s[:, None] * (np.exp(log_p) - np.eye(n_classes)[y.astype(int)])
    return -float(s @ log_p[np.arange(len(y)), y.astype(int)]), R[:, 1:] if n_classes == 2 else R


def make_case(
    n_classes: int,
    *,
    seed: int = 0,
    n: int = 250,
    monotone: Sequence[str | None] = (None, None),
    is_weighted: bool = False,
) -> Case:
    """Return two curves (the first with missing values), a category, a pair, and targets."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 10, n), rng.normal(size=n)
    levels = rng.choice(5, n, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    score = np.sin(a) + b + 0.4 * a * (b > 0) + 0.5 * (levels == 1)
    score = (score - score.mean()) / score.std() + 0.7 * rng.normal(size=n)
    quantiles = np.quantile(score, np.arange(1, n_classes) / max(n_classes, 1))
    y = np.digitize(score, quantiles).astype(float) if n_classes else score
    weights = rng.integers(0, 4, n).astype(float) if is_weighted else np.ones(n)
    is_missing = rng.random(n) < 0.15
    a_cells, b_cells = np.minimum(a.astype(int), 9), np.digitize(b, [-1, -0.4, 0, 0.4, 1])
    effects: list[Callable[[int], ReferenceEffect]] = [
        _curve("a", np.where(is_missing, 10, a_cells), 10, a, weights, monotone[0]),
        _curve("b", b_cells, 6, b, weights, monotone[1]),
        _levels("c", levels, weights),
        _surface("a × b", np.where(is_missing, -1, (a_cells // 4) * 3 + b_cells // 2), (3, 3), weights),
    ]
    built: list[ReferenceEffect] = []
    for make in effects:
        built.append(make(sum(e.features.shape[1] for e in built)))
    X = SparseMatrix(SparseRows.from_dense(np.hstack([e.features for e in built]) > 0))
    loss = LossMaker(y, weights if is_weighted else None, n_classes)()
    problem = AdditiveProblem(X, loss, [e.effect for e in built])
    return Case(problem, _strengths(built), y, weights, n_classes, built)


def _strengths(built: Sequence[ReferenceEffect]) -> dict[Any, float]:
    """Return the strengths of the reference by the keys of the components, which are in a known order."""
    found: dict[Any, float] = {}
    for reference in built:
        components = reference.effect.components
        title = reference.effect.title
        values = [WALK, LINE, MISSING] if len(components) == 3 else [LEVELS if title == "c" else SURFACE]
        found |= {c.key: value for c, value in zip(components, values, strict=True)}
    return found


def _curve(
    title: str, cells: Any, n_cells: int, values: Any, weights: Any, monotone: str | None
) -> Callable[[int], ReferenceEffect]:
    def make(start: int) -> ReferenceEffect:
        features = np.eye(n_cells + 1)[cells]
        counts = weights @ features
        positions = np.array([values[cells == k].mean() for k in range(n_cells)])
        sign = -1.0 if monotone == "down" else 1.0
        # The unknowns are the first height, the increments and the height of missing values.
        raw = np.zeros((n_cells + 1, n_cells + 1))
        raw[:-1, 0], raw[-1, -1] = 1.0, 1.0
        for k in range(1, n_cells):
            raw[k:-1, k] = sign
        to_heights = raw - np.outer(np.ones(n_cells + 1), counts @ raw / counts.sum())
        penalty = np.zeros((n_cells + 1, n_cells + 1))
        z = positions - np.average(positions, weights=counts[:-1])
        z /= np.sqrt(np.average(z**2, weights=counts[:-1]))
        steps, differences = np.diff(z), np.diff(np.eye(n_cells), axis=0)
        slope = steps / (steps @ steps) @ differences  # of the least-squares line through the increments
        deviations = differences - np.outer(steps, slope)
        penalty[:-1, :-1] = WALK * deviations.T @ deviations + LINE * np.outer(slope, slope)
        penalty[-1, -1] = MISSING
        bounded = np.zeros(n_cells + 1, dtype=bool)
        bounded[1:-1] = monotone is not None
        effect = curve_effect(title, start, counts, positions, None, monotone)
        return ReferenceEffect(features, to_heights, penalty, bounded, effect)

    return make


def _levels(title: str, codes: Any, weights: Any) -> Callable[[int], ReferenceEffect]:
    def make(start: int) -> ReferenceEffect:
        features = np.eye(codes.max() + 1)[codes]
        counts = weights @ features
        n = len(counts)
        to_heights = np.eye(n) - np.outer(np.ones(n), counts / counts.sum())
        effect = level_effect(title, start, counts)
        return ReferenceEffect(features, to_heights, LEVELS * np.eye(n), np.zeros(n, dtype=bool), effect)

    return make


def _surface(
    title: str, cells: Any, shape: tuple[int, int], weights: Any
) -> Callable[[int], ReferenceEffect]:
    def make(start: int) -> ReferenceEffect:
        size = shape[0] * shape[1]
        features = np.vstack([np.eye(size), np.zeros(size)])[cells]
        counts = weights @ features
        grid = np.arange(size).reshape(shape)
        rows = [np.isin(np.arange(size), own) * counts for own in (*grid, *grid.T)]
        to_heights = linalg.null_space(np.array(rows))
        neighbours = [
            *zip(grid[:-1].ravel(), grid[1:].ravel(), strict=True),
            *zip(grid[:, :-1].ravel(), grid[:, 1:].ravel(), strict=True),
        ]
        penalty = np.zeros((size, size))
        for i, j in neighbours:
            difference = np.eye(size)[i] - np.eye(size)[j]
            penalty += SURFACE * np.outer(difference, difference)
        bounded = np.zeros(to_heights.shape[1], dtype=bool)
        effect = pair_effect(title, start, counts.reshape(shape), (True, True))
        return ReferenceEffect(features, to_heights, penalty, bounded, effect)

    return make
