"""Reading the texts of files, folders and standard input as masked pieces, in bounded memory."""

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
from weigh.advice import Setting
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
    resolve_paths,
    unreadable_error,
    walk_files,
)
from weigh.text import escape_control_characters, format_count, format_quantity

MAX_PIECE_BYTES = 1 << 22
MAX_NAMED_FILES = 2  # skipped files that a summary names
# Where a piece may end, best first.
_PIECE_ENDS = (b"\n\n", b"\r\n\r\n", b"\n", b"\r", b" ")
_STDIN_ADVICE = ". Give a file or a folder of text, or send it to standard input and give '-'."
_TEXT_SUFFIXES = MARKUP_SUFFIXES | {".txt", ".text"}
NO_FILE = Path()


@dataclass(frozen=True)
class Document:
    """A text: its name, its masked pieces in UTF-8, and its file."""

    name: str
    pieces: Iterator[bytes]
    path: Path = NO_FILE


@dataclass(frozen=True)
class _ReadOptions:
    """How files are selected and read, and the lists that record the skipped ones."""

    encoding: str
    excluded: ExcludePatterns
    skipped: list[str]
    unread: list[str] | None

    def skip_file(self, name: str, error: SourceError, note: str = "") -> None:
        """Record a file that could not be read as text, as unread if its suffix is that of a text."""
        if self.unread is not None and format_suffix(name) in _TEXT_SUFFIXES:
            self.unread.append(str(error))
        else:
            self.skipped.append(f"{_skip_reason(name, error)}{note}")

    def skip_unreadable(self, entries: Iterable[str]) -> None:
        """Record entries of folders that are not files, and unreadable subfolders."""
        for entry in entries:
            is_folder = not entry.endswith(NOT_A_FILE)
            (self.unread if is_folder and self.unread is not None else self.skipped).append(entry)


def read_documents(
    paths: PathLike | Sequence[PathLike],
    *,
    encoding: str = "utf-8",
    exclude: Sequence[str] = (),
    skipped: list[str] | None = None,
    unread: list[str] | None = None,
) -> Iterator[Document]:
    """Yield the texts of files, folders and standard input, one after the other, in bounded memory.

    Everything but prose is masked (see `markup.masking`): Markdown, LaTeX, HTML and reStructuredText by their
    suffixes, other files as plain text. Masking keeps lengths, so offsets refer to the text in UTF-8 without
    byte order mark. Pieces have at most 4 MiB and end after a paragraph if possible. Empty files are skipped.
    Compressed files (gz, bz2, xz, zst, lz4) are decompressed.

    Parameters
    ----------
    paths : a path, a glob pattern or a list of them; folders are read recursively, sorted by name, without
        hidden files, source code and data (by their suffixes); "-" is standard input
    encoding : of the texts
    exclude : patterns of files and folders to skip: names, or trailing parts of paths
    skipped : a list to which "name: reason" is appended for every file skipped in folders
    unread : a list for skipped files with the suffix of a text; None appends them to `skipped`
    """
    skip_list = [] if skipped is None else skipped
    options = _ReadOptions(encoding, ExcludePatterns(exclude), skip_list, unread)
    resolved = [
        path for path in resolve_paths(paths) if path.is_dir() or not options.excluded.excludes(str(path))
    ]
    # Check all files first, so that a long run does not fail at the last one.
    for path in resolved:
        if not path.is_dir():
            check_is_prose(path)
    try:
        is_utf8(encoding)
    except LookupError as error:
        raise TextFileErrors(resolved[0] if resolved else Path("text"), encoding).read_error(error) from error
    return chain.from_iterable(
        _read_folder(path, options) if path.is_dir() else _read_file(path, encoding) for path in resolved
    )


def skipped_summary(skipped: Sequence[str]) -> str:
    """Return a sentence with the number of skipped files and the first few reasons."""
    n_more = len(skipped) - MAX_NAMED_FILES
    more = f"; and {format_count(n_more)} more" if n_more > 0 else ""
    return f"{format_quantity(len(skipped), 'file')} skipped: {'; '.join(skipped[:MAX_NAMED_FILES])}{more}."


def check_is_prose(path: Path) -> None:
    """Raise `SourceError` for an unreadable file or source code."""
    check_readable(path, _STDIN_ADVICE)
    if format_suffix(str(path)) in SOURCE_SUFFIXES:
        raise SourceError(
            f"{path} is source code, not prose. Leave it out, or send it to standard input and give '-'.",
            path,
        )


def _read_file(path: Path, encoding: str) -> Iterator[Document]:
    """Read a file that the user named; any failure is an error."""
    name = escape_control_characters(str(path))
    pieces = split_into_pieces(read_text_blocks(path, encoding))
    first = next(pieces, None)
    if first is not None:
        yield Document(name, mask_pieces(chain([first], pieces), name), path)


