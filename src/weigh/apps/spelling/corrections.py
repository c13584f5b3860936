"""Applying suggestions to texts and files; all other bytes of a file stay unchanged."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weigh.apps.spelling.documents import binary_file_error, check_is_prose
from weigh.apps.spelling.suggestions import Suggestion
from weigh.atomic_files import atomic_write, error_reason
from weigh.errors import DataError, SourceError, one_line_repr
from weigh.source.files.text_files import TextFileErrors, compression_codec, is_utf8, open_decompressing
from weigh.source.paths import READ_ERRORS

_BYTE_ORDER_MARKS = {
    "utf-8": (codecs.BOM_UTF8,),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_BYTE_ORDER_SUFFIXES = ("-le", "-be")


def replacement_segments(text: str, suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str]]:
    """Split a text into parts, each with its replacement; parts between suggestions replace themselves."""
    end = 0
    for suggestion in sorted(suggestions, key=lambda suggestion: suggestion.begin):
        begin, written = suggestion.begin, text[suggestion.begin : suggestion.end]
        if begin < end:
            raise DataError(
                f"Two suggestions overlap at character {begin:,}: {suggestion.change}. Give each of them "
                "once."
            )
        if written != suggestion.written:
            raise DataError(
                f"The text has {one_line_repr(written, 40)} at character {begin:,}, not "
                f"{suggestion.written!r}: "
                "it is not the text that was checked. Check it again."
            )
        unchanged = text[end:begin]
        yield unchanged, unchanged
        yield suggestion.written, suggestion.suggested
        end = suggestion.end
    yield text[end:], text[end:]


def apply_suggestions(text: str, suggestions: Sequence[Suggestion]) -> str:
    """Return the text with the suggested words in place of the written ones."""
    return "".join(new for _, new in replacement_segments(text, suggestions))


@dataclass(frozen=True)
class DecodedFile:
    """The bytes of a file, its byte order mark (or b""), the codec of the other bytes, and the text."""

    path: Path
    raw: bytes
    byte_order_mark: bytes
    codec: str
    text: str

    def to_corrected_bytes(self, suggestions: Sequence[Suggestion]) -> bytes:
        """Return the bytes of the file with only these words changed."""
        try:
            segments = [
                (old.encode(self.codec), new.encode(self.codec))
                for old, new in replacement_segments(self.text, suggestions)
            ]
        except UnicodeEncodeError as error:
            raise SourceError(
                f"{self.path}: {error.object!r} cannot be encoded in {self.codec}. Nothing was changed; save "
                "the file as UTF-8 first, or change the word by hand.",
                self.path,
            ) from None
        if self.byte_order_mark + b"".join(old for old, _ in segments) != self.raw:
            raise SourceError(
                f"{self.path}: {self.codec} can encode the same text in several ways, so other bytes might "
                "change as well. Nothing was changed; save the file as UTF-8 first.",
                self.path,
            )
        return self.byte_order_mark + b"".join(new for _, new in segments)


def read_decoded_file(path: str | os.PathLike[str], encoding: str = "utf-8") -> DecodedFile:
    """Read, decompress and decode a file."""
    file = path if isinstance(path, Path) else Path(path)
    check_is_prose(file)
    try:
        stream, raw_file = open_decompressing(file)
        with raw_file, stream:
            raw = stream.read()
        mark, codec = _detect_byte_order_mark(raw, encoding)
        text = raw[len(mark) :].decode(codec)
    except (*READ_ERRORS, LookupError) as error:
        raise TextFileErrors(file, encoding).read_error(error) from error
    if "\0" in text:
        raise binary_file_error(file)
    return DecodedFile(file, raw, mark, codec, text)


def _detect_byte_order_mark(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """Return the byte order mark at the start, if any, and the codec of the bytes after it."""
    family = "utf-8" if is_utf8(encoding) else codecs.lookup(encoding).name
    marks = _BYTE_ORDER_MARKS.get(family, ())
    for mark, order in zip(marks, _BYTE_ORDER_SUFFIXES, strict=False):
        if raw.startswith(mark):
            return mark, family if len(marks) == 1 else family + order
    if raw and len(marks) > 1:
        raise UnicodeError(f"{family} without byte order mark")
    return b"", family


def write_corrections(file: DecodedFile, suggestions: Sequence[Suggestion]) -> None:
    """Apply suggestions to a file atomically, unless it has changed since it was read."""
    if not suggestions:
        return
    _check_writable(file.path)
    corrected = file.to_corrected_bytes(suggestions)
    try:
        with atomic_write(file.path) as handle:
            handle.write(corrected)
            # Compare as late as possible, because changes made in between would be lost.
            if file.path.read_bytes() != file.raw:
                raise SourceError(
                    f"{file.path} has changed since it was read. Nothing was changed; check it again.",
                    file.path,
                )
    except OSError as error:
        raise SourceError(
            f"{file.path} cannot be written: {error_reason(error)}. Nothing was changed.", file.path
        ) from error


def _check_writable(path: Path) -> None:
    if compression_codec(path) is not None:
        raise SourceError(f"{path} is compressed and was not changed. Decompress it first.", path)
    # Replacing a file needs write access to its folder only, so a read-only file must be checked explicitly.
    if not os.access(path, os.W_OK):
        raise SourceError(f"{path} is read-only. Nothing was changed.", path)
