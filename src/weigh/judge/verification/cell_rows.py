"""Encode labelled rows for the checks of an additive model: which cell of each curve and pair a row is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import CategoryBlock, Floats, Ints, Mask, NumberBlock
from weigh.features.curves import PairBlock
from weigh.learn.chunk_encoder import numeric_targets
from weigh.learn.design_matrix import DesignMatrix
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights
from weigh.model.distributions.weights import LevelWeights
from weigh.model.logistic import LogisticModel
from weigh.model.regression import RegressionModel
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows

CurveModel = RegressionModel | LogisticModel
NO_CELL = -1


@dataclass(frozen=True, eq=False)
class CellRows:
    """The rows as features of a model's terms, the numbers under its curves, and the levels of categories.

    The features are those of the model: one 0/1 feature per cell or level.
    """

    design: DesignMatrix
    numbers: Mapping[str, Floats]
    levels: Mapping[str, frozenset[Any]]


@dataclass(frozen=True, eq=False)
class _ChunkRows:
    X: SparseRows
    blocks: Sequence[Any]
    labels: Sequence[Any]
    weights: Floats | None


def read_cell_rows(model: CurveModel, source: Source) -> CellRows:
    """Read all rows of a source that have a weight above zero."""
    chunks = [_encode_chunk(model, chunk) for chunk in model.schema.chunks(source)]
    width = sum(len(term.features().names) for term in model.terms)
    X = SparseRows.concatenate([chunk.X for chunk in chunks], width)
    labels = [label for chunk in chunks for label in chunk.labels]
    classes = sorted(set(labels), key=canonical_order_key)
    code_of_label = {label: code for code, label in enumerate(classes)}
    codes = np.array([code_of_label[label] for label in labels], dtype=np.int32)
    weights = None
    if any(chunk.weights is not None for chunk in chunks):
        weights = np.concatenate(
            [np.ones(chunk.X.n_rows) if chunk.weights is None else chunk.weights for chunk in chunks]
        )
    design = DesignMatrix(model.feature_names, X, codes, classes, weights, model.schema)
    return CellRows(design, _numbers(model, chunks), _levels(model, chunks))


def _encode_chunk(model: CurveModel, chunk: Chunk) -> _ChunkRows:
    is_used: Mask = np.ones(chunk.n_rows, dtype=bool) if chunk.weights is None else chunk.weights > 0
    blocks: list[Any] = list(model.schema.encode(chunk))
    if not is_used.all():
        blocks = [block.where(is_used) for block in blocks]
    builder, first = _core.CsrBuilder(int(is_used.sum())), 0
    terms: Any = model.terms
    for term, block in zip(terms, blocks, strict=True):
        width = len(term.features().names)
        if isinstance(term, CurveWeights | PairWeights):
            builder.add_codes(_cells(term, block), np.arange(first, first + width, dtype=np.int32))
        else:
            term.append_rows(builder, block, first)
        first += width
    weights = None if chunk.weights is None else chunk.weights[is_used]
    X = SparseRows(*builder.build(), first)
    return _ChunkRows(X, blocks, _labels(model, chunk, is_used), weights)


def _labels(model: CurveModel, chunk: Chunk, is_used: Mask) -> list[Any]:
    if isinstance(model, RegressionModel):
        targets: list[Any] = numeric_targets(chunk)[is_used].tolist()
        return targets
    codes, labels = encode_labels(chunk)
    return [labels[code] for code in codes[is_used].tolist()]


def _cells(term: CurveWeights | PairWeights, block: Any) -> Ints:
    """Return the cell of each row; the cell of a missing number is the last one of its curve."""
    if isinstance(term, CurveWeights):
        cells = number_cells(block.values, term.cuts)
        return np.where(cells == NO_CELL, len(term.cuts) + 1, cells).astype(np.int32)
    assert isinstance(block, PairBlock)
    left, right = _axis_cells(term.left, block.left), _axis_cells(term.right, block.right)
    has_cell = (left != NO_CELL) & (right != NO_CELL)
    return np.where(has_cell, left * term.right.n_cells + right, NO_CELL).astype(np.int32)


def _axis_cells(axis: PairAxis, block: NumberBlock | CategoryBlock) -> Ints:
    if isinstance(block, NumberBlock):
        return number_cells(block.values, np.zeros(0) if axis.cuts is None else axis.cuts)
    groups = [] if axis.groups is None else axis.groups.tolist()
    group_of_level = dict(zip(axis.levels, groups, strict=True))
    values = [None if code < 0 else block.levels[code] for code in block.codes.tolist()]
    return np.array([group_of_level.get(value, NO_CELL) for value in values], dtype=np.int32)


def number_cells(values: Floats, cuts: Floats) -> Ints:
    """Return the number of cuts below each value, `NO_CELL` if it is missing."""
    cells = np.digitize(values, cuts, right=True) if len(cuts) else np.zeros(len(values), dtype=np.int64)
    return np.where(np.isnan(values), NO_CELL, cells).astype(np.int32)


def _numbers(model: CurveModel, chunks: Sequence[_ChunkRows]) -> dict[str, Floats]:
    return {
        term.name: np.concatenate([chunk.blocks[at].values for chunk in chunks])
        for at, term in enumerate(model.terms)
        if isinstance(term, CurveWeights)
    }


def _levels(model: CurveModel, chunks: Sequence[_ChunkRows]) -> dict[str, frozenset[Any]]:
    """Return the levels of the rows, for each category of the model."""
    return {
        term.name: frozenset(level for chunk in chunks for level in _block_levels(chunk.blocks[at]))
        for at, term in enumerate(model.terms)
        if isinstance(term, LevelWeights)
    }


def _block_levels(block: CategoryBlock) -> list[Any]:
    return [block.levels[code] for code in np.unique(block.codes).tolist() if code >= 0]
