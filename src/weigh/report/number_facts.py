"""A regression: its weights with their intervals, its errors, and the rows it missed most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.measures.batches import batches
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.subject import subject
from weigh.report.answers import one_of
from weigh.report.facts import Fact
from weigh.report.mistake_facts import REASONS, Reason
from weigh.report.row_values import values_of
from weigh.text import cut, plain

NAME = 120
DRAWN = 400  # residuals in the picture
LISTED = 20  # residuals in the table
WEIGHTS = 20


@dataclass(frozen=True)
class Residual:
    """A row in the picture: its number and what was predicted."""

    row: int
    true: float
    predicted: float


@dataclass(frozen=True)
class Missed:
    """A row that was missed by much, with its values and what added up to the prediction."""

    row: int
    true: str
    predicted: str
    error: str
    values: tuple[Fact, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class WeightFact:
    """A weight with its interval, where one is known."""

    name: str
    weight: float
    low: float | None
    high: float | None
    told: tuple[str, str, str]


@dataclass(frozen=True)
class NumberFacts:
    """Residuals (some of very many), the rows missed most, and the weights surest to differ from zero.

    Where no interval is known of some weight, the heaviest come first.
    """

    residuals: tuple[Residual, ...]
    is_sample: bool
    missed: tuple[Missed, ...]
    weights: tuple[WeightFact, ...]
    n_weights: int
    has_intervals: bool

    @property
    def listed(self) -> tuple[Residual, ...]:
        """The dots of the picture that stand in the table."""
        return self.residuals[:: max(1, -(-len(self.residuals) // LISTED))]


def number_facts(model: Any, data: Any, y: Any, label: str | None, most: int) -> NumberFacts:
    """Ask a regression for all rows and collect its errors and weights."""
    ours = getattr(model, "model_", model)
    true, predicted, worst = _answered(model, data, y, label, most)
    step = max(1, -(-len(true) // DRAWN))
    residuals = tuple(Residual(at, float(true[at]), float(predicted[at])) for at in range(0, len(true), step))
    weights, n_weights = _weights(ours)
    missed = tuple(_missed(ours, row, rows, float(true[row]), float(predicted[row])) for row, rows in worst)
    sure = any(each.low is not None for each in weights)
    return NumberFacts(residuals, step > 1, missed, weights, n_weights, sure)


def _answered(
    model: Any, data: Any, y: Any, label: str | None, most: int
) -> tuple[Floats, Floats, list[tuple[int, Any]]]:
    """Return the truth, the predictions, and the rows that were missed most, whole."""
    judged = subject(model)
    parts: list[tuple[Floats, Floats]] = []
    kept: list[tuple[float, int, Any]] = []
    first = 0
    for batch in batches(judged, data, y, label, None):
        true = np.asarray(batch.labels, np.float64)
        predicted = np.asarray(judged.answer(batch.rows), np.float64).reshape(len(true))
        error = np.abs(predicted - true)
        for at in np.argsort(-error, kind="stable")[:most].tolist():
            kept.append((-float(error[at]), first + at, one_of(batch.rows, at)))
        kept = sorted(kept, key=lambda each: each[:2])[:most]
        parts.append((true, predicted))
        first += len(true)
    truth, answers = (np.concatenate(each) for each in zip(*parts, strict=True))
    return truth, answers, [(row, rows) for _, row, rows in kept]


def _missed(model: Any, row: int, rows: Any, true: float, predicted: float) -> Missed:
    reasons: tuple[Reason, ...] = ()
    if hasattr(model, "explain"):
        table = model.explain(rows)[0].shortened(REASONS).table
        reasons = tuple(
            Reason(each.feature, cut(each.title, NAME), each.nats, told(each.nats)) for each in table
        )
    error = told(predicted - true)
    return Missed(row, told(true), told(predicted), error, values_of(rows), reasons)


def _weights(model: Any) -> tuple[tuple[WeightFact, ...], int]:
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
            cut(line.feature, NAME),
            line.weight,
            plain(line.low),
            plain(line.high),
            (told(line.weight), told(line.low), told(line.high)),
        )
        for line in order[:WEIGHTS]
    )
    return facts, len(lines)


def told(number: float | None) -> str:
    """A number with five digits, or nothing."""
    return "–" if number is None else f"{number:.5g}".replace("-", "−")
