"""Sums of weighted features: what linear classifiers and regressions have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.model.row_model import RowModel
from weigh.model.term_store import Weights
from weigh.model.weights import Contribution, Features, LevelWeights
from weigh.source import Chunk


class LinearSums(RowModel):
    """A model whose results are base + Σ weight(feature) · feature; missing values add nothing."""

    schema: Schema
    base: Floats
    terms: Sequence[Weights]

    @property
    def levels(self) -> dict[str, list[Any]]:
        """The values that columns of categories are known to have."""
        return {term.name: term.known_levels() for term in self.terms if isinstance(term, LevelWeights)}

    @cached_property
    def _features(self) -> list[Features]:
        return [term.features() for term in self.terms]

    @property
    def features(self) -> list[str]:
        """The names of the features, in the order of `coef`."""
        return [name for each in self._features for name in each.names]

    def table(self) -> tuple[Floats, Floats]:
        """Return the weights [features, results], and the results when all features are zero."""
        offsets = np.sum([each.offset for each in self._features], axis=0)
        return np.concatenate([each.coef for each in self._features]), np.asarray(self.base + offsets)

    def sums(self, chunk: Chunk) -> Floats:
        """Return the results [rows, results] of a chunk in the schema's names."""
        blocks: list[Any] = self.schema.encode(chunk)
        found = np.tile(self.base, (chunk.n_rows, 1))
        for term, block in zip(self.terms, blocks, strict=True):
            term.add(block, found)
        return found

    def contributions(self, chunk: Chunk) -> Iterator[list[Contribution]]:
        """Yield what each feature of a row adds, row by row."""
        whole = self.schema.encode(chunk)
        for row in range(chunk.n_rows):
            blocks: list[Any] = [block.row(row) for block in whole]
            pairs = zip(self.terms, blocks, strict=True)
            yield [found for term, block in pairs for found in term.contributions(block, 0)]
