"""The solver of additive models: derivatives, optimum and certificate, against a dense reference."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.learn.additive.problems import Case, make_case
from weigh.learn.additive.models import LossMaker
from weigh.learn.additive.preconditioner import Preconditioner
from weigh.learn.additive.problem import AdditiveProblem, Prior, State, evaluate
from weigh.learn.additive.solver import duality_gap, minimise, newton_step, optimise_intercept, take_step

CLASSES = [0, 2, 3]
MONOTONE = [(None, None), ("up", None), ("down", "up"), ("down", "down")]


@cache
def reference(n_classes: int, monotone: Any = (None, None), is_weighted: bool = False) -> tuple[Case, Any]:
    """Return a problem with its minimum, heights and intercepts by L-BFGS-B."""
    case = make_case(n_classes, monotone=monotone, is_weighted=is_weighted)
    return case, case.minimise()


def random_point(case: Case, seed: int, size: float = 0.3) -> tuple[Any, Any]:
    """Return coordinates that satisfy the bounds, and intercepts."""
    rng = np.random.default_rng(seed)
    U = size * rng.normal(size=(case.problem.offsets[-1], case.n_outputs))
    bounded = case.problem.bounded()
    U = U if bounded is None else np.where(bounded, np.maximum(U, 0.0), U)
    return U, rng.normal(size=case.n_outputs)


def zero(case: Case) -> tuple[Any, Any]:
    return np.zeros((case.problem.offsets[-1], case.n_outputs)), np.zeros(case.n_outputs)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_the_gradient_is_the_finite_difference_of_the_objective(n_classes: int, is_weighted: bool) -> None:
    case = make_case(n_classes, is_weighted=is_weighted)
    prior = Prior(case.problem, case.strengths)
    U, b = random_point(case, 1)
    state = evaluate(case.problem, prior, U, b)
    rng, h = np.random.default_rng(2), 1e-5
    for _ in range(5):
        D, d = rng.normal(size=U.shape), rng.normal(size=b.shape)
        above, below = (evaluate(case.problem, prior, U + t * D, b + t * d).objective for t in (h, -h))
        slope = float((state.grad * D).sum() + state.grad_b @ d)
        assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("n_classes", CLASSES)
def test_a_newton_step_makes_the_linearised_gradient_zero(n_classes: int) -> None:
    case = make_case(n_classes)
    prior = Prior(case.problem, case.strengths)
    state = evaluate(case.problem, prior, *random_point(case, 1))
    step, step_b = newton_step(
        case.problem, prior, state, Preconditioner(case.problem, prior, state.p), 1e-10
    )
    h = 1e-5
    above, below = (evaluate(case.problem, prior, state.U + t * step, state.b + t * step_b) for t in (h, -h))
    change, change_b = (above.grad - below.grad) / (2 * h), (above.grad_b - below.grad_b) / (2 * h)
    size = np.abs(state.grad).max()
    np.testing.assert_allclose(state.grad + change, 0, atol=1e-5 * size)
    np.testing.assert_allclose(state.grad_b + change_b, 0, atol=1e-5 * size)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("monotone", MONOTONE)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_the_optimum_is_that_of_a_general_purpose_optimiser(
    n_classes: int, monotone: Any, is_weighted: bool
) -> None:
    case, (minimum, heights, b) = reference(n_classes, monotone, is_weighted)
    solution = minimise(case.problem, case.strengths, zero(case), 1e-9, 100)
    assert solution.gap <= 1e-9
    assert solution.state.objective == pytest.approx(minimum, rel=1e-9)
    np.testing.assert_allclose(case.problem.expand(solution.state.U), heights, atol=3e-5)
    shift = np.array(b) - solution.state.b  # softmax leaves the mean of the intercepts open
    np.testing.assert_allclose(shift - (shift.mean() if n_classes == 3 else 0), 0, atol=3e-5)


@pytest.mark.parametrize("monotone", MONOTONE)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_the_gap_bounds_the_distance_to_the_minimum_at_any_point(n_classes: int, monotone: Any) -> None:
    case, (minimum, _, _) = reference(n_classes, monotone)
    prior = Prior(case.problem, case.strengths)
    best = minimise(case.problem, case.strengths, zero(case), 1e-9, 100).state
    ratios = []
    for seed in range(2):
        noise, _ = random_point(case, seed)
        for size in (1.0, 0.03):
            U = best.U + size * noise
            bounded = case.problem.bounded()
            U = U if bounded is None else np.where(bounded, np.maximum(U, 0.0), U)
            state = optimise_intercept(case.problem, prior, evaluate(case.problem, prior, U, best.b))
            gap, distance = duality_gap(case.problem, prior, state), state.objective - minimum
            assert gap >= distance - 1e-9 * minimum
            ratios.append(distance / gap)
    assert max(ratios) > 0.001  # the bound is not empty


@pytest.mark.parametrize("n_classes", CLASSES)
def test_the_gap_of_wrong_intercepts_is_infinite(n_classes: int) -> None:
    case = make_case(n_classes)
    prior = Prior(case.problem, case.strengths)
    best = minimise(case.problem, case.strengths, zero(case), 1e-9, 100).state
    moved = evaluate(case.problem, prior, best.U, best.b + np.arange(1, case.n_outputs + 1) * 0.01)
    assert duality_gap(case.problem, prior, best) <= 1e-9
    assert duality_gap(case.problem, prior, moved) == np.inf


@pytest.mark.parametrize("monotone", MONOTONE[1:])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_monotone_curves_only_rise_or_only_fall(n_classes: int, monotone: Any) -> None:
    case = make_case(n_classes, monotone=monotone)
    solution = minimise(case.problem, case.strengths, zero(case), 1e-9, 100)
    assert solution.gap <= 1e-9
    weights, n_flat = case.problem.expand(solution.state.U), 0
    for effect, direction in zip(case.problem.effects[:2], monotone, strict=True):
        increments = np.diff(weights[effect.start : effect.stop - 1], axis=0)
        if direction is not None:
            assert ((increments if direction == "up" else -increments) >= -1e-12).all()
            n_flat += int((np.abs(increments) < 1e-12).sum())
    assert n_flat  # the curves of the data rise and fall, so that some bounds are active


def test_the_start_does_not_matter() -> None:
    case = make_case(2, monotone=("down", "up"))
    solutions = [
        minimise(case.problem, case.strengths, random_point(case, seed, size), 1e-10, 100).state
        for seed, size in enumerate((0.0, 1.0, 20.0))
    ]
    for other in solutions[1:]:
        np.testing.assert_allclose(other.U, solutions[0].U, atol=1e-5)


def test_too_few_iterations_leave_a_gap_above_the_target() -> None:
    case, (minimum, _, _) = reference(2)
    solution = minimise(case.problem, case.strengths, zero(case), 1e-12, 1)
    assert solution.iterations == 1
    assert solution.gap > 1e-12
    assert solution.state.objective - minimum <= solution.gap


def test_no_step_is_taken_uphill() -> None:
    case = make_case(2)
    prior = Prior(case.problem, case.strengths)
    state: State = evaluate(case.problem, prior, *random_point(case, 1))
    assert take_step(case.problem, prior, state, state.grad, state.grad_b) is None
    found = take_step(case.problem, prior, state, -state.grad, -state.grad_b)
    assert found is not None
    assert found.objective < state.objective


@pytest.mark.parametrize("n_classes", CLASSES)
def test_rows_of_weight_zero_do_not_matter(n_classes: int) -> None:
    case = make_case(n_classes, is_weighted=True)
    kept, problem = case.weights > 0, case.problem
    solution = minimise(problem, case.strengths, zero(case), 1e-10, 100)
    loss = LossMaker(case.y, case.weights, n_classes)(kept)
    smaller = AdditiveProblem(problem.X.select_rows(kept), loss, problem.effects)
    other = minimise(smaller, case.strengths, zero(case), 1e-10, 100)
    np.testing.assert_allclose(other.state.U, solution.state.U, atol=1e-6)
