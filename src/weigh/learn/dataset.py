"""Labelled rows of a source as features: read once and kept, or read again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from weigh import errors
from weigh.features import CategoryBlock, DenseBlock, Schema
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import to_numbers
from weigh.features.validation import MAX_MAGNITUDE
from weigh.learn.feature_index import FeatureIndex, FeatureRows
from weigh.learn.preprocessing import fit_preprocessing, needs_first_pass
from weigh.model.counts.bayes_counts import Label, encode_labels
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.parallel import map_in_order
from weigh.source import Chunk, Source
from weigh.source.base import ChunkReader
from weigh.source.chunk import to_pylist

MIN_SAMPLE_WEIGHT, MAX_SAMPLE_WEIGHT = 1e-50, 1e50
MAX_CACHED_BYTES = 256 << 20  # of a file's features, that are kept from pass to pass

Progress = Callable[[int], None]
LabelCheck = Callable[[Collection[Label]], None]


# Of classes the codes of the rows' labels; of what is measured the numbers.
Targets = Any


class EncodedChunk(NamedTuple):
    """Some rows: their features, their labels as codes, and their weights (None: one each).

    A matrix of a dense space is the `grid`, and the rows are empty then.
    """

    rows: FeatureRows
    targets: Targets
    weights: Floats | None
    dense: Floats | None = None

    @property
    def n_bytes(self) -> int:
        """How many bytes the rows take."""
        parts = (*self.rows, self.targets, self.weights, self.dense)
        return sum(part.nbytes for part in parts if part is not None)


class EncodedDataset(Protocol):
    """Rows that can be gone through again and again."""

    @property
    def feature_index(self) -> FeatureIndex:
        """The features of the rows."""

    @property
    def is_cached(self) -> bool:
        """Whether all rows are in memory."""

    @property
    def is_weighted(self) -> bool:
        """Whether some rows have weights."""

    def chunks(self) -> Iterator[EncodedChunk]:
        """Return all rows, some at a time."""

    def class_indices(self, classes: Sequence[Label]) -> Ints:
        """Return the place of every code's label among the classes."""


class _ChunkBlocks(NamedTuple):
    blocks: list[Any]
    targets: Targets
    labels: list[Label]
    weights: Floats | None
    n_missing: int


