"""Evaluations name a calibration where a model is overconfident, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.cli.notation import write_option
from weigh.learn.calibration import CalibrationData, fit_temperature, measure_gain, slope_scores
from weigh.model.calibration import Temperature

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")


def redundant_rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Return rows with three copies of one column, which make naive Bayes overconfident."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = y + 1.5 * rng.normal(size=n)
    return np.column_stack([x, x, x]) + 0.01 * rng.normal(size=(n, 3)), y


def independent_rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + y[:, None], y


def unwrap(text: str) -> str:
    return " ".join(text.split())


def test_an_overconfident_naive_bayes_model_is_advised_to_calibrate() -> None:
    model, rows = weigh.NaiveBayes().fit(*redundant_rows(400)), redundant_rows(1000, 1)
    evaluation = weigh.evaluate(model, *rows)
    found = evaluation.overconfidence
    assert 2 < found.low < found.temperature < found.high < 6
    assert found.log_loss_before == pytest.approx(evaluation.measure("log_loss").value)
    calibrated = weigh.calibrate(model, *rows)
    assert found.temperature == pytest.approx(calibrated.calibration.T)
    assert found.log_loss_after == pytest.approx(weigh.evaluate(calibrated, *rows).measure("log_loss").value)
    assert evaluation.to_dict()["overconfidence"] == found.to_dict()
    numbers = f"{found.temperature:.3g} times too large (99% interval {found.low:.3g} to {found.high:.3g})"
    losses = f"from {found.log_loss_before:.3g} to about {found.log_loss_after:.3g}"
    sentence = (
        f"The model is overconfident: its log-odds are {numbers}. A calibration would lower the log loss of "
        f"these rows {losses}. "
    )
    python = (
        'Train it with NaiveBayes(calibration="auto"), or calibrate it on rows that it was not trained on: '
        "weigh.calibrate(model, rows)."
    )
    assert sentence + python in unwrap(str(evaluation))
    command_line = (
        "Train it with --set calibration=auto, or calibrate it on rows that it was not trained on: "
        "weigh calibrate MODEL DATA -o NEW."
    )
    assert sentence + command_line in unwrap(str(evaluation.with_notation(write_option)))


@pytest.mark.parametrize("calibration", ["auto", "temperature"])
def test_a_calibrated_model_is_not_advised_to_calibrate(calibration: str) -> None:
    model = weigh.NaiveBayes(calibration=calibration).fit(*redundant_rows(400))
    assert weigh.evaluate(model, *redundant_rows(1000, 1)).overconfidence is None


def test_models_whose_assumptions_hold_are_rarely_called_overconfident() -> None:
    found = 0
    for seed in range(40):
        model = weigh.NaiveBayes().fit(*independent_rows(2000, seed))
        found += weigh.evaluate(model, *independent_rows(500, seed + 100)).overconfidence is not None
    assert found <= 1


def test_few_rows_and_useless_scores_are_not_called_overconfident() -> None:
    X, y = redundant_rows(400)
    model = weigh.NaiveBayes().fit(X, y)
    assert weigh.evaluate(model, X[:49], y[:49]).overconfidence is None
    assert weigh.evaluate(model, X, 1 - y).overconfidence is None


@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
def test_other_classifiers_are_advised_to_calibrate_on_other_rows() -> None:
    X, y = redundant_rows(400)
    table = weigh.JointBayes(columns=weigh.Number(bins=40), prior=0.01).fit(X, y)
    advice = unwrap(str(weigh.evaluate(table, *redundant_rows(1000, 1))))
    assert "Calibrate it on rows that it was not trained on: weigh.calibrate(model, rows)." in advice
    assert 'calibration="auto"' not in advice


def test_slope_scores_are_derivatives_of_the_log_likelihood() -> None:
    rng = np.random.default_rng(0)
    data = CalibrationData(rng.normal(size=(30, 3)), rng.integers(0, 3, 30), rng.choice([0.5, 1.0, 2.0], 30))

    def log_likelihood(slope: float) -> Any:
        logs = slope * data.scores - np.log(np.exp(slope * data.scores).sum(axis=1, keepdims=True))
        return data.weights * logs[np.arange(30), data.codes]

    h = 1e-4
    first, information = slope_scores(data, 0.7)
    np.testing.assert_allclose(
        first, (log_likelihood(0.7 + h) - log_likelihood(0.7 - h)) / (2 * h), atol=1e-7
    )
    second = (log_likelihood(0.7 + h) - 2 * log_likelihood(0.7) + log_likelihood(0.7 - h)).sum() / h**2
    assert information == pytest.approx(-second, rel=1e-5)


def test_the_gain_is_the_difference_of_log_losses() -> None:
    rng = np.random.default_rng(0)
    data = CalibrationData(4 * rng.normal(size=(200, 2)), rng.integers(0, 2, 200), np.ones(200))
    gain = measure_gain(data, fit_temperature(data).map)
    assert gain.gain == pytest.approx(gain.before - gain.after)
    assert gain.is_significant
    assert not measure_gain(data, Temperature(1.0)).is_significant
    doubled = CalibrationData(data.scores, data.codes, 2 * data.weights)
    assert measure_gain(doubled, Temperature(3.0)).gain == pytest.approx(
        measure_gain(data, Temperature(3.0)).gain
    )
