"""The text of a file as UTF-8 bytes: mapped into memory, or unpacked and decoded on the way."""

from __future__ import annotations

import codecs
import io
import json
import lzma
import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.errors import SourceError
from weigh.source.paths import READ_ERRORS
from weigh.source.values import shorten_repr

Bytes: TypeAlias = NDArray[np.uint8]

UTF8_BOM = b"\xef\xbb\xbf"
_STEP_BYTES = 1 << 20
_CODEC_BY_SUFFIX = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4"}


def compression_codec(path: Path) -> str | None:
    """The compression a file's ending stands for, if any."""
    return _CODEC_BY_SUFFIX.get(path.suffix.lower())


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8 under any of its names; LookupError when there is none such."""
    if "\0" in encoding or not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
        raise LookupError(f"unknown encoding: {encoding}")
    return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}


class TextReader(ABC):
    """A file's text; windows on it may move forwards only."""

    @abstractmethod
    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""

    @abstractmethod
    def file_position(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file; windows stay valid."""

    def windows(self, stop: int | None = None) -> Iterator[bytes]:
        """The text from its start, up to `stop`, step by step."""
        at, closed = 0, False
        while not closed and (stop is None or at < stop):
            data, closed = self.window(at, _STEP_BYTES if stop is None else min(_STEP_BYTES, stop - at))
            at += len(data)
            yield data.tobytes()


def open_text(path: Path, encoding: str) -> TextReader:
    """The text of a file that is not empty."""
    if compression_codec(path) is None and is_utf8(encoding):
        return MappedTextReader(path)
    return StreamTextReader(path, encoding)


def open_decompressing(path: Path) -> tuple[Any, Any]:
    """The file's bytes, unpacked, and the file below them, whose position tells progress."""
    raw = path.open("rb")
    codec = compression_codec(path)
    if codec == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw), raw
    if codec == "bz2":
        import bz2

        return bz2.BZ2File(raw), raw
    if codec == "xz":
        return lzma.LZMAFile(raw), raw
    if codec is None:
        return raw, raw
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec), raw