class SourceDataset:
    """The rows of a source over a space that grows while they are first read.

    Rows in memory are kept as features; a file's only if they are small or it is said so, and else the
    file is read again for every pass, so that memory does not grow with it. Labels are `measured`
    numbers, or else classes.
    """

    def __init__(
        self,
        schema: Schema,
        source: Source,
        space: FeatureIndex,
        *,
        measured: bool = False,
        keeps: bool = False,
    ) -> None:
        self._schema, self._source = schema, source
        self._is_regression, self._caches_all = measured, keeps
        self.feature_index: FeatureIndex = space
        self.labels: dict[Label, int] = {}  # every label's code, in order of appearance
        self.n_rows = 0
        self.is_weighted = False
        self.n_missing = 0  # missing numbers, which count as zero
        self._class_totals = np.zeros(0)  # the weight of all rows of every code
        self._cached_chunks: list[EncodedChunk] | None = []

    @classmethod
    def read(
        cls, schema: Schema, source: Source, progress: Progress | None = None, check: LabelCheck | None = None
    ) -> SourceDataset:
        """Read a source for the first time, over a new space."""
        prepared = fit_preprocessing(schema, schema.chunks(source)) if needs_first_pass(schema) else {}
        return cls(schema, source, FeatureIndex(schema, prepared)).read_all(progress, check)

    def read_all(self, progress: Progress | None = None, check: LabelCheck | None = None) -> SourceDataset:
        """Read all rows.

        With a check of their labels nothing grows before all rows were found to be right, and they all
        stay in memory: a batch is learned as a whole, or not at all.
        """
        given: Iterable[_ChunkBlocks] = self._iter_blocks()
        if check is not None:
            try:
                given = list(given)
                check({label for found in given for label in found.labels})
            except BaseException:
                self.feature_index.commit_names(accepted=False)
                raise
        held = 0
        all_kept = self._caches_all or check is not None or self._source.bytes_total is None
        most = None if all_kept else MAX_CACHED_BYTES
        for found in given:
            encoded = self._encode_blocks(found, grow=True)
            self.n_rows += len(encoded.targets)
            self.is_weighted = self.is_weighted or encoded.weights is not None
            self.n_missing += found.n_missing
            self._count_labels(encoded)
            held += encoded.n_bytes
            if self._cached_chunks is not None:
                self._cached_chunks.append(encoded)
                if most is not None and held > most:
                    self._cached_chunks = None
            if progress is not None:
                progress(len(found.targets))
        self.feature_index.commit_names(accepted=True)
        return self

    @property
    def is_cached(self) -> bool:
        """Whether all rows are in memory."""
        return self._cached_chunks is not None

    def chunks(self) -> Iterator[EncodedChunk]:
        """Return all rows, some at a time."""
        if self._cached_chunks is not None:
            return iter(self._cached_chunks)
        return self._reread()

    def _reread(self) -> Iterator[EncodedChunk]:
        rows = 0
        for found in self._iter_blocks():
            rows += len(found.targets)
            if not self.labels.keys() >= set(found.labels) or rows > self.n_rows:
                raise _source_changed_error()
            yield self._encode_blocks(found, grow=False)
        self.feature_index.commit_names(accepted=False)
        if rows != self.n_rows:
            raise _source_changed_error()

    def classes(self, known: Sequence[Label] = ()) -> list[Label]:
        """Return the classes in canonical order."""
        return sorted({*known, *self.labels}, key=canonical_order_key)

    def class_totals(self) -> dict[Label, float]:
        """Return the weight of all rows of every class."""
        return dict(zip(self.labels, self._class_totals.tolist(), strict=True))

    def _count_labels(self, encoded: EncodedChunk) -> None:
        if not self._is_regression:
            counts = np.bincount(encoded.targets, encoded.weights, minlength=len(self.labels)).astype(
                np.float64
            )
            counts[: len(self._class_totals)] += self._class_totals
            self._class_totals = counts

    def class_indices(self, classes: Sequence[Label]) -> Ints:
        """Return the place of every code's label among the classes."""
        place = {label: at for at, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels], dtype=np.int32)

    def _iter_blocks(self) -> Iterator[_ChunkBlocks]:
        """Yield the blocks of each chunk, made by all cores, in order."""
        return map_in_order(self._make_blocks, self._schema.chunk_readers(self._source))

    def _make_blocks(self, piece: ChunkReader) -> _ChunkBlocks:
        chunk = piece()
        codes, labels = self._encode_targets(chunk)
        weights, kept = chunk.weights, None
        if weights is not None and not weights.all():
            # Rows of no weight are as if they were not there: their values and labels too.
            kept = weights > 0
            weights = weights[kept]
            if self._is_regression:
                codes = codes[kept]
            else:
                seen = CategoryBlock(codes, labels).where(kept)
                codes, labels = seen.codes, seen.levels
        encoded = self._schema.encode(chunk)
        gaps = sum(block.count_missing(kept) for block in encoded if isinstance(block, DenseBlock))
        blocks = self.feature_index.prepare_blocks(encoded, kept)
        if weights is not None:
            _check_weight_range(weights)
        return _ChunkBlocks(blocks, codes, labels, weights, gaps)

    def _encode_targets(self, chunk: Chunk) -> tuple[Targets, list[Label]]:
        return (numeric_targets(chunk), []) if self._is_regression else encode_labels(chunk)

    def _encode_blocks(self, found: _ChunkBlocks, *, grow: bool) -> EncodedChunk:
        places = np.array(
            [self.labels.setdefault(label, len(self.labels)) for label in found.labels], dtype=np.int32
        )
        codes = places[found.targets] if len(places) else found.targets
        grid = self.feature_index.to_dense(found.blocks)
        rows = EMPTY_ROWS if grid is not None else self.feature_index.to_rows(found.blocks, grow=grow)
        return EncodedChunk(rows, codes, found.weights, grid)


EMPTY_ROWS = FeatureRows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), None)


def _check_weight_range(weights: Floats) -> None:
    least, most = float(weights.min(initial=1.0)), float(weights.max(initial=1.0))
    if most > MAX_SAMPLE_WEIGHT or least < MIN_SAMPLE_WEIGHT:
        raise errors.DataError(
            f"A sample weight is {most if most > MAX_SAMPLE_WEIGHT else least:.6g}; weights are 0, or from "
            f"{MIN_SAMPLE_WEIGHT:g} to {MAX_SAMPLE_WEIGHT:g}. Divide them by their mean."
        )


def _source_changed_error() -> errors.DataError:
    return errors.DataError(
        "The rows have changed since they were first read, and are read again for every pass. Leave the file "
        "as it is while it is learned from."
    )


def numeric_targets(chunk: Chunk) -> Floats:
    """Return the numbers that a chunk's rows are labelled with; anything else is refused."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There is nothing to learn to predict. Give the name of the label column, or y: one number per "
            "row."
        )
    try:
        numbers = to_numbers(chunk.labels, "label")
    except errors.ColumnError as cause:
        raise errors.LabelError(
            f"A regression predicts numbers, and some label is none: {_first_non_numeric(chunk)!r}. For classes use "
            f"LogisticRegression, NaiveBayes or Perceptron."
        ) from cause
    wrong = np.isnan(numbers)
    if wrong.any():
        raise errors.LabelError(
            f"The label is missing (NaN) in {int(wrong.sum()):,} of {chunk.n_rows:,} rows (first: row "
            f"{chunk.first_row + int(np.argmax(wrong)):,}). Leave such rows out before fitting."
        )
    if np.abs(numbers).max(initial=0.0) > MAX_MAGNITUDE:
        raise errors.LabelError(
            f"A label has the size {np.abs(numbers).max():.6g}; beyond {MAX_MAGNITUDE:g} the square of a number is "
            f"none any more. Divide the labels by their largest."
        )
    return np.ascontiguousarray(numbers)


def _first_non_numeric(chunk: Chunk) -> Any:
    """Return the first label that is no number."""
    for label in to_pylist(chunk.labels):
        try:
            float(label)
        except (TypeError, ValueError):
            return label
    return None
