"""Encoded rows that the workers of an engine keep, and sums over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints
from weigh.features.row_hashes import Hashes, add_label_hashes, hash_features
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import ChunkEncoder, EncodedChunk, MissingCounts
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.folds.moments import read_training_rows, write_training_rows
from weigh.learn.linear.matrix import DenseMatrix, Matrix, SparseMatrix
from weigh.learn.linear.training_data import stack_chunks
from weigh.model.counts.bayes_counts import Label
from weigh.model.file.store import FileContent
from weigh.model.training_rows import TrainingRows
from weigh.source.chunk import Chunk
from weigh.source.sparse_rows import SparseRows

Sums = dict[str, Any]  # arrays that add up, but for those whose names begin with "min" or "max"


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The features of rows, the index of their class, and a hash of each."""

    X: Matrix
    y: Ints
    hashes: Hashes

    @classmethod
    def from_file(cls, stored: FileContent) -> EncodedRows:
        """Return the rows that `to_arrays` wrote, without a copy."""
        arrays = stored.arrays
        if "dense" in arrays:
            return cls(DenseMatrix(arrays["dense"]), arrays["y"], arrays["hashes"])
        rows = SparseRows(arrays["indptr"], arrays["indices"], arrays.get("values"), stored.meta["width"])
        return cls(SparseMatrix(rows), arrays["y"], arrays["hashes"])

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the rows as JSON metadata and arrays."""
        arrays: dict[str, Any] = {"y": self.y, "hashes": self.hashes}
        if isinstance(self.X, DenseMatrix):
            return {}, {**arrays, "dense": self.X.array}
        assert isinstance(self.X, SparseMatrix)
        indptr, indices, values = self.X.rows.csr
        arrays |= {"indptr": indptr - indptr[0], "indices": indices}
        return {"width": self.X.width}, arrays if values is None else {**arrays, "values": values}


@dataclass(eq=False)
class RowsOfPartition:
    """The encoded rows of one partition with their record; chunk by chunk."""

    chunks: list[EncodedChunk] = field(default_factory=list)
    hashes: list[Hashes] = field(default_factory=list)
    n_missing: MissingCounts = field(default_factory=MissingCounts)
    rows: TrainingRows = field(default_factory=TrainingRows)


class RowEncoder:
    """Collects the encoded chunks of a partition."""

    def __init__(self, task: EncodingTask) -> None:
        self._task = task
        self._encoder = ChunkEncoder(task.schema, task.feature_index)
        self._encoder.labels.update({label: code for code, label in enumerate(task.classes)})
        self._part = RowsOfPartition()

    def add(self, chunk: Chunk) -> None:
        """Encode one chunk."""
        blocks = self._encoder.make_blocks(chunk, hashes_rows=True)
        encoded = self._encoder.encode_blocks(blocks, grow=False)
        part = self._part
        hashes = hash_features(self._task.schema, self._task.schema.encode(chunk), chunk.n_rows)
        add_label_hashes(blocks.labels, blocks.targets, hashes)
        part.hashes.append(mix_hashes(hashes))
        part.chunks.append(encoded)
        part.n_missing.update(blocks.n_missing)
        part.rows = part.rows.plus(blocks.rows.with_frequencies(encoded.rows))

    def merge(self, other: RowEncoder) -> None:
        """Raise NotImplementedError: the rows of partitions stay apart."""
        raise NotImplementedError

    def counts(self) -> RowsOfPartition:
        """Return the rows."""
        return self._part


@dataclass(frozen=True, eq=False)
class EncodingTask:
    """Encodes the rows of partitions, for sums over them."""

    schema: Schema
    feature_index: FeatureIndex
    classes: list[Label]

    def counter(self) -> RowEncoder:
        """Return an encoder."""
        return RowEncoder(self)

    def merge(self, first: RowsOfPartition, second: RowsOfPartition) -> RowsOfPartition:
        """Raise NotImplementedError: the rows of partitions stay apart."""
        raise NotImplementedError

    def write_counts(self, part: RowsOfPartition) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return encoded rows as JSON metadata and arrays."""
        X = stack_chunks(part.chunks, self.feature_index.width)
        y = np.concatenate([chunk.targets for chunk in part.chunks]).astype(np.int32)
        meta, arrays = EncodedRows(X, y, np.concatenate(part.hashes)).to_arrays()
        meta["missing"] = dict(part.n_missing)
        write_training_rows(part.rows, arrays, meta)
        return meta, arrays

    def read_counts(self, stored: FileContent) -> RowsOfPartition:
        """Return the record of the rows, without the rows."""
        rows = read_training_rows(stored, self.schema)
        return RowsOfPartition(n_missing=MissingCounts(stored.meta["missing"]), rows=rows)


