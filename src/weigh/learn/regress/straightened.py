"""Features without a penalty that are nearly alike, replaced by orthogonal ones with the same scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.row_blocks import whole

BLURRED = 1e-9  # a condition at which sums of squares no longer tell features apart
CLEAR = 1e-4  # of the largest singular value: so far apart features are told apart by sums of squares too
MOST_CELLS = 50_000_000  # that are copied
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Straight:
    """The way between weights of the features as they are, `places`, and of the orthogonal ones, put first.

    `there` [rank, features] leads to them, `back` [features, rank] to the shortest weights; both are of
    features counted from their `mean`. The other features are `rest`.
    """

    places: Longs
    rest: Longs
    there: Floats
    back: Floats
    mean: Floats

    def moved_on(self, start: Solution) -> Solution:
        """Return a solution of the features as they are as one of the orthogonal ones."""
        own = start.w[self.places]
        w = np.concatenate([self.there @ own, start.w[self.rest]])
        return replace(start, w=w, b=np.asarray(start.b + self.mean @ own))

    def moved_back(self, found: Solution) -> Solution:
        """Return a solution of the features as they are."""
        w = np.empty((len(self.places) + len(self.rest), *found.w.shape[1:]))
        own = self.back @ found.w[: len(self.there)]
        w[self.places], w[self.rest] = own, found.w[len(self.there) :]
        return replace(found, w=w, b=np.asarray(found.b - self.mean @ own))


def straightened(problem: Problem) -> tuple[Problem, Straight | None]:
    """Return the same problem over features that can be told apart, and the way back; None if they can be."""
    free = (problem.l1 == 0) & (problem.l2 == 0)
    X = problem.X
    if free.sum() < 2 or X.n_rows * X.width > MOST_CELLS:
        return problem, None
    own = whole(X.features(free))
    mean = own.mean(axis=0) if problem.bias else np.zeros(own.shape[1])
    own -= mean
    size = np.sqrt(np.square(own).sum(axis=0))
    size[size <= 8 * EPS * np.abs(mean) * np.sqrt(len(own))] = np.inf  # rounding alone tells its values apart
    own /= size
    if not _is_blurred(own):
        return problem, None
    U, s, V = algebra.singular(own)
    held = s > EPS * max(own.shape) * s.max(initial=0.0)
    if s[held].min(initial=1.0) > CLEAR:
        return problem, None  # features repeat others exactly, as levels of a category do
    root = np.sqrt(len(own))
    there, back = (s[held, None] * V[:, held].T) * _finite(size) / root, V[:, held] / s[held] * root
    rest = np.flatnonzero(~free)
    table = np.hstack([U[:, held] * root, whole(X.features(~free))])
    none = np.zeros(int(held.sum()))
    l1, l2 = (np.concatenate([none, each[rest]]) for each in (problem.l1, problem.l2))
    straight = Straight(np.flatnonzero(free), rest, there, back / size[:, None], mean)
    return replace(problem, X=DenseMatrix(table), l1=l1, l2=l2), straight


def _is_blurred(unit: Floats) -> bool:
    table = unit.T @ unit
    if not np.diagonal(table).all():
        return False  # a feature that never varies is left out elsewhere
    lower = algebra.factor(table)
    return lower is None or algebra.reciprocal_condition(lower, algebra.norm(table)) < BLURRED


def _finite(size: Floats) -> Floats:
    return np.where(np.isfinite(size), size, 0.0)
