"""Temperature and Platt scaling: certified minima, equal to those of other optimisers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.calibration import _SigmoidCalibration

from weigh.learn.calibration import CalibrationData, clip_scores, fit_platt, fit_temperature
from weigh.model import Temperature


def overconfident_data(n=400, classes=2, seed=0, factor=4.0):
    """Return log-probabilities times a factor that makes them overconfident."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(n, classes)) * 1.5
    shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    codes = (rng.random(n)[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return CalibrationData(
        factor * logs + rng.normal(size=(n, 1)) * 100, codes, rng.choice([0.5, 1.0, 2.0], n)
    )


def data_with_outlier(n=400, index=1, nats=1e4, seed=0):
    """Return overconfident scores of two classes with one row wrong by `nats`."""
    rows = overconfident_data(n, seed=seed, factor=1.5)
    scores = rows.scores.copy()
    scores[index, rows.codes[index]] = scores[index, 1 - rows.codes[index]] - nats
    return CalibrationData(scores, rows.codes, np.ones(n))


def smoothed_loss(rows, slope, shift):
    """Return the loss per row of the clipped scores, computed term by term."""
    rows = clip_scores(rows)
    n, classes = rows.scores.shape
    total = 0.0
    for i in range(n):
        label = rows.codes[i]
        class_total = sum(rows.weights[j] for j in range(n) if rows.codes[j] == label)
        z = slope * (rows.scores[i] - rows.scores[i].max()) + shift
        logs = z - np.log(np.exp(z).sum())
        for c in range(classes):
            a = 2 / classes
            target = (
                (class_total + a) / (class_total + 2 * a)
                if c == label
                else a / (class_total + 2 * a) / (classes - 1)
            )
            total -= rows.weights[i] * target * logs[c]
    return total / rows.weights.sum()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_temperature_minimises_the_loss(classes):
    rows = overconfident_data(120, classes)
    fit = fit_temperature(rows)
    loss = lambda log_slope: smoothed_loss(rows, np.exp(log_slope), np.zeros(classes))  # noqa: E731
    numerical = minimize_scalar(loss, bounds=(-4, 2), method="bounded", options={"xatol": 1e-10})
    assert pytest.approx(np.exp(-numerical.x), rel=1e-6) == fit.map.T
    assert fit.loss_after == pytest.approx(numerical.fun, rel=1e-12)
    assert fit.loss_before == pytest.approx(smoothed_loss(rows, 1.0, np.zeros(classes)), rel=1e-12)
    assert fit.derivative < 1e-12


def test_the_temperature_recovers_the_factor_of_overconfidence():
    assert pytest.approx(4.0, rel=0.05) == fit_temperature(overconfident_data(20000, 3, factor=4.0)).map.T
    assert pytest.approx(0.2, rel=0.05) == fit_temperature(overconfident_data(20000, 3, factor=0.2)).map.T


def test_platt_of_two_classes_is_scikit_learns_sigmoid():
    rows = overconfident_data(500)
    rows = CalibrationData(rows.scores, rows.codes, np.ones(500))
    fit = fit_platt(rows)
    # The same smoothed targets; scikit-learn's a and b have the other sign, and its search stops earlier.
    scores = clip_scores(rows).scores
    peer = _SigmoidCalibration().fit(scores[:, 1] - scores[:, 0], rows.codes)
    assert fit.map.slope == pytest.approx(-peer.a_, abs=1e-6)
    assert fit.map.shift == pytest.approx((0.0, -peer.b_), abs=1e-6)
    assert fit.derivative < 1e-12


@pytest.mark.parametrize("classes", [2, 4])
def test_platt_scaling_minimises_the_loss(classes):
    rows = overconfident_data(60, classes)
    fit = fit_platt(rows)
    loss = lambda params: smoothed_loss(rows, params[0], np.array([0.0, *params[1:]]))  # noqa: E731
    numerical = minimize(loss, [0.3, *np.zeros(classes - 1)], method="BFGS", options={"gtol": 1e-9})
    assert [fit.map.slope, *fit.map.shift[1:]] == pytest.approx(numerical.x, abs=1e-5)
    assert fit.loss_after <= numerical.fun + 1e-13
    assert fit.derivative < 1e-12


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 40), st.floats(1e-3, 1e3))
def test_no_fitted_map_is_worse_than_none(seed, classes, n, factor):
    rng = np.random.default_rng(seed)
    rows = CalibrationData(
        rng.normal(size=(n, classes)) * factor, rng.integers(0, classes, n), rng.integers(1, 4, n) * 1.0
    )
    temperature, platt = fit_temperature(rows), fit_platt(rows)
    # Scores opposite to the labels have the minimum slope, where the loss may be lower without shifts.
    if temperature.derivative is not None:
        assert temperature.loss_after <= temperature.loss_before + 1e-12
        assert temperature.derivative < 1e-9
        if platt.derivative is not None:
            assert platt.loss_after <= temperature.loss_after + 1e-12
            assert platt.derivative < 1e-9


