"""Strengths by marginal likelihood: against a dense marginal likelihood, and on planted curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import weigh
from tests.learn.additive.problems import Case, make_case
from weigh.learn.additive import smoothing
from weigh.learn.additive.effects import curve_effect
from weigh.learn.additive.preconditioner import Preconditioner
from weigh.learn.additive.problem import AdditiveProblem, Prior, SquaredLoss, evaluate
from weigh.learn.additive.smoothing import (
    CENTRE_DEGREES,
    MAX_NOISE_DEGREES,
    choose_strengths,
    initial_smoothing,
)
from weigh.learn.additive.solver import minimise
from weigh.learn.linear.matrix import SparseMatrix
from weigh.source.sparse_rows import SparseRows

N = 2000
SHAPES = {
    "line": lambda x: 1.5 * x,
    "wave": lambda x: 1.5 * np.sin(4 * x),
    "step": lambda x: np.where(x > 0.2, 2.5, 0.0),
    "nothing": lambda x: 0 * x,
}


def log_marginal_likelihood(problem: AdditiveProblem, strengths: dict[Any, float], is_squared: bool) -> float:
    """Return the log marginal likelihood (Laplace), up to a constant, with a flat prior of the intercept.

    For squared loss it is exact, and the noise variance has its best value.
    """
    zero = np.zeros((problem.offsets[-1], problem.loss.n_outputs)), np.zeros(problem.loss.n_outputs)
    state = minimise(problem, strengths, zero, 1e-9, 100).state
    P = np.zeros((problem.offsets[-1], problem.offsets[-1]))
    basis = np.zeros((problem.X.width, problem.offsets[-1]))
    for effect, at in problem.slices():
        P[at, at] = effect.precision(strengths)
        basis[effect.start : effect.stop, at] = (
            np.eye(effect.stop - effect.start) if effect.basis is None else effect.basis
        )
    Z = np.hstack([problem.X.times(basis), np.ones((problem.X.n_rows, 1))])
    h = problem.loss.hessian_times(state.p, np.ones_like(state.p))
    H = Z.T @ (h * Z)
    H[:-1, :-1] += P
    determinants = 0.5 * np.linalg.slogdet(P)[1] - 0.5 * np.linalg.slogdet(H)[1]
    determinants += log_prior_of_lines(strengths)
    if is_squared:
        n = problem.X.n_rows - 1
        return float(determinants - 0.5 * n * np.log(2 * state.objective / n))
    return float(determinants - state.objective)


def log_prior_of_lines(strengths: dict[Any, float]) -> float:
    """Return the log density of the logs of the line strengths around their centre."""
    ratios = (
        np.array([value for key, value in strengths.items() if key.endswith(": line")]) / strengths["line"]
    )
    return float(0.5 * CENTRE_DEGREES * (np.log(ratios) - ratios + 1).sum())


def best_strengths(case: Case, strengths: dict[Any, float]) -> tuple[dict[Any, float], float]:
    """Return the strengths of the highest marginal likelihood by Powell's method, and its value."""
    keys, is_squared = list(strengths), case.n_classes == 0

    def loss(logs: Any) -> float:
        tried = dict(zip(keys, np.exp(np.clip(logs, -10, 16)).tolist(), strict=True))
        return -log_marginal_likelihood(case.problem, tried, is_squared)

    found = optimize.minimize(
        loss, np.log([strengths[key] for key in keys]), method="Powell", options={"xtol": 0.02, "ftol": 1e-7}
    )
    return dict(zip(keys, np.exp(found.x).tolist(), strict=True)), -float(found.fun)


def curves_only(n_classes: int, seed: int = 0, n: int = 250) -> Case:
    """Return a problem of two curves and a category, whose effects share few strengths."""
    case = make_case(n_classes, seed=seed, n=n)
    X = case.problem.X.select_features(np.arange(case.problem.X.width) < case.problem.effects[-1].start)
    return replace(case, problem=AdditiveProblem(X, case.problem.loss, case.problem.effects[:-1]))


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_chosen_strengths_nearly_maximise_the_marginal_likelihood(n_classes: int, seed: int) -> None:
    case = curves_only(n_classes, seed)
    chosen = choose_strengths(case.problem)
    value = log_marginal_likelihood(case.problem, chosen.strengths, n_classes == 0)
    _, best = best_strengths(case, chosen.strengths)
    start = log_marginal_likelihood(case.problem, initial_smoothing(case.problem).strengths, n_classes == 0)
    assert best - 0.3 <= value <= best + 1e-6
    assert value > start


