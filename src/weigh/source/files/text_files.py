"""Reading text files as UTF-8 bytes, decompressed and decoded, and locating errors in them."""

from __future__ import annotations

import codecs
import io
import json
import lzma
import os
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.advice import Part, Setting, Step, Text, join
from weigh.errors import SourceError, first_line
from weigh.source.paths import READ_ERRORS
from weigh.source.values import shorten_repr

Bytes: TypeAlias = NDArray[np.uint8]

UTF8_BOM = b"\xef\xbb\xbf"
_STEP_BYTES = 1 << 20
_CODEC_BY_SUFFIX = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4"}


def compression_codec(path: Path) -> str | None:
    """Return the compression codec of a file by its suffix, None if it is not compressed."""
    return _CODEC_BY_SUFFIX.get(path.suffix.lower())


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8 under any name; raises LookupError for an unknown encoding."""
    if "\0" in encoding or not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
        raise LookupError(f"unknown encoding: {encoding}")
    return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}


class TextReader(ABC):
    """A file's text as UTF-8; windows must move forwards only."""

    @abstractmethod
    def window(self, offset: int, size: int) -> tuple[Bytes, bool]:
        """Return `size` bytes at an offset, fewer at the end, and whether the end is reached."""

    @abstractmethod
    def file_position(self, offset: int) -> int:
        """Return the number of bytes of the file that were read for the text up to an offset."""

    @abstractmethod
    def close(self) -> None:
        """Close the file; windows stay valid."""

    def windows(self, stop: int | None = None) -> Iterator[bytes]:
        """Yield the text from its start up to `stop`, in steps."""
        offset, is_last = 0, False
        while not is_last and (stop is None or offset < stop):
            size = _STEP_BYTES if stop is None else min(_STEP_BYTES, stop - offset)
            data, is_last = self.window(offset, size)
            offset += len(data)
            yield data.tobytes()


def open_text(path: Path, encoding: str, size: int | None = None) -> TextReader:
    """Open a non-empty text file; reading it raises SourceError if it does not have this size, or changes."""
    if compression_codec(path) is None and is_utf8(encoding):
        return PlainTextReader(path, size)
    return StreamTextReader(path, encoding, size)


def check_file_size(path: Path, size: int, descriptor: int | None = None) -> None:
    """Raise SourceError if a file, or the open one of a descriptor, no longer has the size it had."""
    new_size = os.stat(path if descriptor is None else descriptor).st_size
    if new_size != size:
        raise SourceError(
            f"{path} changed while it was read: it had {size:,} bytes and now has {new_size:,}. "
            "Read it when no program writes to it, or read a copy.",
            path,
        )


def open_decompressing(path: Path) -> tuple[Any, Any]:
    """Return a stream of the decompressed bytes and the underlying file, whose position gives progress."""
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

    stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec)
    # The buffered reader calls `readinto`: Arrow's `read` leaks its result if the file is damaged.
    return io.BufferedReader(stream), raw


class PlainTextReader(TextReader):
    """An uncompressed UTF-8 file.

    Windows are copies, because a mapping ends the process with SIGBUS if the file is truncated. Copying is as
    fast if the memory of earlier windows is reused: new memory and mappings cost a page fault per page.
    """

    def __init__(self, path: Path, size: int | None) -> None:
        self._path = path
        self._file = path.open("rb")
        self._size = os.fstat(self._file.fileno()).st_size if size is None else size

    def window(self, offset: int, size: int) -> tuple[Bytes, bool]:
        """Return `size` bytes at an offset, fewer at the end, and whether the end is reached."""
        end = min(offset + size, self._size)
        data = _allocate_window(max(end - offset, 0))
        self._file.seek(offset)
        n_bytes = self._file.readinto(data.data)
        check_file_size(self._path, self._size, self._file.fileno())
        return data[:n_bytes], end == self._size

    def file_position(self, offset: int) -> int:
        """Return the offset itself: the file is its text."""
        return offset

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_WINDOW_BYTES = 2 << 20
_MIN_REUSED_BYTES = 1 << 17  # the allocator itself reuses smaller memory
_free_windows: deque[bytearray] = deque(maxlen=4)  # its methods are atomic, so threads may share it


