"""How well a regression does on rows whose numbers are known."""

from __future__ import annotations

import math
import textwrap
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
)
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import Predictor, check_numbers_per_row, check_outputs
from weigh.text import format_count, format_quantity, html_table, text_table

MAX_LISTED_RESIDUALS = 5
MAX_SAMPLE_ROWS = 1_000
LINE_WIDTH = 80
REGRESSION_TITLES = {
    "r2": "R²",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "bias": "mean error",
}


@dataclass(frozen=True)
class RowResidual:
    """A row with its number as it is and as it was predicted; the first row is 0."""

    row: int
    true: float
    predicted: float

    @property
    def error(self) -> float:
        """How much too high the prediction is."""
        return self.predicted - self.true

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {"row": self.row, "true": self.true, "predicted": self.predicted, "error": self.error}


@dataclass(frozen=True, eq=False, repr=False)
class RegressionEvaluation:
    """The result of `evaluate` for a regression; prints as tables of at most 80 columns.

    With errors e = predicted − true, `r2` is 1 − Σ w e² / Σ w (y − ȳ)², `rmse` √(Σ w e² / Σ w), `mae`
    Σ w |e| / Σ w and `bias` Σ w e / Σ w; without sample weights w is 1. `r2` of targets that are all the same
    is 1 if they are met, else 0. The intervals are those of the bootstrap over rows. `largest` are the rows
    that were missed most, `sample` up to 1,000 rows at equal distances, for pictures.
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

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures."""
        return self.r2, self.rmse, self.mae, self.bias

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise errors.Unsupported(
            f"This evaluation has no measure {name!r}; it has {errors.quote_names(REGRESSION_TITLES)}."
            f"{errors.did_you_mean(name, REGRESSION_TITLES)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON but the sample of rows."""
        return {
            "n": self.n_rows,
            "weight": self.weight,
            "level": self.level,
            "measures": [measure.to_dict() for measure in self.measures],
            "largest": [residual.to_dict() for residual in self.largest],
        }

    def plot(self, what: str = "predicted") -> Any:
        """Draw "predicted" against true numbers, or "residuals" against predictions, as an Altair chart."""
        from weigh.pictures import scatter_plot

        count = f"{format_quantity(len(self.sample), 'row')} of {self.n_rows:,}"
        if what == "predicted":
            rows = [
                {"x": each.true, "y": each.predicted, "text": f"row {each.row:,}"} for each in self.sample
            ]
            return scatter_plot(
                rows, x="true", y="predicted", title=f"Predicted against true, {count}", diagonal=True
            )
        if what == "residuals":
            rows = [
                {"x": each.predicted, "y": each.error, "text": f"row {each.row:,}"} for each in self.sample
            ]
            return scatter_plot(
                rows, x="predicted", y="predicted − true", title=f"Errors, {count}", level=0.0
            )
        raise errors.parameter_error("plot", "what", "'predicted' or 'residuals'", what)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        note = textwrap.fill(self._note, LINE_WIDTH)
        title, residuals = self._residual_rows()
        return "\n\n".join(
            [self._title, text_table(self._rows()), note, f"{title}:\n{text_table(residuals)}"]
        )

    def _repr_html_(self) -> str:
        measures = html_table(self._title, self._rows())
        return f"<div>{measures}{html_table(*self._residual_rows())}<p>{self._note}</p></div>"

    @property
    def _title(self) -> str:
        weighted = "" if self.weight == self.n_rows else f", total weight {format_count(self.weight)}"
        return f"Evaluation on {format_quantity(self.n_rows, 'row')}{weighted}"

    @property
    def _note(self) -> str:
        how = f"bootstrap over the rows ({BOOTSTRAP_SAMPLES:,} samples, seed {BOOTSTRAP_SEED})"
        if self.n_rows > MAX_RESAMPLED_ROWS:
            how += ", means drawn from the normal curve that those of so many rows follow"
        return f"Intervals of {100 * self.level:g}%: {how}. An error is predicted − true."

    def _rows(self) -> list[list[str]]:
        rows = [["measure", "value", "low", "high"]]
        for measure in self.measures:
            rows.append(
                [
                    REGRESSION_TITLES[measure.name],
                    *map(_format_number, (measure.value, measure.low, measure.high)),
                ]
            )
        return rows

    def _residual_rows(self) -> tuple[str, list[list[str]]]:
        rows = [["row", "true", "predicted", "error"]]
        for each in self.largest:
            rows.append([f"{each.row:,}", *map(_format_number, (each.true, each.predicted, each.error))])
        return "Rows that were missed most", rows


def evaluate_regression(
    judged: Predictor, data: Any, y: Any, label: str | None, weights: Floats | None, level: float
) -> RegressionEvaluation:
    """Judge a regression on rows with their numbers, which are read in batches; residuals are kept."""
    parts: list[tuple[Floats, Floats, Floats]] = []
    n_rows = 0
    for batch in read_batches(judged, data, y, label, weights):
        parts.append(_predict_batch(judged, batch, n_rows))
        n_rows += len(batch.labels)
    true, predicted, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not weight.sum() > 0:
        raise errors.DataError("The sample weights sum to zero; give some row a positive weight.")
    error = predicted - true
    found, (low, high) = bootstrap_regression_metrics(error, true, weight, level)
    measures = {
        name: Measure(name, *map(float, numbers))
        for name, *numbers in zip(REGRESSION_TITLES, found, low, high, strict=True)
    }
    order = np.argsort(np.where(weight > 0, -np.abs(error), 1.0), kind="stable")[:MAX_LISTED_RESIDUALS]
    counted = np.flatnonzero(weight > 0)
    spread = counted[np.linspace(0, len(counted) - 1, min(MAX_SAMPLE_ROWS, len(counted))).astype(np.int64)]
    largest, sample = (
        tuple(RowResidual(int(at), float(true[at]), float(predicted[at])) for at in rows if weight[at] > 0)
        for rows in (order, spread)
    )
    return RegressionEvaluation(
        n_rows, float(weight.sum()), level, **measures, largest=largest, sample=sample
    )


def _predict_batch(judged: Predictor, batch: LabelledBatch, first: int) -> tuple[Floats, Floats, Floats]:
    """Return the truth, the predictions and the weights of a batch."""
    true = _check_numeric_labels(batch.labels, first)
    answer = judged.predict(batch.rows)
    if np.ndim(answer) == 2 and np.shape(answer)[1] > 1:
        raise errors.Unsupported(
            f"The regression predicts numbers of the shape {np.shape(answer)} for {len(true):,} rows; "
            f"evaluate takes one number per row. Evaluate one model per number."
        )
    predicted = check_numbers_per_row(answer, len(true), "the regression")
    check_outputs("regression", "numbers", predicted[:, None], np.isfinite(predicted), "finite", first)
    return true, predicted, batch.weights


def _check_numeric_labels(labels: list[Any], first: int) -> Floats:
    """Return labels as finite numbers; anything else is refused with its row."""
    try:
        found = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([])
    if found.shape == (len(labels),) and np.isfinite(found).all():
        return found
    for row, label in enumerate(labels, first):
        check_label_present(label, row)
        if not _is_number(label):
            raise errors.LabelError(
                f"Row {row:,} (the first is 0) has the label {label!r}, which is no finite number, and a "
                f"regression is judged by numbers. Leave such rows out, or name another label column."
            )
    return np.array([float(label) for label in labels])


def _is_number(label: Any) -> bool:
    try:
        return math.isfinite(float(label))
    except (TypeError, ValueError):
        return False


def _format_number(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.5g}".replace("-", "−")
