"""Bias, variance and noise add up to the loss and equal the exact values over all training sets."""

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


def sum_of_parts(result: Decomposition) -> Any:
    return np.sum(list(result.parts.values()), axis=0)


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
    result = decompose_squared_loss(*case)
    loss = np.square(case[0] - case[1]).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(result.loss, loss, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sum_of_parts(result), loss, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
@given(votes())
def test_parts_add_up_to_the_error_rate_in_every_row_and_in_the_mean(
    form: Callable[..., Decomposition], case: tuple[Any, Any, int, Any]
) -> None:
    result, errors = form(*case), (case[0] != case[1]).mean(axis=0)
    np.testing.assert_allclose(result.loss, errors, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sum_of_parts(result), errors, rtol=0, atol=1e-12)
    assert sum(map(result.mean, result.parts)) == pytest.approx(result.mean("loss"), abs=1e-12)


@given(numbers())
def test_errors_of_squares_are_the_jackknife_errors(case: tuple[Any, Any, Any]) -> None:
    if len(case[0]) == 2:
        return
    result = decompose_squared_loss(*case)
    leave_one_out = [
        decompose_squared_loss(np.delete(case[0], number, axis=0), *case[1:])
        for number in range(result.rounds)
    ]
    for name in ("loss", *result.parts):
        means = np.array([each.mean(name) for each in leave_one_out])
        assert result.error_of_rounds(name) == pytest.approx(
            np.sqrt((result.rounds - 1) * means.var()), rel=1e-6, abs=1e-6
        )


@given(votes())
def test_kohavi_wolpert_is_half_the_squares_of_one_hot_vectors(case: tuple[Any, Any, int, Any]) -> None:
    predicted, true, k, known = case
    result, squared = (
        decompose_kohavi_wolpert(*case),
        decompose_squared_loss(one_hot(predicted, k), one_hot(true, k), known),
    )
    for name, part in squared.parts.items():
        np.testing.assert_allclose(result.parts[name], part / 2, rtol=0, atol=1e-14)
    errors = {name: error / 2 for name, error in squared.rounds_errors.items()}
    assert result.rounds_errors == pytest.approx(errors, abs=1e-14)


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
def test_many_classes_do_not_need_a_table_of_all_sets(form: Callable[..., Decomposition]) -> None:
    rounds, rows, k = 40, 300, 100
    predicted = np.random.default_rng(0).integers(0, k, (rounds, rows))
    tracemalloc.start()
    form(predicted, predicted[0], k)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * rounds * rows * k / 2


def means_of_pairs() -> Any:
    """Return the means of all training sets of two rows with the labels 0, 0, 1."""
    return np.array([(a + b) / 2 for a, b in product([0, 0, 1], repeat=2)])


@pytest.mark.parametrize(
    ("label", "bias", "variance"),
    [(1, Fraction(4, 9), Fraction(1, 9)), (0, Fraction(1, 9), Fraction(1, 9))],
)
def test_the_mean_of_two_labels_has_the_exact_parts_of_all_nine_training_sets(
    label: int, bias: Fraction, variance: Fraction
) -> None:
    result = decompose_squared_loss(means_of_pairs()[:, None, None], np.array([[float(label)]]))
    assert result.mean("bias") == pytest.approx(float(bias), abs=1e-15)
    assert result.mean("variance") == pytest.approx(float(variance), abs=1e-15)
    assert result.mean("loss") == pytest.approx(float(bias + variance), abs=1e-15)


MAJORITIES = np.array([[int(sum(drawn) >= 2)] for drawn in product([0, 0, 1], repeat=3)])


def test_the_majority_of_three_labels_has_the_exact_parts_of_all_training_sets() -> None:
    # Seven of the 27 sets of three from a, a, b contain b at least twice.
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


def test_biased_variance_counts_only_votes_for_the_true_class() -> None:
    predicted = np.array([[0], [1], [2]])
    ahead, behind = (decompose_domingos(predicted, np.array([true]), 3) for true in (0, 1))
    assert ahead.mean("variance_unbiased") == pytest.approx(2 / 3)
    assert (behind.mean("bias"), behind.mean("variance_biased")) == (1.0, pytest.approx(-1 / 3))
    squares = decompose_kohavi_wolpert(predicted, np.array([0]), 3)
    assert (squares.mean("bias"), squares.mean("variance")) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_corrected_parts_are_unbiased() -> None:
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
def test_the_expected_noise_is_the_label_noise(form: Callable[..., Any], noise: float) -> None:
    # Squares: ½ (1 − 0.9² − 0.1²); main prediction: 0.1 (2 P(the optimal prediction) − 1).
    known = np.array([[0.9, 0.1]])
    result = [form(MAJORITIES, np.array([label]), 2, known).mean("noise") for label in (0, 1)]
    assert 0.9 * result[0] + 0.1 * result[1] == pytest.approx(noise, abs=1e-14)


def test_the_expected_noise_of_numbers_is_their_variance() -> None:
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
def test_the_standard_error_is_the_spread_between_runs(form: Callable[..., Decomposition]) -> None:
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 40)
    shares = rng.dirichlet(np.ones(3), 40).cumsum(axis=1)
    runs = [form((rng.random((60, 40, 1)) > shares).sum(axis=2), true, 3) for _ in range(60)]
    for part in runs[0].parts:
        spread = np.std([run.mean(part) for run in runs])
        estimated = np.mean([run.error_of_rounds(part) for run in runs])
        assert estimated == pytest.approx(spread, rel=0.35)


def test_constant_predictions_have_no_error() -> None:
    steady = decompose_domingos(np.ones((5, 3), np.int64), np.array([0, 1, 1]), 2)
    assert set(steady.rounds_errors.values()) == {0.0}


@pytest.mark.parametrize("form", [decompose_kohavi_wolpert, decompose_domingos])
@given(votes())
def test_certain_labels_have_no_noise(
    form: Callable[..., Decomposition], case: tuple[Any, Any, int, Any]
) -> None:
    predicted, true, k, _ = case
    result = form(predicted, true, k, one_hot(true, k))
    assert (result.mean("noise"), result.error_of_rounds("noise"), result.parts["noise"].max()) == (0, 0, 0)


@given(numbers())
def test_certain_numbers_have_no_noise(case: tuple[Any, Any, Any]) -> None:
    result = decompose_squared_loss(case[0], case[1], case[1])
    assert (result.mean("noise"), result.error_of_rounds("noise"), result.parts["noise"].max()) == (0, 0, 0)