def _read_folder(folder: Path, options: _ReadOptions) -> Iterator[Document]:
    """Read the texts of a folder; other files are skipped and recorded."""
    has_text = False
    unreadable: list[str] = []
    try:
        for file in walk_files(os.fspath(folder), unreadable, options.excluded):
            for document in _read_folder_file(Path(file), options):
                has_text = True
                yield document
    except OSError as error:
        raise unreadable_error(escape_control_characters(str(folder)), error) from error
    options.skip_unreadable(unreadable)
    if not has_text:
        raise SourceError(f"{folder} has no text files. Give another folder, or the files.", folder)


def _read_folder_file(path: Path, options: _ReadOptions) -> Iterator[Document]:
    name = escape_control_characters(str(path))
    suffix = format_suffix(name)
    if suffix in SOURCE_SUFFIXES | DATA_SUFFIXES:
        kind = "source code" if suffix in SOURCE_SUFFIXES else "data"
        options.skipped.append(f"{name}: {kind}, not prose")
        return
    pieces = split_into_pieces(read_text_blocks(path, options.encoding))
    try:
        first = next(pieces, None)
    except SourceError as error:
        options.skip_file(name, error)
        return
    if first is not None:
        yield Document(name, mask_pieces(_pieces_until_error(first, pieces, name, options), name), path)


def _pieces_until_error(
    first: bytes, pieces: Iterator[bytes], name: str, options: _ReadOptions
) -> Iterator[bytes]:
    """Yield pieces until one cannot be read; the remainder of the file is skipped and recorded."""
    yield first
    try:
        yield from pieces
    except SourceError as error:
        options.skip_file(name, error, " (skipped from there on)")


def _skip_reason(name: str, error: SourceError) -> str:
    message = str(error).removeprefix(name).lstrip(",: ")
    return f"{name}: {message.partition('. ')[0].rstrip('.')}"


def split_into_pieces(blocks: Iterable[bytes], size: int | None = None) -> Iterator[bytes]:
    """Regroup the blocks of a text into pieces of at most `size` bytes (default `MAX_PIECE_BYTES`)."""
    max_bytes = size or MAX_PIECE_BYTES
    buffer = b""
    for block in blocks:
        buffer += block
        while len(buffer) > max_bytes:
            end = _find_piece_end(buffer, max_bytes)
            yield buffer[:end]
            buffer = buffer[end:]
    if buffer:
        yield buffer


def read_text_blocks(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield a file in blocks of UTF-8, without byte order mark; raise `SourceError` if it is not text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with closing(open_text(path, encoding)) as text:
            for number, block in enumerate(text.windows()):
                decoder.decode(block)
                if b"\0" in block:
                    raise binary_file_error(path)
                yield block if number else block.removeprefix(UTF8_BOM)
            decoder.decode(b"", final=True)
    except (*READ_ERRORS, LookupError) as error:
        raise TextFileErrors(path, encoding).read_error(error) from error


def binary_file_error(path: Path) -> SourceError:
    """Return the error for a file with NUL bytes."""
    return SourceError(
        f"{path} is a binary file: it has NUL bytes.",
        path,
        hint=(
            "Leave it out; extract it if it is an archive; give ",
            Setting("encoding", "utf-16"),
            " if it is UTF-16 text.",
        ),
    )


def _find_piece_end(text: bytes, max_bytes: int) -> int:
    """Return the best end of a piece of at most `max_bytes`."""
    for separator in _PIECE_ENDS:
        index = text.rfind(separator, max_bytes // 2, max_bytes)
        if index >= 0:
            return index + len(separator)
    # Do not split a UTF-8 character.
    ends = range(max_bytes, max_bytes - 4, -1)
    return next((end for end in ends if not 0x80 <= text[end] < 0xC0), max_bytes)


class ExcludePatterns:
    """Glob patterns of paths to skip; a pattern matches the trailing parts of a path.

    `venv` and `CHANGELOG*` match files or folders anywhere, `docs/old` matches every path that ends with it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [_pattern_parts(pattern) for pattern in patterns]

    def __call__(self, path: str) -> bool:
        """Return whether this path itself matches."""
        return self._matches(path.split(os.sep))

    def excludes(self, path: str) -> bool:
        """Return whether a path matches or, if it is relative, one of its parent folders."""
        parts = os.path.normpath(path).split(os.sep)
        ends = [len(parts)] if os.path.isabs(path) else range(1, len(parts) + 1)
        return any(self._matches(parts[:end]) for end in ends)

    def _matches(self, parts: list[str]) -> bool:
        return any(
            len(pattern) <= len(parts) and all(map(fnmatchcase, parts[-len(pattern) :], pattern))
            for pattern in self._patterns
        )


def _pattern_parts(pattern: str) -> list[str]:
    """Split a pattern at slashes, without a leading or trailing ** (which every pattern implies)."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    while parts and parts[0] == "**":
        del parts[0]
    while parts and parts[-1] == "**":
        del parts[-1]
    if not parts:
        raise errors.parameter_error(
            "read_documents", "exclude", "patterns of names, such as 'venv'", pattern
        )
    return parts
