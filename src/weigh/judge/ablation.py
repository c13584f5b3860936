"""Predictions of a naive Bayes model without some of its features, as if it had been trained without them.

The columns of naive Bayes are independent within a class, so training without a column gives the same
scores as leaving out its term. Words and counts share one distribution, so their counts are removed from it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats, Longs
from weigh.features.names import NameArray
from weigh.learn.redundancy import leave_out_columns
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.count_table import CountTable, WordCountTable
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.decision import best_class, log_softmax
from weigh.model.naive_bayes import BayesModel
from weigh.source.chunk import Chunk

N_FOLDS = 5
MAX_LOSS = 34.5  # nats; −log of the smallest probability that log losses distinguish from zero
TEMPERATURES = np.geomspace(0.02, 3.0, 61)  # factors of the scores of a calibrated model


@dataclass(frozen=True)
class LeftOut:
    """Features to leave out: columns, or names within a group of words, flags or counts."""

    features: tuple[str, ...]
    group: int | None = None


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The log loss, the correctness and the probability of each row's predicted class."""

    losses: Floats
    is_right: npt.NDArray[np.bool_]
    predicted: Longs
    posterior: Floats


def split_training_rows(model: BayesModel, rows: Chunk, total: float) -> Iterator[tuple[BayesModel, Chunk]]:
    """Yield parts of training rows, each with the model that was not trained on them.

    A part is a fifth of all rows at most, and their counts are subtracted from those of the model.
    """
    weights = rows.weights if rows.weights is not None else np.ones(rows.n_rows)
    n_folds = N_FOLDS if weights.sum() * N_FOLDS > total else 1
    for fold in range(min(n_folds, rows.n_rows)):
        part = rows.select(np.arange(rows.n_rows) % n_folds == fold)
        is_plain = part.weights is None or bool((part.weights == 1).all())
        counts = model.count([replace(part, weights=None) if is_plain else part])
        yield model.with_fewer_counts(model.counts.plus(counts, -1).canonical()), part


def predict_without(
    model: BayesModel, rows: Chunk, left_out: Sequence[LeftOut], fits_temperature: bool
) -> Outcomes:
    """Return the outcomes of labelled rows of known classes for the model without some features."""
    for group in dict.fromkeys(each.group for each in left_out):
        features = [name for each in left_out if each.group == group for name in each.features]
        model, rows = _leave_out(model, rows, LeftOut(tuple(features), group))
    scores = model.score_rows(model.encode(rows))
    scores[~np.isfinite(scores.max(axis=1))] = 0.0
    classes = class_indices(model, rows)
    if fits_temperature:
        scores = scores * _best_temperature(scores, classes, rows)
    log_p = log_softmax(scores)
    predicted = best_class(scores, model.tie)
    losses = np.minimum(-log_p[np.arange(rows.n_rows), classes], MAX_LOSS)
    return Outcomes(losses, predicted == classes, predicted, np.exp(log_p))


def class_indices(model: BayesModel, rows: Chunk) -> Longs:
    """Return the index of each row's label among the classes of the model, −1 if it has none."""
    codes, labels = encode_labels(rows)
    index = {label: place for place, label in enumerate(model.classes)}
    return np.array([index.get(label, -1) for label in labels], dtype=np.int64)[codes]


def _best_temperature(scores: Floats, classes: Longs, rows: Chunk) -> float:
    """Return the factor of the scores with the smallest log loss: the calibration is fitted anew."""
    at = np.arange(len(classes)), classes
    losses = [
        np.average(np.minimum(-log_softmax(scores * t)[at], MAX_LOSS), weights=rows.weights)
        for t in TEMPERATURES
    ]
    return float(TEMPERATURES[int(np.argmin(losses))])


def _leave_out(model: BayesModel, rows: Chunk, left_out: LeftOut) -> tuple[BayesModel, Chunk]:
    """Return a model and rows without some features."""
    if left_out.group is None:
        return model, leave_out_columns(rows, left_out.features)
    parts = list(model.counts.parts)
    parts[left_out.group] = _remove_names(parts[left_out.group], left_out.features)
    model = model.with_fewer_counts(replace(model.counts, parts=parts))
    is_count = model.schema.column_groups[left_out.group].kind.name == "count"
    return model, _clear_counts(model, rows, left_out.features) if is_count else rows


def _remove_names(part: Any, names: Sequence[str]) -> Any:
    """Return the counts of a group without some names; columns of the schema stay, without evidence."""
    if isinstance(part, CountTable):
        table = part.table.copy()
        table[:, _find_names(part.names, names)] = 0
        return replace(part, table=table)
    if isinstance(part, FlagCounts):
        if isinstance(part.present, WordCountTable):
            return replace(part, present=_remove_names(part.present, names))
        # Half of the rows in every class: present or not, the flag says nothing about the class.
        table, at = part.present.table.astype(np.float64), _find_names(part.present.names, names)
        known = np.broadcast_to(part.known, table.shape)
        table[:, at] = known[:, at] / 2
        return replace(part, present=replace(part.present, table=table))
    kept = np.delete(np.arange(len(part.names)), _find_names(part.names, names))
    if isinstance(part, WordCountTable):
        return replace(part, names=part.names.take(kept), table=np.ascontiguousarray(part.table[:, kept]))
    sums = np.ascontiguousarray(part.sums[:, kept])
    return replace(part, names=part.names.take(kept), sums=sums, documents=part.documents[kept])


def _find_names(names: Sequence[str], wanted: Sequence[str]) -> Longs:
    """Return the places of those names that exist; words are sorted, columns are not."""
    if not isinstance(names, NameArray):
        return np.array([names.index(name) for name in wanted], dtype=np.int64)
    places = ((bisect_left(names, name), name) for name in wanted)
    return np.array([at for at, name in places if at < len(names) and names[at] == name], dtype=np.int64)


def _clear_counts(model: BayesModel, rows: Chunk, names: Sequence[str]) -> Chunk:
    """Return the rows with zeros in some columns of counts."""
    if rows.sparse is None:
        return replace(rows, columns={**rows.columns, **{name: np.zeros(rows.n_rows) for name in names}})
    columns = _find_names(model.schema.names, names)
    return replace(rows, sparse=rows.sparse.select_entries(~np.isin(rows.sparse.indices, columns)))
