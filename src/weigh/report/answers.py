"""What a classifier answers for the rows of a report: a few numbers per row, and the worst rows whole."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.measures.batches import Batch, batches
from weigh.judge.measures.losses import Codes, Floats, of_true_class
from weigh.judge.measures.subject import Answer, codes_of, subject


@dataclass(frozen=True, eq=False)
class Picked:
    """A row that was kept: its number, itself as a batch of one, and what was said of it.

    `given` is the probability of the true class and `said` that of the verdict, where there are any.
    """

    row: int
    rows: Any
    true: Any
    predicted: Any
    given: float | None = None
    said: float | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """True and predicted class codes of all rows, the second of two classes' probability, the worst rows."""

    classes: tuple[Any, ...]
    true: Codes
    predicted: Codes
    second: Floats | None
    weights: Floats
    worst: tuple[Picked, ...]


def answered(model: Any, data: Any, y: Any, label: str | None, most: int) -> Answers:
    """Ask a classifier for all rows, batch by batch; `most` wrong rows are kept whole."""
    judged = subject(model)
    ours = getattr(model, "model_", model)
    classes = tuple(judged.classes)
    parts: list[tuple[Any, ...]] = []
    heap: list[tuple[float, int, Picked]] = []
    first = 0
    for batch in batches(judged, data, y, label, None):
        answer = judged.answer(batch.rows)
        codes = codes_of(judged.classes, batch.labels)
        parts.append((codes, answer.predictions, _second(answer, len(classes)), batch.weights))
        for badness, picked in _wrong(ours, batch, answer, codes, classes, first, most):
            # Of equally bad rows the earlier one stays: its number, negated, is the greater.
            entry = (badness, -picked.row, picked)
            (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, entry)
        first += len(codes)
    joined: list[Any] = [None if p[0] is None else np.concatenate(p) for p in zip(*parts, strict=True)]
    true, predicted, second, weights = joined
    return Answers(
        classes,
        true,
        predicted,
        second,
        weights,
        tuple(picked for _, _, picked in sorted(heap, key=lambda each: each[:2], reverse=True)),
    )


def _second(answer: Answer, classes: int) -> Floats | None:
    """The probability of the second of two classes."""
    if answer.log_posterior is None or classes != 2:
        return None
    return np.asarray(np.exp(answer.log_posterior[:, 1]))


def _wrong(
    model: Any, batch: Batch, answer: Answer, codes: Codes, classes: tuple[Any, ...], first: int, most: int
) -> Iterator[tuple[float, Picked]]:
    """Yield the worst of the wrong rows of a batch, each with how bad it is."""
    wrong = np.flatnonzero((answer.predictions != codes) & (batch.weights > 0))
    if answer.log_posterior is not None:
        badness = -of_true_class(codes, answer.log_posterior, -np.inf)
        said = np.exp(answer.log_posterior[np.arange(len(codes)), answer.predictions])
    else:
        badness = model.leads(model.scores(batch.rows)) if hasattr(model, "leads") else np.zeros(len(codes))
        said = None
    order = wrong[np.argsort(-badness[wrong], kind="stable")][:most]
    for at in order.tolist():
        known = {} if said is None else {"given": float(np.exp(-badness[at])), "said": float(said[at])}
        predicted = classes[int(answer.predictions[at])]
        picked = Picked(first + at, one_of(batch.rows, at), batch.labels[at], predicted, **known)
        yield float(badness[at]), picked


def one_of(rows: Any, at: int) -> Any:
    """Return one row of a batch as a batch of its own."""
    if hasattr(rows, "first_row"):
        return rows.slice(at, at + 1)
    return rows.iloc[at : at + 1] if hasattr(rows, "iloc") else rows[at : at + 1]
