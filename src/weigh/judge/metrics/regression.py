"""Evaluate a regression on labelled rows: R², RMSE, MAE and mean error, with bootstrap intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.batches import LabelledBatch, check_label_present, read_batches
from weigh.judge.metrics.confidence_intervals import (
    BOOTSTRAP_SAMPLES,
    BOOTSTRAP_SEED,
    MAX_RESAMPLED_ROWS,
    Measure,
    bootstrap_regression_metrics,
    find_measure,
)
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import Predictor, check_outputs, to_row_numbers
from weigh.judge.metrics.training_overlap import OverlapDetector, TrainingOverlap
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_count, format_quantity

MAX_LISTED_RESIDUALS = 5
MAX_SAMPLE_ROWS = 1_000
REGRESSION_TITLES = {
    "r2": "R²",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "bias": "mean error",
}


@dataclass(frozen=True)
class RowResidual(Facts):
    """The true and predicted value of one row; the first row is 0."""

    row: int
    true: float
    predicted: float
    _json = ("row", "true", "predicted", "error")

    @property
    def error(self) -> float:
        """Predicted − true."""
        return self.predicted - self.true


@dataclass(frozen=True, eq=False, repr=False)
class RegressionEvaluation(TabularResult):
    """The result of `evaluate` for a regression; prints as tables of at most 80 columns.

    With errors e = predicted − true, `r2` is 1 − Σ w e² / Σ w (y − ȳ)², `rmse` √(Σ w e² / Σ w), `mae`
    Σ w |e| / Σ w and `bias` Σ w e / Σ w; without sample weights w is 1. For constant targets `r2` is 1 if
    they are predicted exactly, else 0. Intervals are percentiles of the bootstrap over rows. `largest` holds
    the rows with the largest errors, `sample` up to 1,000 evenly spaced rows for plots. `is_training_data`
    and `training_share` say whether the model was trained on these rows, as for `Evaluation`.
    """

    n_rows: int
    weight: float
    level: float
    r2: Measure
    rmse: Measure
    mae: Measure
    bias: Measure
    largest: tuple[RowResidual, ...]
    sample: tuple[RowResidual, ...] = ()
    is_training_data: bool | None = None
    training_share: float | None = None
    _json = (
        ("n", "n_rows"),
        "weight",
        "level",
        "measures",
        "largest",
        "is_training_data",
        "training_share",
    )
    _frames = ("measures", "largest")

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures."""
        return self.r2, self.rmse, self.mae, self.bias

    def measure(self, name: str) -> Measure:
        """Return the measure with this name."""
        return find_measure(self.measures, name, "evaluation")

    def plot(self, what: str = "predicted") -> Any:
        """Plot "predicted" against true values, or "residuals" against predictions, as an Altair chart."""
        from weigh.pictures import scatter_plot

        count = f"{format_quantity(len(self.sample), 'row')} of {self.n_rows:,}"
        if what == "predicted":
            rows = [{"x": r.true, "y": r.predicted, "text": f"row {r.row:,}"} for r in self.sample]
            return scatter_plot(
                rows, x="true", y="predicted", title=f"Predicted against true, {count}", diagonal=True
            )
        if what == "residuals":
            rows = [{"x": r.predicted, "y": r.error, "text": f"row {r.row:,}"} for r in self.sample]
            return scatter_plot(
                rows, x="predicted", y="predicted − true", title=f"Errors, {count}", level=0.0
            )
        raise errors.parameter_error("plot", "what", "'predicted' or 'residuals'", what)

    @property
    def headline(self) -> str:
        """The number of rows."""
        weighted = "" if self.weight == self.n_rows else f", total weight {format_count(self.weight)}"
        return f"Evaluation on {format_quantity(self.n_rows, 'row')}{weighted}"

    def sections(self) -> list[Section]:
        """Return measures and the rows with the largest errors."""
        return [
            Section("measures", [Table(self._rows())]),
            Section("notes", [*self._overlap.notes(), self._note]),
            Section("largest", [Table(self._residual_rows())], "Rows with the largest errors:"),
        ]

    @property
    def _overlap(self) -> TrainingOverlap:
        return TrainingOverlap(self.is_training_data, self.training_share)

    @property
    def _note(self) -> str:
        how = f"bootstrap over the rows ({BOOTSTRAP_SAMPLES:,} samples, seed {BOOTSTRAP_SEED})"
        if self.n_rows > MAX_RESAMPLED_ROWS:
            how += ", means drawn from their limiting normal distribution"
        return f"Intervals of {100 * self.level:g}%: {how}. An error is predicted − true."

    def _rows(self) -> list[list[str]]:
        rows = [["measure", "value", "low", "high"]]
        for measure in self.measures:
            numbers = map(_format_number, (measure.value, measure.low, measure.high))
            rows.append([REGRESSION_TITLES[measure.name], *numbers])
        return rows

    def _residual_rows(self) -> list[list[str]]:
        rows = [["row", "true", "predicted", "error"]]
        for r in self.largest:
            rows.append([f"{r.row:,}", *map(_format_number, (r.true, r.predicted, r.error))])
        return rows


