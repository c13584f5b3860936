"""The measures of `evaluate` agree with scikit-learn's metrics to 1e-12, with ties and weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LinearRegression

from tests.judge.metrics.scripted import evaluate_scripted
from weigh.judge import evaluate

TOLERANCE = {"rel": 1e-12, "abs": 1e-12}


@st.composite
def cases(draw, max_classes=4):
    """Draw labels, probabilities with many ties, and positive weights or None."""
    n_classes = draw(st.integers(2, max_classes))
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = draw(st.sampled_from([2, 5, 1000]))
    table = 1.0 + rng.integers(0, steps, (n, n_classes))
    weights = rng.gamma(1.0, size=n) + 0.01 if draw(st.booleans()) else None
    return rng.integers(0, n_classes, n), table / table.sum(axis=1, keepdims=True), weights


def ignore_warnings(metric, *args, **kwargs):
    """Call a metric of scikit-learn without its warnings about undefined values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric(*args, **kwargs)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_shares_and_macro_averages_equal_those_of_scikit_learn(case):
    labels, table, weights = case
    result = evaluate_scripted(labels, table, weights)
    pair = (labels, table.argmax(axis=1))
    weighted = {"sample_weight": weights}
    expected = {
        "accuracy": metrics.accuracy_score(*pair, **weighted),
        "zero_one": metrics.zero_one_loss(*pair, **weighted),
        "balanced_accuracy": ignore_warnings(metrics.balanced_accuracy_score, *pair, **weighted),
    }
    for name in ("precision", "recall", "f1"):
        metric = getattr(metrics, f"{name}_score")
        expected[f"macro_{name}"] = metric(*pair, average="macro", zero_division=0, **weighted)
    assert {name: result.measure(name).value for name in expected} == pytest.approx(expected, **TOLERANCE)
    per_class = metrics.precision_recall_fscore_support(
        *pair, labels=result.classes, zero_division=np.nan, **weighted
    )
    rows = [(row.precision.value, row.recall.value, row.f1, row.support) for row in result.per_class]
    np.testing.assert_allclose(rows, np.transpose(per_class), rtol=1e-12)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_losses_equal_those_of_scikit_learn(case):
    labels, table, weights = case
    result = evaluate_scripted(labels, table, weights)
    options = {"labels": range(table.shape[1]), "sample_weight": weights}
    assert result.measure("log_loss").value == pytest.approx(
        metrics.log_loss(labels, table, **options), **TOLERANCE
    )
    brier = metrics.brier_score_loss(labels, table, **options)
    assert result.measure("brier").value == pytest.approx(brier, **TOLERANCE)
    if table.shape[1] == 2:
        binary = metrics.brier_score_loss(labels == 1, table[:, 1], sample_weight=weights, pos_label=True)
        assert result.measure("brier").value == pytest.approx(binary, **TOLERANCE)
        assert result.measure("squared").value == pytest.approx(binary, **TOLERANCE)


