"""`documents`: the texts that paths lead to, masked and in pieces, in bounded memory."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from weigh import errors
from weigh.apps.spelling.markup.prose import (
    DATA_SUFFIXES,
    MARKUP_SUFFIXES,
    SOURCE_SUFFIXES,
    format_suffix,
    mask_pieces,
)
from weigh.errors import SourceError
from weigh.source.files.text_files import UTF8_BOM, TextFileErrors, is_utf8, open_text
from weigh.source.paths import (
    NOT_A_FILE,
    READ_ERRORS,
    PathLike,
    check_readable,
    printable_path,
    resolve_paths,
    unreadable_error,
    walk_files,
)
from weigh.text import format_count, format_quantity

MAX_PIECE_BYTES = 1 << 22
MAX_NAMED_FILES = 2  # files left out that are named
# Where a piece may end, the best place first.
_PIECE_ENDS = (b"\n\n", b"\r\n\r\n", b"\n", b"\r", b" ")
_STDIN_ADVICE = ". Give a file or a folder of text, or send it to standard input and give '-'."
_TEXT_SUFFIXES = MARKUP_SUFFIXES | {".txt", ".text"}
NO_FILE = Path()


@dataclass(frozen=True)
class Document:
    """A text: its name, its pieces in UTF-8, masked, one after the other, and the file that it is in."""

    name: str
    pieces: Iterator[bytes]
    path: Path = NO_FILE


@dataclass(frozen=True)
class _ReadOptions:
    """How texts are found and read, and who is told of what is left out of folders."""

    encoding: str
    excluded: ExcludePatterns
    skipped: list[str]
    unread: list[str] | None

    def skip_file(self, name: str, error: SourceError, from_where: str = "") -> None:
        """Tell of a file that is no text, or not to its end; one that should be is another matter."""
        if self.unread is not None and format_suffix(name) in _TEXT_SUFFIXES:
            self.unread.append(str(error))
        else:
            self.skipped.append(f"{_skip_reason(name, error)}{from_where}")

    def skip_unreadable(self, odd: Iterable[str]) -> None:
        """Tell of what is no file, and of folders that may not be read."""
        for each in odd:
            is_folder = not each.endswith(NOT_A_FILE)
            (self.unread if is_folder and self.unread is not None else self.skipped).append(each)


def read_documents(
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
    way = _ReadOptions(encoding, ExcludePatterns(exclude), told, unread)
    found = [path for path in resolve_paths(paths) if path.is_dir() or not way.excluded.excludes(str(path))]
    # All of them before the first text: who learns from the first shall not stumble over the second.
    for path in found:
        if not path.is_dir():
            check_is_prose(path)
    try:
        is_utf8(encoding)
    except LookupError as error:
        raise TextFileErrors(found[0] if found else Path("text"), encoding).read_error(error) from error
    return chain.from_iterable(
        _read_folder(path, way) if path.is_dir() else _read_file(path, encoding) for path in found
    )


def skipped_summary(skipped: Sequence[str]) -> str:
    """How much was left out of folders, and of what kind the first few are, as a sentence."""
    more = (
        f"; and {format_count(len(skipped) - MAX_NAMED_FILES)} more" if len(skipped) > MAX_NAMED_FILES else ""
    )
    return f"{format_quantity(len(skipped), 'file')} left out: {'; '.join(skipped[:MAX_NAMED_FILES])}{more}."


def check_is_prose(path: Path) -> None:
    """Refuse what cannot be read, and source code."""
    check_readable(path, _STDIN_ADVICE)
    if format_suffix(str(path)) in SOURCE_SUFFIXES:
        raise SourceError(
            f"{path} is source code, not prose. Leave it out, or send it to standard input and give '-'.",
            path,
        )


def _read_file(path: Path, encoding: str) -> Iterator[Document]:
    """The text of a file that was asked for: what is wrong with it is an error."""
    name = printable_path(str(path))
    texts = split_into_pieces(read_text_blocks(path, encoding))
    first = next(texts, None)
    if first is not None:
        yield Document(name, mask_pieces(chain([first], texts), name), path)


def _read_folder(folder: Path, way: _ReadOptions) -> Iterator[Document]:
    """The texts of a folder: what is not one is left out and told."""
    any_text = False
    odd: list[str] = []
    try:
        for file in walk_files(os.fspath(folder), odd, way.excluded):
            for document in _read_folder_file(Path(file), way):
                any_text = True
                yield document
    except OSError as error:
        raise unreadable_error(printable_path(str(folder)), error) from error
    way.skip_unreadable(odd)
    if not any_text:
        raise SourceError(
            f"{folder} holds no text. Give a folder with text files in it, or the files.", folder
        )


def _read_folder_file(path: Path, way: _ReadOptions) -> Iterator[Document]:
    name = printable_path(str(path))
    if format_suffix(name) in SOURCE_SUFFIXES | DATA_SUFFIXES:
        way.skipped.append(
            f"{name}: {'source code' if format_suffix(name) in SOURCE_SUFFIXES else 'data'}, not prose"
        )
        return
    texts = split_into_pieces(read_text_blocks(path, way.encoding))
    try:
        first = next(texts, None)
    except SourceError as error:
        way.skip_file(name, error)
        return
    if first is not None:
        yield Document(name, mask_pieces(_pieces_until_error(first, texts, name, way), name), path)


def _pieces_until_error(
    first: bytes, texts: Iterator[bytes], name: str, way: _ReadOptions
) -> Iterator[bytes]:
    """Pieces up to the first that is no text; the rest of such a file is left out and told."""
    yield first
    try:
        yield from texts
    except SourceError as error:
        way.skip_file(name, error, " (from there on)")


def _skip_reason(name: str, error: SourceError) -> str:
    told = str(error).removeprefix(name).lstrip(",: ")
    return f"{name}: {told.partition('. ')[0].rstrip('.')}"


def split_into_pieces(blocks: Iterable[bytes], size: int | None = None) -> Iterator[bytes]:
    """A text that comes in blocks, in pieces of at most so many bytes, 4 MiB unless told."""
    most = size or MAX_PIECE_BYTES
    held = b""
    for block in blocks:
        held += block
        while len(held) > most:
            end = _find_piece_end(held, most)
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def read_text_blocks(path: Path, encoding: str) -> Iterator[bytes]:
    """The text of a file as it is read, without its byte order mark, or a refusal."""
    utf8 = codecs.getincrementaldecoder("utf-8")()
    try:
        with closing(open_text(path, encoding)) as text:
            for at, block in enumerate(text.windows()):
                utf8.decode(block)
                if b"\0" in block:
                    raise binary_file_error(path)
                yield block if at else block.removeprefix(UTF8_BOM)
            utf8.decode(b"", final=True)
    except (*READ_ERRORS, LookupError) as error:
        raise TextFileErrors(path, encoding).read_error(error) from error


def binary_file_error(path: Path) -> SourceError:
    """Word the refusal of a file with NUL bytes."""
    return SourceError(
        f"{path} is not a text but binary: it has NUL bytes. Leave it out; unpack it if it is an archive; "
        f"give encoding='utf-16' if it is such a text.",
        path,
    )


def _find_piece_end(text: bytes, most: int) -> int:
    """Where a piece of a text that is longer than one ends."""
    for mark in _PIECE_ENDS:
        at = text.rfind(mark, most // 2, most)
        if at >= 0:
            return at + len(mark)
    # Not within a character, if it is UTF-8.
    return next((at for at in range(most, most - 4, -1) if not 0x80 <= text[at] < 0xC0), most)


class ExcludePatterns:
    """Whether a path is left out: its last parts match one of the patterns, part by part.

    `venv` and `CHANGELOG*` are names of files or folders anywhere, `docs/old` is what ends so.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [_pattern_parts(pattern) for pattern in patterns]

    def __call__(self, path: str) -> bool:
        """Whether this very path is left out."""
        return self._matches(path.split(os.sep))

    def excludes(self, path: str) -> bool:
        """Whether a path is left out, or a folder that it names on its way, unless it begins at the root."""
        parts = os.path.normpath(path).split(os.sep)
        ends = [len(parts)] if os.path.isabs(path) else range(1, len(parts) + 1)
        return any(self._matches(parts[:end]) for end in ends)

    def _matches(self, parts: list[str]) -> bool:
        return any(
            len(pattern) <= len(parts) and all(map(fnmatchcase, parts[-len(pattern) :], pattern))
            for pattern in self._patterns
        )


def _pattern_parts(pattern: str) -> list[str]:
    """The parts of a pattern; that folders may come before it, and all that is in it, goes without saying."""
    found = [part for part in pattern.split("/") if part not in ("", ".")]
    while found and found[0] == "**":
        del found[0]
    while found and found[-1] == "**":
        del found[-1]
    if not found:
        raise errors.parameter_error("documents", "exclude", "patterns of names, such as 'venv'", pattern)
    return found
