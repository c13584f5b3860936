"""Base classes of file sources: columns, labels and errors about column names."""

from __future__ import annotations

import copy
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from weigh.advice import Setting, join
from weigh.deduplicated_warnings import warn
from weigh.errors import SourceError, TotalsRow, closest, quote_names
from weigh.source.base import ColumnKinds, Source, find_duplicate
from weigh.source.chunk import Chunk, Column, DictionaryColumn
from weigh.source.files.text_files import TextFileErrors
from weigh.source.missing import Marker

# Rows may be long documents: a prefix ends here even if it has fewer rows than requested.
MAX_PREFIX_BYTES = 32 << 20
# Larger first rows, from which the types were inferred, are parsed again when needed.
MAX_CACHED_HEAD_BYTES = 8 << 20
# Blocks with few rows are enlarged to these sizes to reduce the overhead per column of wide files.
TARGET_CHUNK_ROWS = 8_192
TARGET_CHUNK_BYTES = 8 << 20
DEFAULT_BLOCK_BYTES = 1 << 20
DEFAULT_LABEL_COLUMN = "label"

_Self = TypeVar("_Self", bound="FileSource")


def max_row_bytes(block: int) -> int:
    """Return the maximum size of a row: the block size if the user set one, else that of a prefix."""
    return MAX_PREFIX_BYTES if block == DEFAULT_BLOCK_BYTES else block


# How the first cell of a row of totals begins in common languages.
_TOTAL = re.compile(
    r"(grand |sub-?)?totals?|sum|(gesamt)?summe|gesamt|insgesamt|total général|totale|somme|"
    r"(overall )?(mean|average|avg)|mittelwert|durchschnitt|moyenne|media|promedio",
    re.I,
)


def note_totals_row(path: Path, first_cell: str, row: int | None = None) -> None:
    """Warn if the first cell of the last row says that it has the totals of the others."""
    word = first_cell.strip().rstrip(":").rstrip()
    if len(word) <= 20 and _TOTAL.fullmatch(word):
        number = "" if row is None else f" ({row:,}; the first is 0)"
        warn(
            TotalsRow(
                f"{path}: the last row{number} begins with {first_cell.strip()!r} and looks like the totals "
                "of the others. Delete it if it is, because it is read like any other row."
            ),
            [path],
        )


class FileSource(Source):
    """Base class of the sources of all file formats."""

    named = True
    n_rows: int | None = None

    def __init__(self, path: Path, missing: tuple[Marker, ...] = ()) -> None:
        self.path = path
        self.paths = (os.fspath(path),)
        # Empty fields are always missing in files.
        self.missing = tuple(marker for marker in missing if marker != "")
        self.bytes_total: int | None = path.stat().st_size
        self.bytes_read = 0
        self.types: dict[str, Any] = {}

    def set_columns(self: _Self, types: dict[str, Any], label: str | None) -> _Self:
        """Set the columns and the label, and derive names and width."""
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
        """Return the same file with column `name` as the label."""
        return copy.copy(self).set_columns(self.types, name)

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """Return the same file with the columns of all files; most formats have fixed columns."""
        del files
        return self

    def missing_column_error(self, label: str, names: list[str]) -> SourceError:
        """Return the error for a column that does not exist."""
        found = [sign for sign in (";", "\t", "|", ",") if len(names) == 1 and sign in names[0]][:1]
        settings = [
            ("Give ", Setting("delimiter", sign), " if that separates its columns.") for sign in found
        ]
        return SourceError(
            f"{self.path} has no column {label!r}; it has {quote_names(names)}.",
            self.path,
            hint=join(*settings),
            parameter="label",
            value=label,
            suggestion=closest(label, names),
        )

    def check_unique_columns(self, names: list[str]) -> None:
        """Raise SourceError if a column name occurs more than once."""
        duplicate = find_duplicate(names)
        if duplicate is not None:
            raise SourceError(
                f"{self.path} has the column name {duplicate!r} more than once. "
                f"Give every column its own name.",
                self.path,
                1,
            )


def encoding_dialect(encoding: str) -> dict[str, str]:
    """Return the encoding as a dialect, which is empty for the default."""
    return {} if encoding == "utf-8" else {"encoding": encoding}


class TextSource(FileSource):
    """A source of a format in which every row has a label; `label` only names the label column."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, missing)
        self.encoding = encoding
        self.block = block
        self.label_column = label or DEFAULT_LABEL_COLUMN
        self.file_errors = TextFileErrors(path, encoding)
        self.file_dialect = encoding_dialect(encoding)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same rows with labels read as "string" or "mixed"."""
        label_type = storage.get(self.label_column)
        if label_type is None or label_type == self.types[self.label_column]:
            return self
        source = copy.copy(self)
        source.types = {**self.types, self.label_column: label_type}
        return source

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing = missing
        return source

    def encode_labels(self, codes: NDArray[np.int32], texts: Sequence[str]) -> DictionaryColumn:
        """Return the label column from a code per row (-1: missing) and the distinct texts."""
        return label_dictionary(codes, texts, self.types[self.label_column], self.missing)

    def make_chunk(
        self,
        columns: Mapping[str, Column],
        first_row: int,
        kinds: ColumnKinds | None,
        weights: NDArray[np.float64] | None = None,
    ) -> Chunk:
        """Return a chunk of the columns that are not skipped, with the label column as labels."""
        kinds = kinds or {}
        labels = None if self.label is None else columns[self.label]
        features = {name: columns[name] for name in self.names if kinds.get(name) != "skip"}
        n_rows = len(columns[self.label_column])
        return Chunk(features, n_rows, labels=labels, weights=weights, first_row=first_row)


# Decimal numerals; "inf" and "nan" remain text.
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_numeral(text: str) -> int | float | None:
    """Parse a decimal numeral, integral values as int; returns None for other text."""
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
    """Return a label column; with storage "mixed", numerals become numbers."""
    markers = {"", *map(str, missing)}
    code_of_value: dict[Any, int] = {}
    lookup = []
    for text in texts:
        number = parse_numeral(text) if storage == "mixed" else None
        value = text if number is None else number
        lookup.append(-1 if text in markers else code_of_value.setdefault(value, len(code_of_value)))
    # The code -1 of a missing label selects the last entry.
    return DictionaryColumn(np.array([*lookup, -1], dtype=np.int32)[codes], list(code_of_value))
