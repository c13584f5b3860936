"""Errors of the CSV reader, translated into sentences with file, line and column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from weigh.errors import SourceError
from weigh.source.lines import byte_lines, endless_line, record_line, undecodable_line
from weigh.source.values import shorten

_VALUE = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+): invalid value '(.*)'",
    re.DOTALL,
)
_FITS = {
    "double": "a number",
    "int64": "a whole number, as the first rows are",
    "bool": "true or false, as the first rows are",
}


class CsvFaults:
    """The one edge where the CSV reader's errors become ours."""

    def __init__(self, path: Path, delimiter: str, encoding: str, has_header: bool) -> None:
        self.path = path
        self.delimiter = delimiter
        self.encoding = encoding
        self.has_header = has_header
        self.names: list[str] = []
        self.ragged: tuple[int | None, int, int] | None = None

    def note_ragged(self, row: Any) -> str:
        """Remember a row with a wrong number of fields, and have the reader stop there."""
        self.ragged = (row.number, row.expected_columns, row.actual_columns)
        return "error"

    def translated(self, error: Exception) -> SourceError:
        """What went wrong, told with the place where it did."""
        text = str(error)
        if self.ragged is not None:
            return self._ragged_row(*self.ragged)
        value = _VALUE.search(text)
        if value is not None:
            return self._unfit_value(*value.groups())
        if isinstance(error, LookupError):
            return SourceError(
                f"{self.path}: {self.encoding!r} is not an encoding Python knows. "
                f"Give encoding='utf-8' or 'latin-1', for example.",
                self.path,
            )
        if isinstance(error, UnicodeError) or "UTF8" in text:
            return self.not_text()
        if "straddling" in text:
            return self._endless_row()
        if "Empty CSV" in text or "cannot infer number of columns" in text:
            return self.no_rows()
        return SourceError(f"{self.path} cannot be read: {text.splitlines()[0]}.", self.path)

    def check_end(self, last: Any) -> None:
        """Refuse a file whose last field runs over lines because its quote is never closed.

        Arrow takes such a field for a value, and all rows in it would vanish without a word.
        """
        if last is None or last.num_rows == 0:
            return
        row = last.slice(last.num_rows - 1).to_pylist()[0]
        if any("\n" in value for value in row.values() if isinstance(value, str)):
            line = endless_line(self.path, self.delimiter, self.encoding)
            if line is not None:
                raise SourceError(
                    f"{self.path}, line {line:,}: a quote opens and is never closed.",
                    self.path,
                    line,
                )

    def empty(self) -> SourceError:
        """Word the refusal of a file without a byte."""
        return SourceError(f"{self.path} is empty.", self.path)

    def no_rows(self) -> SourceError:
        """Word the refusal of a file without rows."""
        blank = not any(line.strip() for _, line in byte_lines(self.path))
        told = "has a header but no rows" if self.has_header and not blank else "has no rows"
        return SourceError(f"{self.path} {told}.", self.path)

    def not_text(self) -> SourceError:
        """Word the refusal of bytes that are not in the encoding."""
        line = undecodable_line(self.path, self.encoding)
        with self.path.open("rb") as file:
            start = file.read(2)
        other = "utf-16" if start in {b"\xff\xfe", b"\xfe\xff"} else "latin-1"
        name = "UTF-8" if self.encoding.lower() in {"utf-8", "utf8"} else self.encoding
        told = f"{self.path}{self._place(line)} is not {name} text."
        return SourceError(f"{told} Give encoding={other!r} if it is that.", self.path, line)

    def _ragged_row(self, record: int | None, expected: int, actual: int) -> SourceError:
        line, place = self._line(record)
        model = "the header" if self.has_header else "the first row"
        return SourceError(
            f"{self.path}{place} has {_fields(actual)}, {model} has {expected}. "
            f"A field that contains {self.delimiter!r} must stand in double quotes.",
            self.path,
            line,
        )

    def _unfit_value(self, column: str, record: str | None, kind: str, value: str) -> SourceError:
        line, place = self._line(None if record is None else int(record))
        name = self.names[int(column)] if int(column) < len(self.names) else f"#{column}"
        remedy = f"Give missing={value!r} to open() if it means missing"
        if kind != "double":
            remedy += f", or strings=[{name!r}] to read the column as text"
        return SourceError(
            f"{self.path}{place}, column {name!r}: {shorten(value)} is not "
            f"{_FITS.get(kind, kind)}. {remedy}.",
            self.path,
            line,
        )

    def _endless_row(self) -> SourceError:
        line = endless_line(self.path, self.delimiter, self.encoding)
        return SourceError(
            f"{self.path}{self._place(line)}: a row is longer than a block. Close the quote that is "
            f"open there, or give block= more bytes than the longest row has.",
            self.path,
            line,
        )

    def _line(self, record: int | None) -> tuple[int | None, str]:
        """The line of a record, and how to say it; only the row when lines cannot be followed."""
        if record is None:
            return None, ""
        line = record_line(self.path, record, self.delimiter, self.encoding)
        if line is None:
            return None, f", row {record - self.has_header:,}"
        return line, self._place(line)

    @staticmethod
    def _place(line: int | None) -> str:
        return "" if line is None else f", line {line:,}"


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number} fields"
