"""Texts with what was suggested written into them, and files whose other bytes all stay."""

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
    """A text in parts, each with what is to stand in its place; parts between suggestions stay."""
    at = 0
    for one in sorted(suggestions, key=lambda one: one.begin):
        if one.begin < at:
            raise DataError(
                f"Two suggestions overlap at character {one.begin:,}: {one.change}. Give each of them once."
            )
        if text[one.begin : one.end] != one.written:
            raise DataError(
                f"At character {one.begin:,} of the text stands {one_line_repr(text[one.begin : one.end], 40)}, and "
                f"not {one.written!r}: it is not the text that was checked. Check it again."
            )
        kept = text[at : one.begin]
        yield kept, kept
        yield one.written, one.suggested
        at = one.end
    yield text[at:], text[at:]


def apply_suggestions(text: str, suggestions: Sequence[Suggestion]) -> str:
    """A text with what was suggested for it in the place of what was written."""
    return "".join(new for _, new in replacement_segments(text, suggestions))


@dataclass(frozen=True)
class DecodedFile:
    """A text as it is in a file: its bytes, of which the first few may be a mark of their order."""

    path: Path
    raw: bytes
    byte_order_mark: bytes
    codec: str
    text: str

    def to_corrected_bytes(self, suggestions: Sequence[Suggestion]) -> bytes:
        """The bytes of the file with only these words changed."""
        try:
            parts = [
                (old.encode(self.codec), new) for old, new in replacement_segments(self.text, suggestions)
            ]
            changed = b"".join(
                new.encode(self.codec) for _, new in replacement_segments(self.text, suggestions)
            )
        except UnicodeEncodeError as error:
            raise SourceError(
                f"{self.path}: {error.object!r} cannot be written in {self.codec}. Nothing was changed; save "
                "the file as UTF-8 first, or change the word by hand.",
                self.path,
            ) from None
        if self.byte_order_mark + b"".join(old for old, _ in parts) != self.raw:
            raise SourceError(
                f"{self.path}: {self.codec} has several ways to write a text, so that bytes beside the words "
                "might change. Nothing was changed; save the file as UTF-8 first.",
                self.path,
            )
        return self.byte_order_mark + changed


def read_decoded_file(path: str | os.PathLike[str], encoding: str = "utf-8") -> DecodedFile:
    """The text of a file, packed or not, and its bytes."""
    file = path if isinstance(path, Path) else Path(path)
    check_is_prose(file)
    try:
        stream, below = open_decompressing(file)
        with below, stream:
            raw = stream.read()
        mark, codec = _detect_byte_order_mark(raw, encoding)
        text = raw[len(mark) :].decode(codec)
    except (*READ_ERRORS, LookupError) as error:
        raise TextFileErrors(file, encoding).read_error(error) from error
    if "\0" in text:
        raise binary_file_error(file)
    return DecodedFile(file, raw, mark, codec, text)


def _detect_byte_order_mark(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """The mark that some bytes begin with, and the encoding of what follows."""
    family = "utf-8" if is_utf8(encoding) else codecs.lookup(encoding).name
    marks = _BYTE_ORDER_MARKS.get(family, ())
    for mark, order in zip(marks, _BYTE_ORDER_SUFFIXES, strict=False):
        if raw.startswith(mark):
            return mark, family if len(marks) == 1 else family + order
    if raw and len(marks) > 1:
        raise UnicodeError(f"no mark of the order of {family}")
    return b"", family


def write_corrections(file: DecodedFile, suggestions: Sequence[Suggestion]) -> None:
    """Put what was suggested into a file, all at once, unless it has changed since it was read."""
    if not suggestions:
        return
    _check_writable(file.path)
    changed = file.to_corrected_bytes(suggestions)
    try:
        with atomic_write(file.path) as handle:
            handle.write(changed)
            # Asked last, when only the new name is wanting: what came between would be lost.
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
        raise SourceError(f"{path} is packed and stays as it is. Unpack it first.", path)
    # A file is replaced by way of its folder; that would not ask whether the file itself may be changed.
    if not os.access(path, os.W_OK):
        raise SourceError(f"{path} may not be written to. Nothing was changed.", path)