class RowSum:
    """A sum over encoded rows; subclasses implement `sum_rows` for the rows of a partition.

    An engine sends it to its workers, with the weights among its fields.
    """

    def count(self, stored: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the sums of a partition as JSON metadata and arrays."""
        return {}, self.sum_rows(EncodedRows.from_file(stored))

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the sums of the rows of a partition."""
        raise NotImplementedError

    def merge(self, first: FileContent, second: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the sums of both."""
        return {}, add_sums(first.arrays, second.arrays)


def add_sums(first: Mapping[str, Any], second: Mapping[str, Any]) -> Sums:
    """Return the sums of both, and the smaller and larger of the others."""
    return {name: _combine(name, values, second[name]) for name, values in first.items()}


def _combine(name: str, first: Any, second: Any) -> Any:
    if name.startswith("min"):
        return np.minimum(first, second)
    return np.maximum(first, second) if name.startswith("max") else first + second


MAX_SAMPLE = 2_000  # rows


@dataclass(frozen=True, eq=False)
class SummarySum(RowSum):
    """Counts rows, and finds what the set-up of a problem needs: ranges, spreads, a sample, the record."""

    schema: Schema

    def count(self, stored: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the summary of a partition."""
        rows = EncodedRows.from_file(stored)
        chosen = np.argsort(rows.hashes, kind="stable")[:MAX_SAMPLE]
        mask = np.zeros(len(rows.y), dtype=bool)
        mask[chosen] = True
        sample = EncodedRows(rows.X.select_rows(mask), rows.y[mask], rows.hashes[mask])
        meta, arrays = sample.to_arrays()
        record = read_training_rows(stored, self.schema)
        return self._to_file(
            meta, arrays, summarise_features(rows.X), MissingCounts(stored.meta["missing"]), record
        )

    def _to_file(
        self,
        meta: dict[str, Any],
        arrays: dict[str, Any],
        ranges: Sums,
        n_missing: MissingCounts,
        record: TrainingRows,
    ) -> tuple[dict[str, Any], Sums]:
        meta = {**meta, "missing": dict(n_missing)}
        arrays = {**arrays, **{f"range.{name}": values for name, values in ranges.items()}}
        write_training_rows(record, arrays, meta)
        return meta, arrays

    def merge(self, first: FileContent, second: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the summary of both."""
        samples = [EncodedRows.from_file(each) for each in (first, second)]
        sample = smallest_hashes(samples)
        meta, arrays = sample.to_arrays()
        n_missing = MissingCounts(first.meta["missing"]) + MissingCounts(second.meta["missing"])
        record = read_training_rows(first, self.schema).plus(read_training_rows(second, self.schema))
        ranges = merge_ranges(read_ranges(first), read_ranges(second))
        return self._to_file(meta, arrays, ranges, n_missing, record)


def smallest_hashes(samples: list[EncodedRows]) -> EncodedRows:
    """Return the rows with the smallest hashes, in the order of the hashes."""
    hashes = np.concatenate([sample.hashes for sample in samples])
    y = np.concatenate([sample.y for sample in samples])
    X = samples[0].X
    if isinstance(X, DenseMatrix):
        table = np.concatenate([sample.X.array for sample in samples if isinstance(sample.X, DenseMatrix)])
        order = np.lexsort((y, hashes))[:MAX_SAMPLE]
        return EncodedRows(DenseMatrix(table[order]), y[order], hashes[order])
    rows = SparseRows.concatenate(
        [sample.X.rows for sample in samples if isinstance(sample.X, SparseMatrix)], X.width
    )
    limit = np.partition(hashes, MAX_SAMPLE - 1)[MAX_SAMPLE - 1] if len(hashes) > MAX_SAMPLE else None
    mask = np.ones(len(hashes), dtype=bool) if limit is None else hashes <= limit
    return EncodedRows(SparseMatrix(rows.select(mask)), y[mask], hashes[mask])


def read_ranges(stored: FileContent) -> Sums:
    """Return the summary of the features in a file."""
    prefix = "range."
    return {
        name.removeprefix(prefix): each for name, each in stored.arrays.items() if name.startswith(prefix)
    }


def summarise_features(X: Matrix) -> Sums:
    """Return the number of rows, and mean, squared deviations, smallest and largest value of each feature."""
    n = X.n_rows
    if isinstance(X, DenseMatrix):
        mean = X.array.mean(axis=0)
        squares = np.square(X.array - mean).sum(axis=0)
        low, high = X.array.min(axis=0), X.array.max(axis=0)
        is_binary = ((X.array == 0) | (X.array == 1)).all(axis=0)
    else:
        assert isinstance(X, SparseMatrix)
        indices, values = X.rows.indices, X.rows.entry_values()
        has_zero = np.bincount(indices, minlength=X.width) < n
        low, high = np.where(has_zero, 0.0, np.inf), np.where(has_zero, 0.0, -np.inf)
        np.minimum.at(low, indices, values)
        np.maximum.at(high, indices, values)
        mean = np.bincount(indices, values, minlength=X.width) / n
        deviations = np.square(values - mean[indices])
        squares = np.bincount(indices, deviations, minlength=X.width)
        squares += (n - np.bincount(indices, minlength=X.width)) * np.square(mean)
        is_other = (values != 0) & (values != 1)
        is_binary = np.bincount(indices, is_other, minlength=X.width) == 0
    return {
        "n": np.array([n]),
        "mean": mean,
        "squares": squares,
        "low": low,
        "high": high,
        "binary": is_binary,
    }


def merge_ranges(first: Sums, second: Sums) -> Sums:
    """Return the summary of the features of both sets of rows."""
    n = first["n"] + second["n"]
    delta, share = second["mean"] - first["mean"], second["n"] / n
    return {
        "n": n,
        "mean": first["mean"] + share * delta,
        "squares": first["squares"] + second["squares"] + first["n"] * share * np.square(delta),
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
        "binary": first["binary"] & second["binary"],
    }


def mix_hashes(hashes: Hashes) -> Hashes:
    """Return hashes of rows whose order is random: unfinished ones are sums of few values."""
    mixed = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def shift_rows(X: Matrix, shift: Floats | None) -> Matrix:
    """Return a dense matrix with columns far from zero shifted towards it; sparse ones as they are."""
    if shift is None or not isinstance(X, DenseMatrix):
        return X
    return DenseMatrix(X.array - shift)
