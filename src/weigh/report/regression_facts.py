"""Facts about a regression: residuals, largest errors, and weights with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.batches import read_batches
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import make_predictor
from weigh.judge.metrics.regression import RowResidual
from weigh.report.facts import NamedFact
from weigh.report.mistake_facts import MAX_REASONS, FeatureReason, row_values, single_row
from weigh.text import to_json_value, truncate

MAX_NAME_LENGTH = 120
MAX_PLOTTED_ROWS = 400
MAX_TABLE_ROWS = 20
MAX_WEIGHTS = 20


@dataclass(frozen=True)
class LargeError:
    """A row with a large error, its values, and the contributions to its prediction."""

    row: int
    true: str
    predicted: str
    error: str
    values: tuple[NamedFact, ...]
    reasons: tuple[FeatureReason, ...]


@dataclass(frozen=True)
class WeightFact:
    """A weight with its interval, if it is known."""

    name: str
    weight: float
    low: float | None
    high: float | None
    told: tuple[str, str, str]


@dataclass(frozen=True)
class RegressionFacts:
    """Residuals (a sample if there are many), the largest errors, and the most significant weights.

    If some weight has no standard error, weights are ordered by size.
    """

    residuals: tuple[RowResidual, ...]
    is_sample: bool
    missed: tuple[LargeError, ...]
    weights: tuple[WeightFact, ...]
    n_weights: int
    has_intervals: bool

    @property
    def table_rows(self) -> tuple[RowResidual, ...]:
        """The sample of plotted rows that the table lists."""
        return self.residuals[:: max(1, -(-len(self.residuals) // MAX_TABLE_ROWS))]


@dataclass(frozen=True, eq=False)
class NumberPredictions:
    """True and predicted numbers [n], and the rows with the largest errors: their numbers and batches."""

    true: Floats
    predicted: Floats
    worst: tuple[tuple[int, Any], ...]


def regression_facts(model: Any, predictions: NumberPredictions) -> RegressionFacts:
    """Collect the residuals, the largest errors and the weights."""
    fitted = getattr(model, "model_", model)
    true, predicted = predictions.true, predictions.predicted
    step = max(1, -(-len(true) // MAX_PLOTTED_ROWS))
    residuals = tuple(RowResidual(i, float(true[i]), float(predicted[i])) for i in range(0, len(true), step))
    weights, n_weights = _weight_facts(fitted)
    missed = tuple(
        _describe_error(fitted, row, rows, float(true[row]), float(predicted[row]))
        for row, rows in predictions.worst
    )
    has_intervals = any(each.low is not None for each in weights)
    return RegressionFacts(residuals, step > 1, missed, weights, n_weights, has_intervals)


def predict_numbers(model: Any, data: Any, y: Any, label: str | None, most: int) -> NumberPredictions:
    """Predict all rows, batch by batch, and keep the rows with the largest errors."""
    predictor = make_predictor(model)
    parts: list[tuple[Floats, Floats]] = []
    worst: list[tuple[float, int, Any]] = []
    for batch in read_batches(predictor, data, y, label, None):
        true = np.asarray(batch.labels, np.float64)
        predicted = np.asarray(predictor.predict(batch.rows), np.float64).reshape(len(true))
        error = np.abs(predicted - true)
        for i in np.argsort(-error, kind="stable")[:most].tolist():
            worst.append((-float(error[i]), int(batch.numbers[i]), single_row(batch.rows, i)))
        worst = sorted(worst, key=lambda entry: entry[:2])[:most]
        parts.append((true, predicted))
    all_true, all_predicted = (np.concatenate(each) for each in zip(*parts, strict=True))
    return NumberPredictions(all_true, all_predicted, tuple((row, rows) for _, row, rows in worst))


def _describe_error(model: Any, row: int, rows: Any, true: float, predicted: float) -> LargeError:
    reasons: tuple[FeatureReason, ...] = ()
    if hasattr(model, "explain"):
        table = model.explain(rows)[0].shortened(MAX_REASONS).table
        reasons = tuple(
            FeatureReason(
                each.feature, truncate(each.title, MAX_NAME_LENGTH), each.nats, format_five_digits(each.nats)
            )
            for each in table
        )
    error = format_five_digits(predicted - true)
    return LargeError(
        row, format_five_digits(true), format_five_digits(predicted), error, row_values(rows), reasons
    )


def _weight_facts(model: Any) -> tuple[tuple[WeightFact, ...], int]:
    """Return the most significant weights, or the largest without standard errors, and the number of all."""
    if not hasattr(model, "summary"):
        return (), 0
    try:
        lines = model.summary().lines
    except errors.WeighError:
        return (), 0
    has_ratios = all(line.ratio is not None for line in lines)
    order = sorted(lines, key=lambda line: -abs((line.ratio if has_ratios else line.weight) or 0.0))
    facts = tuple(
        WeightFact(
            truncate(line.feature, MAX_NAME_LENGTH),
            line.weight,
            to_json_value(line.low),
            to_json_value(line.high),
            (format_five_digits(line.weight), format_five_digits(line.low), format_five_digits(line.high)),
        )
        for line in order[:MAX_WEIGHTS]
    )
    return facts, len(lines)


def format_five_digits(number: float | None) -> str:
    """Return a number with five significant digits, or a dash for None."""
    return "–" if number is None else f"{number:.5g}".replace("-", "−")
