"""Where the model errs: the rows it was most wrong about, with their values and the evidence."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain import flip
from weigh.judge.metrics.batches import LabelledBatch, read_batches
from weigh.judge.metrics.losses import Codes, Floats, select_true_class
from weigh.judge.metrics.predictor import ClassPredictions, encode_labels, make_predictor
from weigh.model.distributions.weights import format_value
from weigh.report.facts import EMPTY_CELL, ZERO_BASED_NOTE, NamedFact, format_share
from weigh.source import Chunk
from weigh.source import rows as rows_of
from weigh.source.chunk import to_pylist
from weigh.text import format_quantity, format_signed, truncate

MAX_NAME_LENGTH = 120
MAX_REASONS = 8  # contributions told of a row
MAX_FLIP_FEATURES = 4  # features named whose removal changes a verdict


@dataclass(frozen=True)
class FeatureReason:
    """What one feature, of a column or word, adds in favour of the verdict, or takes from it."""

    column: str
    feature: str
    amount: float
    told: str

    @property
    def side(self) -> str:
        """Whether it speaks for the verdict or against it."""
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


def mistake_facts(model: Any, answers: ClassifierPredictions) -> MistakeFacts:
    """Tell the worst rows of the answers, explained where the model can explain."""
    ours = getattr(model, "model_", model)
    weighs = answers.weights > 0
    wrong = int(((answers.predicted != answers.true) & weighs).sum())
    rows = tuple(_describe_mistake(ours, picked) for picked in answers.worst)
    n = int(weighs.sum())
    return MistakeFacts(wrong, n, _mistakes_sentence(wrong, n, rows), rows)


def _mistakes_sentence(wrong: int, n: int, rows: tuple[MistakeFact, ...]) -> str:
    if not wrong:
        return f"All {n:,} rows were predicted rightly." if n != 1 else "The one row was predicted rightly."
    told = f"{format_quantity(wrong, 'row')} of {n:,} {'was' if wrong == 1 else 'were'} predicted wrongly"
    if len(rows) == wrong == 1:
        return f"{told}: here it is."
    if len(rows) == wrong:
        return f"{told}: here are all of them, the worst first. {ZERO_BASED_NOTE}"
    return f"{told}. Below are the {len(rows)} it was most wrong about, the worst first. {ZERO_BASED_NOTE}"


def _describe_mistake(model: Any, picked: MisclassifiedRow) -> MistakeFact:
    evidence = model.explain(picked.rows)[0] if hasattr(model, "explain") else None
    reasons: tuple[FeatureReason, ...] = ()
    total = unit = ""
    if evidence is not None:
        found = evidence.shortened(MAX_REASONS)
        reasons = tuple(
            FeatureReason(
                row.feature, truncate(row.title, MAX_NAME_LENGTH), row.nats, format_signed(row.nats)
            )
            for row in found.table
        )
        total, unit = format_signed(evidence.total), evidence.unit
    return MistakeFact(
        picked.row,
        truncate(picked.true, MAX_NAME_LENGTH),
        truncate(picked.predicted, MAX_NAME_LENGTH),
        _confidence_text(picked),
        row_values(picked.rows),
        reasons,
        total,
        unit,
        _flip_sentence(model, picked),
    )


def _flip_sentence(model: Any, picked: MisclassifiedRow) -> str:
    """Without what the verdict would be another, in a sentence; nothing where the model cannot tell."""
    try:
        found = flip(model, picked.rows, changes=False)
    except errors.WeighError:
        return ""
    if not found.flips:
        return "Whatever is taken away, the verdict stays."
    names = [truncate(row.title, MAX_NAME_LENGTH) for row in found.removed]
    told = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if len(names) > MAX_FLIP_FEATURES:
        told = f"{', '.join(names[:MAX_FLIP_FEATURES])} and {len(names) - MAX_FLIP_FEATURES} more"
    return f"Without {told} it would say {truncate(found.becomes, MAX_NAME_LENGTH)}."


def _confidence_text(picked: MisclassifiedRow) -> str:
    if picked.predicted_probability is None or picked.true_probability is None:
        return ""
    return f"{format_share(picked.predicted_probability)} sure; the true class got {format_share(picked.true_probability)}"


@dataclass(frozen=True, eq=False)
class MisclassifiedRow:
    """A row that was kept: its number, itself as a batch of one, and what was said of it.

    `given` is the probability of the true class and `said` that of the verdict, where there are any.
    """

    row: int
    rows: Any
    true: Any
    predicted: Any
    true_probability: float | None = None
    predicted_probability: float | None = None


@dataclass(frozen=True, eq=False)
class ClassifierPredictions:
    """True and predicted class codes of all rows, the second of two classes' probability, the worst rows."""

    classes: tuple[Any, ...]
    true: Codes
    predicted: Codes
    second_probability: Floats | None
    weights: Floats
    worst: tuple[MisclassifiedRow, ...]


