"""What can be wrong with a text file, as sentences with file, line and column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weigh.errors import SourceError
from weigh.source.bytes import is_utf8
from weigh.source.lines import OVERLONG, is_blank, line_at, undecodable_line
from weigh.source.values import shorten

# (fault, record, offset of the record, column, fields, text), as the native reader tells it.
Fault = tuple[str, int, int, int, int, bytes]

_FITS = {
    "number": "a number",
    "integer": "a whole number, as the first rows are",
    "flag": "true or false, as the first rows are",
}


class TextFaults:
    """What can be wrong with a text file of any format."""

    def __init__(self, path: Path, encoding: str) -> None:
        self.path = path
        self.encoding = encoding

    def of_reading(self, error: Exception) -> SourceError:
        """Why the file's bytes cannot be had as text."""
        if isinstance(error, LookupError):
            return SourceError(
                f"{self.path}: {self.encoding!r} is not an encoding Python knows. "
                f"Give encoding='utf-8' or 'latin-1', for example.",
                self.path,
            )
        if isinstance(error, UnicodeError):
            return self.not_text()
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        return SourceError(f"{self.path} cannot be read: {reason}.", self.path)

    def empty(self) -> SourceError:
        """Word the refusal of a file without a byte."""
        return SourceError(f"{self.path} is empty.", self.path)

    def not_text(self) -> SourceError:
        """Word the refusal of bytes that are not in the encoding."""
        line = undecodable_line(self.path, self.encoding)
        with self.path.open("rb") as file:
            start = file.read(2)
        other = "utf-16" if start in {b"\xff\xfe", b"\xfe\xff"} else "latin-1"
        name = "UTF-8" if is_utf8(self.encoding) else self.encoding
        return self.told(f" is not {name} text. Give encoding={other!r} if it is that.", line)

    def no_rows(self) -> SourceError:
        """Word the refusal of a file without rows."""
        return SourceError(f"{self.path} has no rows.", self.path)

    def endless_row(self, offset: int) -> SourceError:
        """Word the refusal of a row that no block can hold."""
        return self.told(f": {OVERLONG}.", self.line(offset))

    def line(self, offset: int) -> int:
        """The line in which the byte at an offset of the text stands."""
        return line_at(self.path, self.encoding, offset)

    def told(self, what: str, line: int | None) -> SourceError:
        """Word what is wrong with a line, or with the file if no line is known."""
        place = "" if line is None else f", line {line:,}"
        return SourceError(f"{self.path}{place}{what}", self.path, line)


class CsvFaults(TextFaults):
    """The one edge where the CSV reader's errors become ours."""

    def __init__(self, path: Path, delimiter: str, encoding: str, has_header: bool) -> None:
        super().__init__(path, encoding)
        self.delimiter = delimiter
        self.has_header = has_header
        self.names: Sequence[str] = ()

    def of_record(self, fault: Fault, begin: int, kinds: Sequence[str]) -> SourceError:
        """What is wrong with a record of the bytes that begin at an offset of the text."""
        word, _, offset, column, fields, text = fault
        if word == "not_utf8":
            return self.not_text()
        line = self.line(begin + offset)
        if word == "ragged":
            return self._ragged_row(line, fields, len(kinds))
        if word == "open_quote":
            return self.told(": a quote opens and is never closed.", line)
        try:
            return self._unfit_value(line, self.names[column], kinds[column], text.decode("utf-8"))
        except UnicodeDecodeError:
            return self.not_text()

    def no_rows(self) -> SourceError:
        """Word the refusal of a file without rows."""
        blank = is_blank(self.path, self.encoding)
        told = "has a header but no rows" if self.has_header and not blank else "has no rows"
        return SourceError(f"{self.path} {told}.", self.path)

    def endless_row(self, offset: int) -> SourceError:
        """Word the refusal of a row that no block can hold."""
        return self.told(
            ": a row is longer than a block. Close the quote that is open there, or give block= more "
            "bytes than the longest row has.",
            self.line(offset),
        )

    def _ragged_row(self, line: int, actual: int, expected: int) -> SourceError:
        model = "the header" if self.has_header else "the first row"
        fields = "1 field" if actual == 1 else f"{actual} fields"
        return self.told(
            f" has {fields}, {model} has {expected}. "
            f"A field that contains {self.delimiter!r} must stand in double quotes.",
            line,
        )

    def _unfit_value(self, line: int, name: str, kind: str, value: str) -> SourceError:
        remedy = f"Give missing={value!r} to open() if it means missing"
        if kind != "number":
            remedy += f", or strings=[{name!r}] to read the column as text"
        return self.told(f", column {name!r}: {shorten(value)} is not {_FITS[kind]}. {remedy}.", line)
