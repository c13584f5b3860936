"""A data file as a source: its columns, its label, and the refusal of names."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from weigh.errors import SourceError, did_you_mean, quote_names
from weigh.source.base import ColumnKinds, Source, find_duplicate
from weigh.source.chunk import Chunk, Column, DictionaryColumn
from weigh.source.files.text_files import TextFileErrors
from weigh.source.missing import Marker

# Rows may be long documents: a prefix ends here even when it has fewer rows than asked for.
MAX_PREFIX_BYTES = 32 << 20
# Blocks of few rows are made larger, so that wide files do not pay per column per few rows.
TARGET_CHUNK_ROWS = 8_192
TARGET_CHUNK_BYTES = 8 << 20

# What is read at a time unless another size is asked for.
DEFAULT_BLOCK_BYTES = 1 << 20

_Self = TypeVar("_Self", bound="FileSource")


def max_row_bytes(block: int) -> int:
    """How many bytes a row may have: as many as a block that was asked for, else what a prefix may have."""
    return MAX_PREFIX_BYTES if block == DEFAULT_BLOCK_BYTES else block


class FileSource(Source):
    """What sources of every file format have in common."""

    named = True
    n_rows: int | None = None

    def __init__(self, path: Path, missing: tuple[Marker, ...] = ()) -> None:
        self.path = path
        # An empty field is missing in every file, and needs no saying.
        self.missing = tuple(mark for mark in missing if mark != "")
        self.bytes_total: int | None = path.stat().st_size
        self.bytes_read = 0
        self.types: dict[str, Any] = {}

    def set_columns(self: _Self, types: dict[str, Any], label: str | None) -> _Self:
        """Set the columns and the label, and with them names and width."""
        if label is not None and label not in types:
            raise self.missing_column_error(label, list(types))
        self.types = types
        self.label = label
        self.names = tuple(name for name in types if name != label)
        self.width = len(self.names)
        if not self.names:
            raise SourceError(f"{self.path} has no column besides the label {label!r}.", self.path)
        return self

    def with_label(self, name: str) -> Source:
        """The same file with column `name` as the label."""
        return copy.copy(self).set_columns(self.types, name)

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """The same file with the columns it needs among these files; most formats have what they have."""
        del files
        return self

    def missing_column_error(self, label: str, names: list[str]) -> SourceError:
        """Word the refusal of a column that does not exist."""
        told = (
            f"{self.path} has no column {label!r}; it has {quote_names(names)}.{did_you_mean(label, names)}"
        )
        if len(names) == 1:
            told += "".join(
                f" Give delimiter={mark!r} if that separates its columns."
                for mark in (";", "\t", "|", ",")
                if mark in names[0]
            )
        return SourceError(told, self.path)

    def check_unique_columns(self, names: list[str]) -> None:
        """Refuse names that occur twice."""
        twice = find_duplicate(names)
        if twice is not None:
            raise SourceError(
                f"{self.path} has the column name {twice!r} more than once. Give every column its own name.",
                self.path,
                1,
            )


DEFAULT_LABEL_COLUMN = "label"


class TextSource(FileSource):
    """A source whose label column is always there, under the name that was asked for."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, missing)
        self.encoding = encoding
        self.block = block
        self.label_column = label or DEFAULT_LABEL_COLUMN
        self.file_errors = TextFileErrors(path, encoding)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """The same rows, their labels read as "string" or, numbers where they look like some, "mixed"."""
        kind = storage.get(self.label_column)
        if kind is None or kind == self.types[self.label_column]:
            return self
        stored = copy.copy(self)
        stored.types = {**self.types, self.label_column: kind}
        return stored

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing = missing
        return marked

    def encode_labels(self, codes: NDArray[np.int32], spelled: Sequence[str]) -> DictionaryColumn:
        """Labels as they are stored, of a code per row (-1: none) and the distinct spellings."""
        return label_dictionary(codes, spelled, self.types[self.label_column], self.missing)

    def make_chunk(
        self,
        columns: Mapping[str, Column],
        first_row: int,
        kinds: ColumnKinds | None,
        weights: NDArray[np.float64] | None = None,
    ) -> Chunk:
        """A chunk of all columns: the label apart, and without those that are skipped."""
        kinds = kinds or {}
        labels = None if self.label is None else columns[self.label]
        kept = {name: columns[name] for name in self.names if kinds.get(name) != "skip"}
        n_rows = len(columns[self.label_column])
        return Chunk(kept, n_rows, labels=labels, weights=weights, first_row=first_row)


# A number as people write it; the words "inf" and "nan" stay words.
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_numeral(text: str) -> int | float | None:
    """The number that a text means, whole ones as integers; None if it means none."""
    if not _NUMERAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    if not number.is_integer():
        return number
    return int(number) if set(text) & set(".eE") else int(text)


def label_dictionary(
    codes: NDArray[np.int32], texts: Sequence[str], storage: str, missing: Sequence[Marker]
) -> DictionaryColumn:
    """Labels of which each distinct one is read once; storage "mixed" makes numbers of numerals."""
    marks = {"", *map(str, missing)}
    place: dict[Any, int] = {}
    lookup = []
    for text in texts:
        number = parse_numeral(text) if storage == "mixed" else None
        value = text if number is None else number
        lookup.append(-1 if text in marks else place.setdefault(value, len(place)))
    # A missing label's code is -1, which finds the last entry.
    return DictionaryColumn(np.array([*lookup, -1], dtype=np.int32)[codes], list(place))
