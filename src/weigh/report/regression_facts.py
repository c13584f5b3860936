"""A regression: its weights with their intervals, its errors, and the rows it missed most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.batches import read_batches
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import make_predictor
from weigh.report.facts import NamedFact
from weigh.report.mistake_facts import MAX_REASONS, FeatureReason, row_values, single_row
from weigh.text import to_json_value, truncate

MAX_NAME_LENGTH = 120
MAX_PLOTTED_ROWS = 400  # residuals in the picture
MAX_TABLE_ROWS = 20  # residuals in the table
MAX_WEIGHTS = 20


@dataclass(frozen=True)
class ResidualFact:
    """A row in the picture: its number and what was predicted."""

    row: int
    true: float
    predicted: float


@dataclass(frozen=True)
class LargeError:
    """A row that was missed by much, with its values and what added up to the prediction."""

    row: int
    true: str
    predicted: str
    error: str
    values: tuple[NamedFact, ...]
    reasons: tuple[FeatureReason, ...]


@dataclass(frozen=True)
class WeightFact:
    """A weight with its interval, where one is known."""

    name: str
    weight: float
    low: float | None
    high: float | None
    told: tuple[str, str, str]


@dataclass(frozen=True)
class RegressionFacts:
    """Residuals (some of very many), the rows missed most, and the weights surest to differ from zero.

    Where no interval is known of some weight, the heaviest come first.
    """

    residuals: tuple[ResidualFact, ...]
    is_sample: bool
    missed: tuple[LargeError, ...]
    weights: tuple[WeightFact, ...]
    n_weights: int
    has_intervals: bool

    @property
    def table_rows(self) -> tuple[ResidualFact, ...]:
        """The dots of the picture that stand in the table."""
        return self.residuals[:: max(1, -(-len(self.residuals) // MAX_TABLE_ROWS))]


def regression_facts(model: Any, data: Any, y: Any, label: str | None, most: int) -> RegressionFacts:
    """Ask a regression for all rows and collect its errors and weights."""
    ours = getattr(model, "model_", model)
    true, predicted, worst = _predict_rows(model, data, y, label, most)
    step = max(1, -(-len(true) // MAX_PLOTTED_ROWS))
    residuals = tuple(
        ResidualFact(at, float(true[at]), float(predicted[at])) for at in range(0, len(true), step)
    )
    weights, n_weights = _weight_facts(ours)
    missed = tuple(
        _describe_error(ours, row, rows, float(true[row]), float(predicted[row])) for row, rows in worst
    )
    sure = any(each.low is not None for each in weights)
    return RegressionFacts(residuals, step > 1, missed, weights, n_weights, sure)


def _predict_rows(
    model: Any, data: Any, y: Any, label: str | None, most: int
) -> tuple[Floats, Floats, list[tuple[int, Any]]]:
    """Return the truth, the predictions, and the rows that were missed most, whole."""
    judged = make_predictor(model)
    parts: list[tuple[Floats, Floats]] = []
    kept: list[tuple[float, int, Any]] = []
    first = 0
    for batch in read_batches(judged, data, y, label, None):
        true = np.asarray(batch.labels, np.float64)
        predicted = np.asarray(judged.predict(batch.rows), np.float64).reshape(len(true))
        error = np.abs(predicted - true)
        for at in np.argsort(-error, kind="stable")[:most].tolist():
            kept.append((-float(error[at]), first + at, single_row(batch.rows, at)))
        kept = sorted(kept, key=lambda each: each[:2])[:most]
        parts.append((true, predicted))
        first += len(true)
    truth, answers = (np.concatenate(each) for each in zip(*parts, strict=True))
    return truth, answers, [(row, rows) for _, row, rows in kept]


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
    """The weights surest to differ from zero first, or the heaviest where nothing is sure."""
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
    """A number with five digits, or nothing."""
    return "–" if number is None else f"{number:.5g}".replace("-", "−")
