"""The noise of additive linear regressions: with few rows, exact relations, and values between those seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.learn.additive.effects import curve_effect, level_effect
from weigh.learn.additive.fitting import cell_variance
from weigh.learn.additive.problem import AdditiveProblem, Prior, SquaredLoss, evaluate
from weigh.learn.additive.smoothing import MAX_NOISE_DEGREES, choose_strengths
from weigh.learn.linear.matrix import SparseMatrix
from weigh.source.sparse_rows import SparseRows

N_NEW = 300
Z = 1.959964


def simulate(kind: str, n: int, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return n training rows and new rows of numbers and a constant, with ties, levels or no noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 if kind == "exact" else 6, n + N_NEW))
    noise = {"smooth": 0.2, "levels": 1.0, "ties": 1.0, "exact": 0.0}[kind]
    if kind == "ties":
        x = np.concatenate([np.round(x[::2], 1), np.round(3 * x[1::2])])
    table: dict[str, Any] = {f"x{j}": values for j, values in enumerate(x)} | {"constant": np.ones(n + N_NEW)}
    score = x[0] - x[1] if kind == "exact" else x[0] + np.sin(x[1]) + x[4] + np.sin(x[5])
    for n_levels in (4 * n // 5, n // 3) if kind == "levels" else ():
        codes = rng.integers(0, n_levels, n + N_NEW)
        table[f"level{n_levels}"] = [f"l{code}" for code in codes]
        score = score + 0.5 * rng.normal(size=n_levels)[codes]
    table["y"] = score + noise * rng.normal(size=n + N_NEW)
    train, new = ({k: v[at] for k, v in table.items()} for at in (slice(n), slice(n, None)))
    return train, new


def scores_of_new_rows(kind: str, n: int, seed: int) -> tuple[float, float]:
    """Return the coverage of 95 % intervals, and the Gaussian log loss as if the targets had variance 1."""
    train, new = simulate(kind, n, seed)
    kinds = {name: "category" for name in train if name.startswith("level")}
    model = weigh.LinearRegression(curves="auto", columns=kinds).fit(train, "y")
    y = np.asarray(new.pop("y"))
    mean, std = model.predict(new, return_std=True)
    z = (y - mean) / std
    return float(np.mean(np.abs(z) <= Z)), float(np.mean(np.log(std / y.std()) + 0.5 * z**2))


@pytest.mark.parametrize(("kind", "n"), [("smooth", 30), ("ties", 30), ("levels", 30), ("levels", 50)])
def test_few_rows_do_not_make_the_noise_collapse(kind: str, n: int) -> None:
    coverage, losses = np.array([scores_of_new_rows(kind, n, seed) for seed in range(10)]).T
    assert coverage.mean() > 0.87
    assert coverage.min() > 0.6
    assert losses.max() < 1.5


def test_intervals_contain_the_error_of_cells_where_the_targets_have_no_noise() -> None:
    coverage, losses = np.array([scores_of_new_rows("exact", 60, seed) for seed in range(5)]).T
    assert coverage.min() > 0.85
    assert losses.max() < 5


def make_levels(n: int, n_levels: int) -> AdditiveProblem:
    """Return a problem of one category, whose levels have effects as large as the noise."""
    rng = np.random.default_rng(0)
    features = np.eye(n_levels)[
        np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    ]
    effect = level_effect("c", 0, features.sum(axis=0))
    X = SparseMatrix(SparseRows.from_dense(features > 0))
    return AdditiveProblem(
        X, SquaredLoss(features @ rng.normal(size=n_levels) + rng.normal(size=n), None), [effect]
    )


def test_the_noise_is_at_the_fixed_point_of_its_prior() -> None:
    problem = make_levels(200, 20)
    found = choose_strengths(problem)
    state = evaluate(problem, Prior(problem, found.strengths), found.U, found.b)
    free = 200 - 1 - sum(found.degrees.values()) - MAX_NOISE_DEGREES
    assert found.noise == pytest.approx(2 * state.loss / free, rel=0.01)


@pytest.mark.parametrize("n", [3, 5, 10, 40])
def test_a_level_per_row_leaves_at_most_the_variance_of_the_targets_as_noise(n: int) -> None:
    problem = make_levels(n, n)
    y = problem.loss.y  # type: ignore[attr-defined]
    assert 0.1 * y.var(ddof=1) < choose_strengths(problem).noise <= y.var(ddof=1) * (1 + 1e-12)


@pytest.mark.parametrize(("unique_shares", "expected"), [(np.ones(5), 1 / 12), (np.zeros(5), 0.0)])
def test_the_variance_within_cells_is_that_of_a_line_through_the_rows(
    unique_shares: Any, expected: float
) -> None:
    """A line of slope 1 over cells of width 1 with one row each, whose values are or are not unique."""
    features = np.eye(6)[:5]
    effect = curve_effect("x", 0, features.sum(axis=0), np.arange(5.0), None, None)
    effect = replace(effect, unique_shares=unique_shares)
    X = SparseMatrix(SparseRows.from_dense(features > 0))
    problem = AdditiveProblem(X, SquaredLoss(np.arange(5.0), None), [effect])
    U = np.array([[1.0], [1.0], [1.0], [1.0], [0.0]])  # the increments, and the height of missing values
    assert cell_variance(problem, U) == pytest.approx(expected)


def test_repeated_values_have_no_variance_within_their_cells() -> None:
    x = np.tile(np.arange(10.0), 4)
    model = weigh.LinearRegression(curves="auto").fit({"x": x, "y": 2 * x}, "y").model_
    assert model.fit.sigma < 1e-4
