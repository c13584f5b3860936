"""A sample of labelled rows of any kind, also texts and sparse rows, that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.columns import to_objects
from weigh.features.row_hashes import Hashes, add_label_hashes, hash_features
from weigh.features.schema import Schema
from weigh.model.counts.bayes_counts import encode_labels
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows

MAX_ROWS = 2_048  # different rows


@dataclass(frozen=True, eq=False)
class _Piece:
    """Different rows of one chunk with their hashes and weights."""

    hashes: Hashes
    weights: Floats
    rows: Chunk

    def select(self, mask: Any) -> _Piece:
        return self if mask.all() else _Piece(self.hashes[mask], self.weights[mask], self.rows.select(mask))


class LabelledSample:
    """Collects the different rows with the smallest hashes, with the sum of the weights of equal rows.

    A row leaves the sample only for rows with smaller hashes, so the sample is the same for any order and
    any chunks.
    """

    def __init__(self, schema: Schema, max_rows: int = MAX_ROWS) -> None:
        self._schema, self._max_rows = schema, max_rows
        self._pieces: list[_Piece] = []
        self._limit: np.uint64 | None = None
        self.total_weight = 0.0  # of all rows

    @property
    def is_complete(self) -> bool:
        """Whether all different rows are in the sample."""
        return self._limit is None

    def add(self, chunk: Chunk) -> None:
        """Add the rows of a chunk in the model's schema; rows of zero weight are left out."""
        codes, labels = encode_labels(chunk)
        hashes = hash_features(self._schema, self._schema.blocks(chunk), chunk.n_rows)
        add_label_hashes(labels, codes, hashes)
        weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
        self.total_weight += float(weights.sum())
        places = np.flatnonzero((weights > 0) & (True if self._limit is None else hashes <= self._limit))
        found, first, inverse = np.unique(hashes[places], return_index=True, return_inverse=True)
        sums = np.bincount(inverse, weights[places], minlength=len(found)).astype(np.float64, copy=False)
        mask, order = np.zeros(chunk.n_rows, dtype=bool), np.argsort(first)
        mask[places[first]] = True
        rows = replace(chunk, weights=None).select(mask)
        self._pieces.append(_Piece(found[order], sums[order], rows))
        if sum(len(piece.hashes) for piece in self._pieces) > 4 * self._max_rows:
            self._prune()

    def _prune(self) -> None:
        """Drop rows beyond the limit, and count rows that occur in several pieces in the first of them."""
        hashes = np.concatenate([piece.hashes for piece in self._pieces])
        weights = np.concatenate([piece.weights for piece in self._pieces])
        found, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        weights[first] = np.bincount(inverse, weights, minlength=len(found))
        if len(found) > self._max_rows:
            first, self._limit = first[: self._max_rows], found[self._max_rows - 1]
        is_kept = np.zeros(len(hashes), dtype=bool)
        is_kept[first] = True
        ends = np.cumsum([len(piece.hashes) for piece in self._pieces])[:-1]
        parts = zip(self._pieces, np.split(weights, ends), np.split(is_kept, ends), strict=True)
        self._pieces = [replace(piece, weights=own).select(mask) for piece, own, mask in parts if mask.any()]

    def rows(self) -> Chunk:
        """Return the sample as one chunk with weights, in the order of the hashes."""
        self._prune()
        order = np.argsort(np.concatenate([piece.hashes for piece in self._pieces]))
        chunks = [piece.rows for piece in self._pieces]
        columns = {
            name: _join([chunk.columns[name] for chunk in chunks])[order] for name in chunks[0].columns
        }
        sparse = [chunk.sparse for chunk in chunks if chunk.sparse is not None]
        matrix = SparseRows.concatenate(sparse, sparse[0].width).select(order) if sparse else None
        labels = _join([chunk.labels for chunk in chunks])[order]
        weights = np.concatenate([piece.weights for piece in self._pieces])[order]
        return Chunk(columns, len(order), sparse=matrix, labels=labels, weights=weights)


def _join(columns: list[Any]) -> Any:
    """Return the columns of all pieces as one array."""
    arrays = [to_objects(column) for column in columns]
    if len({array.dtype for array in arrays}) > 1:
        # Joining texts and numbers would turn the numbers into texts.
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)
