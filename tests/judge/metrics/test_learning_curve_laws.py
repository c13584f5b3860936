"""Laws are recovered with their uncertainty, and power laws rejected if the losses do not follow one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import linregress, sem

from weigh import errors
from weigh.judge.metrics.learning_curve_laws import (
    PowerLaw,
    fit_lines,
    fit_log_linear_law,
    fit_power_law,
    fit_power_laws,
    law_chart_rows,
)
from weigh.judge.metrics.paired_tests import Estimate, FoldCorrection

SIZES = [10, 20, 40, 80, 160, 320, 640, 1280]
N = np.array(SIZES, np.float64)
CORRECTION = FoldCorrection(10, 0.25, 0.95)


def noisy(a: float, b: float, c: float, sigma: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return a + b * N**-c + sigma * rng.standard_normal((10, len(N)))


@given(st.floats(0, 0.5), st.floats(0.05, 5), st.floats(0.05, 1.9))
def test_a_law_without_noise_is_recovered(a: float, b: float, c: float) -> None:
    result = fit_power_laws(N, (a + b * N**-c)[None, :], np.ones(len(N)))[0]
    np.testing.assert_allclose(result[0] + result[1] * N ** -result[2], a + b * N**-c, atol=1e-7 * b)
    assert result[2] == pytest.approx(c, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_the_least_squares_optimum(seed: int) -> None:
    losses, weights = noisy(0.1, 1.0, 0.5, 0.03, seed).mean(axis=0), 1.0 + np.arange(8.0)

    def squared_error(law: np.ndarray) -> float:
        return float((weights * np.square(losses - law[0] - law[1] * N ** -law[2])).sum())

    bounds = [(0, None), (0, None), (0.02, 2.0)]
    peers = [
        minimize(squared_error, [0.1, 1.0, c], bounds=bounds, tol=1e-14).fun for c in (0.1, 0.3, 0.6, 1.2)
    ]
    assert squared_error(fit_power_laws(N, losses[None, :], weights)[0]) <= min(peers) + 1e-12


def test_intervals_cover_the_true_parameters() -> None:
    n_covered = np.zeros(5)
    for seed in range(20):
        law = fit_power_law(SIZES, noisy(0.1, 1.0, 0.5, 0.02, seed), CORRECTION)
        assert isinstance(law, PowerLaw)
        truths = zip((law.a, law.b, law.c, law.at(12_800)), (0.1, 1.0, 0.5, 0.1 + 12_800**-0.5), strict=True)
        is_covered = [measure.low <= truth <= measure.high for measure, truth in truths]
        needed = law.size_for(0.15)
        n_covered += [*is_covered, needed.low <= 400 <= needed.high]
    assert n_covered.min() >= 19


def test_required_rows_are_where_the_law_reaches_the_target() -> None:
    law = fit_power_law(SIZES, noisy(0.1, 1.0, 0.5, 1e-9), CORRECTION)
    assert isinstance(law, PowerLaw)
    assert law.size_for(0.15).rows == pytest.approx(400, rel=1e-4)
    assert str(law.size_for(0.15)).endswith("rows (400 to 401) for a loss of 0.15.")
    assert law.at(law.size_for(0.2).rows).value == pytest.approx(0.2)
    never = law.size_for(0.05)
    assert never.rows == never.low == never.high == math.inf
    assert str(never).startswith(
        "No number of rows reduces the loss to 0.05: by the fitted power law it stays above"
    )
    assert never.to_dict()["rows"] == "inf"
    assert law.size_for(5.0).rows == 1.0


def test_a_rising_training_loss_is_a_lower_bound_of_the_law() -> None:
    losses = noisy(0.1, 1.0, 0.2, 0.02, seed=3)
    free = fit_power_law(SIZES, losses, CORRECTION)
    rising = fit_power_law(SIZES, losses, CORRECTION, train=noisy(0.25, -1.0, 0.5, 1e-4))
    falling = fit_power_law(SIZES, losses, CORRECTION, train=noisy(0.2, 1.0, 0.5, 1e-4))
    assert isinstance(free, PowerLaw)
    assert isinstance(rising, PowerLaw)
    assert isinstance(falling, PowerLaw)
    assert free.a.value < rising.a.value == pytest.approx(0.25 - 1280**-0.5, abs=1e-3)
    assert free.a.low < 0.1 < 0.2 < rising.a.low
    assert falling.to_dict() == free.to_dict()
    assert (free.is_bound, rising.is_bound) == (False, True)
    bound = f"  in the limit              at least {rising.a.value:.4g} ("
    assert bound in str(rising)
    assert "\n    (a lower bound from the training loss, not an estimate)\n" in str(rising)
    assert "at least" not in str(free)


def test_a_law_above_the_training_loss_is_an_estimate() -> None:
    law = fit_power_law(SIZES, noisy(0.3, 1.0, 0.5, 0.002), CORRECTION, train=noisy(0.25, -1.0, 0.5, 1e-4))
    assert isinstance(law, PowerLaw)
    assert law.a.value > 0.25
    assert not law.is_bound


def test_sizes_are_weighted_by_inverse_variance() -> None:
    sigmas = np.array([0.2, 0.1, 0.05, 0.02, 0.02, 0.02, 0.02, 0.02])
    losses = 0.1 + N**-0.5 + sigmas * np.random.default_rng(0).standard_normal((10, len(N)))
    law = fit_power_law(SIZES, losses, CORRECTION)
    assert isinstance(law, PowerLaw)
    assert law.first == SIZES[0]
    variances = losses.var(axis=0, ddof=1) * (1 / 10 + 0.25)
    assert variances.min() > np.median(variances) / 10
    expected = fit_power_laws(N, losses.mean(axis=0)[None, :], 1 / variances)[0]
    assert (law.a.value, law.b.value, law.c.value) == pytest.approx(tuple(expected), rel=1e-6)
    unweighted = fit_power_laws(N, losses.mean(axis=0)[None, :], np.ones(len(N)))[0]
    assert abs(unweighted[0] - law.a.value) > 0.001


def test_a_size_with_equal_losses_does_not_dominate() -> None:
    losses = noisy(0.1, 1.0, 0.5, 0.02)
    losses[:, 2] = losses[:, 2].mean()
    law = fit_power_law(SIZES, losses, CORRECTION)
    assert isinstance(law, PowerLaw)
    variances = losses.var(axis=0, ddof=1) * (1 / 10 + 0.25)
    weights = 1 / np.maximum(variances, np.median(variances) / 10)
    expected = fit_power_laws(N, losses.mean(axis=0)[None, :], weights)[0]
    assert (law.a.value, law.b.value, law.c.value) == pytest.approx(tuple(expected), rel=1e-6)


def test_small_sizes_that_break_the_law_are_dropped() -> None:
    losses = noisy(0.1, 1.0, 0.5, 0.002)
    losses[:, 0] -= 0.3
    law = fit_power_law(SIZES, losses, CORRECTION)
    assert isinstance(law, PowerLaw)
    assert law.first > 10
    assert law.at(1280).value == pytest.approx(0.1 + 1280**-0.5, abs=0.005)


@pytest.mark.parametrize(
    ("losses", "reason"),
    [
        (noisy(0.2, 0.0, 0.5, 0.01), "the loss does not fall significantly from 10 to 1,280 rows"),
        (noisy(0.0, 0.01, -0.3, 0.001), "the loss does not fall significantly from 10 to 1,280 rows"),
        (np.where(N > 20, 0.1, noisy(0.1, 1.0, 0.5, 0.01) + math.inf), "some losses are infinite"),
        (
            0.3 + 0.1 * np.sin(N) - N * 1e-4 + noisy(0, 0, 1, 0.001),
            "the measured losses do not follow a power",
        ),
    ],
)
def test_losses_that_follow_no_power_law_are_rejected(losses: np.ndarray, reason: str) -> None:
    result = fit_power_law(SIZES, losses, CORRECTION)
    assert isinstance(result, str)
    assert result.startswith(reason)


def test_three_sizes_are_too_few() -> None:
    assert fit_power_law(SIZES[:3], noisy(0.1, 1, 0.5, 0.01)[:, :3], CORRECTION) == (
        "at least 4 sizes are needed, and there are 3"
    )


def test_the_bootstrap_is_deterministic() -> None:
    laws = [fit_power_law(SIZES, noisy(0.1, 1.0, 0.5, 0.02), CORRECTION) for _ in range(2)]
    assert str(laws[0]) == str(laws[1])


def test_drawn_errors_have_the_corrected_interval() -> None:
    values = noisy(0.1, 1.0, 0.5, 0.02)
    draws = CORRECTION.draw_errors(values, 20_000, 0)
    low, high = np.quantile(draws[:, 3], [0.025, 0.975])
    mean, first, last, _ = CORRECTION.mean_intervals(values)
    assert high - low == pytest.approx(last[3] - first[3], rel=0.05)
    one = Estimate.of_mean(values[:, 3], 0.25)
    assert (mean[3], first[3], last[3]) == (one.mean, *one.interval(0.95))


@pytest.mark.parametrize("bad", [0, -3, math.nan, "many"])
def test_invalid_sizes_and_targets_raise(bad: object) -> None:
    law = fit_power_law(SIZES, noisy(0.1, 1.0, 0.5, 0.02), CORRECTION)
    assert isinstance(law, PowerLaw)
    with pytest.raises(errors.ParameterError, match="at: n must be a number of rows of at least 1"):
        law.at(bad)  # type: ignore[arg-type]
    with pytest.raises(errors.ParameterError, match="size_for: loss must be a loss of at least 0"):
        law.size_for("little")  # type: ignore[arg-type]


WORDS = (10_000, 20_000, 50_000, 100_000, 1_000_000)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_the_log_linear_fit_equals_least_squares(seed: int, sets: int) -> None:
    accuracies = np.random.default_rng(seed).random((len(WORDS), sets))
    law = fit_log_linear_law(WORDS, accuracies)
    assert law is not None
    line = linregress(np.log10(WORDS), accuracies.mean(axis=1))
    slopes = [linregress(np.log10(WORDS), one).slope for one in accuracies.T]
    fitted = (law.a, law.b, law.r2, law.error)
    assert fitted == pytest.approx((line.intercept, line.slope, line.rvalue**2, sem(slopes)), abs=1e-10)
    assert law.values([10_000])[0] == pytest.approx(line.intercept + 4 * line.slope)


def test_exact_line_is_recovered_and_printed() -> None:
    straight = np.stack([0.3 + 0.1 * np.log10(WORDS), 0.5 + 0.06 * np.log10(WORDS)], axis=1)
    law = fit_log_linear_law(WORDS, straight)
    assert str(law) == "0.400 + 0.0800 (± 0.0200) · log10(words), R² 1.000"
    assert law is not None
    assert law.to_dict() == pytest.approx({"a": 0.4, "b": 0.08, "error": 0.02, "r2": 1.0})


def test_negative_slope_is_printed_with_one_sign() -> None:
    falling = fit_log_linear_law(WORDS, (0.9 - 0.1 * np.log10(WORDS))[:, None])
    assert str(falling) == "0.900 − 0.1000 · log10(words), R² 1.000"


def test_fit_of_one_set_has_no_standard_error() -> None:
    law = fit_log_linear_law(WORDS, np.linspace(0.5, 0.9, 5)[:, None])
    assert law is not None
    assert math.isnan(law.error)
    assert law.to_dict()["error"] is None


def test_constant_accuracy_has_no_r_squared() -> None:
    flat = fit_log_linear_law(WORDS, np.full((5, 2), 0.7))
    assert str(flat) == "0.700 + 0.0000 (± 0.0000) · log10(words)"
    assert flat is not None
    assert flat.gain_text == "+0.0 ± 0.0"
    assert flat.to_dict()["r2"] is None


def test_two_sizes_are_not_fitted() -> None:
    assert fit_log_linear_law(WORDS[:2], np.ones((2, 3))) is None


@pytest.mark.parametrize("seed", range(4))
def test_lines_are_the_weighted_least_squares_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, weights = rng.normal(size=(3, 6)), rng.normal(size=(3, 6)), rng.gamma(2.0, size=6)
    a, b = fit_lines(x, y, weights)
    expected = [np.polyfit(*pair, 1, w=np.sqrt(weights)) for pair in zip(x, y, strict=True)]
    assert np.column_stack([b, a]) == pytest.approx(np.array(expected))
    flat, slope = fit_lines(x, y, weights, min_slope=100.0)
    assert slope.tolist() == [100.0] * 3
    assert flat == pytest.approx(np.average(y - 100 * x, axis=1, weights=weights))


def test_a_law_is_drawn_between_its_sizes() -> None:
    law = fit_log_linear_law(WORDS, np.linspace(0.5, 0.9, 5)[:, None])
    assert law is not None
    rows = law_chart_rows("memory", law, 10_000, 1_000_000)
    assert (rows[0]["x"], rows[-1]["x"]) == pytest.approx((10_000, 1_000_000))
    assert [row["y"] for row in rows] == pytest.approx(law.values([row["x"] for row in rows]).tolist())
    assert all(row["fitted"] and row["series"] == "memory" for row in rows)