def _allocate_window(size: int) -> Bytes:
    """Return uninitialised bytes, in memory that is used again when nothing refers to them any more."""
    if not _MIN_REUSED_BYTES <= size <= _WINDOW_BYTES:
        return np.empty(size, dtype=np.uint8)
    try:
        memory = _free_windows.pop()
    except IndexError:
        memory = bytearray(_WINDOW_BYTES)
    window = np.frombuffer(memory, dtype=np.uint8)
    # Every slice refers to this array.
    weakref.finalize(window, _free_windows.append, memory).atexit = False
    return window[:size]


class StreamTextReader(TextReader):
    """A compressed file, or one in another encoding; only the current window is in memory."""

    def __init__(self, path: Path, encoding: str, size: int | None) -> None:
        self._path = path
        self._decoder = None if is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()
        self._stream, self._raw = open_decompressing(path)
        self._size = os.fstat(self._raw.fileno()).st_size if size is None else size
        self._buffer = b""
        self._buffer_start = 0  # offset of the buffer in the text
        self._at_end = False

    def window(self, offset: int, size: int) -> tuple[Bytes, bool]:
        """Return `size` bytes at an offset, fewer at the end, and whether the end is reached."""
        self._discard_before(offset)
        parts = [self._buffer]
        n_bytes = len(self._buffer)
        # Read one byte more than requested: only its absence shows that the end is reached.
        while n_bytes <= size and not self._at_end:
            parts.append(self._read_more())
            n_bytes += len(parts[-1])
        self._buffer = b"".join(parts) if len(parts) > 1 else self._buffer
        return np.frombuffer(self._buffer, dtype=np.uint8)[:size], self._at_end and n_bytes <= size

    def file_position(self, offset: int) -> int:
        """Return the position in the compressed or encoded file."""
        return int(self._raw.tell())

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def _discard_before(self, offset: int) -> None:
        """Drop everything before an offset from the buffer."""
        while offset - self._buffer_start > len(self._buffer) and not self._at_end:
            self._buffer_start += len(self._buffer)
            self._buffer = self._read_more()
        self._buffer = self._buffer[offset - self._buffer_start :]
        self._buffer_start = offset

    def _read_more(self) -> bytes:
        try:
            data: bytes = self._stream.read(_STEP_BYTES)
        finally:
            # After a failure too: a compressed file that shrinks looks damaged.
            check_file_size(self._path, self._size, self._raw.fileno())
        self._at_end = not data
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final=self._at_end).encode("utf-8", "surrogatepass")


ROW_TOO_LONG: Text = (
    "a row is longer than a block",
    Step("block for a row", "; give block= more bytes than the longest row has"),
)
MAX_UNCHECKED_BRACKETS = 200  # a line with fewer cannot be nested too deeply
MAX_LINE_BYTES = 32 << 20


def read_line_parts(reader: io.BufferedReader, max_bytes: int) -> Iterator[bytes]:
    """Yield lines; a line longer than `max_bytes` comes in several parts."""
    return iter(lambda: reader.readline(max_bytes), b"")


