"""`documents`: the texts that paths lead to, masked and in pieces, in bounded memory."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from weigh.apps.spelling.excluding import Excluded
from weigh.apps.spelling.prose import DATA, MARKUP, SOURCE, ending, masked_pieces
from weigh.errors import SourceError
from weigh.source.bytes import MARK, is_utf8, open_text
from weigh.source.damage import DAMAGE
from weigh.source.faults import TextFaults
from weigh.source.paths import (
    NOT_A_FILE,
    PathLike,
    check_readable,
    files_below,
    meant,
    printable,
    unreadable,
)
from weigh.text import amount, counted

PIECE = 1 << 22
NAMED = 2  # files left out that are named
# Where a piece may end, the best place first.
_ENDS = (b"\n\n", b"\r\n\r\n", b"\n", b"\r", b" ")
_PIPE_IT = ". Give a file or a folder of text, or send it to standard input and give '-'."
_TEXT = MARKUP | {".txt", ".text"}
NO_FILE = Path()


@dataclass(frozen=True)
class Document:
    """A text: its name, its pieces in UTF-8, masked, one after the other, and the file that it is in."""

    name: str
    pieces: Iterator[bytes]
    path: Path = NO_FILE


@dataclass(frozen=True)
class _Way:
    """How texts are found and read, and who is told of what is left out of folders."""

    encoding: str
    excluded: Excluded
    skipped: list[str]
    unread: list[str] | None

    def leave_out(self, name: str, error: SourceError, from_where: str = "") -> None:
        """Tell of a file that is no text, or not to its end; one that should be is another matter."""
        if self.unread is not None and ending(name) in _TEXT:
            self.unread.append(str(error))
        else:
            self.skipped.append(f"{_why(name, error)}{from_where}")

    def leave_out_odd(self, odd: Iterable[str]) -> None:
        """Tell of what is no file, and of folders that may not be read."""
        for each in odd:
            is_folder = not each.endswith(NOT_A_FILE)
            (self.unread if is_folder and self.unread is not None else self.skipped).append(each)


def documents(
    paths: PathLike | Sequence[PathLike],
    *,
    encoding: str = "utf-8",
    exclude: Sequence[str] = (),
    skipped: list[str] | None = None,
    unread: list[str] | None = None,
) -> Iterator[Document]:
    """The texts of files, folders and standard input, one after the other in bounded memory.

    What is no prose (code, commands, addresses) is hidden, see `masking`: Markdown, LaTeX, HTML and
    reStructuredText go by their endings, everything else is plain text. Lengths stay, so that offsets are
    those of the text in UTF-8 without its byte order mark. Pieces have at most 4 MiB and end behind a
    paragraph where there is one. Empty files are left out. Packed files (gz, bz2, xz, zst, lz4) are unpacked.

    Parameters
    ----------
    paths : a path, a pattern or a list of such; folders are read with all below them, sorted by name, except
        what is hidden or is source code or data by its ending; "-" is standard input
    encoding : of the texts
    exclude : patterns of files and folders to leave out: names, or ends of paths
    skipped : a list to which "name: reason" is added of what is left out in folders
    unread : a list for what is left out although its ending is that of a text; None adds it to the others
    """
    told = [] if skipped is None else skipped
    way = _Way(encoding, Excluded(exclude), told, unread)
    found = [path for path in meant(paths) if path.is_dir() or not way.excluded.below(str(path))]
    # All of them before the first text: who learns from the first shall not stumble over the second.
    for path in found:
        if not path.is_dir():
            require_prose(path)
    try:
        is_utf8(encoding)
    except LookupError as error:
        raise TextFaults(found[0] if found else Path("text"), encoding).of_reading(error) from error
    return chain.from_iterable(
        _below(path, way) if path.is_dir() else _named(path, encoding) for path in found
    )


def left_out(skipped: Sequence[str]) -> str:
    """How much was left out of folders, and of what kind the first few are, as a sentence."""
    more = f"; and {amount(len(skipped) - NAMED)} more" if len(skipped) > NAMED else ""
    return f"{counted(len(skipped), 'file')} left out: {'; '.join(skipped[:NAMED])}{more}."


def require_prose(path: Path) -> None:
    """Refuse what cannot be read, and source code."""
    check_readable(path, _PIPE_IT)
    if ending(str(path)) in SOURCE:
        raise SourceError(
            f"{path} is source code, not prose. Leave it out, or send it to standard input and give '-'.",
            path,
        )


def _named(path: Path, encoding: str) -> Iterator[Document]:
    """The text of a file that was asked for: what is wrong with it is an error."""
    name = printable(str(path))
    texts = pieces(text_of(path, encoding))
    first = next(texts, None)
    if first is not None:
        yield Document(name, masked_pieces(chain([first], texts), name), path)


def _below(folder: Path, way: _Way) -> Iterator[Document]:
    """The texts of a folder: what is not one is left out and told."""
    any_text = False
    odd: list[str] = []
    try:
        for file in files_below(os.fspath(folder), odd, way.excluded):
            for document in _met(Path(file), way):
                any_text = True
                yield document
    except OSError as error:
        raise unreadable(printable(str(folder)), error) from error
    way.leave_out_odd(odd)
    if not any_text:
        raise SourceError(
            f"{folder} holds no text. Give a folder with text files in it, or the files.", folder
        )


def _met(path: Path, way: _Way) -> Iterator[Document]:
    name = printable(str(path))
    if ending(name) in SOURCE | DATA:
        way.skipped.append(f"{name}: {'source code' if ending(name) in SOURCE else 'data'}, not prose")
        return
    texts = pieces(text_of(path, way.encoding))
    try:
        first = next(texts, None)
    except SourceError as error:
        way.leave_out(name, error)
        return
    if first is not None:
        yield Document(name, masked_pieces(_until_fault(first, texts, name, way), name), path)


def _until_fault(first: bytes, texts: Iterator[bytes], name: str, way: _Way) -> Iterator[bytes]:
    """Pieces up to the first that is no text; the rest of such a file is left out and told."""
    yield first
    try:
        yield from texts
    except SourceError as error:
        way.leave_out(name, error, " (from there on)")


def _why(name: str, error: SourceError) -> str:
    told = str(error).removeprefix(name).lstrip(",: ")
    return f"{name}: {told.partition('. ')[0].rstrip('.')}"


def pieces(blocks: Iterable[bytes], size: int | None = None) -> Iterator[bytes]:
    """A text that comes in blocks, in pieces of at most so many bytes, 4 MiB unless told."""
    most = size or PIECE
    held = b""
    for block in blocks:
        held += block
        while len(held) > most:
            end = _end(held, most)
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def text_of(path: Path, encoding: str) -> Iterator[bytes]:
    """The text of a file as it is read, without its byte order mark, or a refusal."""
    utf8 = codecs.getincrementaldecoder("utf-8")()
    try:
        with closing(open_text(path, encoding)) as text:
            for at, block in enumerate(text.windows()):
                utf8.decode(block)
                if b"\0" in block:
                    raise binary(path)
                yield block if at else block.removeprefix(MARK)
            utf8.decode(b"", final=True)
    except (*DAMAGE, LookupError) as error:
        raise TextFaults(path, encoding).of_reading(error) from error


def binary(path: Path) -> SourceError:
    """Word the refusal of a file with NUL bytes."""
    return SourceError(
        f"{path} is not a text but binary: it has NUL bytes. Leave it out; unpack it if it is an archive; "
        f"give encoding='utf-16' if it is such a text.",
        path,
    )


def _end(text: bytes, most: int) -> int:
    """Where a piece of a text that is longer than one ends."""
    for mark in _ENDS:
        at = text.rfind(mark, most // 2, most)
        if at >= 0:
            return at + len(mark)
    # Not within a character, if it is UTF-8.
    return next((at for at in range(most, most - 4, -1) if not 0x80 <= text[at] < 0xC0), most)