class MappedTextReader(TextReader):
    """A plain UTF-8 file; windows are views of it, mapped one by one so that only those in use count."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._size = os.fstat(self._file.fileno()).st_size

    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""
        end = min(at + size, self._size)
        if end <= at:
            return np.empty(0, dtype=np.uint8), True
        begin = at - at % mmap.ALLOCATIONGRANULARITY
        held = mmap.mmap(self._file.fileno(), end - begin, access=mmap.ACCESS_READ, offset=begin)
        return np.frombuffer(held, dtype=np.uint8)[at - begin :], end == self._size

    def file_position(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""
        return at

    def close(self) -> None:
        """Close the file; a mapping ends with its last view."""
        self._file.close()


class StreamTextReader(TextReader):
    """A packed file, or one in another encoding; only the current window is in memory."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._decoder = None if is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()
        self._stream, self._raw = open_decompressing(path)
        self._buffer = b""
        self._buffer_start = 0  # where in the text the held bytes begin
        self._at_end = False

    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""
        self._discard_before(at)
        parts = [self._buffer]
        held = len(self._buffer)
        # One byte more than asked for: only its absence tells that the end is reached.
        while held <= size and not self._at_end:
            parts.append(self._read_more())
            held += len(parts[-1])
        self._buffer = b"".join(parts) if len(parts) > 1 else self._buffer
        return np.frombuffer(self._buffer, dtype=np.uint8)[:size], self._at_end and held <= size

    def file_position(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""
        return int(self._raw.tell())

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def _discard_before(self, at: int) -> None:
        """Let go of everything before `at`."""
        while at - self._buffer_start > len(self._buffer) and not self._at_end:
            self._buffer_start += len(self._buffer)
            self._buffer = self._read_more()
        self._buffer = self._buffer[at - self._buffer_start :]
        self._buffer_start = at

    def _read_more(self) -> bytes:
        packed: bytes = self._stream.read(_STEP_BYTES)
        self._at_end = not packed
        if self._decoder is None:
            return packed
        return self._decoder.decode(packed, final=self._at_end).encode("utf-8", "surrogatepass")


ROW_TOO_LONG = "a row is longer than a block; give block= more bytes than the longest row has"
MAX_UNCHECKED_BRACKETS = 200  # brackets in a line that nobody need look at twice
MAX_LINE_BYTES = 32 << 20  # bytes of a line that are held at once


def read_line_parts(reader: io.BufferedReader, longest: int) -> Iterator[bytes]:
    """Lines, of which one that is longer than `longest` comes in several parts."""
    return iter(lambda: reader.readline(longest), b"")


def numbered_lines(path: Path, longest: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Numbered lines as bytes, overlong ones in several parts of the same number."""
    stream, raw = open_decompressing(path)
    number = 1
    with raw, stream, io.BufferedReader(stream) as reader:
        for part in read_line_parts(reader, longest):
            yield number, part
            number += part.endswith(b"\n")


def find_undecodable_line(path: Path, encoding: str) -> int | None:
    """The first line that is not text in the encoding; None when lines cannot tell."""
    decoder = codecs.getincrementaldecoder(encoding)()
    last = None
    try:
        for number, part in numbered_lines(path):
            last = number
            decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return last
    except READ_ERRORS:
        return None
    return None


def line_number_at(path: Path, encoding: str, offset: int) -> int:
    """The line, counted from 1, in which the byte at an offset of the file's text stands."""
    line = 1
    after_return = False
    with closing(open_text(path, encoding)) as text:
        for part in text.windows(offset):
            line += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
            line -= after_return and part.startswith(b"\n")
            after_return = part.endswith(b"\r")
    return line


def is_blank_file(path: Path, encoding: str) -> bool:
    """Whether a file has nothing but blanks and ends of lines."""
    with closing(open_text(path, encoding)) as text:
        return not any(part.strip() for part in text.windows())


def check_json_line(line: bytes) -> None:
    """Refuse what the Arrow reader cannot survive: a line that is no object, or a bottomless one."""
    if not line.lstrip().startswith(b"{"):
        raise ValueError("a line is not an object")
    if line.count(b"[") + line.count(b"{") > MAX_UNCHECKED_BRACKETS:
        try:
            json.loads(line)
        except RecursionError:
            raise ValueError("a line is nested too deeply") from None


def find_invalid_json_line(
    path: Path, encoding: str, whole: frozenset[str], longest: int = MAX_LINE_BYTES
) -> tuple[int, str] | None:
    """The first line that is no JSON object or changes a column's type, and what is wrong.

    `whole` names the columns that must hold whole numbers; no line may exceed `longest` bytes.
    """
    seen: dict[str, str] = {}
    for number, line in numbered_lines(path, longest + 1):
        if not line.strip():
            continue
        if len(line) > longest:
            return number, f": {ROW_TOO_LONG}."
        try:
            row = json.loads(line.decode(encoding))
        except UnicodeDecodeError:
            return number, f" is not text in {encoding}. Give encoding='latin-1' if it is that."
        except RecursionError:
            return number, " is nested too deeply. Write fields side by side."
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            return number, f" is not JSON: {reason}."
        if not isinstance(row, dict):
            return number, " is not a JSON object. Write one object {...} per line."
        for name, value in row.items():
            kind = _json_type_name(value)
            usual = seen.setdefault(name, kind) if kind else kind
            if kind != usual:
                told = json.dumps(value, ensure_ascii=False)[:40]
                return number, f", column {name!r}: {told} is {kind}, not {usual} as before."
            if name in whole and isinstance(value, float):
                return number, f", column {name!r}: {value} is not a whole number."
    return None


def _json_type_name(value: object) -> str:
    kinds: list[tuple[type | tuple[type, ...], str]] = [
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "text"),
        (list, "a list"),
        (dict, "an object"),
    ]
    return next((told for kind, told in kinds if isinstance(value, kind)), "")


# (fault, record, offset of the record, column, fields, text), as the native reader tells it.
NativeCsvFault = tuple[str, int, int, int, int, bytes]

_EXPECTED_VALUES = {
    "number": "a number",
    "integer": "a whole number, as the first rows are",
    "flag": "true or false, as the first rows are",
}


class TextFileErrors:
    """What can be wrong with a text file of any format."""

    def __init__(self, path: Path, encoding: str) -> None:
        self.path = path
        self.encoding = encoding

    def read_error(self, error: Exception) -> SourceError:
        """Why the file's bytes cannot be had as text."""
        if isinstance(error, LookupError):
            return SourceError(
                f"{self.path}: {self.encoding!r} is not an encoding Python knows. "
                f"Give encoding='utf-8' or 'latin-1', for example.",
                self.path,
            )
        if isinstance(error, UnicodeError):
            return self.encoding_error()
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        return SourceError(f"{self.path} cannot be read: {reason}.", self.path)

    def empty_file_error(self) -> SourceError:
        """Word the refusal of a file without a byte."""
        return SourceError(f"{self.path} is empty.", self.path)

    def encoding_error(self) -> SourceError:
        """Word the refusal of bytes that are not in the encoding."""
        line = find_undecodable_line(self.path, self.encoding)
        with self.path.open("rb") as file:
            start = file.read(2)
        other = "utf-16" if start in {b"\xff\xfe", b"\xfe\xff"} else "latin-1"
        name = "UTF-8" if is_utf8(self.encoding) else self.encoding
        return self.line_error(f" is not {name} text. Give encoding={other!r} if it is that.", line)

    def no_rows_error(self) -> SourceError:
        """Word the refusal of a file without rows."""
        return SourceError(f"{self.path} has no rows.", self.path)

    def long_row_error(self, offset: int) -> SourceError:
        """Word the refusal of a row that no block can hold."""
        return self.line_error(f": {ROW_TOO_LONG}.", self.line_number(offset))

    def line_number(self, offset: int) -> int:
        """The line in which the byte at an offset of the text stands."""
        return line_number_at(self.path, self.encoding, offset)

    def line_error(self, what: str, line: int | None) -> SourceError:
        """Word what is wrong with a line, or with the file if no line is known."""
        place = "" if line is None else f", line {line:,}"
        return SourceError(f"{self.path}{place}{what}", self.path, line)


class CsvFileErrors(TextFileErrors):
    """The one edge where the CSV reader's errors become ours."""

    def __init__(self, path: Path, delimiter: str, encoding: str, has_header: bool) -> None:
        super().__init__(path, encoding)
        self.delimiter = delimiter
        self.has_header = has_header
        self.names: Sequence[str] = ()

    def record_error(self, fault: NativeCsvFault, begin: int, kinds: Sequence[str]) -> SourceError:
        """What is wrong with a record of the bytes that begin at an offset of the text."""
        word, _, offset, column, fields, text = fault
        if word == "not_utf8":
            return self.encoding_error()
        line = self.line_number(begin + offset)
        if word == "ragged":
            return self._field_count_error(line, fields, len(kinds))
        if word == "open_quote":
            return self.line_error(": a quote opens and is never closed.", line)
        try:
            return self._value_error(line, self.names[column], kinds[column], text.decode("utf-8"))
        except UnicodeDecodeError:
            return self.encoding_error()

    def no_rows_error(self) -> SourceError:
        """Word the refusal of a file without rows."""
        blank = is_blank_file(self.path, self.encoding)
        told = "has a header but no rows" if self.has_header and not blank else "has no rows"
        return SourceError(f"{self.path} {told}.", self.path)

    def long_row_error(self, offset: int) -> SourceError:
        """Word the refusal of a row that no block can hold."""
        return self.line_error(
            ": a row is longer than a block. Close the quote that is open there, or give block= more "
            "bytes than the longest row has.",
            self.line_number(offset),
        )

    def _field_count_error(self, line: int, actual: int, expected: int) -> SourceError:
        model = "the header" if self.has_header else "the first row"
        fields = "1 field" if actual == 1 else f"{actual} fields"
        return self.line_error(
            f" has {fields}, {model} has {expected}. "
            f"A field that contains {self.delimiter!r} must stand in double quotes.",
            line,
        )

    def _value_error(self, line: int, name: str, kind: str, value: str) -> SourceError:
        remedy = f"Give missing={value!r} to open() if it means missing"
        if kind != "number":
            remedy += f", or strings=[{name!r}] to read the column as text"
        return self.line_error(
            f", column {name!r}: {shorten_repr(value)} is not {_EXPECTED_VALUES[kind]}. {remedy}.", line
        )
