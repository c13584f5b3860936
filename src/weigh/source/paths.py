"""Resolving paths: files, glob patterns, folders and standard input."""

from __future__ import annotations

import errno
import glob
import lzma
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from weigh.atomic_files import error_reason
from weigh.errors import SourceError
from weigh.text import escape_control_characters, truncate

PathLike = str | os.PathLike[str]

NOT_A_FILE = ": not a file"
_SAVE_FIRST_ADVICE = ", and rows are read more than once; save it to a file first."
STDIN_PATH = "-"
_STDIN_CLOSED = "Standard input is closed. Give a file, or something to read."
# The first bytes of compressed files.
_SUFFIX_BY_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"\x04\x22\x4d\x18": ".lz4",
}
# Raised by decompressors for damaged files; Arrow's errors are OSError or ValueError.
READ_ERRORS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


def resolve_paths(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """Return the files that a path, a pattern or a list of them refers to."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    return [file for item in paths for file in _expand_path(os.fspath(item))]


def _expand_path(path: str) -> Iterator[Path]:
    require_nonempty_path(path)
    if path == STDIN_PATH:
        yield spool_stdin()
        return
    if not glob.has_magic(path) or os.path.lexists(path):
        yield Path(path)
        return
    files = sorted(file for file in glob.glob(path, recursive=True) if not os.path.isdir(file))
    if not files:
        raise SourceError(f"No file matches {path}.", path)
    yield from map(Path, files)


def require_nonempty_path(path: str) -> None:
    """Raise SourceError for an empty path, which usually comes from an unset shell variable."""
    if not path:
        raise SourceError("A path is empty. Give the name of a file or a folder; '.' is this folder.", path)


def list_folder(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder sorted by name, without hidden ones."""
    with os.scandir(folder) as entries:
        return sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)


def walk_files(
    folder: str, skipped: list[str] | None = None, excluded: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield the files below a folder in sorted order; links to folders are not followed.

    Other entries are skipped. If there is a list `skipped`, "name: reason" is added to it for each of them,
    and unreadable subfolders are skipped too. `excluded` paths and all below them are skipped silently.
    """
    # A stack instead of recursion, because folders may be nested very deeply.
    stack = [iter(list_folder(folder))]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
        elif excluded is not None and excluded(entry.path):
            continue
        elif entry.is_dir(follow_symlinks=False):
            stack.append(iter(_list_subfolder(entry.path, skipped)))
        elif is_file(entry):
            yield entry.path
        elif skipped is not None:
            skipped.append(f"{escape_control_characters(entry.path)}{NOT_A_FILE}")


def _list_subfolder(folder: str, skipped: list[str] | None) -> list[os.DirEntry[str]]:
    try:
        return list_folder(folder)
    except OSError as error:
        if skipped is None:
            raise
        skipped.append(f"{escape_control_characters(folder)}: cannot be read: {error_reason(error)}")
        return []


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file or a link to one."""
    try:
        return entry.is_file()
    except OSError:  # a cyclic link
        return False


def unreadable_error(path: PathLike, error: Exception) -> SourceError:
    """Return the error for a file that the system or a decompressor cannot read."""
    return SourceError(f"{path} cannot be read: {error_reason(error).rstrip('.')}.", os.fspath(path))


def check_readable(path: Path, advice: str = _SAVE_FIRST_ADVICE) -> None:
    """Raise SourceError unless the path is a readable file; `advice` completes the message for pipes."""
    try:
        path.stat()
    except OSError as cause:
        if cause.errno in {errno.ENAMETOOLONG, errno.ELOOP}:
            raise SourceError(
                f"{truncate(path, 60)} cannot be opened: {error_reason(cause)}.", path
            ) from cause
    if path.is_dir():
        raise SourceError(f"{path} is a folder, not a file.", path)
    if not path.exists():
        raise SourceError(f"There is no file {path}.", path)
    if not path.is_file():
        what = "a pipe" if path.is_fifo() else "not a regular file"
        raise SourceError(f"{path} is {what}{advice}", path)
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path} may not be read: permission denied.", path)


class SpooledStdin(Path):
    """A temporary copy of standard input, shown as such in messages, with its compression detected."""

    # Before Python 3.12, only the concrete path classes have this attribute.
    _flavour = getattr(type(Path()), "_flavour", None)
    compression_suffix: str

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return super().__str__()

    @property
    def suffix(self) -> str:
        """The file-name suffix of the detected compression."""
        return self.compression_suffix


def spool_stdin() -> Path:
    """Copy standard input to a temporary file, which has no name where the system allows it."""
    if sys.stdin is None:
        raise SourceError(_STDIN_CLOSED)
    spool = tempfile.NamedTemporaryFile(prefix="weigh-", delete=False)  # noqa: SIM115
    descriptor_path = f"/proc/self/fd/{spool.fileno()}"
    is_nameless = os.path.exists(descriptor_path)
    if is_nameless:
        # Before it is filled, so that no file is left if the process is killed.
        os.unlink(spool.name)
    try:
        shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
        spool.seek(0)
        start = spool.read(max(map(len, _SUFFIX_BY_MAGIC)))
    except BaseException as cause:
        spool.close()
        if not is_nameless:
            os.unlink(spool.name)
        if isinstance(cause, OSError) and cause.errno == errno.EBADF:
            raise SourceError(_STDIN_CLOSED) from cause
        if isinstance(cause, OSError):
            folder = os.path.dirname(spool.name)
            raise SourceError(
                f"Standard input cannot be copied to {folder}: {error_reason(cause)}. "
                f"Free space there, or set TMPDIR to a folder that has some."
            ) from cause
        raise
    if is_nameless:
        path = SpooledStdin(descriptor_path)
        weakref.finalize(path, spool.close)
    else:
        path = SpooledStdin(spool.name)
        spool.close()
        weakref.finalize(path, os.unlink, spool.name)
    path.compression_suffix = next(
        (suffix for magic, suffix in _SUFFIX_BY_MAGIC.items() if start.startswith(magic)), ""
    )
    return path