@pytest.mark.parametrize("nats", [30.0, 1e3, 1e9])
def test_one_outlier_does_not_dominate_the_fit(nats):
    inliers = np.arange(400) != 1
    for fit in (fit_temperature, fit_platt):
        without = fit(data_with_outlier(nats=nats).select_rows(inliers)).map.slope
        assert fit(data_with_outlier(nats=nats)).map.slope == pytest.approx(without, rel=0.15)


def test_the_size_of_an_outlier_beyond_the_bound_makes_no_difference():
    near, far = (fit_temperature(data_with_outlier(nats=nats)).map.T for nats in (1e3, 1e9))
    assert near == pytest.approx(far, rel=1e-9)


def test_scores_are_clipped_at_the_bound_of_the_row_count():
    rows = data_with_outlier()
    clipped = clip_scores(rows)
    bound = -clipped.scores.min()
    # The bound is log(n + 1) after division by a temperature near the fitted one.
    assert bound / np.log(401) == pytest.approx(fit_temperature(rows).map.T, rel=0.25)
    below_best = rows.scores - rows.scores.max(axis=1, keepdims=True)
    np.testing.assert_array_equal(clipped.scores, np.maximum(below_best, -bound))
    assert (below_best < -bound).sum() < 10


def test_the_bound_scales_with_the_scores():
    rows = data_with_outlier()
    scaled = clip_scores(CalibrationData(rows.scores * 1e-3, rows.codes, rows.weights))
    np.testing.assert_allclose(scaled.scores * 1e3, clip_scores(rows).scores, rtol=1e-9, atol=1e-9)


def test_a_weight_is_equivalent_to_repetition():
    rows = overconfident_data(50, 3)
    weights = np.random.default_rng(1).integers(1, 4, 50)
    once = CalibrationData(rows.scores, rows.codes, weights.astype(float))
    many = CalibrationData(
        np.repeat(rows.scores, weights, axis=0), np.repeat(rows.codes, weights), np.ones(weights.sum())
    )
    assert pytest.approx(fit_temperature(many).map.T, rel=1e-12) == fit_temperature(once).map.T
    assert fit_platt(once).map.slope == pytest.approx(fit_platt(many).map.slope, rel=1e-10)


def test_confidence_without_errors_is_limited_by_the_number_of_rows():
    for n in (10, 1000):
        codes = np.arange(n) % 2
        rows = CalibrationData(np.column_stack([1.0 - codes, codes]) * 50, codes, np.ones(n))
        q = np.exp(fit_temperature(rows).map.apply(rows.scores)).max(axis=1)
        assert q == pytest.approx((n / 2 + 1) / (n / 2 + 2), rel=1e-9)
        assert np.exp(fit_platt(rows).map.apply(rows.scores)).max(axis=1) == pytest.approx(q, rel=1e-9)


def test_many_classes_with_few_rows_do_not_raise_the_log_loss():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(300), 4)
    scores = rng.normal(size=(1200, 300))
    scores[np.arange(1200), codes] += 9.0
    rows = CalibrationData(scores, codes, np.ones(1200))
    plain = lambda logs: -logs[np.arange(1200), codes].mean()  # noqa: E731
    before, after = (plain(Temperature(T).apply(scores)) for T in (1.0, fit_temperature(rows).map.T))
    assert after <= before


def test_scores_opposite_to_the_labels_get_the_minimum_slope():
    rows = overconfident_data(200)
    backwards = CalibrationData(rows.scores, 1 - rows.codes, rows.weights)
    for fit in (fit_temperature(backwards), fit_platt(backwards)):
        assert fit.derivative is None
        assert fit.map.slope * np.ptp(rows.scores, axis=1).max() == pytest.approx(1e-3, rel=1e-9)


def test_constant_scores_give_temperature_one():
    rows = CalibrationData(np.zeros((4, 2)), np.array([0, 1, 1, 1]), np.ones(4))
    assert fit_temperature(rows).map.T == 1.0
    platt = fit_platt(rows).map
    assert platt.slope == 1.0
    # Targets: 2/3 for the one row of the first class, 4/5 for the three rows of the second.
    share = (3 * 4 / 5 + 1 / 3) / 4
    assert np.exp(platt.apply(rows.scores))[0, 1] == pytest.approx(share, rel=1e-12)


def test_one_class_is_certain():
    rows = CalibrationData(np.array([[-3.0], [-9.0]]), np.zeros(2, dtype=int), np.ones(2))
    for calibration in (fit_temperature(rows).map, fit_platt(rows).map):
        assert (calibration.apply(rows.scores) == 0.0).all()


def test_very_large_scores_can_be_calibrated():
    rows = overconfident_data(300, 3)
    scaled = CalibrationData(rows.scores * 1e6, rows.codes, rows.weights)
    assert pytest.approx(1e6 * fit_temperature(rows).map.T, rel=1e-6) == fit_temperature(scaled).map.T
    assert fit_platt(scaled).map.slope == pytest.approx(1e-6 * fit_platt(rows).map.slope, rel=1e-6)
