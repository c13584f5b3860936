"""Detection of the encoding of a text file and of the delimiter of a table, from the first bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.errors import AssumedEncoding
from weigh.source.files.text_files import compression_codec, open_decompressing
from weigh.source.paths import READ_ERRORS

SAMPLE_BYTES = 1 << 16
LONG_SAMPLE_BYTES = 4 << 20
_LAST_LINE_BYTES = 1 << 12
MIN_ROWS_WITH_TOTALS = 4  # a header, two rows and their sum
DELIMITERS = (",", ";", "\t", "|")
MIN_SHARE = 0.9  # of the rows have as many fields as the header if a ragged row may still be a mistake
MIN_NUL_SHARE = 0.4  # of every second byte are NUL in UTF-16 text of mostly Western letters
# UTF-32 first: its mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FALLBACKS = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_SEPARATING_COMMA = re.compile(r"(?<![0-9]),|,(?![0-9])")  # others may be decimal commas
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")


MIN_DECIMAL_COMMAS = 3  # cells that show how the numbers of a file are written
# Numbers whose sign cannot be a thousands separator: 980,31 and 1.184,5, but neither 1,184 nor 1.184.
_DECIMAL_COMMA = re.compile(r"\d*,(?!\d{3}$)\d+|0,\d+|\d{4,},\d+|\d{1,3}(\.\d{3})+,\d+")
_DECIMAL_POINT = re.compile(r"\d*\.(?!\d{3}$)\d+|0\.\d+|\d{4,}\.\d+|\d{1,3}(,\d{3})+\.\d+")


@dataclass(frozen=True)
class TextSample:
    """The first bytes of a file, decompressed, and whether they are all."""

    data: bytes
    is_whole: bool

    @classmethod
    def read(cls, path: Path, size: int = SAMPLE_BYTES) -> TextSample:
        """Read the start of a file; one that cannot be read has none, and its reader reports why."""
        parts: list[bytes] = []
        n_bytes = 0
        try:
            stream, raw = open_decompressing(path)
            with raw, stream:
                while n_bytes <= size and (part := stream.read(size + 1 - n_bytes)):
                    parts.append(part)
                    n_bytes += len(part)
        except READ_ERRORS:
            return cls(b"".join(parts), False)
        return cls(b"".join(parts)[:size], n_bytes <= size)

    def decode(self, encoding: str) -> str:
        """Return the text without a byte order mark; bytes that are not valid are replaced."""
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        return decoder.decode(self.data, final=self.is_whole).removeprefix("\ufeff")

    def is_valid(self, encoding: str) -> bool:
        """Whether the bytes are text in an encoding; a character may be cut at the end."""
        try:
            codecs.getincrementaldecoder(encoding)().decode(self.data, final=self.is_whole)
        except UnicodeError:
            return False
        return True


def detect_encoding(sample: TextSample, preferred: str | None = None) -> str:
    """Return the encoding of a text.

    A byte order mark decides; then NULs at every second byte (UTF-16); then whether the bytes are UTF-8.
    Other text is in the preferred encoding, in Windows-1252, or in Latin-1, the first that allows all of its
    bytes. Bytes that are no text, and UTF-8 with a few damaged characters, count as UTF-8, so that reading
    them reports the line.
    """
    data = sample.data
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        utf16 = _detect_utf16(data)
        return utf16 if utf16 and sample.is_valid(utf16) else "utf-8"
    if data.isascii() or sample.is_valid("utf-8") or _BINARY.search(data) or _is_mostly_utf8(sample):
        return "utf-8"
    # UTF-16 and UTF-32 allow most bytes, but their texts have a mark or NULs.
    is_wide = preferred is not None and codecs.lookup(preferred).name.startswith(("utf-16", "utf-32"))
    candidates = [*([preferred] if preferred and not is_wide else []), *_FALLBACKS]
    return next(encoding for encoding in candidates if sample.is_valid(encoding))


def _detect_utf16(data: bytes) -> str | None:
    """Return the UTF-16 without a mark that explains the NULs, or None."""
    n_pairs = len(data) // 2
    even, odd = (data[start : 2 * n_pairs : 2].count(0) for start in (0, 1))
    if odd >= MIN_NUL_SHARE * n_pairs and not even:
        return "utf-16-le"
    return "utf-16-be" if even >= MIN_NUL_SHARE * n_pairs and not odd else None


def _is_mostly_utf8(sample: TextSample) -> bool:
    text = sample.decode("utf-8")
    n_invalid = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) >= 2 * n_invalid


def note_assumed_encoding(path: Path, encoding: str) -> None:
    """Warn that a file without a sign of its encoding was read in an assumed one."""
    if encoding not in _FALLBACKS:
        return
    warn(
        AssumedEncoding(
            f"{path} is not UTF-8 text and was read as {_FALLBACKS[encoding]} ({encoding}).",
            hint=("If letters with accents look wrong, give ", Setting("encoding", "cp1250"), " or another."),
        ),
        [path],
    )


@dataclass(frozen=True)
class TableSample:
    """The text of the first records of a table, and how the fields of its records are read."""

    text: str
    is_whole: bool
    quotes: bool = True

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank."""
        return self.text.lstrip("\r\n").partition("\n")[0]

    def split(self, delimiter: str) -> Split:
        """Return the records that a delimiter gives; a record that may be cut at the end is left out."""
        import csv
        import io

        quoting: Any = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        records: list[list[str]] = []
        try:
            lines = io.StringIO(self.text, newline="")
            records.extend(record for record in csv.reader(lines, delimiter=delimiter, quoting=quoting))
        except csv.Error:
            pass
        records = [record for record in records if record]
        if not self.is_whole and len(records) > 1:
            records.pop()
        if not records:
            return Split(delimiter, [], 0, 0.0)
        widths = [len(record) for record in records]
        return Split(
            delimiter,
            [name.strip() for name in records[0]],
            len(records),
            widths.count(widths[0]) / len(widths),
        )