def evaluate_regression(
    predictor: Predictor,
    detector: OverlapDetector,
    data: Any,
    y: Any,
    label: str | None,
    weights: Floats | None,
    level: float,
) -> RegressionEvaluation:
    """Evaluate a regression on labelled rows, read in batches; all predictions are kept in memory."""
    parts: list[tuple[Any, ...]] = []
    n_rows = 0
    for batch in map(detector.encode, read_batches(predictor, data, y, label, weights)):
        parts.append((*predict_batch(predictor, batch, n_rows), batch.numbers))
        detector.add(batch)
        n_rows += len(batch.labels)
    overlap = detector.result(data, y, label, n_rows)
    true, predicted, weight, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if not weight.sum() > 0:
        raise errors.DataError("The sample weights sum to zero; give some row a positive weight.")
    return build_regression_evaluation(true, predicted, weight, numbers, overlap, level)


def build_regression_evaluation(
    true: Floats, predicted: Floats, weight: Floats, numbers: Any, overlap: TrainingOverlap, level: float
) -> RegressionEvaluation:
    """Return the evaluation of rows with these true values, predictions, weights and numbers."""
    error = predicted - true
    values, (low, high) = bootstrap_regression_metrics(error, true, weight, level)
    measures = {
        name: Measure(name, *map(float, numbers))
        for name, *numbers in zip(REGRESSION_TITLES, values, low, high, strict=True)
    }
    by_error = np.argsort(np.where(weight > 0, -np.abs(error), 1.0), kind="stable")[:MAX_LISTED_RESIDUALS]
    weighted = np.flatnonzero(weight > 0)
    n_sample = min(MAX_SAMPLE_ROWS, len(weighted))
    evenly_spaced = weighted[np.linspace(0, len(weighted) - 1, n_sample).astype(np.int64)]
    largest, sample = (
        tuple(
            RowResidual(int(numbers[i]), float(true[i]), float(predicted[i])) for i in rows if weight[i] > 0
        )
        for rows in (by_error, evenly_spaced)
    )
    return RegressionEvaluation(
        len(true),
        float(weight.sum()),
        level,
        **measures,
        largest=largest,
        sample=sample,
        is_training_data=overlap.is_training_data,
        training_share=overlap.share,
    )


def predict_batch(predictor: Predictor, batch: LabelledBatch, first: int) -> tuple[Floats, Floats, Floats]:
    """Return the true values, predictions and weights of a batch."""
    true = _check_numeric_labels(batch.labels, first)
    output = predictor.predict(batch.rows)
    if np.ndim(output) == 2 and np.shape(output)[1] > 1:
        raise errors.Unsupported(
            f"The regression predicts numbers of shape {np.shape(output)} for {len(true):,} rows; "
            f"evaluate takes one number per row. Evaluate one model per target."
        )
    predicted = to_row_numbers(output, len(true), "the regression")
    check_outputs("regression", "numbers", predicted[:, None], np.isfinite(predicted), "finite", first)
    return true, predicted, batch.weights


def _check_numeric_labels(labels: list[Any], first: int) -> Floats:
    """Return labels as finite numbers; raises LabelError for the first row that has none."""
    try:
        numbers = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array([])
    if numbers.shape == (len(labels),) and np.isfinite(numbers).all():
        return numbers
    for row, label in enumerate(labels, first):
        check_label_present(label, row)
        if not _is_number(label):
            raise errors.LabelError(
                f"Row {row:,} (the first is 0) has the label {label!r}, which is not a finite number; a "
                f"regression needs numbers. Leave such rows out, or name another label column."
            )
    return np.array([float(label) for label in labels])


def _is_number(label: Any) -> bool:
    try:
        return math.isfinite(float(label))
    except (TypeError, ValueError):
        return False


def _format_number(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.5g}".replace("-", "−")
