"""Predictions of a naive Bayes model without some of its features, as if it had been trained without them.

The columns of naive Bayes are independent within a class, so training without a column gives the same
scores as leaving out its term. Words and counts share one distribution, so their counts are removed from it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats, Longs, SparseBlock
from weigh.features.names import NameArray
from weigh.learn.labelled_sample import SampledRows
from weigh.learn.redundancy import leave_out_columns
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.count_table import CountTable, WordCountTable
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.decision import best_class, log_softmax
from weigh.model.naive_bayes import BayesModel
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows

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


def predict_without(
    model: BayesModel,
    rows: SampledRows,
    left_out: Sequence[LeftOut],
    *,
    has_seen: bool,
    fits_temperature: bool,
) -> Outcomes:
    """Return the outcomes of labelled rows of known classes for the model without some features.

    If the model `has_seen` the rows, each copy of a row is predicted without that copy.
    """
    chunk = rows.chunk
    for group in dict.fromkeys(each.group for each in left_out):
        features = [name for each in left_out if each.group == group for name in each.features]
        model, chunk = _leave_out(model, chunk, LeftOut(tuple(features), group))
    scores = model.leave_one_out_chunk(chunk) if has_seen else model.score_rows(model.encode(chunk))
    scores[~np.isfinite(scores.max(axis=1))] = 0.0
    classes = class_indices(model, chunk)
    if fits_temperature:
        scores = scores * _best_temperature(scores, classes, rows.counts * rows.weights)
    log_p = log_softmax(scores)
    predicted = best_class(scores, model.tie)
    losses = np.minimum(-log_p[np.arange(chunk.n_rows), classes], MAX_LOSS)
    return Outcomes(losses, predicted == classes, predicted, np.exp(log_p))


def class_indices(model: BayesModel, rows: Chunk) -> Longs:
    """Return the index of each row's label among the classes of the model, −1 if it has none."""
    codes, labels = encode_labels(rows)
    index = {label: place for place, label in enumerate(model.classes)}
    return np.array([index.get(label, -1) for label in labels], dtype=np.int64)[codes]


def _best_temperature(scores: Floats, classes: Longs, weights: Floats) -> float:
    """Return the factor of the scores with the smallest log loss: the calibration is fitted anew."""
    at = np.arange(len(classes)), classes
    losses = [
        np.average(np.minimum(-log_softmax(scores * t)[at], MAX_LOSS), weights=weights) for t in TEMPERATURES
    ]
    return float(TEMPERATURES[int(np.argmin(losses))])


def _leave_out(model: BayesModel, rows: Chunk, left_out: LeftOut) -> tuple[BayesModel, Chunk]:
    """Return a model and rows without some features."""
    if left_out.group is None:
        return model, leave_out_columns(rows, left_out.features)
    kind = model.schema.column_groups[left_out.group].kind
    if kind.shares_block and kind.family == "bernoulli":
        return model, _leave_out_flags(model, rows, left_out.features)
    parts = list(model.counts.parts)
    parts[left_out.group] = _remove_names(parts[left_out.group], left_out.features)
    model = model.with_fewer_counts(replace(model.counts, parts=parts))
    return model, _clear_counts(model, rows, left_out.features) if kind.shares_block else rows


def _leave_out_flags(model: BayesModel, rows: Chunk, names: Sequence[str]) -> Chunk:
    """Return the rows with some flags missing in all of them."""
    if rows.sparse is None:
        return leave_out_columns(rows, names)
    block: Any = model.schema.encode(rows)[0]
    columns = _find_names(model.schema.names, names)
    present = block.rows.select_entries(~np.isin(block.rows.indices, columns))
    indptr = np.arange(rows.n_rows + 1, dtype=np.int64) * len(columns)
    indices = np.tile(np.sort(columns), rows.n_rows).astype(np.int32)
    missing = SparseBlock(SparseRows(indptr, indices, None, block.rows.width), block.names)
    encoded = replace(block, rows=present, missing=missing)
    return replace(rows, encoded=(model.schema, [encoded]))


def _remove_names(part: Any, names: Sequence[str]) -> Any:
    """Return the counts of a group without some names; columns of the schema stay, without evidence."""
    if isinstance(part, CountTable):
        table = part.table.copy()
        table[:, _find_names(part.names, names)] = 0
        return replace(part, table=table)
    if isinstance(part, FlagCounts):
        return replace(part, present=_remove_names(part.present, names))
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
