"""The fold of squared loss: moments of the rows, with what a model records of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from weigh.features.blocks import Mask
from weigh.features.row_hashes import Hashes, add_target_hashes, hash_features
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import ChunkEncoder, MissingCounts
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.linear.matrix import binary_features
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.training_data import stack_chunks
from weigh.model.file.store import FileContent
from weigh.model.training_rows import TrainingRows
from weigh.source.chunk import Chunk


@dataclass(frozen=True, eq=False)
class RowSums:
    """Moments by fold of cross-validation, and a record of the rows; `is_binary` are features of 0 and 1."""

    folds: list[Moments]
    is_binary: Mask
    n_missing: MissingCounts
    rows: TrainingRows

    @property
    def moments(self) -> Moments:
        """The moments of all rows."""
        return reduce(Moments.plus, self.folds)


class RowSumCounter:
    """Accumulates the sums of chunks."""

    def __init__(self, task: MomentsTask) -> None:
        self._task = task
        self._encoder = ChunkEncoder(task.schema, task.feature_index, is_regression=True)
        self._counts: RowSums | None = None

    def add(self, chunk: Chunk) -> None:
        """Add the sums of one chunk."""
        task = self._task
        blocks = self._encoder.make_blocks(chunk, hashes_rows=True)
        encoded = self._encoder.encode_blocks(blocks, grow=False)
        X = stack_chunks([encoded], task.feature_index.width)
        parts = [Moments.from_rows(X, encoded.targets, encoded.weights)]
        if task.n_folds > 1:
            fold_of_row = self._row_hashes(chunk) % np.uint64(task.n_folds)
            masks = [fold_of_row == number for number in range(task.n_folds)]
            parts = [Moments.from_rows(X.select_rows(mask), encoded.targets[mask]) for mask in masks]
        rows = blocks.rows.with_frequencies(encoded.rows)
        sums = RowSums(parts, binary_features(X), blocks.n_missing, rows)
        self._counts = sums if self._counts is None else task.merge(self._counts, sums)

    def _row_hashes(self, chunk: Chunk) -> Hashes:
        hashes = hash_features(self._task.schema, self._task.schema.encode(chunk), chunk.n_rows)
        add_target_hashes(self._encoder.make_blocks(chunk, hashes_rows=False).targets, hashes)
        # The low bits of unfinished hashes are those of sums of few values.
        return (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)

    def merge(self, other: RowSumCounter) -> None:
        """Raise NotImplementedError: engines merge counts, not counters."""
        raise NotImplementedError

    def counts(self) -> RowSums:
        """Return the sums; requires at least one chunk."""
        assert self._counts is not None
        return self._counts


@dataclass(frozen=True, eq=False)
class MomentsTask:
    """Sums the products of the features of all rows, by fold if there are several.

    A row is in the fold that a hash of its values names, so equal rows are in the same one whatever the
    partitions.
    """

    schema: Schema
    feature_index: FeatureIndex
    n_folds: int = 1

    def counter(self) -> RowSumCounter:
        """Return an empty counter."""
        return RowSumCounter(self)

    def merge(self, first: RowSums, second: RowSums) -> RowSums:
        """Return the sums of both sets of rows."""
        folds = [a.plus(b) for a, b in zip(first.folds, second.folds, strict=True)]
        n_missing = first.n_missing + second.n_missing
        return RowSums(folds, first.is_binary & second.is_binary, n_missing, first.rows.plus(second.rows))

    def write_counts(self, sums: RowSums) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return sums as JSON metadata and arrays."""
        meta: dict[str, Any] = {"missing": dict(sums.n_missing)}
        arrays: dict[str, Any] = {"is_binary": sums.is_binary}
        for number, moments in enumerate(sums.folds):
            moments.write_arrays(arrays, meta, f"fold{number}")
        write_training_rows(sums.rows, arrays, meta)
        return meta, arrays

    def read_counts(self, stored: FileContent) -> RowSums:
        """Return the sums that `write_counts` wrote."""
        folds = [Moments.read_arrays(stored, f"fold{number}") for number in range(self.n_folds)]
        rows = read_training_rows(stored, self.schema)
        return RowSums(folds, stored.arrays["is_binary"], MissingCounts(stored.meta["missing"]), rows)


def write_training_rows(rows: TrainingRows, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add a record of rows that is not finished to the content of a file."""
    rows.write_arrays(arrays, meta)
    if rows.inputs is not None:
        arrays["frequencies"] = rows.inputs.frequencies


def read_training_rows(stored: FileContent, schema: Schema) -> TrainingRows:
    """Return the record that `write_training_rows` added."""
    rows = TrainingRows.read_arrays(stored, schema)
    assert rows is not None
    if rows.inputs is None:
        return rows
    return replace(rows, inputs=replace(rows.inputs, frequencies=stored.arrays["frequencies"]))
