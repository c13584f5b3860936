"""Labelled rows of a source as features: read once and kept, or read again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from weigh import errors
from weigh.features import Codes, Grid, Schema
from weigh.features.blocks import Floats, Ints
from weigh.learn.measured import measured
from weigh.learn.preparation import needs_preparation, prepare
from weigh.learn.space import Rows, Space
from weigh.model.bayes_counts import Label, encode_labels
from weigh.model.pipeline import in_order
from weigh.model.tally import name_key
from weigh.source import Chunk, Source
from weigh.source.base import Piece

LIGHTEST, HEAVIEST = 1e-50, 1e50
HELD_BYTES = 256 << 20  # of a file's features, that are kept from pass to pass

Progress = Callable[[int], None]
Check = Callable[[Collection[Label]], None]


# Of classes the codes of the rows' labels; of what is measured the numbers.
Targets = Any


class Encoded(NamedTuple):
    """Some rows: their features, their labels as codes, and their weights (None: one each).

    A matrix of a dense space is the `grid`, and the rows are empty then.
    """

    rows: Rows
    codes: Targets
    weights: Floats | None
    grid: Floats | None = None

    @property
    def size(self) -> int:
        """How many bytes the rows take."""
        parts = (*self.rows, self.codes, self.weights, self.grid)
        return sum(part.nbytes for part in parts if part is not None)


class EncodedRows(Protocol):
    """Rows that can be gone through again and again."""

    @property
    def space(self) -> Space:
        """The features of the rows."""

    @property
    def is_kept(self) -> bool:
        """Whether all rows are in memory."""

    @property
    def is_weighted(self) -> bool:
        """Whether some rows have weights."""

    def chunks(self) -> Iterator[Encoded]:
        """Return all rows, some at a time."""

    def places(self, classes: Sequence[Label]) -> Ints:
        """Return the place of every code's label among the classes."""


class _Blocks(NamedTuple):
    blocks: list[Any]
    codes: Targets
    labels: list[Label]
    weights: Floats | None
    gaps: int


