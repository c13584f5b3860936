"""Random regression problems, ordinary ones and ones that lose digits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.certificates.exact_objectives import ExactProblem, Floats

LOSSES = ("squared", "absolute", "log")
PENALTIES = ("none", "l1", "l2", "both")
DIFFICULTIES = (
    "ordinary",
    "column scales",
    "one scale",
    "offset",
    "collinear",
    "duplicates",
    "large row",
    "row weights",
    "several",
)


@dataclass(frozen=True, eq=False)
class RandomProblem:
    """A problem and what makes it difficult."""

    problem: ExactProblem
    penalty: str
    difficulty: str


def random_problem(seed: int) -> RandomProblem:
    """Return the problem of a seed; consecutive seeds go through all losses, penalties and difficulties."""
    rng = np.random.default_rng(seed)
    loss, rest = LOSSES[seed % 3], seed // 3
    penalty, difficulty = PENALTIES[rest % 4], DIFFICULTIES[rest // 4 % len(DIFFICULTIES)]
    n, d = int(rng.integers(3, 32)), int(rng.integers(1, 9))
    if difficulty == "ordinary" and loss == "log":
        n = max(n, 6 * d + 10)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) * rng.choice([0.3, 1.0, 3.0]) + rng.normal(size=n)
    y = (score + rng.logistic(size=n) > 0).astype(float) if loss == "log" else score
    y[:2] = (0.0, 1.0) if loss == "log" else y[:2]
    l1 = float(10 ** rng.uniform(-3, 1)) if penalty in ("l1", "both") else 0.0
    l2 = float(10 ** rng.uniform(-3, 1)) if penalty in ("l2", "both") else 0.0
    problem = ExactProblem(loss, X, y, l1, l2, bool(rng.random() < 0.7))
    kinds = [difficulty]
    if difficulty == "several":
        kinds = rng.choice(DIFFICULTIES[1:-1], size=int(rng.integers(2, 4)), replace=False).tolist()
    for kind in kinds:
        problem = make_difficult(problem, kind, rng)
    return RandomProblem(problem, penalty, difficulty)


def make_difficult(problem: ExactProblem, kind: str, rng: np.random.Generator) -> ExactProblem:
    """Return the problem with one difficulty more."""
    X, (n, d) = problem.X.copy(), problem.X.shape
    if kind == "column scales":
        X *= 10 ** rng.uniform(-8, 8, d)
    elif kind == "one scale":
        X *= 10 ** rng.uniform(-8, 8)
    elif kind == "offset":
        X += 10 ** rng.uniform(0, 8, d) * np.abs(X).max()
    elif kind == "collinear" and d > 1:
        X[:, -1] = X[:, 0] + 10 ** rng.uniform(-15, -3) * np.abs(X[:, 0]).max() * rng.normal(size=n)
    elif kind == "duplicates":
        X = _repeat_columns(X, rng)
    elif kind == "large row":
        X[int(rng.integers(n))] *= 10 ** rng.uniform(1, 8)
    elif kind == "row weights":
        return replace(problem, weights=np.asarray(10 ** rng.uniform(-8, 8, n)))
    return replace(problem, X=X)


def _repeat_columns(X: Floats, rng: np.random.Generator) -> Floats:
    copies = X[:, rng.integers(X.shape[1], size=int(rng.integers(1, 4)))]
    kind = int(rng.integers(3))
    if kind == 1:
        copies = 3.0 * copies  # rounded: collinear but for the last digit
    if kind == 2:
        copies = np.column_stack([copies, np.ones(len(X)), X.sum(axis=1)])
    return np.column_stack([X, copies])
