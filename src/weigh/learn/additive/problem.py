"""The problem of an additive model: rows, loss, effects and prior, and the objective at a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Mask
from weigh.learn.additive.effects import Effect
from weigh.learn.linear.losses import ScoreLoss
from weigh.learn.linear.matrix import SparseMatrix


class SquaredLoss:
    """Half the squared difference of target and score; its predictions are the scores."""

    n_outputs = 1

    def __init__(self, y: Floats, weights: Floats | None) -> None:
        self.y = y[:, None]
        self.weights = (np.ones(len(y)) if weights is None else weights)[:, None]

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""
        return float((self.weights[:, 0] * self.row_values(S)).sum())

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""
        return np.asarray(0.5 * np.square(S - self.y)[:, 0])

    def probabilities(self, S: Floats) -> Floats:
        """Return the predictions, which are the scores."""
        return S

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient with respect to the scores."""
        return np.asarray(self.weights * (p - self.y))

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V."""
        del p
        return np.asarray(self.weights * V)


@dataclass(frozen=True, eq=False)
class AdditiveProblem:
    """The rows, their loss and the effects, whose features follow each other in X."""

    X: SparseMatrix
    loss: ScoreLoss
    effects: Sequence[Effect]

    @property
    def offsets(self) -> list[int]:
        """The first coordinate of each effect, and the number of all coordinates."""
        return [0, *np.cumsum([effect.n_coordinates for effect in self.effects]).tolist()]

    def slices(self) -> list[tuple[Effect, slice]]:
        """Return each effect with its coordinates."""
        starts = self.offsets
        return [(e, slice(a, b)) for e, a, b in zip(self.effects, starts, starts[1:], strict=False)]

    def expand(self, U: Floats) -> Floats:
        """Return the weights of all features."""
        return np.concatenate([effect.expand(U[at]) for effect, at in self.slices()])

    def project(self, V: Floats) -> Floats:
        """Return the gradient of the coordinates from that of the features."""
        return np.concatenate([effect.project(V[effect.start : effect.stop]) for effect in self.effects])

    def scores(self, U: Floats, b: Floats) -> Floats:
        """Return the scores [n, k]."""
        return np.asarray(self.X.times(np.ascontiguousarray(self.expand(U))) + b)

    def bounded(self) -> Mask | None:
        """Return which coordinates must not be negative, as a column of booleans; None if none."""
        if all(effect.bounded is None for effect in self.effects):
            return None
        none = [
            np.zeros(e.n_coordinates, dtype=bool) if e.bounded is None else e.bounded for e in self.effects
        ]
        return np.concatenate(none)[:, None]


@dataclass(frozen=True, eq=False)
class State:
    """A point with the objective, the gradient, and the loss and its gradient alone."""

    U: Floats
    b: Floats
    p: Floats
    loss: float
    loss_grad: Floats
    grad_b: Floats
    objective: float
    grad: Floats

    def with_prior(self, prior: Prior) -> State:
        """Return the same point with another prior."""
        PU = prior.times(self.U)
        objective = self.loss + 0.5 * float((self.U * PU).sum())
        return replace(self, objective=objective, grad=self.loss_grad + PU)


class Prior:
    """The precision of all coordinates for given strengths."""

    def __init__(self, problem: AdditiveProblem, strengths: dict[str, float]) -> None:
        self.parts = [(at, effect.precision(strengths)) for effect, at in problem.slices()]

    def times(self, U: Floats) -> Floats:
        """Return P U."""
        parts = [P @ U[at] if P.ndim == 2 else P[:, None] * U[at] for at, P in self.parts]
        return np.concatenate(parts)

    def inverse_quadratic(self, V: Floats) -> float:
        """Return Σ v·P⁻¹v over the columns of V."""
        total = 0.0
        for at, P in self.parts:
            if P.ndim == 1:
                total += float((np.square(V[at]) / P[:, None]).sum())
                continue
            lower = algebra.cholesky(P)
            if lower is None:
                return np.inf
            total += float(np.square(algebra.solve_triangular(lower, V[at])).sum())
        return total


def evaluate(problem: AdditiveProblem, prior: Prior, U: Floats, b: Floats) -> State:
    """Return the objective and the gradient at a point."""
    S = problem.scores(U, b)
    p = problem.loss.probabilities(S)
    r = problem.loss.score_gradient(p)
    loss, grad = problem.loss.value(S), problem.project(problem.X.transposed_times(r))
    return State(U, b, p, loss, grad, r.sum(axis=0), loss, grad).with_prior(prior)
