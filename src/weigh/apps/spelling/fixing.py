"""Texts with what was suggested written into them, and files whose other bytes all stay."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weigh.apps.spelling.documents import binary, require_prose
from weigh.apps.spelling.suggestion import Suggestion
from weigh.errors import DataError, SourceError, told
from weigh.replacing import reason, replaced
from weigh.source.bytes import compression, is_utf8, unpacked
from weigh.source.damage import DAMAGE
from weigh.source.faults import TextFaults

_MARKS = {
    "utf-8": (codecs.BOM_UTF8,),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_ORDERS = ("-le", "-be")


def segments(text: str, suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str]]:
    """A text in parts, each with what is to stand in its place; parts between suggestions stay."""
    at = 0
    for one in sorted(suggestions, key=lambda one: one.begin):
        if one.begin < at:
            raise DataError(
                f"Two suggestions overlap at character {one.begin:,}: {one.change}. Give each of them once."
            )
        if text[one.begin : one.end] != one.written:
            raise DataError(
                f"At character {one.begin:,} of the text stands {told(text[one.begin : one.end], 40)}, and "
                f"not {one.written!r}: it is not the text that was checked. Check it again."
            )
        kept = text[at : one.begin]
        yield kept, kept
        yield one.written, one.suggested
        at = one.end
    yield text[at:], text[at:]


def fixed(text: str, suggestions: Sequence[Suggestion]) -> str:
    """A text with what was suggested for it in the place of what was written."""
    return "".join(new for _, new in segments(text, suggestions))


@dataclass(frozen=True)
class FileText:
    """A text as it is in a file: its bytes, of which the first few may be a mark of their order."""

    path: Path
    raw: bytes
    mark: bytes
    codec: str
    text: str

    def with_changes(self, suggestions: Sequence[Suggestion]) -> bytes:
        """The bytes of the file with only these words changed."""
        try:
            parts = [(old.encode(self.codec), new) for old, new in segments(self.text, suggestions)]
            changed = b"".join(new.encode(self.codec) for _, new in segments(self.text, suggestions))
        except UnicodeEncodeError as error:
            raise SourceError(
                f"{self.path}: {error.object!r} cannot be written in {self.codec}. Nothing was changed; save "
                "the file as UTF-8 first, or change the word by hand.",
                self.path,
            ) from None
        if self.mark + b"".join(old for old, _ in parts) != self.raw:
            raise SourceError(
                f"{self.path}: {self.codec} has several ways to write a text, so that bytes beside the words "
                "might change. Nothing was changed; save the file as UTF-8 first.",
                self.path,
            )
        return self.mark + changed


def read_text(path: str | os.PathLike[str], encoding: str = "utf-8") -> FileText:
    """The text of a file, packed or not, and its bytes."""
    file = path if isinstance(path, Path) else Path(path)
    require_prose(file)
    try:
        stream, below = unpacked(file)
        with below, stream:
            raw = stream.read()
        mark, codec = _mark(raw, encoding)
        text = raw[len(mark) :].decode(codec)
    except (*DAMAGE, LookupError) as error:
        raise TextFaults(file, encoding).of_reading(error) from error
    if "\0" in text:
        raise binary(file)
    return FileText(file, raw, mark, codec, text)


def _mark(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """The mark that some bytes begin with, and the encoding of what follows."""
    family = "utf-8" if is_utf8(encoding) else codecs.lookup(encoding).name
    marks = _MARKS.get(family, ())
    for mark, order in zip(marks, _ORDERS, strict=False):
        if raw.startswith(mark):
            return mark, family if len(marks) == 1 else family + order
    if raw and len(marks) > 1:
        raise UnicodeError(f"no mark of the order of {family}")
    return b"", family


def rewrite(file: FileText, suggestions: Sequence[Suggestion]) -> None:
    """Put what was suggested into a file, all at once, unless it has changed since it was read."""
    if not suggestions:
        return
    _require_own(file.path)
    changed = file.with_changes(suggestions)
    try:
        with replaced(file.path) as handle:
            handle.write(changed)
            # Asked last, when only the new name is wanting: what came between would be lost.
            if file.path.read_bytes() != file.raw:
                raise SourceError(
                    f"{file.path} has changed since it was read. Nothing was changed; check it again.",
                    file.path,
                )
    except OSError as error:
        raise SourceError(
            f"{file.path} cannot be written: {reason(error)}. Nothing was changed.", file.path
        ) from error


def _require_own(path: Path) -> None:
    if compression(path) is not None:
        raise SourceError(f"{path} is packed and stays as it is. Unpack it first.", path)
    # A file is replaced by way of its folder; that would not ask whether the file itself may be changed.
    if not os.access(path, os.W_OK):
        raise SourceError(f"{path} may not be written to. Nothing was changed.", path)
