"""Which files a path means: one, those that match a pattern, or standard input."""

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
from weigh.text import truncate

PathLike = str | os.PathLike[str]

NOT_A_FILE = ": not a file"
_SAVE_FIRST_ADVICE = ", and rows are read more than once; save it to a file first."


def resolve_paths(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """The files that a path, a pattern or a list of such means."""
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    return [file for each in given for file in _expand_path(os.fspath(each))]


def _expand_path(path: str) -> Iterator[Path]:
    require_nonempty_path(path)
    if path == STDIN_PATH:
        yield spool_stdin()
        return
    if not glob.has_magic(path) or os.path.lexists(path):
        yield Path(path)
        return
    found = sorted(file for file in glob.glob(path, recursive=True) if not os.path.isdir(file))
    if not found:
        raise SourceError(f"No file matches {path}.", path)
    yield from map(Path, found)


def require_nonempty_path(path: str) -> None:
    """Refuse an empty path, which is what a shell makes of a variable that is not set."""
    if not path:
        raise SourceError("A path is empty. Give the name of a file or a folder; '.' is this folder.", path)


def list_folder(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, sorted by name; hidden entries are left out."""
    with os.scandir(folder) as found:
        return sorted((e for e in found if not e.name.startswith(".")), key=lambda e: e.name)


def walk_files(
    folder: str, skipped: list[str] | None = None, excluded: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """The files of a folder and of those below it, sorted; links to folders are not followed.

    What is neither is left out, and so are folders below that may not be read, if there is a list `skipped`
    to add "name: reason" to. Paths that are `excluded` are left out silently, with all below them.
    """
    # A stack and no recursion: folders may be nested as deeply as paths are long.
    waiting = [iter(list_folder(folder))]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif excluded is not None and excluded(entry.path):
            continue
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(iter(_list_subfolder(entry.path, skipped)))
        elif is_file(entry):
            yield entry.path
        elif skipped is not None:
            skipped.append(f"{printable_path(entry.path)}{NOT_A_FILE}")


def _list_subfolder(folder: str, skipped: list[str] | None) -> list[os.DirEntry[str]]:
    try:
        return list_folder(folder)
    except OSError as error:
        if skipped is None:
            raise
        skipped.append(f"{printable_path(folder)}: cannot be read: {error_reason(error)}")
        return []


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file, or a link that leads to one."""
    try:
        return entry.is_file()
    except OSError:  # a link that leads in circles
        return False


def printable_path(path: str) -> str:
    """A path that can be printed, whatever bytes it has."""
    return path if path.isprintable() else repr(path)[1:-1]


def unreadable_error(path: PathLike, error: Exception) -> SourceError:
    """Word why the system, or what unpacks, cannot read a file."""
    return SourceError(f"{path} cannot be read: {error_reason(error).rstrip('.')}.", os.fspath(path))


def check_readable(path: Path, otherwise: str = _SAVE_FIRST_ADVICE) -> None:
    """Refuse what is no file, or may not be read; `otherwise` says what to do about pipes and devices."""
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
        raise SourceError(f"{path} is {what}{otherwise}", path)
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path} may not be read: permission denied.", path)


STDIN_PATH = "-"
_STDIN_CLOSED = "Standard input is closed. Give a file, or something to read."
# How packed files begin.
_SUFFIX_BY_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"\x04\x22\x4d\x18": ".lz4",
}


class SpooledStdin(Path):
    """A temporary file that messages call standard input, and whose packing was found in its bytes."""

    # Before Python 3.12, only the two concrete kinds of paths have one.
    _flavour = getattr(type(Path()), "_flavour", None)
    compression_suffix: str

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return super().__str__()

    @property
    def suffix(self) -> str:
        """The ending that the packing has in file names."""
        return self.compression_suffix


def spool_stdin() -> Path:
    """Everything that standard input still holds, in a file without a name where the system allows it."""
    if sys.stdin is None:
        raise SourceError(_STDIN_CLOSED)
    kept = tempfile.NamedTemporaryFile(prefix="weigh-", delete=False)  # noqa: SIM115
    try:
        shutil.copyfileobj(sys.stdin.buffer, kept, 1 << 20)
        kept.seek(0)
        start = kept.read(max(map(len, _SUFFIX_BY_MAGIC)))
    except BaseException as cause:
        kept.close()
        os.unlink(kept.name)
        if isinstance(cause, OSError) and cause.errno == errno.EBADF:
            raise SourceError(_STDIN_CLOSED) from cause
        if isinstance(cause, OSError):
            raise SourceError(
                f"Standard input cannot be read and kept in {os.path.dirname(kept.name)}: {error_reason(cause)}. "
                f"Make room there, or set TMPDIR to a folder that has some."
            ) from cause
        raise
    nameless = f"/proc/self/fd/{kept.fileno()}"
    if os.path.exists(nameless):
        path = SpooledStdin(nameless)
        os.unlink(kept.name)
        weakref.finalize(path, kept.close)
    else:
        path = SpooledStdin(kept.name)
        kept.close()
        weakref.finalize(path, os.unlink, kept.name)
    path.compression_suffix = next(
        (ending for magic, ending in _SUFFIX_BY_MAGIC.items() if start.startswith(magic)), ""
    )
    return path


# What the libraries that unpack raise over damaged files; Arrow's errors are OSError or ValueError.
READ_ERRORS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
