"""Which files a path means: one, those that match a pattern, or standard input."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from weigh.errors import SourceError
from weigh.replacing import reason
from weigh.source.standard_input import NAME, spooled
from weigh.text import cut

PathLike = str | os.PathLike[str]

NOT_A_FILE = ": not a file"
_SAVE_IT = ", and rows are read more than once; save it to a file first."


def meant(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """The files that a path, a pattern or a list of such means."""
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    return [file for each in given for file in _meant_by(os.fspath(each))]


def _meant_by(path: str) -> Iterator[Path]:
    require_name(path)
    if path == NAME:
        yield spooled()
        return
    if not glob.has_magic(path) or os.path.lexists(path):
        yield Path(path)
        return
    found = sorted(file for file in glob.glob(path, recursive=True) if not os.path.isdir(file))
    if not found:
        raise SourceError(f"No file matches {path}.", path)
    yield from map(Path, found)


def require_name(path: str) -> None:
    """Refuse an empty path, which is what a shell makes of a variable that is not set."""
    if not path:
        raise SourceError("A path is empty. Give the name of a file or a folder; '.' is this folder.", path)


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, sorted by name; hidden entries are left out."""
    with os.scandir(folder) as found:
        return sorted((e for e in found if not e.name.startswith(".")), key=lambda e: e.name)


def files_below(
    folder: str, skipped: list[str] | None = None, excluded: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """The files of a folder and of those below it, sorted; links to folders are not followed.

    What is neither is left out, and so are folders below that may not be read, if there is a list `skipped`
    to add "name: reason" to. Paths that are `excluded` are left out silently, with all below them.
    """
    # A stack and no recursion: folders may be nested as deeply as paths are long.
    waiting = [iter(entries(folder))]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif excluded is not None and excluded(entry.path):
            continue
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(iter(_entries_below(entry.path, skipped)))
        elif is_file(entry):
            yield entry.path
        elif skipped is not None:
            skipped.append(f"{printable(entry.path)}{NOT_A_FILE}")


def _entries_below(folder: str, skipped: list[str] | None) -> list[os.DirEntry[str]]:
    try:
        return entries(folder)
    except OSError as error:
        if skipped is None:
            raise
        skipped.append(f"{printable(folder)}: cannot be read: {reason(error)}")
        return []


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file, or a link that leads to one."""
    try:
        return entry.is_file()
    except OSError:  # a link that leads in circles
        return False


def printable(path: str) -> str:
    """A path that can be printed, whatever bytes it has."""
    return path if path.isprintable() else repr(path)[1:-1]


def unreadable(path: PathLike, error: Exception) -> SourceError:
    """Word why the system, or what unpacks, cannot read a file."""
    return SourceError(f"{path} cannot be read: {reason(error).rstrip('.')}.", os.fspath(path))


def check_readable(path: Path, otherwise: str = _SAVE_IT) -> None:
    """Refuse what is no file, or may not be read; `otherwise` says what to do about pipes and devices."""
    try:
        path.stat()
    except OSError as cause:
        if cause.errno in {errno.ENAMETOOLONG, errno.ELOOP}:
            raise SourceError(f"{cut(path, 60)} cannot be opened: {reason(cause)}.", path) from cause
    if path.is_dir():
        raise SourceError(f"{path} is a folder, not a file.", path)
    if not path.exists():
        raise SourceError(f"There is no file {path}.", path)
    if not path.is_file():
        what = "a pipe" if path.is_fifo() else "not a regular file"
        raise SourceError(f"{path} is {what}{otherwise}", path)
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path} may not be read: permission denied.", path)
