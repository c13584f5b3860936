"""Laplace's approximation: the curvature of the objective at its minimum as a normal curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.posterior import posterior
from weigh.learn.regress.problem import Problem, Solution
from weigh.model.posterior import Posterior

MOST_WIDE, MOST_WORK = 1_000, 2e10  # features; rows × features², of which the curvature is made


@dataclass(frozen=True, eq=False)
class LaplaceKnown:
    """The posterior of a logistic regression of two classes; rows count as much as they are unsure."""

    moments: Moments
    l2: Floats
    w: Floats
    b: float

    @classmethod
    def of(cls, problem: Problem, solution: Solution) -> LaplaceKnown | None:
        """Return what the curvature at a solution tells; None where it would cost too much."""
        X = problem.X
        if X.width > MOST_WIDE or X.n_rows * X.width**2 > MOST_WORK:
            return None
        z = X.times(solution.w) + solution.b + (0.0 if problem.offset is None else problem.offset)
        unsure = 1 / (2 + 2 * np.cosh(np.clip(z, -700.0, 700.0)))
        weights = unsure if problem.weights is None else problem.weights * unsure
        moments = Moments.of(X, z, np.maximum(weights, 1e-300), bias=problem.bias)
        return cls(moments, problem.l2, solution.w, float(solution.b))

    def posterior(self) -> Posterior:
        """Return the normal curve around the weights."""
        found = posterior(self.moments, self.l2, 1.0, self.w)
        total = self.moments.total if self.moments.bias else 0.0
        return Posterior(found.mean, self.b, found.covariance, found.mean_x, 1.0, total)
