"""The worst mistakes of a classifier, with the values of the rows and the evidence."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.counterfactual import flip
from weigh.judge.metrics.batches import LabelledBatch, read_batches
from weigh.judge.metrics.losses import Codes, Floats, select_true_class
from weigh.judge.metrics.predictor import ClassPredictions, encode_labels, make_predictor
from weigh.model.distributions.weights import format_value
from weigh.report.facts import EMPTY_CELL, ZERO_BASED_NOTE, NamedFact, format_share
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_quantity, format_signed, truncate

MAX_NAME_LENGTH = 120
MAX_REASONS = 8  # contributions shown per row
MAX_FLIP_FEATURES = 4  # features named whose removal changes a prediction
MAX_VALUES = 40  # values shown per row
MAX_VALUE_LENGTH = 300  # characters


@dataclass(frozen=True)
class FeatureReason:
    """The contribution of one feature to the evidence for the prediction."""

    column: str
    feature: str
    amount: float
    told: str

    @property
    def side(self) -> str:
        """Whether it is evidence for the prediction or against it."""
        return "for" if self.amount > 0 else "against" if self.amount < 0 else ""


@dataclass(frozen=True)
class MistakeFact:
    """A row that was predicted wrongly."""

    row: int
    true: str
    predicted: str
    sure: str
    values: tuple[NamedFact, ...]
    reasons: tuple[FeatureReason, ...]
    total: str
    unit: str
    flip: str


@dataclass(frozen=True)
class MistakeFacts:
    """The worst mistakes, worst first."""

    wrong: int
    n: int
    sentence: str
    rows: tuple[MistakeFact, ...]


def mistake_facts(model: Any, predictions: ClassifierPredictions) -> MistakeFacts:
    """Describe the worst mistakes, with explanations if the model can explain."""
    fitted = getattr(model, "model_", model)
    has_weight = predictions.weights > 0
    wrong = int(((predictions.predicted != predictions.true) & has_weight).sum())
    rows = tuple(_describe_mistake(fitted, mistake) for mistake in predictions.worst)
    n = int(has_weight.sum())
    return MistakeFacts(wrong, n, _mistakes_sentence(wrong, n, rows), rows)


def _mistakes_sentence(wrong: int, n: int, rows: tuple[MistakeFact, ...]) -> str:
    if not wrong:
        return f"All {n:,} predictions are correct." if n != 1 else "The only prediction is correct."
    count = f"{wrong:,} of {format_quantity(n, 'prediction')} {'is' if wrong == 1 else 'are'} wrong"
    if len(rows) == wrong == 1:
        return f"{count}."
    if len(rows) == wrong:
        return f"{count}; all are listed, worst first. {ZERO_BASED_NOTE}"
    return f"{count}; the {len(rows)} worst are listed, worst first. {ZERO_BASED_NOTE}"


def _describe_mistake(model: Any, mistake: MisclassifiedRow) -> MistakeFact:
    evidence = model.explain(mistake.rows)[0] if hasattr(model, "explain") else None
    reasons: tuple[FeatureReason, ...] = ()
    total = unit = ""
    if evidence is not None:
        reasons = tuple(
            FeatureReason(
                row.feature, truncate(row.title, MAX_NAME_LENGTH), row.nats, format_signed(row.nats)
            )
            for row in evidence.shortened(MAX_REASONS).table
        )
        total, unit = format_signed(evidence.total), evidence.unit
    return MistakeFact(
        row=mistake.row,
        true=truncate(mistake.true, MAX_NAME_LENGTH),
        predicted=truncate(mistake.predicted, MAX_NAME_LENGTH),
        sure=_confidence_text(mistake),
        values=row_values(mistake.rows),
        reasons=reasons,
        total=total,
        unit=unit,
        flip=_flip_sentence(model, mistake),
    )


def _flip_sentence(model: Any, mistake: MisclassifiedRow) -> str:
    """Say which features must be removed to change the prediction; empty if the model does not support it."""
    try:
        result = flip(model, mistake.rows, changes=False)
    except errors.WeighError:
        return ""
    if not result.flips:
        return "No removal of features changes the prediction."
    names = [truncate(row.title, MAX_NAME_LENGTH) for row in result.removed]
    if len(names) > MAX_FLIP_FEATURES:
        removed = f"{', '.join(names[:MAX_FLIP_FEATURES])} and {len(names) - MAX_FLIP_FEATURES} more"
    else:
        removed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return f"Without {removed} it would predict {truncate(result.becomes, MAX_NAME_LENGTH)}."


def _confidence_text(mistake: MisclassifiedRow) -> str:
    if mistake.predicted_probability is None or mistake.true_probability is None:
        return ""
    predicted, true = format_share(mistake.predicted_probability), format_share(mistake.true_probability)
    return f"predicted with {predicted}, true class {true}"


@dataclass(frozen=True, eq=False)
class MisclassifiedRow:
    """A misclassified row as a batch of one, with its labels and their probabilities, if there are any."""

    row: int
    rows: Any
    true: Any
    predicted: Any
    true_probability: float | None = None
    predicted_probability: float | None = None


@dataclass(frozen=True, eq=False)
class ClassifierPredictions:
    """True and predicted class codes [n], probabilities of the second of two classes, and the worst rows."""

    classes: tuple[Any, ...]
    true: Codes
    predicted: Codes
    second_probability: Floats | None
    weights: Floats
    worst: tuple[MisclassifiedRow, ...]


def predict_rows(model: Any, data: Any, y: Any, label: str | None, most: int) -> ClassifierPredictions:
    """Predict all rows, batch by batch, and keep the `most` worst misclassified rows."""
    predictor = make_predictor(model)
    fitted = getattr(model, "model_", model)
    classes = tuple(predictor.classes)
    parts: list[tuple[Any, ...]] = []
    heap: list[tuple[float, int, MisclassifiedRow]] = []
    for batch in read_batches(predictor, data, y, label, None):
        output = predictor.predict(batch.rows)
        codes = encode_labels(predictor.classes, batch.labels)
        parts.append(
            (codes, output.predictions, _second_class_probability(output, len(classes)), batch.weights)
        )
        for badness, mistake in _worst_mistakes(fitted, batch, output, codes, classes, most):
            # Of equally bad rows the first is kept, because its negated number is greater.
            entry = (badness, -mistake.row, mistake)
            (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, entry)
    joined: list[Any] = [None if p[0] is None else np.concatenate(p) for p in zip(*parts, strict=True)]
    true, predicted, second, weights = joined
    worst = sorted(heap, key=lambda entry: entry[:2], reverse=True)
    return ClassifierPredictions(
        classes, true, predicted, second, weights, tuple(mistake for _, _, mistake in worst)
    )


def _second_class_probability(output: ClassPredictions, n_classes: int) -> Floats | None:
    """Return the probability of the second of two classes [n], or None."""
    if output.log_posterior is None or n_classes != 2:
        return None
    return np.asarray(np.exp(output.log_posterior[:, 1]))


def _worst_mistakes(
    model: Any,
    batch: LabelledBatch,
    output: ClassPredictions,
    codes: Codes,
    classes: tuple[Any, ...],
    most: int,
) -> Iterator[tuple[float, MisclassifiedRow]]:
    """Yield the worst misclassified rows of a batch: by log loss, or by the lead of the wrong class."""
    wrong = np.flatnonzero((output.predictions != codes) & (batch.weights > 0))
    if output.log_posterior is not None:
        badness = -select_true_class(codes, output.log_posterior, -np.inf)
        confidence = np.exp(output.log_posterior[np.arange(len(codes)), output.predictions])
    else:
        badness = model.leads(model.scores(batch.rows)) if hasattr(model, "leads") else np.zeros(len(codes))
        confidence = None
    for i in wrong[np.argsort(-badness[wrong], kind="stable")][:most].tolist():
        mistake = MisclassifiedRow(
            row=int(batch.numbers[i]),
            rows=single_row(batch.rows, i),
            true=batch.labels[i],
            predicted=classes[int(output.predictions[i])],
            true_probability=None if confidence is None else float(np.exp(-badness[i])),
            predicted_probability=None if confidence is None else float(confidence[i]),
        )
        yield float(badness[i]), mistake


def single_row(rows: Any, i: int) -> Any:
    """Return row i of a batch as a batch of one."""
    if hasattr(rows, "first_row"):
        return rows.slice(i, i + 1)
    return rows.iloc[i : i + 1] if hasattr(rows, "iloc") else rows[i : i + 1]


def row_values(rows: Any) -> tuple[NamedFact, ...]:
    """Return the values of a batch of one row; only the first `MAX_VALUES` are listed."""
    chunk = rows if isinstance(rows, Chunk) else rows_of(rows).prefix(1)
    values = list(_named_values(chunk))
    facts = [
        NamedFact(truncate(name, MAX_NAME_LENGTH), truncate(value, MAX_VALUE_LENGTH))
        for name, value in values[:MAX_VALUES]
    ]
    if len(values) > MAX_VALUES:
        facts.append(NamedFact("…", f"and {len(values) - MAX_VALUES:,} more"))
    return tuple(facts)


def _named_values(chunk: Chunk) -> Iterator[tuple[str, str]]:
    if chunk.sparse is not None:
        entries = zip(chunk.sparse.indices.tolist(), chunk.sparse.entry_values().tolist(), strict=True)
        yield from ((f"x{i}", format_value(value)) for i, value in entries)
        return
    for name, column in chunk.columns.items():
        value = to_pylist(column, name)[0]
        yield name, EMPTY_CELL if value is None or value != value else format_value(value)
