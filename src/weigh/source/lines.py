"""Where in a text file something stands: found by reading it again, only after an error."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_COMPRESSION = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


def compression(path: Path) -> str | None:
    """The compression a file's ending stands for, if any."""
    return _COMPRESSION.get(path.suffix.lower())


def open_bytes(path: Path) -> tuple[Any, Any]:
    """The file's bytes, decompressed, and the file below them, whose position tells progress."""
    import pyarrow as pa

    raw = pa.OSFile(str(path))
    codec = compression(path)
    return (raw if codec is None else pa.CompressedInputStream(raw, codec)), raw


def byte_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines as bytes."""
    stream, raw = open_bytes(path)
    with raw, stream, io.BufferedReader(stream) as reader:
        yield from enumerate(reader, start=1)


def undecodable_line(path: Path, encoding: str) -> int | None:
    """The first line that is not text in the encoding; None when lines cannot tell."""
    try:
        for number, line in byte_lines(path):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    except (OSError, ValueError):
        return None
    return None


def record_line(path: Path, record: int, delimiter: str, encoding: str) -> int | None:
    """The line where a CSV record begins, counted from 1, lines within quotes included.

    Records are counted as Arrow does, without blank lines. None when the file cannot be followed.
    """
    for number, line, fields in _records(path, delimiter, encoding):
        if fields is None:
            return None
        if number == record:
            return line
    return None


def endless_line(path: Path, delimiter: str, encoding: str) -> int | None:
    """The line where a record too long to be read begins, as after a quote that never closes."""
    for _, line, fields in _records(path, delimiter, encoding):
        if fields is None:
            return line
    return None


def _records(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, int, list[str] | None]]:
    """Numbered non-blank records with their first line; fields are None where reading fails."""
    stream, raw = open_bytes(path)
    with (
        raw,
        stream,
        io.TextIOWrapper(io.BufferedReader(stream), encoding=encoding, errors="replace", newline="") as text,
    ):
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        record, line = 0, 1
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield record + 1, line, None
                return
            if fields:
                record += 1
                yield record, line, fields
            line = reader.line_num + 1


def odd_json_line(path: Path, encoding: str, whole: frozenset[str]) -> tuple[int, str] | None:
    """The first line that is no JSON object or changes a column's type, and what is wrong.

    `whole` names the columns that must hold whole numbers.
    """
    seen: dict[str, str] = {}
    for number, line in byte_lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode(encoding))
        except UnicodeDecodeError:
            return number, f" is not text in {encoding}. Give encoding='latin-1' if it is that."
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            return number, f" is not JSON: {reason}."
        if not isinstance(row, dict):
            return number, " is not a JSON object. Write one object {...} per line."
        for name, value in row.items():
            kind = _json_kind(value)
            usual = seen.setdefault(name, kind) if kind else kind
            if kind != usual:
                told = json.dumps(value, ensure_ascii=False)[:40]
                return number, f", column {name!r}: {told} is {kind}, not {usual} as before."
            if name in whole and isinstance(value, float):
                return number, f", column {name!r}: {value} is not a whole number."
    return None


def _json_kind(value: object) -> str:
    kinds: list[tuple[type | tuple[type, ...], str]] = [
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "text"),
        (list, "a list"),
        (dict, "an object"),
    ]
    return next((told for kind, told in kinds if isinstance(value, kind)), "")
