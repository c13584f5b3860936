"""Texts whose labels have a place of their own: what lines and folders of files have in common."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weigh.source.base import Kinds, Source
from weigh.source.chunk import Chunk, Coded, Column
from weigh.source.faults import TextFaults
from weigh.source.file_source import FileSource
from weigh.source.labels import coded_labels
from weigh.source.missing import Marker

LABEL = "label"


class TextSource(FileSource):
    """A source whose label column is always there, under the name that was asked for."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, missing)
        self.encoding = encoding
        self.block = block
        self.label_column = label or LABEL
        self.faults = TextFaults(path, encoding)

    def stored(self, storage: Kinds) -> Source:
        """The same rows, their labels read as "string" or, numbers where they look like some, "mixed"."""
        kind = storage.get(self.label_column)
        if kind is None or kind == self.types[self.label_column]:
            return self
        stored = copy.copy(self)
        stored.types = {**self.types, self.label_column: kind}
        return stored

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing = missing
        return marked

    def labels_of(self, codes: NDArray[np.int32], spelled: Sequence[str]) -> Coded:
        """Labels as they are stored, of a code per row (-1: none) and the distinct spellings."""
        return coded_labels(codes, spelled, self.types[self.label_column], self.missing)

    def chunk_of(
        self,
        columns: Mapping[str, Column],
        first_row: int,
        kinds: Kinds | None,
        weights: NDArray[np.float64] | None = None,
    ) -> Chunk:
        """A chunk of all columns: the label apart, and without those that are skipped."""
        kinds = kinds or {}
        labels = None if self.label is None else columns[self.label]
        kept = {name: columns[name] for name in self.names if kinds.get(name) != "skip"}
        n_rows = len(columns[self.label_column])
        return Chunk(kept, n_rows, labels=labels, weights=weights, first_row=first_row)
