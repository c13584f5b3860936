"""A sample of labelled rows of any kind, also texts and sparse rows, that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.features.columns import to_objects
from weigh.features.row_hashes import Hashes, add_label_hashes, hash_features
from weigh.features.schema import Schema
from weigh.model.counts.bayes_counts import encode_labels
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows

MAX_ROWS = 2_048  # different rows


@dataclass(frozen=True, eq=False)
class _Piece:
    """Different rows of one chunk with their hashes, and the number and total weight of the equal rows."""

    hashes: Hashes
    counts: Longs
    weights: Floats
    rows: Chunk

    def select(self, mask: Any) -> _Piece:
        if mask.all():
            return self
        return _Piece(self.hashes[mask], self.counts[mask], self.weights[mask], self.rows.select(mask))


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Different rows, each with the mean weight of its copies, and how many copies there are."""

    chunk: Chunk
    counts: Longs

    @property
    def weights(self) -> Floats:
        """The mean weight of the copies of each row."""
        return np.ones(self.chunk.n_rows) if self.chunk.weights is None else self.chunk.weights

    def select(self, mask: Any) -> SampledRows:
        """Return the rows where the mask is True."""
        return self if mask.all() else SampledRows(self.chunk.select(mask), self.counts[mask])


class LabelledSample:
    """Collects the different rows with the smallest hashes, and counts the rows that equal them.

    A row leaves the sample only for rows with smaller hashes, so the sample is the same for any order and
    any chunks.
    """

    def __init__(self, schema: Schema, max_rows: int = MAX_ROWS) -> None:
        self._schema, self._max_rows = schema, max_rows
        self._pieces: list[_Piece] = []
        self._limit: np.uint64 | None = None

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
        places = np.flatnonzero((weights > 0) & (True if self._limit is None else hashes <= self._limit))
        if not len(places):
            return
        found, first, inverse = np.unique(hashes[places], return_index=True, return_inverse=True)
        if len(found) > self._max_rows:
            self._limit = found[self._max_rows - 1]
        first = first[: self._max_rows]
        counts = np.bincount(inverse, minlength=len(found)).astype(np.int64)
        sums = np.bincount(inverse, weights[places], minlength=len(found)).astype(np.float64, copy=False)
        mask, order = np.zeros(chunk.n_rows, dtype=bool), np.argsort(first)
        mask[places[first]] = True
        self._pieces.append(_Piece(found[order], counts[order], sums[order], _copy_rows(chunk, mask)))
        if sum(len(piece.hashes) for piece in self._pieces) > 4 * self._max_rows:
            self._prune()

    def _prune(self) -> None:
        """Drop rows beyond the limit, and count rows that occur in several pieces in the first of them."""
        hashes = np.concatenate([piece.hashes for piece in self._pieces])
        counts = np.concatenate([piece.counts for piece in self._pieces])
        weights = np.concatenate([piece.weights for piece in self._pieces])
        found, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        counts[first] = np.bincount(inverse, counts, minlength=len(found)).astype(np.int64)
        weights[first] = np.bincount(inverse, weights, minlength=len(found))
        if len(found) > self._max_rows:
            first, self._limit = first[: self._max_rows], found[self._max_rows - 1]
        is_kept = np.zeros(len(hashes), dtype=bool)
        is_kept[first] = True
        ends = np.cumsum([len(piece.hashes) for piece in self._pieces])[:-1]
        parts = zip(self._pieces, *(np.split(each, ends) for each in (counts, weights, is_kept)), strict=True)
        self._pieces = [
            replace(piece, counts=n, weights=w).select(mask) for piece, n, w, mask in parts if mask.any()
        ]

    def rows(self) -> SampledRows:
        """Return the sample in the order of the hashes."""
        self._prune()
        order = np.argsort(np.concatenate([piece.hashes for piece in self._pieces]))
        chunks = [piece.rows for piece in self._pieces]
        columns = {
            name: _join([chunk.columns[name] for chunk in chunks])[order] for name in chunks[0].columns
        }
        sparse = [chunk.sparse for chunk in chunks if chunk.sparse is not None]
        matrix = SparseRows.concatenate(sparse, sparse[0].width).select(order) if sparse else None
        labels = _join([chunk.labels for chunk in chunks])[order]
        counts = np.concatenate([piece.counts for piece in self._pieces])[order]
        weights = np.concatenate([piece.weights for piece in self._pieces])[order] / counts
        plain = None if (weights == 1).all() else weights
        return SampledRows(Chunk(columns, len(order), sparse=matrix, labels=labels, weights=plain), counts)


def _copy_rows(chunk: Chunk, mask: Any) -> Chunk:
    """Return some rows with their labels, without the buffers that hold the other rows too."""
    rows = chunk.select(mask)
    columns = {name: to_objects(column, name) for name, column in rows.columns.items()}
    return Chunk(columns, rows.n_rows, sparse=rows.sparse, labels=to_objects(rows.labels))


def _join(columns: list[Any]) -> Any:
    """Return the columns of all pieces as one array."""
    if len({column.dtype for column in columns}) > 1:
        # Joining texts and numbers would turn the numbers into texts.
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)