def numbered_lines(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines as bytes; the parts of an overlong line have the same number."""
    stream, raw = open_decompressing(path)
    number = 1
    with raw, stream, io.BufferedReader(stream) as reader:
        for part in read_line_parts(reader, max_bytes):
            yield number, part
            number += part.endswith(b"\n")


def find_undecodable_line(path: Path, encoding: str) -> int | None:
    """Return the number of the first line that is not valid in the encoding.

    Returns None if there is none or the file cannot be read.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line = None
    try:
        for number, part in numbered_lines(path):
            line = number
            decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return line
    except READ_ERRORS:
        return None
    return None


def line_number_at(path: Path, encoding: str, offset: int) -> int:
    """Return the number, from 1, of the line that contains an offset of the file's text."""
    line = 1
    after_return = False
    with closing(open_text(path, encoding)) as text:
        for part in text.windows(offset):
            line += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
            line -= after_return and part.startswith(b"\n")
            after_return = part.endswith(b"\r")
    return line


def is_blank_file(path: Path, encoding: str) -> bool:
    """Whether a file contains only whitespace."""
    with closing(open_text(path, encoding)) as text:
        return not any(part.strip() for part in text.windows())


def check_json_line(line: bytes) -> None:
    """Raise ValueError for lines that crash Arrow's reader: no object, or nested too deeply."""
    if not line.lstrip().startswith(b"{"):
        raise ValueError("a line is not an object")
    if line.count(b"[") + line.count(b"{") > MAX_UNCHECKED_BRACKETS:
        try:
            json.loads(line)
        except RecursionError:
            raise ValueError("a line is nested too deeply") from None


def find_invalid_json_line(
    path: Path, encoding: str, integer_columns: frozenset[str], max_bytes: int = MAX_LINE_BYTES
) -> tuple[int, Text] | None:
    """Return the number of the first invalid line and the end of a message; None if all lines are valid.

    The message begins with the file and the line.
    A line is invalid if it is not a JSON object, changes the type of a column, has a fraction in one of the
    `integer_columns`, or exceeds `max_bytes`.
    """
    column_types: dict[str, str] = {}
    for number, line in numbered_lines(path, max_bytes + 1):
        if not line.strip():
            continue
        if len(line) > max_bytes:
            return number, join(": ", ROW_TOO_LONG, ".")
        try:
            row = json.loads(line.decode(encoding).removeprefix("\ufeff"))
        except UnicodeDecodeError:
            advice = ("Give ", Setting("encoding", "cp1252"), " if it is that.")
            return number, (f" is not text in {encoding}. ", *advice)
        except RecursionError:
            return number, " is nested too deeply. Write fields side by side."
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            return number, f" is not JSON: {reason}."
        if not isinstance(row, dict):
            return number, " is not a JSON object. Write one object {...} per line."
        for name, value in row.items():
            type_name = _json_type_name(value)
            expected = column_types.setdefault(name, type_name) if type_name else type_name
            if type_name != expected:
                text = json.dumps(value, ensure_ascii=False)[:40]
                return number, f", column {name!r}: {text} is {type_name}, not {expected} as before."
            if name in integer_columns and isinstance(value, float):
                return number, f", column {name!r}: {value} is not a whole number."
    return None


def _json_type_name(value: object) -> str:
    names: list[tuple[type | tuple[type, ...], str]] = [
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "text"),
        (list, "a list"),
        (dict, "an object"),
    ]
    return next((name for types, name in names if isinstance(value, types)), "")


class CsvFault(NamedTuple):
    """A fault in a record, as the native parser reports it; `offset` is that of the record in the data."""

    code: str
    record: int
    offset: int
    column: int
    n_fields: int
    text: bytes


_EXPECTED_VALUES = {
    "number": "a number",
    "integer": "a whole number, as the first rows are",
    "flag": "true or false, as the first rows are",
}


def missing_setting(value: object) -> tuple[Part, ...]:
    """Return the setting that makes a value mean missing."""
    return Setting("missing", value), Step("to open", " to open()")


