"""What `evaluate` measures is what scikit-learn's metrics say, to 1e-12, with ties and with weights."""

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

NEAR = {"rel": 1e-12, "abs": 1e-12}


@st.composite
def cases(draw, most_classes=4):
    """Labels, probabilities of which many are equal, and positive weights or none."""
    n_classes = draw(st.integers(2, most_classes))
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = draw(st.sampled_from([2, 5, 1000]))
    table = 1.0 + rng.integers(0, steps, (n, n_classes))
    weights = rng.gamma(1.0, size=n) + 0.01 if draw(st.booleans()) else None
    return rng.integers(0, n_classes, n), table / table.sum(axis=1, keepdims=True), weights


def quiet(metric, *args, **kwargs):
    """A metric of scikit-learn without its warnings of what is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric(*args, **kwargs)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_shares_and_their_means_over_classes_are_those_of_scikit_learn(case):
    labels, table, weights = case
    found = evaluate_scripted(labels, table, weights)
    answers = (labels, table.argmax(axis=1))
    weighted = {"sample_weight": weights}
    expected = {
        "accuracy": metrics.accuracy_score(*answers, **weighted),
        "zero_one": metrics.zero_one_loss(*answers, **weighted),
        "balanced_accuracy": quiet(metrics.balanced_accuracy_score, *answers, **weighted),
    }
    for name in ("precision", "recall", "f1"):
        metric = getattr(metrics, f"{name}_score")
        expected[f"macro_{name}"] = metric(*answers, average="macro", zero_division=0, **weighted)
    assert {name: found.measure(name).value for name in expected} == pytest.approx(expected, **NEAR)
    per_class = metrics.precision_recall_fscore_support(
        *answers, labels=found.classes, zero_division=np.nan, **weighted
    )
    rows = [(row.precision.value, row.recall.value, row.f1, row.support) for row in found.per_class]
    np.testing.assert_allclose(rows, np.transpose(per_class), rtol=1e-12)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_losses_are_those_of_scikit_learn(case):
    labels, table, weights = case
    found = evaluate_scripted(labels, table, weights)
    stated = {"labels": range(table.shape[1]), "sample_weight": weights}
    assert found.measure("log_loss").value == pytest.approx(metrics.log_loss(labels, table, **stated), **NEAR)
    brier = metrics.brier_score_loss(labels, table, **stated)
    assert found.measure("brier").value == pytest.approx(brier, **NEAR)
    if table.shape[1] == 2:
        binary = metrics.brier_score_loss(labels == 1, table[:, 1], sample_weight=weights, pos_label=True)
        assert found.measure("brier").value == pytest.approx(binary, **NEAR)
        assert found.measure("squared").value == pytest.approx(binary, **NEAR)


@given(cases(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_areas_are_those_of_scikit_learn(case, as_scores):
    labels, table, weights = case
    found = evaluate_scripted(labels, table, weights, as_scores)
    weighted = {"sample_weight": weights}
    areas = []
    for code, row in enumerate(found.per_class):
        truth = labels == code
        if not truth.any() or truth.all():
            assert np.isnan([row.roc_area.value, row.pr_area.value]).all()
            continue
        roc = metrics.roc_auc_score(truth, table[:, code], **weighted)
        pr = metrics.average_precision_score(truth, table[:, code], **weighted)
        assert (row.roc_area.value, row.pr_area.value) == pytest.approx((roc, pr), **NEAR)
        assert row.roc_area.low <= roc <= row.roc_area.high
        assert row.pr_area.low <= pr <= row.pr_area.high
        areas.append((roc, pr))
    overall = (found.measure("roc_area").value, found.measure("pr_area").value)
    if not areas:
        assert np.isnan(overall).all()
    elif table.shape[1] == 2:
        assert overall == pytest.approx(areas[1], **NEAR)
    else:
        assert overall == pytest.approx(tuple(np.mean(areas, axis=0)), **NEAR)
    if len(areas) == table.shape[1] > 2:
        ovr = metrics.roc_auc_score(labels, table, multi_class="ovr", **weighted)
        averaged = metrics.average_precision_score(labels, table, **weighted)
        assert overall == pytest.approx((ovr, averaged), **NEAR)


@given(cases())
@settings(max_examples=80, deadline=None)
def test_curves_are_those_of_scikit_learn(case):
    labels, table, weights = case
    # Sums of weights round otherwise in another order, so with them a point on a line may be told or not.
    said = {"sample_weight": weights, "drop_intermediate": weights is None}
    for curves in evaluate_scripted(labels, table, weights).curves:
        truth, scores = labels == curves.label, table[:, curves.label]
        x, y, thresholds = metrics.roc_curve(truth, scores, **said)
        _meets(curves.roc, (thresholds, x, y), weights is None)
        precision, recall, thresholds = metrics.precision_recall_curve(truth, scores, **said)
        _meets(curves.precision_recall, (np.append(thresholds, np.inf), recall, precision), weights is None)


def _meets(ours, theirs, is_whole):
    """Our points are theirs at the same thresholds, and all of them."""
    points = {threshold: place for threshold, *place in zip(*(each.tolist() for each in theirs), strict=True)}
    mine = ours.thresholds.tolist()
    assert set(mine) == set(points) if is_whole else set(mine) <= set(points)
    expected = [points[threshold] for threshold in mine]
    np.testing.assert_allclose(np.column_stack([ours.x, ours.y]), expected, rtol=1e-12, atol=1e-15)


@given(st.integers(0, 2**32 - 1), st.integers(20, 400))
@settings(max_examples=40, deadline=None)
def test_reliability_is_the_calibration_curve_of_scikit_learn(seed, n):
    rng = np.random.default_rng(seed)
    second = rng.integers(1, 50, n) / 50
    labels = (rng.random(n) < second).astype(int)
    found = evaluate_scripted(labels, np.column_stack([1 - second, second]))
    bins = [each for each in found.reliability if each.series == "P(1)"]
    truth, predicted = quiet(
        calibration_curve, labels, second, n_bins=min(max(n // 10, 1), 10), strategy="quantile", pos_label=1
    )
    np.testing.assert_allclose([each.observed for each in bins], truth, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([each.predicted for each in bins], predicted, rtol=1e-12)
    sure = np.maximum(second, 1 - second)
    verdicts = [each for each in found.reliability if each.series == "verdict"]
    truth, predicted = quiet(
        calibration_curve,
        labels == (second > 0.5),
        sure,
        n_bins=min(max(n // 10, 1), 10),
        strategy="quantile",
        pos_label=True,
    )
    np.testing.assert_allclose([each.observed for each in verdicts], truth, rtol=1e-12, atol=1e-12)
    rows = np.array([each.rows for each in verdicts])
    error = (rows * np.abs(truth - predicted)).sum() / n
    assert found.measure("calibration_error").value == pytest.approx(error, **NEAR)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans())
@settings(max_examples=30, deadline=None)
def test_measures_of_a_regression_are_those_of_scikit_learn(seed, n, is_weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = 5.0 + X @ [1.0, -2.0] + rng.normal(size=n)
    weights = rng.gamma(1.0, size=n) + 0.01 if is_weighted else None
    model = LinearRegression().fit(rng.normal(size=(9, 2)), rng.normal(size=9))
    found, predicted = evaluate(model, X, y, sample_weight=weights), model.predict(X)
    expected = {
        "r2": metrics.r2_score(y, predicted, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, predicted, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, predicted, sample_weight=weights),
    }
    assert {name: found.measure(name).value for name in expected} == pytest.approx(expected, **NEAR)
