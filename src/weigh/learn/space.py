"""The features of all columns under one numbering, which only grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from weigh import _core
from weigh.features import Block, Grid, Names, Schema, Wordy
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.learn.numbered_parts import Fixed, Levels, NumberedPart, Scaled
from weigh.learn.numbered_words import BucketNumbers, WordNumbers
from weigh.learn.preparation import Scale


class Rows(NamedTuple):
    """Sparse rows of features; values None means one each."""

    indptr: Longs
    indices: Ints
    values: Floats | None


class Space:
    """Numbers for the features of a schema's parts: fixed columns first come, the others as they appear.

    `prepared` gives, by part, what had to be known before the first row: the words to keep, or the
    centre and scale of a number. A `dense` space leaves numbers that came as a matrix as they are.
    """

    def __init__(
        self, schema: Schema, prepared: Mapping[int, Names | Scale] | None = None, *, dense: bool = False
    ) -> None:
        self.width = 0
        self._dense = dense
        prepared = prepared or {}
        self.parts: list[NumberedPart] = [
            self._numbered(part, prepared.get(at)) for at, part in enumerate(schema.parts)
        ]

    def _numbered(self, part: Any, known: Any) -> NumberedPart:
        if isinstance(part.kind, Wordy):
            return (
                BucketNumbers(part, self.take) if part.kind.buckets else WordNumbers(part, self.take, known)
            )
        if part.kind.gathers:
            return Fixed(part, self.take, dense=self._dense)
        return Levels(part, self.take) if known is None else Scaled(part, self.take, known)

    def take(self, number: int) -> int:
        """Return the first of so many numbers that no feature has yet."""
        first = self.width
        self.width += number
        return first

    def made(self, blocks: list[Block], kept: Mask | None) -> list[Any]:
        """Return blocks, or the kept rows of them, ready to be put into rows; may be done in any thread."""
        return [part.made(block, kept) for part, block in zip(self.parts, blocks, strict=True)]

    def settle(self, accepted: bool) -> None:
        """Keep what was learned of blocks while they were made, or drop it with their rows."""
        for part in self.parts:
            if isinstance(part, BucketNumbers):
                part.settle(accepted)

    def rows(self, blocks: list[Any], *, grow: bool) -> Rows:
        """Return the blocks of some rows as one; unless they may grow, new features are left out."""
        only = self.parts[0].alone(blocks[0], grow) if len(self.parts) == 1 else None
        if only is not None:
            return Rows(only.indptr, only.indices, only.values)
        assembly = _core.CsrBuilder(blocks[0].n_rows)
        for part, block in zip(self.parts, blocks, strict=True):
            part.add(assembly, block, grow)
        return Rows(*assembly.build())

    def grid(self, blocks: list[Any]) -> Floats | None:
        """Return the rows with all their zeros, if they came so and are to stay so."""
        # Beside other parts a matrix has to be put together with them.
        only = blocks[0] if len(blocks) == 1 else None
        return only.matrix if self._dense and isinstance(only, Grid) else None

    def levels(self) -> dict[str, list[Any]]:
        """Return the levels that columns of categories have, by column."""
        return {part.name: part.known() for part in self.parts if isinstance(part, Levels)}

    def orders(self) -> list[Longs]:
        """Return the numbers of each part's features in the order of a model."""
        return [part.order() for part in self.parts]

    def terms(self, orders: list[Longs], table: Floats) -> list[Any]:
        """Return the terms of a model from the weights of those features, one after the other."""
        ends = np.cumsum([len(order) for order in orders])
        pieces = zip(self.parts, orders, np.split(table, ends[:-1]), strict=True)
        return [part.term(order, piece) for part, order, piece in pieces]