@dataclass(frozen=True)
class Split:
    """The first record by a delimiter, the number of records, and the share with as many fields."""

    delimiter: str
    header: Sequence[str]
    n_records: int
    share: float

    @property
    def is_table(self) -> bool:
        """Whether every record has the same fields, more than one."""
        return self.share == 1 and len(self.header) > 1


def detect_delimiter(
    sample: TableSample, default: str, matches: Callable[[Sequence[str]], bool] | None = None
) -> str:
    """Return the delimiter of a table.

    Between semicolons, commas within numbers do not count. The default wins if it splits every record into
    the same number of fields, more than one. Otherwise another one that does so wins, or one
    that splits nearly all of them and whose first record `matches` says is right: it has the label, for
    example.
    """
    others = [sign for sign in DELIMITERS if sign != default and sign in sample.first_line]
    if not others:
        return default
    if default == "," and ";" in others and not _SEPARATING_COMMA.search(sample.text):
        numbers = sample.split(";")
        if numbers.is_table and (matches is None or matches(numbers.header)):
            return ";"
    usual = sample.split(default)
    if usual.is_table and (matches is None or matches(usual.header)):
        return default
    splits = [split for split in map(sample.split, others) if len(split.header) > 1]
    if matches is not None:
        fitting = [split for split in splits if split.share >= MIN_SHARE and matches(split.header)]
        if fitting:
            return max(fitting, key=lambda split: (split.share, len(split.header))).delimiter
    if usual.is_table:
        return default
    threshold = 1.0 if usual.share == 1 else MIN_SHARE
    best = max(
        (split for split in splits if split.share >= threshold),
        key=lambda split: (split.share, len(split.header)),
        default=usual,
    )
    return best.delimiter if best.share > usual.share or len(usual.header) < 2 else default


def uses_decimal_comma(sample: TableSample, delimiter: str) -> bool:
    """Whether cells such as 980,31 show that a table has decimal commas, and no other cell contradicts.

    A number such as 1.184 has then a thousands separator, which the number alone does not tell.
    """
    if delimiter == "," and '"' not in sample.text:
        return False
    edge = re.escape(delimiter)
    cells = re.findall(rf'(?<![^{edge}\n"])[-+]?([\d.,]*[.,][\d.,]*)(?=\s*[{edge}\r\n"%€])', sample.text)
    n_commas = sum(_DECIMAL_COMMA.fullmatch(cell) is not None for cell in cells)
    return n_commas >= MIN_DECIMAL_COMMAS and not any(map(_DECIMAL_POINT.fullmatch, cells))


def is_table(sample: TableSample) -> bool:
    """Whether a delimiter splits a text into two records or more that all have the same fields."""
    splits = (sample.split(sign) for sign in DELIMITERS if sign in sample.first_line)
    return any(split.is_table and split.n_records > 1 for split in splits)


def find_last_cell(path: Path, delimiter: str) -> str:
    """Return the first cell of the last line of a table that no line before it has.

    Returns "" if there is none, for a short file, and for a compressed one.
    """
    if compression_codec(path) is not None:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LAST_LINE_BYTES))
            lines = file.read(_LAST_LINE_BYTES).rstrip().splitlines()
    except OSError:  # which the reader reports
        return ""
    if len(lines) < MIN_ROWS_WITH_TOTALS:
        return ""
    sign = delimiter.encode()
    cell, found, _ = lines[-1].lstrip(sign).partition(sign)
    if not found or any(line.lstrip(sign).startswith(cell + sign) for line in lines[:-1]):
        return ""
    return cell.decode("ascii", "replace").strip().strip('"')