def test_the_update_follows_the_derivative_of_the_marginal_likelihood() -> None:
    case = curves_only(0)
    problem = case.problem
    strengths = {key: 1.7 * value for key, value in case.strengths.items() if value != 1.7} | {"line": 0.5}
    zero = np.zeros((problem.offsets[-1], 1)), np.zeros(1)
    state = minimise(problem, strengths, zero, 1e-12, 100).state
    noise = 2 * state.objective / (problem.X.n_rows - 1)
    inverses = Preconditioner(problem, Prior(problem, strengths), state.p).inverses()[0]
    slopes = dict.fromkeys(strengths.keys() - {"line"}, 0.0)
    for (effect, at), inverse in zip(problem.slices(), inverses, strict=True):
        for component in effect.components:
            trace = float((inverse * component.S).sum())
            size = component.quadratic(state.U[at])
            gain = component.rank / strengths[component.key] - trace - size / noise
            slopes[component.key] += 0.5 * strengths[component.key] * gain
            if component.centre is not None:
                slopes[component.key] += 0.5 * CENTRE_DEGREES * (1 - strengths[component.key] / 0.5)
    for key, slope in slopes.items():
        above, below = (
            log_marginal_likelihood(problem, strengths | {key: factor * strengths[key]}, True)
            for factor in (1.001, 1 / 1.001)
        )
        assert slope == pytest.approx((above - below) / (2 * np.log(1.001)), rel=1e-3, abs=1e-3)


def test_the_noise_is_that_of_the_marginal_likelihood_and_its_prior() -> None:
    case = curves_only(0)
    chosen = choose_strengths(case.problem)
    state = evaluate(case.problem, Prior(case.problem, chosen.strengths), chosen.U, chosen.b)
    assert chosen.noise == pytest.approx(
        2 * state.objective / (case.problem.X.n_rows - 1 - MAX_NOISE_DEGREES), rel=0.01
    )


def test_the_noise_of_a_simulation_is_recovered() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, N)
    table = {"x": x, "y": np.sin(4 * x) + 0.35 * rng.normal(size=N)}
    model = weigh.LinearRegression(curves="auto").fit(table, "y").model_
    assert model.fit.sigma == pytest.approx(0.35, rel=0.06)


