"""Where in a text file something stands: found by reading it again, only after an error."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from weigh.source.bytes import open_text, unpacked
from weigh.source.damage import DAMAGE

OVERLONG = "a row is longer than a block; give block= more bytes than the longest row has"
DEEPEST = 200  # brackets in a line that nobody need look at twice
LONGEST = 32 << 20  # bytes of a line that are held at once


def line_parts(reader: io.BufferedReader, longest: int) -> Iterator[bytes]:
    """Lines, of which one that is longer than `longest` comes in several parts."""
    return iter(lambda: reader.readline(longest), b"")


def byte_lines(path: Path, longest: int = LONGEST) -> Iterator[tuple[int, bytes]]:
    """Numbered lines as bytes, overlong ones in several parts of the same number."""
    stream, raw = unpacked(path)
    number = 1
    with raw, stream, io.BufferedReader(stream) as reader:
        for part in line_parts(reader, longest):
            yield number, part
            number += part.endswith(b"\n")


def undecodable_line(path: Path, encoding: str) -> int | None:
    """The first line that is not text in the encoding; None when lines cannot tell."""
    decoder = codecs.getincrementaldecoder(encoding)()
    last = None
    try:
        for number, part in byte_lines(path):
            last = number
            decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return last
    except DAMAGE:
        return None
    return None


def line_at(path: Path, encoding: str, offset: int) -> int:
    """The line, counted from 1, in which the byte at an offset of the file's text stands."""
    line = 1
    after_return = False
    with closing(open_text(path, encoding)) as text:
        for part in text.windows(offset):
            line += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
            line -= after_return and part.startswith(b"\n")
            after_return = part.endswith(b"\r")
    return line


def is_blank(path: Path, encoding: str) -> bool:
    """Whether a file has nothing but blanks and ends of lines."""
    with closing(open_text(path, encoding)) as text:
        return not any(part.strip() for part in text.windows())


def check_json_line(line: bytes) -> None:
    """Refuse what the Arrow reader cannot survive: a line that is no object, or a bottomless one."""
    if not line.lstrip().startswith(b"{"):
        raise ValueError("a line is not an object")
    if line.count(b"[") + line.count(b"{") > DEEPEST:
        try:
            json.loads(line)
        except RecursionError:
            raise ValueError("a line is nested too deeply") from None


def odd_json_line(
    path: Path, encoding: str, whole: frozenset[str], longest: int = LONGEST
) -> tuple[int, str] | None:
    """The first line that is no JSON object or changes a column's type, and what is wrong.

    `whole` names the columns that must hold whole numbers; no line may exceed `longest` bytes.
    """
    seen: dict[str, str] = {}
    for number, line in byte_lines(path, longest + 1):
        if not line.strip():
            continue
        if len(line) > longest:
            return number, f": {OVERLONG}."
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