class Reading:
    """The rows of a source over a space that grows while they are first read.

    Rows in memory are kept as features; a file's only if they are small or it is said so, and else the
    file is read again for every pass, so that memory does not grow with it. Labels are `measured`
    numbers, or else classes.
    """

    def __init__(
        self, schema: Schema, source: Source, space: Space, *, measured: bool = False, keeps: bool = False
    ) -> None:
        self._schema, self._source = schema, source
        self._measured, self._keeps = measured, keeps
        self.space: Space = space
        self.labels: dict[Label, int] = {}  # every label's code, in order of appearance
        self.n_rows = 0
        self.is_weighted = False
        self.gaps = 0  # missing numbers, which count as zero
        self._totals = np.zeros(0)  # the weight of all rows of every code
        self._kept: list[Encoded] | None = []

    @classmethod
    def of(
        cls, schema: Schema, source: Source, progress: Progress | None = None, check: Check | None = None
    ) -> Reading:
        """Read a source for the first time, over a new space."""
        prepared = prepare(schema, schema.chunks(source)) if needs_preparation(schema) else {}
        return cls(schema, source, Space(schema, prepared)).first(progress, check)

    def first(self, progress: Progress | None = None, check: Check | None = None) -> Reading:
        """Read all rows.

        With a check of their labels nothing grows before all rows were found to be right, and they all
        stay in memory: a batch is learned as a whole, or not at all.
        """
        given: Iterable[_Blocks] = self._blocks()
        if check is not None:
            try:
                given = list(given)
                check({label for found in given for label in found.labels})
            except BaseException:
                self.space.settle(accepted=False)
                raise
        held = 0
        all_kept = self._keeps or check is not None or self._source.bytes_total is None
        most = None if all_kept else HELD_BYTES
        for found in given:
            encoded = self._encoded(found, grow=True)
            self.n_rows += len(encoded.codes)
            self.is_weighted = self.is_weighted or encoded.weights is not None
            self.gaps += found.gaps
            self._count(encoded)
            held += encoded.size
            if self._kept is not None:
                self._kept.append(encoded)
                if most is not None and held > most:
                    self._kept = None
            if progress is not None:
                progress(len(found.codes))
        self.space.settle(accepted=True)
        return self

    @property
    def is_kept(self) -> bool:
        """Whether all rows are in memory."""
        return self._kept is not None

    def chunks(self) -> Iterator[Encoded]:
        """Return all rows, some at a time."""
        if self._kept is not None:
            return iter(self._kept)
        return self._again()

    def _again(self) -> Iterator[Encoded]:
        rows = 0
        for found in self._blocks():
            rows += len(found.codes)
            if not self.labels.keys() >= set(found.labels) or rows > self.n_rows:
                raise _changed()
            yield self._encoded(found, grow=False)
        self.space.settle(accepted=False)
        if rows != self.n_rows:
            raise _changed()

    def classes(self, known: Sequence[Label] = ()) -> list[Label]:
        """Return the classes in canonical order."""
        return sorted({*known, *self.labels}, key=name_key)

    def totals(self) -> dict[Label, float]:
        """Return the weight of all rows of every class."""
        return dict(zip(self.labels, self._totals.tolist(), strict=True))

    def _count(self, encoded: Encoded) -> None:
        if not self._measured:
            counts = np.bincount(encoded.codes, encoded.weights, minlength=len(self.labels)).astype(
                np.float64
            )
            counts[: len(self._totals)] += self._totals
            self._totals = counts

    def places(self, classes: Sequence[Label]) -> Ints:
        """Return the place of every code's label among the classes."""
        place = {label: at for at, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels], dtype=np.int32)

    def _blocks(self) -> Iterator[_Blocks]:
        """Yield the blocks of each chunk, made by all cores, in order."""
        return in_order(self._made, self._schema.pieces(self._source))

    def _made(self, piece: Piece) -> _Blocks:
        chunk = piece()
        codes, labels = self._targets(chunk)
        weights, kept = chunk.weights, None
        if weights is not None and not weights.all():
            # Rows of no weight are as if they were not there: their values and labels too.
            kept = weights > 0
            weights = weights[kept]
            if self._measured:
                codes = codes[kept]
            else:
                seen = Codes(codes, labels).where(kept)
                codes, labels = seen.codes, seen.levels
        encoded = self._schema.encode(chunk)
        gaps = sum(block.gaps(kept) for block in encoded if isinstance(block, Grid))
        blocks = self.space.made(encoded, kept)
        if weights is not None:
            _refuse_extreme_weights(weights)
        return _Blocks(blocks, codes, labels, weights, gaps)

    def _targets(self, chunk: Chunk) -> tuple[Targets, list[Label]]:
        return (measured(chunk), []) if self._measured else encode_labels(chunk)

    def _encoded(self, found: _Blocks, *, grow: bool) -> Encoded:
        places = np.array(
            [self.labels.setdefault(label, len(self.labels)) for label in found.labels], dtype=np.int32
        )
        codes = places[found.codes] if len(places) else found.codes
        grid = self.space.grid(found.blocks)
        rows = NO_ROWS if grid is not None else self.space.rows(found.blocks, grow=grow)
        return Encoded(rows, codes, found.weights, grid)


NO_ROWS = Rows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), None)


def _refuse_extreme_weights(weights: Floats) -> None:
    least, most = float(weights.min(initial=1.0)), float(weights.max(initial=1.0))
    if most > HEAVIEST or least < LIGHTEST:
        raise errors.DataError(
            f"A sample weight is {most if most > HEAVIEST else least:.6g}; weights are 0, or from "
            f"{LIGHTEST:g} to {HEAVIEST:g}. Divide them by their mean."
        )


def _changed() -> errors.DataError:
    return errors.DataError(
        "The rows have changed since they were first read, and are read again for every pass. Leave the file "
        "as it is while it is learned from."
    )
