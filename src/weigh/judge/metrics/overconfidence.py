"""Test whether a classifier is overconfident on labelled rows, and what a temperature would gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.advice import Step, Text
from weigh.judge.metrics.accumulators import RetainedRows
from weigh.learn.calibration import CalibrationData, clip_scores, fit_temperature, measure_gain, slope_scores
from weigh.model.base import Model
from weigh.model.naive_bayes import BayesModel
from weigh.result import Facts

MAX_ROWS = 10_000  # more rows are sampled evenly
MIN_ROWS = 50
CRITICAL_VALUE = 2.5758293035489004  # two-sided 99 % of the normal distribution
LEVEL = 0.99
MIN_RELATIVE_GAIN = 0.01  # of the log loss; less is not worth a calibration
SMALLEST_PROBABILITY = 1e-300


@dataclass(frozen=True)
class Overconfidence(Facts):
    """The temperature that fits the labels of the evaluated rows best, with its interval, all above 1.

    The log losses are those of the same rows before and after. `advice` says how to calibrate the model.
    """

    temperature: float
    low: float
    high: float
    log_loss_before: float
    log_loss_after: float
    advice: Text = ""
    _json = ("temperature", "low", "high", "log_loss_before", "log_loss_after")

    @property
    def sentence(self) -> str:
        """What was found."""
        numbers = [f"{number:.3g}" for number in (self.temperature, self.low, self.high)]
        before, after = (f"{loss:.3g}" for loss in (self.log_loss_before, self.log_loss_after))
        return (
            f"The model is overconfident: its log-odds are {numbers[0]} times too large ({100 * LEVEL:g}% "
            f"interval {numbers[1]} to {numbers[2]}). A calibration would lower the log loss of these rows "
            f"from {before} to about {after}."
        )


def find_overconfidence(model: Any, rows: RetainedRows) -> Overconfidence | None:
    """Return how overconfident a classifier is; None if it is not, significantly, or if nothing is known.

    The slope 1 / T of the log-probabilities is tested at 1 %, by its score at slope 1 and then by the
    interval of the fitted temperature.
    """
    data = _sample_rows(rows) if rows.has_scores and rows.has_confidence else None
    if data is None or len(data.codes) < MIN_ROWS or not _is_slope_too_large(data):
        return None
    fit = fit_temperature(data)
    if fit.derivative is None:
        # The scores are unrelated to the labels: the model is wrong rather than too sure.
        return None
    calibration = fit.map
    gain = measure_gain(data, calibration)
    error = CRITICAL_VALUE * _log_slope_error(clip_scores(data), calibration.slope)
    temperature = 1.0 / calibration.slope
    if np.log(temperature) <= error or gain.before - gain.after < MIN_RELATIVE_GAIN * gain.before:
        return None
    low, high = temperature * np.exp([-error, error])
    advice = _calibration_advice(model)
    return Overconfidence(temperature, float(low), float(high), gain.before, gain.after, advice)


def _sample_rows(rows: RetainedRows) -> CalibrationData | None:
    codes = rows.true_codes
    known = np.flatnonzero(codes >= 0)
    sample = known[:: -(-len(known) // MAX_ROWS) or 1]
    n_classes = rows.n_classes
    if not len(sample) or n_classes < 2:
        return None
    p = np.column_stack([rows.class_scores(c)[sample] for c in range(n_classes)])
    logs = np.log(np.maximum(p, SMALLEST_PROBABILITY))
    return CalibrationData(logs, codes[sample].astype(np.intp), rows.weights[sample])


def _is_slope_too_large(data: CalibrationData) -> bool:
    """Test whether the log-likelihood increases if all log-odds are made slightly smaller.

    No row counts for more than the number of rows supports, so that a single outlier does not decide.
    """
    bound = np.log(len(data.codes) + 1.0)
    bounded = np.maximum(data.scores, data.scores.max(axis=1, keepdims=True) - bound)
    scores, _ = slope_scores(CalibrationData(bounded, data.codes, data.weights), 1.0)
    return float(scores.sum()) < -CRITICAL_VALUE * float(np.sqrt(np.square(scores).sum()))


def _log_slope_error(data: CalibrationData, slope: float) -> float:
    """Return the standard error of the logarithm of the fitted slope, also valid if the model is wrong."""
    scores, information = slope_scores(data, slope)
    return float(np.sqrt(np.square(scores).sum()) / (information * slope)) if information else np.inf


def _calibration_advice(model: Any) -> Text:
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, Model):
        return "Calibrate it on rows that it was not trained on."
    held_out = Step("calibration on other rows", "weigh.calibrate(model, rows)")
    if isinstance(fitted, BayesModel) and fitted.has_rows:
        automatic = Step("automatic calibration", 'NaiveBayes(calibration="auto")')
        other = ", or calibrate it on rows that it was not trained on: "
        return "Train it with ", automatic, other, held_out, "."
    return "Calibrate it on rows that it was not trained on: ", held_out, "."