@given(cases(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_areas_equal_those_of_scikit_learn(case, as_scores):
    labels, table, weights = case
    result = evaluate_scripted(labels, table, weights, as_scores)
    weighted = {"sample_weight": weights}
    areas = []
    for code, row in enumerate(result.per_class):
        truth = labels == code
        if not truth.any() or truth.all():
            assert np.isnan([row.roc_area.value, row.pr_area.value]).all()
            continue
        roc = metrics.roc_auc_score(truth, table[:, code], **weighted)
        pr = metrics.average_precision_score(truth, table[:, code], **weighted)
        assert (row.roc_area.value, row.pr_area.value) == pytest.approx((roc, pr), **TOLERANCE)
        assert row.roc_area.low <= roc <= row.roc_area.high
        assert row.pr_area.low <= pr <= row.pr_area.high
        areas.append((roc, pr))
    overall = (result.measure("roc_area").value, result.measure("pr_area").value)
    if not areas:
        assert np.isnan(overall).all()
    elif table.shape[1] == 2:
        assert overall == pytest.approx(areas[1], **TOLERANCE)
    else:
        assert overall == pytest.approx(tuple(np.mean(areas, axis=0)), **TOLERANCE)
    if len(areas) == table.shape[1] > 2:
        ovr = metrics.roc_auc_score(labels, table, multi_class="ovr", **weighted)
        averaged = metrics.average_precision_score(labels, table, **weighted)
        assert overall == pytest.approx((ovr, averaged), **TOLERANCE)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_curves_equal_those_of_scikit_learn(case):
    labels, table, weights = case
    # Sums of weights round differently in another order, so collinear points may or may not be dropped.
    options = {"sample_weight": weights, "drop_intermediate": weights is None}
    for curves in evaluate_scripted(labels, table, weights).curves:
        truth, scores = labels == curves.label, table[:, curves.label]
        x, y, thresholds = metrics.roc_curve(truth, scores, **options)
        _check_curve(curves.roc, (thresholds, x, y), weights is None)
        precision, recall, thresholds = metrics.precision_recall_curve(truth, scores, **options)
        _check_curve(
            curves.precision_recall, (np.append(thresholds, np.inf), recall, precision), weights is None
        )


def _check_curve(ours, theirs, is_whole):
    """Assert that our points equal theirs at the same thresholds, and are complete without weights."""
    points = {
        threshold: point for threshold, *point in zip(*(column.tolist() for column in theirs), strict=True)
    }
    our_thresholds = ours.thresholds.tolist()
    assert set(our_thresholds) == set(points) if is_whole else set(our_thresholds) <= set(points)
    expected = [points[threshold] for threshold in our_thresholds]
    np.testing.assert_allclose(np.column_stack([ours.x, ours.y]), expected, rtol=1e-12, atol=1e-15)


@given(st.integers(0, 2**32 - 1), st.integers(20, 400))
@settings(max_examples=40, deadline=None)
def test_reliability_equals_scikit_learns_calibration_curve(seed, n):
    rng = np.random.default_rng(seed)
    second = rng.integers(1, 50, n) / 50
    labels = (rng.random(n) < second).astype(int)
    result = evaluate_scripted(labels, np.column_stack([1 - second, second]))
    bins = [row for row in result.reliability if row.series == "P(1)"]
    truth, predicted = ignore_warnings(
        calibration_curve, labels, second, n_bins=min(max(n // 10, 1), 10), strategy="quantile", pos_label=1
    )
    np.testing.assert_allclose([row.observed for row in bins], truth, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([row.predicted for row in bins], predicted, rtol=1e-12)
    confidence = np.maximum(second, 1 - second)
    verdicts = [row for row in result.reliability if row.series == "verdict"]
    truth, predicted = ignore_warnings(
        calibration_curve,
        labels == (second > 0.5),
        confidence,
        n_bins=min(max(n // 10, 1), 10),
        strategy="quantile",
        pos_label=True,
    )
    np.testing.assert_allclose([row.observed for row in verdicts], truth, rtol=1e-12, atol=1e-12)
    rows = np.array([row.rows for row in verdicts])
    error = (rows * np.abs(truth - predicted)).sum() / n
    assert result.measure("calibration_error").value == pytest.approx(error, **TOLERANCE)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans())
@settings(max_examples=30, deadline=None)
def test_regression_measures_equal_those_of_scikit_learn(seed, n, is_weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = 5.0 + X @ [1.0, -2.0] + rng.normal(size=n)
    weights = rng.gamma(1.0, size=n) + 0.01 if is_weighted else None
    model = LinearRegression().fit(rng.normal(size=(9, 2)), rng.normal(size=9))
    result, predicted = evaluate(model, X, y, sample_weight=weights), model.predict(X)
    expected = {
        "r2": metrics.r2_score(y, predicted, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, predicted, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, predicted, sample_weight=weights),
    }
    assert {name: result.measure(name).value for name in expected} == pytest.approx(expected, **TOLERANCE)
