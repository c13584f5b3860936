"""Bias, variance and noise add up to the loss; their figures are those of all training sets there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.trials.decomposition import (
    Decomposition,
    decompose_domingos,
    decompose_kohavi_wolpert,
    decompose_squared_loss,
    one_hot,
)

NUMBERS = st.floats(-100, 100, allow_nan=False)


def summed(found: Decomposition) -> Any:
    return np.sum(list(found.parts.values()), axis=0)


@st.composite
def votes(draw: st.DrawFn) -> tuple[Any, Any, int, Any]:
    """Predicted codes [rounds, rows], true codes, the number of classes, and true probabilities or None."""
    rounds, rows, k = draw(st.integers(2, 9)), draw(st.integers(1, 6)), draw(st.integers(2, 5))
    codes = st.integers(0, k - 1)
    predicted = draw(hnp.arrays(np.int64, (rounds, rows), elements=codes))
    weights = draw(hnp.arrays(np.float64, (rows, k), elements=st.floats(0.01, 1)))
    known = draw(st.sampled_from([None, weights / weights.sum(axis=1, keepdims=True)]))
    return predicted, draw(hnp.arrays(np.int64, rows, elements=codes)), k, known


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    rounds, rows, outputs = draw(st.integers(2, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    predicted = draw(hnp.arrays(np.float64, (rounds, rows, outputs), elements=NUMBERS))
    true, known = (draw(hnp.arrays(np.float64, (rows, outputs), elements=NUMBERS)) for _ in range(2))
    return predicted, true, draw(st.sampled_from([None, known]))


@given(numbers())
def test_squares_add_up_to_the_loss_in_every_row(case: tuple[Any, Any, Any]) -> None:
    found = decompose_squared_loss(*case)
    loss = np.square(case[0] - case[1]).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(found.loss, loss, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(summed(found), loss, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
@given(votes())
def test_parts_add_up_to_the_share_of_errors_in_every_row_and_in_the_mean(
    form: Callable[..., Decomposition], case: tuple[Any, Any, int, Any]
) -> None:
    found, errors = form(*case), (case[0] != case[1]).mean(axis=0)
    np.testing.assert_allclose(found.loss, errors, rtol=0, atol=1e-12)
    np.testing.assert_allclose(summed(found), errors, rtol=0, atol=1e-12)
    assert sum(map(found.mean, found.parts)) == pytest.approx(found.mean("loss"), abs=1e-12)


@given(numbers())
def test_errors_of_squares_are_those_of_leaving_each_set_out(case: tuple[Any, Any, Any]) -> None:
    if len(case[0]) == 2:
        return
    found = decompose_squared_loss(*case)
    fewer = [
        decompose_squared_loss(np.delete(case[0], number, axis=0), *case[1:])
        for number in range(found.rounds)
    ]
    for name in ("loss", *found.parts):
        left = np.array([each.mean(name) for each in fewer])
        assert found.error_of_rounds(name) == pytest.approx(
            np.sqrt((found.rounds - 1) * left.var()), rel=1e-6, abs=1e-6
        )


@given(votes())
def test_counted_votes_are_half_the_squares_of_ones_and_zeros(case: tuple[Any, Any, int, Any]) -> None:
    predicted, true, k, known = case
    found, twin = (
        decompose_kohavi_wolpert(*case),
        decompose_squared_loss(one_hot(predicted, k), one_hot(true, k), known),
    )
    for name, part in twin.parts.items():
        np.testing.assert_allclose(found.parts[name], part / 2, rtol=0, atol=1e-14)
    errors = {name: error / 2 for name, error in twin.rounds_errors.items()}
    assert found.rounds_errors == pytest.approx(errors, abs=1e-14)


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
def test_many_classes_need_no_table_of_all_sets(form: Callable[..., Decomposition]) -> None:
    rounds, rows, k = 40, 300, 100
    predicted = np.random.default_rng(0).integers(0, k, (rounds, rows))
    tracemalloc.start()
    form(predicted, predicted[0], k)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * rounds * rows * k / 2


def means_of_pairs() -> Any:
    """What a learner that tells the mean of its two rows predicts, of all pairs from the labels 0, 0, 1."""
    return np.array([(a + b) / 2 for a, b in product([0, 0, 1], repeat=2)])


@pytest.mark.parametrize(
    ("label", "bias", "variance"),
    [(1, Fraction(4, 9), Fraction(1, 9)), (0, Fraction(1, 9), Fraction(1, 9))],
)
def test_the_mean_of_two_labels_has_the_figures_of_all_nine_training_sets(
    label: int, bias: Fraction, variance: Fraction
) -> None:
    found = decompose_squared_loss(means_of_pairs()[:, None, None], np.array([[float(label)]]))
    assert found.mean("bias") == pytest.approx(float(bias), abs=1e-15)
    assert found.mean("variance") == pytest.approx(float(variance), abs=1e-15)
    assert found.mean("loss") == pytest.approx(float(bias + variance), abs=1e-15)


MAJORITIES = np.array([[int(sum(drawn) >= 2)] for drawn in product([0, 0, 1], repeat=3)])


def test_the_majority_of_three_labels_has_the_figures_of_all_training_sets() -> None:
    # Of the 27 sets of three from a, a, b, seven have b twice or more.
    rare = decompose_kohavi_wolpert(MAJORITIES, np.array([1]), 2)
    assert rare.mean("loss") == pytest.approx(20 / 27, abs=1e-15)
    assert rare.mean("bias") == pytest.approx(400 / 729, abs=1e-15)
    assert rare.mean("variance") == pytest.approx(140 / 729, abs=1e-15)
    main = decompose_domingos(MAJORITIES, np.array([1]), 2)
    parts = {name: main.mean(name) for name in main.parts}
    assert parts == pytest.approx({"bias": 1, "variance_unbiased": 0, "variance_biased": -7 / 27}, abs=1e-15)
    usual = decompose_domingos(MAJORITIES, np.array([0]), 2)
    parts = {name: usual.mean(name) for name in usual.parts}
    assert parts == pytest.approx({"bias": 0, "variance_unbiased": 7 / 27, "variance_biased": 0}, abs=1e-15)


def test_with_many_classes_variance_helps_only_as_far_as_it_meets_the_true_one() -> None:
    predicted = np.array([[0], [1], [2]])
    ahead, behind = (decompose_domingos(predicted, np.array([true]), 3) for true in (0, 1))
    assert ahead.mean("variance_unbiased") == pytest.approx(2 / 3)
    assert (behind.mean("bias"), behind.mean("variance_biased")) == (1.0, pytest.approx(-1 / 3))
    squares = decompose_kohavi_wolpert(predicted, np.array([0]), 3)
    assert (squares.mean("bias"), squares.mean("variance")) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_corrected_parts_have_the_expectation_of_endless_sets() -> None:
    population = np.array([0.0, 1.0, 5.0])
    pairs = [
        decompose_squared_loss(np.array(pair)[:, None, None], np.array([[4.0]]))
        for pair in product(population, repeat=2)
    ]
    corrected = [pair.corrected() for pair in pairs]
    biases, variances = ([each[name] for each in corrected if each] for name in ("bias", "variance"))
    assert np.mean(biases) == pytest.approx((population.mean() - 4.0) ** 2)
    assert np.mean(variances) == pytest.approx(population.var())
    assert np.mean([pair.mean("variance") for pair in pairs]) == pytest.approx(population.var() / 2)


def test_domingos_parts_have_no_correction() -> None:
    assert decompose_domingos(MAJORITIES, np.array([1]), 2).corrected() is None


@pytest.mark.parametrize(
    ("form", "noise"), [(decompose_kohavi_wolpert, 0.09), (decompose_domingos, 0.1 * (1 - 2 * 7 / 27))]
)
def test_noise_is_in_expectation_that_of_the_labels(form: Callable[..., Any], noise: float) -> None:
    # Of squares ½ (1 − 0.9² − 0.1²); of the main prediction 0.1 (2 P(the best answer) − 1).
    known = np.array([[0.9, 0.1]])
    found = [form(MAJORITIES, np.array([label]), 2, known).mean("noise") for label in (0, 1)]
    assert 0.9 * found[0] + 0.1 * found[1] == pytest.approx(noise, abs=1e-14)


def test_noise_of_numbers_is_in_expectation_their_variance() -> None:
    predicted, known = means_of_pairs()[:, None, None], np.array([[2.0]])
    parts = [decompose_squared_loss(predicted, known + error, known) for error in (-1.0, 1.0)]
    assert np.mean([each.mean("noise") for each in parts]) == pytest.approx(1.0)
    assert [each.mean("bias") for each in parts] == pytest.approx([25 / 9] * 2)


def test_the_jackknife_error_of_the_loss_is_that_of_a_mean() -> None:
    rng = np.random.default_rng(0)
    predicted, true = rng.normal(size=(40, 5, 1)), rng.normal(size=(5, 1))
    each = np.square(predicted - true).mean(axis=(1, 2))
    assert decompose_squared_loss(predicted, true).error_of_rounds("loss") == pytest.approx(
        each.std(ddof=1) / np.sqrt(40)
    )


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
def test_the_error_is_how_far_runs_differ(form: Callable[..., Decomposition]) -> None:
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 40)
    shares = rng.dirichlet(np.ones(3), 40).cumsum(axis=1)
    runs = [form((rng.random((60, 40, 1)) > shares).sum(axis=2), true, 3) for _ in range(60)]
    for part in runs[0].parts:
        spread = np.std([run.mean(part) for run in runs])
        told = np.mean([run.error_of_rounds(part) for run in runs])
        assert told == pytest.approx(spread, rel=0.35)


def test_what_no_set_changes_has_no_error() -> None:
    steady = decompose_domingos(np.ones((5, 3), np.int64), np.array([0, 1, 1]), 2)
    assert set(steady.rounds_errors.values()) == {0.0}


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
@given(votes())
def test_labels_known_for_sure_have_no_noise_at_all(
    form: Callable[..., Decomposition], case: tuple[Any, Any, int, Any]
) -> None:
    predicted, true, k, _ = case
    found = form(predicted, true, k, one_hot(true, k))
    assert (found.mean("noise"), found.error_of_rounds("noise"), found.parts["noise"].max()) == (0, 0, 0)


@given(numbers())
def test_numbers_known_for_sure_have_no_noise_at_all(case: tuple[Any, Any, Any]) -> None:
    found = decompose_squared_loss(case[0], case[1], case[1])
    assert (found.mean("noise"), found.error_of_rounds("noise"), found.parts["noise"].max()) == (0, 0, 0)
