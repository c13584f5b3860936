"""The features of all columns under one numbering, which only grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from weigh import _core
from weigh.features import Block, Names, Schema, Wordy
from weigh.features.blocks import Floats, Ints, Longs
from weigh.learn.numbered_parts import Fixed, Levels, NumberedPart, Scaled, WordNumbers
from weigh.learn.preparation import Scale


class Rows(NamedTuple):
    """Sparse rows of features; values None means one each."""

    indptr: Longs
    indices: Ints
    values: Floats | None


class Space:
    """Numbers for the features of a schema's parts: fixed columns first come, the others as they appear.

    `prepared` gives, by part, what had to be known before the first row: the words to keep, or the
    centre and scale of a number.
    """

    def __init__(self, schema: Schema, prepared: Mapping[int, Names | Scale] | None = None) -> None:
        self.width = 0
        prepared = prepared or {}
        self.parts: list[NumberedPart] = [
            self._numbered(part, prepared.get(at)) for at, part in enumerate(schema.parts)
        ]

    def _numbered(self, part: Any, known: Any) -> NumberedPart:
        if isinstance(part.kind, Wordy):
            return WordNumbers(part, self.take, known)
        if part.kind.gathers:
            return Fixed(part, self.take)
        return Levels(part, self.take) if known is None else Scaled(part, self.take, known)

    def take(self, number: int) -> int:
        """Return the first of so many numbers that no feature has yet."""
        first = self.width
        self.width += number
        return first

    def rows(self, blocks: list[Block], *, grow: bool) -> Rows:
        """Return the blocks of some rows as one; unless they may grow, new features are left out."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Fixed):
            only: Any = blocks[0]
            return Rows(only.indptr, only.indices, only.values)
        assembly = _core.Assembly(blocks[0].n_rows)
        for part, block in zip(self.parts, blocks, strict=True):
            part.add(assembly, block, grow)
        return Rows(*assembly.rows())

    def order(self) -> Longs:
        """Return the numbers of the features in the order of a model."""
        return np.concatenate([part.order() for part in self.parts])

    def terms(self, table: Floats) -> list[Any]:
        """Return the terms of a model from weights [features, classes]."""
        return [part.term(np.ascontiguousarray(table[part.order()])) for part in self.parts]
