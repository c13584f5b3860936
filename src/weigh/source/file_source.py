"""A data file as a source: its columns, its label, and the refusal of names."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from weigh.errors import SourceError, hint, listing
from weigh.source.base import Source, repeated
from weigh.source.missing import Marker

# Rows may be long documents: a prefix ends here even when it has fewer rows than asked for.
PREFIX_BYTES = 32 << 20
# Blocks of few rows are made larger, so that wide files do not pay per column per few rows.
JOINED_ROWS = 8_192
JOINED_BYTES = 8 << 20

# What is read at a time unless another size is asked for.
BLOCK = 1 << 20

_Self = TypeVar("_Self", bound="FileSource")


def longest_row(block: int) -> int:
    """How many bytes a row may have: as many as a block that was asked for, else what a prefix may have."""
    return PREFIX_BYTES if block == BLOCK else block


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

    def describe(self: _Self, types: dict[str, Any], label: str | None) -> _Self:
        """Set the columns and the label, and with them names and width."""
        if label is not None and label not in types:
            raise self.no_column(label, list(types))
        self.types = types
        self.label = label
        self.names = tuple(name for name in types if name != label)
        self.width = len(self.names)
        if not self.names:
            raise SourceError(f"{self.path} has no column besides the label {label!r}.", self.path)
        return self

    def labelled(self, name: str) -> Source:
        """The same file with column `name` as the label."""
        return copy.copy(self).describe(self.types, name)

    def beside(self, files: Sequence[FileSource]) -> FileSource:
        """The same file with the columns it needs among these files; most formats have what they have."""
        del files
        return self

    def no_column(self, label: str, names: list[str]) -> SourceError:
        """Word the refusal of a column that does not exist."""
        told = f"{self.path} has no column {label!r}; it has {listing(names)}.{hint(label, names)}"
        if len(names) == 1:
            told += "".join(
                f" Give delimiter={mark!r} if that separates its columns."
                for mark in (";", "\t", "|", ",")
                if mark in names[0]
            )
        return SourceError(told, self.path)

    def check_header(self, names: list[str]) -> None:
        """Refuse names that occur twice."""
        twice = repeated(names)
        if twice is not None:
            raise SourceError(
                f"{self.path} has the column name {twice!r} more than once. Give every column its own name.",
                self.path,
                1,
            )
