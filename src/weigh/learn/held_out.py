"""Rows that are held out, to judge learners that did not see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weigh.features.blocks import Ints, Mask
from weigh.learn.reading import Encoded, Reading
from weigh.learn.space import Rows


class HeldOut:
    """The rows of a reading that are held out, or all others."""

    def __init__(self, reading: Reading, seed: int, share: float, held: bool) -> None:
        self._reading, self._seed, self._share, self._held = reading, seed, share, held
        self.space, self.is_kept = reading.space, reading.is_kept
        chosen = int(is_held_out(0, reading.n_rows, seed, share).sum())
        self.n_rows = chosen if held else reading.n_rows - chosen
        self.is_weighted = reading.is_weighted

    def places(self, classes: Sequence[Any]) -> Ints:
        """Return the place of every code's label among the classes."""
        return self._reading.places(classes)

    def chunks(self) -> Iterator[Encoded]:
        """Return the rows, some at a time."""
        first = 0
        for chunk in self._reading.chunks():
            chosen = is_held_out(first, len(chunk.codes), self._seed, self._share)
            first += len(chunk.codes)
            yield _where(chunk, chosen if self._held else ~chosen)


def is_held_out(first: int, n: int, seed: int, share: float) -> Mask:
    """Choose rows by their numbers alone, so that it does not matter how they are read."""
    shift = np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    with np.errstate(over="ignore"):
        numbers = np.arange(first, first + n, dtype=np.uint64) + shift
        # The mixing steps of the generator splitmix64, which spread neighbours evenly.
        mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) < np.uint64(int(share * 2**64))


def _where(chunk: Encoded, kept: Mask) -> Encoded:
    indptr, indices, values = chunk.rows
    sizes = np.diff(indptr)
    entries = np.repeat(kept, sizes)
    within = slice(int(indptr[0]), int(indptr[-1]))
    rows = Rows(
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        indices[within][entries],
        None if values is None else values[within][entries],
    )
    return Encoded(rows, chunk.codes[kept], None if chunk.weights is None else chunk.weights[kept])
