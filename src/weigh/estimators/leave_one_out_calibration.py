"""Calibration of count models on the leave-one-out scores of their training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.estimators.calibration import concatenate_scores, encode_labels, fit_calibrated_model
from weigh.features.blocks import Floats
from weigh.learn.calibration import CalibrationData, CalibrationGain, ClassCodes, measure_gain
from weigh.model.base import Model
from weigh.model.calibration import Calibration
from weigh.model.count_model import CountModel
from weigh.model.distributions.prior_settings import smallest_pseudo_count
from weigh.result import Facts
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.text import format_float

AUTO = "auto"
MIN_AUTO_ROWS = 200


@dataclass(frozen=True)
class LeaveOneOutCalibration(Facts):
    """The calibration of a fit with its effect on the leave-one-out log loss, or why there is none.

    Without a calibration `reason` is a clause such as "there are fewer than 200 rows"; `gain` is None if none
    was tried.
    """

    calibration: Calibration | None
    gain: CalibrationGain | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return method and parameters of the map, log losses before and after, and the reason if any."""
        facts = {"method": None} if self.calibration is None else self.calibration.to_dict()
        if self.gain is not None:
            facts |= {"log_loss_before": self.gain.before, "log_loss_after": self.gain.after}
        return facts | ({"reason": self.reason} if self.reason else {})

    def __str__(self) -> str:
        if self.calibration is None or self.gain is None:
            return f"none, because {self.reason}"
        before, after = _format_losses(self.gain.before, self.gain.after)
        return f"{self.calibration} (leave-one-out log loss {before} -> {after})"


def _format_losses(before: float, after: float) -> tuple[str, str]:
    """Format two losses with as many digits as it takes to tell them apart, at least two decimals."""
    digits = next((d for d in range(2, 7) if f"{before:.{d}f}" != f"{after:.{d}f}"), 6)
    return f"{before:,.{digits}f}", f"{after:,.{digits}f}"


def calibrate_leave_one_out(
    model: CountModel, source: Source, method: str
) -> tuple[Model, LeaveOneOutCalibration]:
    """Return the model calibrated on the leave-one-out scores of its training rows, and the decision.

    A row of weight 2 counts as two rows, one of which is left out. The only row of a class is ignored,
    because the class does not exist without it. "auto" fits a temperature and returns the uncalibrated model
    unless the gain is significant.
    """
    if method == AUTO:
        return _calibrate_where_it_helps(model, source)
    data = _leave_one_out_data(model, source)
    if not len(data.codes):
        raise errors.DataError(
            "No class has more than one sample, so there are no leave-one-out scores to calibrate on. Give "
            "more rows, or leave out calibration."
        )
    calibrated = fit_calibrated_model(model, data, method)
    gain = measure_gain(data, calibrated.calibration)
    return calibrated, LeaveOneOutCalibration(calibrated.calibration, gain)


def _calibrate_where_it_helps(model: CountModel, source: Source) -> tuple[Model, LeaveOneOutCalibration]:
    reason = _reason_against(model)
    if reason:
        return model, LeaveOneOutCalibration(None, None, reason)
    try:
        data = _leave_one_out_data(model, source)
    except errors.Unsupported as cause:
        return model, LeaveOneOutCalibration(None, None, f"there are no leave-one-out scores ({cause})")
    if len(data.codes) < MIN_AUTO_ROWS:
        return model, LeaveOneOutCalibration(None, None, _FEW_ROWS)
    if data.has_zero_probability().any():
        return model, LeaveOneOutCalibration(None, None, "some rows have probability 0 in some class")
    calibrated = fit_calibrated_model(model, data, "temperature")
    gain = measure_gain(data, calibrated.calibration)
    if gain.is_significant:
        return calibrated, LeaveOneOutCalibration(calibrated.calibration, gain)
    return model, LeaveOneOutCalibration(None, gain, _explain_insignificance(calibrated.calibration, gain))


_FEW_ROWS = f"there are fewer than {MIN_AUTO_ROWS} rows"


def _reason_against(model: CountModel) -> str:
    """Return why no calibration should be tried, known before any row is scored; empty if it should."""
    if len(model.classes) < 2:
        return "there is only one class"
    if float(model.counts.rows.sum()) < MIN_AUTO_ROWS:
        return _FEW_ROWS
    if smallest_pseudo_count(model.prior, model.schema.column_groups) <= 0:
        return "without a prior above 0 some probabilities are 0"
    return ""


def _explain_insignificance(calibration: Calibration, gain: CalibrationGain) -> str:
    before, after = _format_losses(gain.before, gain.after)
    error = format_float(gain.standard_error)
    return (
        f"{calibration} does not improve the leave-one-out log loss significantly "
        f"({before} -> {after}, standard error {error})"
    )


def _leave_one_out_data(model: CountModel, source: Source) -> CalibrationData:
    """Return the leave-one-out scores of all rows of positive weight whose class has other rows."""
    class_codes = {label: code for code, label in enumerate(model.classes)}

    def score(chunk: Chunk) -> tuple[Floats, ClassCodes, Floats]:
        codes, weights = encode_labels(chunk, class_codes)
        scores = model.leave_one_out_chunk(replace(chunk, weights=np.minimum(weights, 1.0)))
        return scores, codes, weights

    data = concatenate_scores(model.map_chunks(score, source))
    true_scores = data.scores[np.arange(len(data.codes)), data.codes]
    is_only_row = np.isneginf(true_scores) & (model.counts.rows[data.codes] <= np.minimum(data.weights, 1.0))
    return data.select_rows(~is_only_row & (data.weights > 0))