def planted(shape: str, is_regression: bool, seed: int = 0, n: int = N) -> tuple[Any, Any, Any]:
    """Return the curve of a fit to a planted shape: the term, its heights, and the true ones."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    score = SHAPES[shape](x)
    y = score + rng.normal(size=n) if is_regression else rng.random(n) < 1 / (1 + np.exp(-score))
    learner = weigh.LinearRegression if is_regression else weigh.LogisticRegression
    term = learner(curves="auto").fit({"x": x, "y": y}, "y").model_.terms[0]
    truth = SHAPES[shape](term.positions)
    truth = truth - np.average(truth, weights=term.counts[:-1])
    return term, term.table[:-1, -1], truth


def deviation_from_line(term: Any, heights: Any) -> float:
    """Return the root mean squared distance of the heights from their straight line."""
    slope, intercept = np.polyfit(term.positions, heights, 1, w=np.sqrt(term.counts[:-1]))
    residual = heights - slope * term.positions - intercept
    return float(np.sqrt(np.average(residual**2, weights=term.counts[:-1])))


@pytest.mark.parametrize("is_regression", [True, False])
@pytest.mark.parametrize(
    ("shape", "largest_error"), [("line", 0.08), ("nothing", 0.08), ("wave", 0.2), ("step", 0.25)]
)
def test_planted_shapes_are_recovered(shape: str, largest_error: float, is_regression: bool) -> None:
    term, heights, truth = planted(shape, is_regression)
    error = np.sqrt(np.average((heights - truth) ** 2, weights=term.counts[:-1]))
    assert error < (1 if is_regression else 1.8) * largest_error


@pytest.mark.parametrize("is_regression", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_straight_truths_give_almost_straight_curves(is_regression: bool, seed: int) -> None:
    for shape in ("line", "nothing"):
        term, heights, _ = planted(shape, is_regression, seed)
        assert deviation_from_line(term, heights) < (0.06 if is_regression else 0.12)
    term, heights, _ = planted("wave", is_regression, seed)
    assert deviation_from_line(term, heights) > 0.5


@pytest.mark.parametrize("is_regression", [True, False])
def test_smoother_truths_have_greater_strengths(is_regression: bool) -> None:
    line, wave, step = (planted(shape, is_regression)[0].strengths[0] for shape in ("line", "wave", "step"))
    assert line > 5 * wave
    assert line > 5 * step
    term, heights, _ = planted("step", is_regression)
    jump = int(np.searchsorted(term.positions, 0.2))
    rises = np.abs(np.diff(heights))
    assert rises[jump - 2 : jump + 1].max() > 4 * np.median(rises)


def test_each_column_has_its_own_strength() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, (2, N))
    y = SHAPES["line"](x) + SHAPES["wave"](z) + rng.normal(size=N)
    line, wave = weigh.LinearRegression(curves="auto").fit({"x": x, "z": z, "y": y}, "y").model_.terms
    assert line.strengths[0] > 5 * wave.strengths[0]
    assert deviation_from_line(line, line.table[:-1, 0]) < 0.08


def test_a_stated_strength_is_kept() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    table = {"x": x, "y": np.sin(4 * x) + rng.normal(size=300)}
    spread = {}
    for smooth in (0.01, 1.0, 1e6):
        columns = {"x": weigh.Curve(smooth=smooth)}
        term = weigh.LinearRegression(columns=columns).fit(table, "y").model_.terms[0]
        assert term.strengths[0] == smooth
        spread[smooth] = deviation_from_line(term, term.table[:-1, 0])
    assert spread[0.01] > spread[1.0] > spread[1e6]
    assert spread[1e6] < 1e-3


@pytest.mark.parametrize("is_regression", [True, False])
def test_rare_levels_shrink_more_than_frequent_ones(is_regression: bool) -> None:
    rng = np.random.default_rng(1)
    sizes = np.repeat([400, 40, 6], 20)
    level = np.repeat(np.arange(60), sizes)
    score = np.tile(1.5 * rng.normal(size=20), 3)
    noise = rng.normal(size=len(level)) if is_regression else rng.logistic(size=len(level))
    y = score[level] + noise
    names, x = [f"l{i}" for i in level], rng.normal(size=len(level))
    table = {"level": names, "x": x, "y": y if is_regression else y > 0}
    learner = weigh.LinearRegression if is_regression else weigh.LogisticRegression
    model = learner(columns={"level": "category"}, curves="auto").fit(table, "y").model_
    term = next(term for term in model.terms if term.name == "level")
    heights = {name: float(term.table[i, -1]) for i, name in enumerate(term.levels)}
    found = np.array([heights[f"l{i}"] for i in range(60)]).reshape(3, 20)
    if is_regression:
        expected = np.array([y[level == i].mean() for i in range(60)]).reshape(3, 20) - y.mean()
    else:
        positive = np.array([(y[level == i] > 0).sum() + 0.5 for i in range(60)])
        expected = (np.log(positive / (sizes + 1 - positive)) - np.median(score)).reshape(3, 20)
    kept = (found * expected).sum(axis=1) / np.square(expected).sum(axis=1)
    assert kept[0] > kept[1] > kept[2]
    assert kept[0] > 0.9
    assert kept[2] < 0.9


def test_levels_without_effect_are_pooled() -> None:
    rng = np.random.default_rng(2)
    level, y = rng.integers(0, 30, 600), rng.normal(size=600)
    table = {"level": [f"l{i}" for i in level], "x": rng.normal(size=600), "y": y}
    model = weigh.LinearRegression(columns={"level": "category"}, curves="auto").fit(table, "y").model_
    means = np.array([y[level == i].mean() for i in range(30)])
    term = next(term for term in model.terms if term.name == "level")
    assert np.abs(term.table).max() < 0.35 * np.abs(means).max()


def test_a_curve_of_noise_uses_few_degrees_of_freedom() -> None:
    rng, degrees = np.random.default_rng(5), []
    cells = rng.integers(0, 20, 250)
    features = np.eye(21)[cells]
    effect = curve_effect("x", 0, features.sum(axis=0), np.linspace(-2, 2, 20), None, None)
    X = SparseMatrix(SparseRows.from_dense(features > 0))
    for _ in range(10):
        found = choose_strengths(AdditiveProblem(X, SquaredLoss(rng.normal(size=250), None), [effect]))
        degrees.append(sum(found.degrees.values()))
    assert np.mean(degrees) < 3


def test_a_steep_line_does_not_flatten_in_the_company_of_many_flat_ones() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(-1, 1, 200), rng.uniform(-1, 1, (6, 200))
    table = {"x": x} | {f"z{k}": column for k, column in enumerate(noise)}
    table["y"] = np.where(30 * x + rng.logistic(size=200) > 0, "yes", "no")
    model = weigh.LogisticRegression(curves="auto").fit(table, "y").model_
    x_term, *others = model.terms
    assert x_term.strengths[1] < 0.2 * min(term.strengths[1] for term in others)


def test_the_centre_of_the_lines_is_the_mean_of_their_strengths() -> None:
    found = choose_strengths(curves_only(0, n=400).problem).strengths
    lines = [value for key, value in found.items() if key.endswith(": line")]
    assert len(lines) == 2
    assert found["line"] == pytest.approx(np.mean(lines), rel=0.1)


def test_one_curve_has_the_line_strength_of_the_marginal_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    table, found = {"x": x, "y": 2 * x + rng.normal(size=300)}, []
    for degrees in (0.0, CENTRE_DEGREES):
        monkeypatch.setattr(smoothing, "CENTRE_DEGREES", degrees)
        model = weigh.LinearRegression(curves="auto").fit(table, "y").model_
        found.append(model.terms[0].strengths[1] / model.fit.sigma**2)
    assert found[0] == pytest.approx(found[1], rel=0.1)