class TextFileErrors:
    """Creates the errors that are common to text files of all formats."""

    def __init__(self, path: Path, encoding: str) -> None:
        self.path = path
        self.encoding = encoding

    def read_error(self, error: Exception) -> SourceError:
        """Return the error for a file that cannot be read or decoded."""
        if isinstance(error, LookupError):
            return SourceError(
                f"{self.path}: {self.encoding!r} is not an encoding Python knows.",
                self.path,
                hint=("Give ", Setting("encoding", "utf-8"), " or 'cp1252', for example."),
            )
        if isinstance(error, UnicodeError):
            return self.encoding_error()
        return SourceError(f"{self.path} cannot be read: {first_line(error)}.", self.path)

    def empty_file_error(self) -> SourceError:
        """Return the error for a file of zero bytes."""
        return SourceError(f"{self.path} is empty.", self.path)

    def encoding_error(self) -> SourceError:
        """Return the error for bytes that are not valid in the encoding."""
        line = find_undecodable_line(self.path, self.encoding)
        with self.path.open("rb") as file:
            start = file.read(2)
        name = "UTF-8" if is_utf8(self.encoding) else self.encoding
        suggestion = "cp1252" if name == "UTF-8" else "latin-1"
        if start in {b"\xff\xfe", b"\xfe\xff"}:
            suggestion = "utf-16"
        return self.line_error(
            f" is not {name} text.", line, ("Give ", Setting("encoding", suggestion), " if it is that.")
        )

    def no_rows_error(self) -> SourceError:
        """Return the error for a file without rows."""
        return SourceError(f"{self.path} has no rows.", self.path)

    def long_row_error(self, offset: int, *, is_binary: bool = False) -> SourceError:
        """Return the error for a row that exceeds the maximum size."""
        hint = "It contains NUL bytes, so the file may not be text." if is_binary else ""
        return self.line_error(join(": ", ROW_TOO_LONG, "."), self.line_number(offset), hint)

    def line_number(self, offset: int) -> int:
        """Return the number of the line that contains an offset of the text."""
        return line_number_at(self.path, self.encoding, offset)

    def format_line(self, offset: int) -> str:
        """Return the number of the line that contains an offset of the text, for a message."""
        return f"line {self.line_number(offset):,}"

    def line_error(self, problem: Text, line: int | None, hint: Text = "") -> SourceError:
        """Return the error for a problem in a line, or in the file if `line` is None."""
        location = "" if line is None else f", line {line:,}"
        return SourceError(join(f"{self.path}{location}", problem), self.path, line, hint=hint)


class CsvFileErrors(TextFileErrors):
    """Translates the faults that the native CSV parser reports."""

    def __init__(self, path: Path, delimiter: str, encoding: str, has_header: bool) -> None:
        super().__init__(path, encoding)
        self.delimiter = delimiter
        self.has_header = has_header
        self.names: Sequence[str] = ()

    def record_error(self, fault: CsvFault, data_offset: int, types: Sequence[str]) -> SourceError:
        """Return the error for a fault in a record of data at an offset of the text."""
        if fault.code == "not_utf8":
            return self.encoding_error()
        line = self.line_number(data_offset + fault.offset)
        if fault.code == "ragged":
            return self._field_count_error(line, fault.n_fields, len(types))
        if fault.code == "open_quote":
            return self.line_error(": a quote opens and is never closed.", line)
        try:
            name, column_type = self.names[fault.column], types[fault.column]
            return self._value_error(line, name, column_type, fault.text.decode("utf-8"))
        except UnicodeDecodeError:
            return self.encoding_error()

    def no_rows_error(self) -> SourceError:
        """Return the error for a file without rows."""
        is_blank = is_blank_file(self.path, self.encoding)
        problem = "has a header but no rows" if self.has_header and not is_blank else "has no rows"
        return SourceError(f"{self.path} {problem}.", self.path)

    def long_quote_error(self, offset: int) -> SourceError:
        """Return the error for a row that exceeds the maximum size because of a quote that is not closed."""
        return self.line_error(
            ": a row is longer than a block.",
            self.line_number(offset),
            Step(
                "block for a quoted row",
                "Close the quote that is open there, or give block= more bytes than the longest row has.",
            ),
        )

    def _field_count_error(self, line: int, actual: int, expected: int) -> SourceError:
        reference = "the header" if self.has_header else "the first row"
        fields = "1 field" if actual == 1 else f"{actual} fields"
        return self.line_error(
            f" has {fields}, {reference} has {expected}. "
            f"A field that contains {self.delimiter!r} must be in double quotes.",
            line,
        )

    def _value_error(self, line: int, name: str, column_type: str, value: str) -> SourceError:
        is_text: Text = (", or ", Setting("strings", [name]), " to read the column as text")
        advice = join(
            "Give ",
            missing_setting(value),
            " if it means missing",
            is_text if column_type != "number" else "",
            ".",
        )
        return self.line_error(
            f", column {name!r}: {shorten_repr(value)} is not {_EXPECTED_VALUES[column_type]}.",
            line,
            advice,
        )