def predict_rows(model: Any, data: Any, y: Any, label: str | None, most: int) -> ClassifierPredictions:
    """Ask a classifier for all rows, batch by batch; `most` wrong rows are kept whole."""
    judged = make_predictor(model)
    ours = getattr(model, "model_", model)
    classes = tuple(judged.classes)
    parts: list[tuple[Any, ...]] = []
    heap: list[tuple[float, int, MisclassifiedRow]] = []
    first = 0
    for batch in read_batches(judged, data, y, label, None):
        answer = judged.predict(batch.rows)
        codes = encode_labels(judged.classes, batch.labels)
        parts.append(
            (codes, answer.predictions, _second_class_probability(answer, len(classes)), batch.weights)
        )
        for badness, picked in _worst_mistakes(ours, batch, answer, codes, classes, first, most):
            # Of equally bad rows the earlier one stays: its number, negated, is the greater.
            entry = (badness, -picked.row, picked)
            (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, entry)
        first += len(codes)
    joined: list[Any] = [None if p[0] is None else np.concatenate(p) for p in zip(*parts, strict=True)]
    true, predicted, second, weights = joined
    return ClassifierPredictions(
        classes,
        true,
        predicted,
        second,
        weights,
        tuple(picked for _, _, picked in sorted(heap, key=lambda each: each[:2], reverse=True)),
    )


def _second_class_probability(answer: ClassPredictions, classes: int) -> Floats | None:
    """The probability of the second of two classes."""
    if answer.log_posterior is None or classes != 2:
        return None
    return np.asarray(np.exp(answer.log_posterior[:, 1]))


def _worst_mistakes(
    model: Any,
    batch: LabelledBatch,
    answer: ClassPredictions,
    codes: Codes,
    classes: tuple[Any, ...],
    first: int,
    most: int,
) -> Iterator[tuple[float, MisclassifiedRow]]:
    """Yield the worst of the wrong rows of a batch, each with how bad it is."""
    wrong = np.flatnonzero((answer.predictions != codes) & (batch.weights > 0))
    if answer.log_posterior is not None:
        badness = -select_true_class(codes, answer.log_posterior, -np.inf)
        said = np.exp(answer.log_posterior[np.arange(len(codes)), answer.predictions])
    else:
        badness = model.leads(model.scores(batch.rows)) if hasattr(model, "leads") else np.zeros(len(codes))
        said = None
    order = wrong[np.argsort(-badness[wrong], kind="stable")][:most]
    for at in order.tolist():
        known = {} if said is None else {"given": float(np.exp(-badness[at])), "said": float(said[at])}
        predicted = classes[int(answer.predictions[at])]
        picked = MisclassifiedRow(
            first + at, single_row(batch.rows, at), batch.labels[at], predicted, **known
        )
        yield float(badness[at]), picked


def single_row(rows: Any, at: int) -> Any:
    """Return one row of a batch as a batch of its own."""
    if hasattr(rows, "first_row"):
        return rows.slice(at, at + 1)
    return rows.iloc[at : at + 1] if hasattr(rows, "iloc") else rows[at : at + 1]


MAX_VALUES = 40  # values of a row that are told
MAX_VALUE_LENGTH = 300  # signs of a value


def row_values(rows: Any) -> tuple[NamedFact, ...]:
    """Return the values of a batch of one row; those beyond the first forty are counted."""
    chunk = rows if isinstance(rows, Chunk) else rows_of(rows).prefix(1)
    found = list(_named_values(chunk))
    told = tuple(
        NamedFact(truncate(name, 120), truncate(value, MAX_VALUE_LENGTH))
        for name, value in found[:MAX_VALUES]
    )
    return (
        (*told, NamedFact("…", f"and {len(found) - MAX_VALUES:,} more")) if len(found) > MAX_VALUES else told
    )


def _named_values(chunk: Chunk) -> Iterator[tuple[str, str]]:
    if chunk.sparse is not None:
        entries = zip(chunk.sparse.indices.tolist(), chunk.sparse.data.tolist(), strict=True)
        yield from ((f"x{at}", format_value(value)) for at, value in entries)
        return
    for name, column in chunk.columns.items():
        value = to_pylist(column)[0]
        yield name, EMPTY_CELL if value is None or value != value else format_value(value)
