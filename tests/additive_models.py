"""A reference fit of additive models: the objective written out, minimised by Newton's method.

The heights of all terms are one vector per output. Constraints are eliminated by a basis of their null space;
the bounds of monotone curves by an active set. It is slow and simple on purpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag, null_space

from weigh import Category, Curve
from weigh.features.kinds import Value
from weigh.features.schema import Schema
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights
from weigh.model.distributions.weights import LevelWeights
from weigh.model.distributions.word_weights import ValueWeights
from weigh.model.fit import Fit, Optimality
from weigh.model.logistic import LogisticModel
from weigh.model.regression import RegressionModel

LABEL = "y"
STRENGTHS = np.array([2.0, 0.3, 1.5])  # of differences, of the straight line, of missing values
PAIR_STRENGTH, LEVEL_STRENGTH, NUMBER_STRENGTH = 1.2, 0.7, 0.4


@dataclass
class Part:
    """One term: features [rows, cells]; penalty, constraints and bounds of its heights; how to build it."""

    X: Any
    penalty: Any
    constraints: Any
    bounds: Any
    build: Any


def make_table(n: int = 200, seed: int = 0, classes: int = 2) -> dict[str, list[Any]]:
    """Return rows with the numbers age and income (some ages missing), colour, size, and y."""
    rng = np.random.default_rng(seed)
    age, income, size = rng.uniform(0, 60, n).round(1), rng.normal(3, 1, n), rng.normal(0, 2, n)
    colour = rng.choice(["red", "green", "blue"], n)
    score = np.sin(age / 10) + 0.5 * income * (age > 30) + (colour == "red") + 0.2 * size
    score += rng.logistic(size=n) - score.mean()
    ages = [None if missing else float(x) for missing, x in zip(rng.random(n) < 0.1, age, strict=True)]
    y: list[Any] = score.tolist()
    if classes:
        y = [f"c{c}" for c in np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))]
    return {
        "age": ages,
        "income": income.tolist(),
        "colour": colour.tolist(),
        "size": size.tolist(),
        LABEL: y,
    }


CUTS = {"age": [10.0, 20.0, 30.0, 45.0], "income": [2.0, 3.0, 3.5]}
PAIRS = (("age", "income"), ("income", "colour"))


def fit_additive(
    table: Mapping[str, Sequence[Any]],
    *,
    cuts: Mapping[str, Sequence[float]] = CUTS,
    categories: Sequence[str] = ("colour",),
    numbers: Sequence[str] = ("size",),
    pairs: Sequence[tuple[str, str]] = PAIRS,
    monotone: Mapping[str, str] | None = None,
    weights: Any = None,
) -> Any:
    """Fit curves over the given cuts, centred levels, numbers and pairs; a target of strings is a class."""
    s = np.ones(len(table[LABEL])) if weights is None else np.asarray(weights, dtype=float)
    kinds: dict[str, Any] = {n: Curve(monotone=(monotone or {}).get(n)) for n in cuts}
    kinds |= {name: Category() for name in categories} | {name: Value() for name in numbers}
    names = [name for name in table if name in kinds]
    schema = Schema(names, [kinds[name] for name in names], label=LABEL, pairs=tuple(pairs))
    parts = []
    for group in schema.column_groups:
        name = group.names[0]
        if len(group.names) == 2:
            parts.append(_pair_part(table, group.names, cuts, s))
        elif name in cuts:
            parts.append(_curve_part(name, table[name], np.array(cuts[name]), s, kinds[name].monotone))
        elif name in categories:
            parts.append(_level_part(name, table[name], s))
        else:
            parts.append(_number_part(name, table[name], s))
    strengths = {g.title: NUMBER_STRENGTH for g in schema.column_groups if g.names[0] in numbers}
    strengths |= dict.fromkeys(categories, LEVEL_STRENGTH)
    return _minimise(table[LABEL], s, schema, parts, strengths)


def _curve_part(name: str, values: Sequence[Any], cuts: Any, s: Any, monotone: str | None) -> Part:
    K = len(cuts) + 1
    known = [x for x in values if x is not None]
    cells = [K if x is None else sum(x > cut for cut in cuts) for x in values]
    X = np.eye(K + 1)[cells]
    counts = s @ X
    positions = np.array(
        [np.mean([x for x, c in zip(values, cells, strict=True) if c == k]) for k in range(K)]
    )
    a, r, m = STRENGTHS
    D = np.diff(np.eye(K), axis=0)
    mean = counts[:-1] @ positions / counts[:-1].sum()
    z = (positions - mean) / np.sqrt(counts[:-1] @ (positions - mean) ** 2 / counts[:-1].sum())
    q = D @ z / np.linalg.norm(D @ z)
    walk = D.T @ (a * (np.eye(K - 1) - np.outer(q, q)) + r * np.outer(q, q) / ((D @ z) @ (D @ z))) @ D
    sign = {"up": 1.0, "down": -1.0}.get(monotone or "", 0.0)
    bounds = sign * np.hstack([D, np.zeros((K - 1, 1))]) if sign else np.zeros((0, K + 1))

    def build(table: Any) -> CurveWeights:
        limits = np.array([min(known), max(known)])
        return CurveWeights(name, cuts, table, counts, positions, limits, STRENGTHS)

    return Part(X, block_diag(walk, m), counts[None, :], bounds, build)


def _level_part(name: str, values: Sequence[Any], s: Any) -> Part:
    levels = sorted({value for value in values if value is not None})
    X = np.array([[float(value == level) for level in levels] for value in values])

    def build(table: Any) -> LevelWeights:
        return LevelWeights(name, levels, np.vstack([table, 0 * table[:1]]))

    return Part(X, LEVEL_STRENGTH * np.eye(len(levels)), (s @ X)[None, :], np.zeros((0, len(levels))), build)


def _number_part(name: str, values: Sequence[Any], s: Any) -> Part:
    X = np.array(values)[:, None]
    variance = np.cov(X[:, 0], aweights=s, ddof=0)

    def build(table: Any) -> ValueWeights:
        return ValueWeights(name, [name], table, True)

    return Part(X, np.array([[NUMBER_STRENGTH * variance]]), np.zeros((0, 1)), np.zeros((0, 1)), build)


def _pair_part(table: Any, names: Sequence[str], cuts: Mapping[str, Sequence[float]], s: Any) -> Part:
    axes, cells, penalties = [], [], []
    for name in names:
        if name in cuts:
            own = np.array(cuts[name][::2])  # a surface has larger cells
            axes.append(PairAxis(name, own))
            cells.append([-1 if x is None else sum(x > cut for cut in own) for x in table[name]])
            D = np.diff(np.eye(len(own) + 1), axis=0)
            penalties.append(D.T @ D)
        else:
            levels = sorted(set(table[name]))
            groups = np.array([min(i, 1) for i in range(len(levels))], dtype=np.int32)
            axes.append(PairAxis(name, None, levels, groups))
            cells.append([int(groups[levels.index(x)]) for x in table[name]])
            penalties.append(np.eye(2) - 0.5)
    left, right = (len(penalty) for penalty in penalties)
    X = np.zeros((len(s), left * right))
    for i, (a, b) in enumerate(zip(*cells, strict=True)):
        if a >= 0 and b >= 0:
            X[i, a * right + b] = 1.0
    counts = s @ X
    rows = [[counts[k] * (k // right == a) for k in range(left * right)] for a in range(left)]
    rows += [[counts[k] * (k % right == b) for k in range(left * right)] for b in range(right)]
    walk = np.kron(penalties[0], np.eye(right)) + np.kron(np.eye(left), penalties[1])

    def build(table: Any) -> PairWeights:
        return PairWeights(axes[0], axes[1], table, counts, np.array([PAIR_STRENGTH]))

    return Part(X, PAIR_STRENGTH * walk, np.array(rows), np.zeros((0, left * right)), build)


def _minimise(labels: Sequence[Any], s: Any, schema: Schema, parts: list[Part], strengths: Any) -> Any:
    """Minimise over intercepts and heights together, and return the model with its certificate."""
    is_regression = not isinstance(labels[0], str)
    classes = [] if is_regression else sorted(set(labels))
    y = np.array(labels) if is_regression else np.array([classes.index(label) for label in labels])
    n_outputs = 1 if is_regression or len(classes) == 2 else len(classes)
    X = np.hstack([np.ones((len(s), 1)), *(part.X for part in parts)])
    Q = block_diag(np.zeros((1, 1)), *(part.penalty for part in parts))
    N = null_space(block_diag(np.zeros((1, 1)), *(part.constraints for part in parts)))
    bounds = np.hstack(
        [np.zeros((sum(len(p.bounds) for p in parts), 1)), block_diag(*(p.bounds for p in parts))]
    )
    loss = _squared_loss if is_regression else _log_loss
    W = _active_set(lambda W: loss(X @ W, y, s), X, Q, N, bounds, n_outputs)
    lost = loss(X @ W, y, s)[0]
    objective = lost + 0.5 * float((W * (Q @ W)).sum())
    null = loss(np.zeros((len(s), n_outputs)), y, s)[0]
    certificate = Optimality(objective, 0.0, null, 1e-9, 1, "reference")
    fit = Fit(
        "squared" if is_regression else "log",
        "auto",
        None,
        None,
        float(s.sum()),
        len(s),
        classes=max(2, len(classes)),
        lost=lost,
        strengths=strengths,
    )
    if len(classes) == 2:
        W = np.hstack([0 * W, W])
    tables = np.split(W[1:], np.cumsum([len(part.penalty) for part in parts])[:-1])
    terms = [part.build(table) for part, table in zip(parts, tables, strict=True)]
    if is_regression:
        return RegressionModel(schema, W[0], terms, fit, certificate)
    shares = np.array([s[y == c].sum() for c in range(len(classes))]) / s.sum()
    return LogisticModel(schema, classes, W[0], terms, shares, fit, certificate)


def _squared_loss(S: Any, y: Any, s: Any) -> tuple[float, Any, Any]:
    residual = S[:, 0] - y
    return 0.5 * float(s @ residual**2), (s * residual)[:, None], s[:, None, None]


def _log_loss(S: Any, y: Any, s: Any) -> tuple[float, Any, Any]:
    """Return the loss, its gradient [rows, outputs] and Hessian [rows, outputs, outputs]."""
    all_scores = np.hstack([0 * S, S]) if S.shape[1] == 1 else S
    log_p = all_scores - np.log(np.exp(all_scores).sum(axis=1, keepdims=True))
    p = np.exp(log_p)
    gradient = s[:, None] * (p - np.eye(p.shape[1])[y])
    hessian = s[:, None, None] * (p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :])
    at = slice(1, 2) if S.shape[1] == 1 else slice(None)
    return -float(s @ log_p[np.arange(len(y)), y]), gradient[:, at], hessian[:, at, at]


def _active_set(evaluate: Any, X: Any, Q: Any, N: Any, bounds: Any, n_outputs: int) -> Any:
    """Minimise over W = N U, with bounds · W ≥ 0 for every output."""
    W, active = np.zeros((X.shape[1], n_outputs)), [np.zeros(len(bounds), dtype=bool)] * n_outputs
    for _ in range(100):
        bases = [N @ null_space(bounds[a] @ N) if a.any() else N for a in active]
        W = np.column_stack([B @ (np.linalg.pinv(B) @ w) for B, w in zip(bases, W.T, strict=True)])
        for _ in range(100):
            _, gradient, hessian = evaluate(W)
            G = X.T @ gradient + Q @ W
            blocks = [
                [
                    bases[i].T @ (X.T @ (hessian[:, i, j, None] * X) + (i == j) * Q) @ bases[j]
                    for j in range(n_outputs)
                ]
                for i in range(n_outputs)
            ]
            flat = np.concatenate([B.T @ g for B, g in zip(bases, G.T, strict=True)])
            step = np.linalg.lstsq(np.block(blocks), flat, rcond=1e-13)[0]
            ends = np.cumsum([B.shape[1] for B in bases])[:-1]
            change = np.column_stack([B @ u for B, u in zip(bases, np.split(step, ends), strict=True)])
            W = W - change
            if np.abs(change).max() < 1e-14:
                break
        updated = [_update_active(N, bounds, a, w, g) for a, w, g in zip(active, W.T, G.T, strict=True)]
        if all((a == b).all() for a, b in itertools.zip_longest(active, updated)):
            return W
        active = updated
    raise AssertionError("the active set did not settle")


def _update_active(N: Any, bounds: Any, active: Any, w: Any, gradient: Any) -> Any:
    """Return the bounds that are active next: violated ones, and those whose multipliers are positive."""
    if not len(bounds):
        return active
    multipliers = np.linalg.lstsq((bounds[active] @ N).T, N.T @ gradient, rcond=None)[0]
    updated = bounds @ w < -1e-12
    updated[active] = multipliers > 0
    return updated
