"""Atomic replacement of files."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO

StrPath = str | os.PathLike[str]

_FSYNC_UNSUPPORTED = {
    errno.EACCES,
    errno.EBADF,
    errno.EINVAL,
    errno.EISDIR,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.EROFS,
}

# Searching this many entries of a folder for stale drafts takes about 5 ms. In a folder with more, only these
# are searched, and only once per process.
MAX_SEARCHED_ENTRIES = 10_000
_large_folders: set[str] = set()

_DRAFT_PREFIX, _DRAFT_SUFFIX = ".weigh-", ".tmp"
_DRAFT_DIGITS = 16

# The drafts that exist, or are about to be created or removed, with the process that writes them.
_drafts: dict[str, int] = {}

WriteContext = Callable[[str, str], contextlib.AbstractContextManager[None]]


def _no_context(path: str, target: str) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


_write_context: WriteContext = _no_context


@contextlib.contextmanager
def atomic_write(path: StrPath, *, creates_folders: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file, the draft, that replaces `path` once it is complete and on disk.

    A failure leaves the old file unchanged. The new file keeps the old one's permissions, and its owner where
    the system allows it, so a file replaced by an administrator stays its owner's. Pipes and devices are
    written to directly. If `path` is a symbolic link, its target is replaced, not the link.

    A process that is killed leaves its draft behind; the next write in the same folder removes it.
    `creates_folders` says whether folders that do not exist are created; a failure removes them again.
    """
    mode = file_mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as handle:
            yield handle
        return
    target = os.path.realpath(path)
    if mode is None and os.path.islink(path):
        raise FileNotFoundError(errno.ENOENT, f"it is a link to {target}, which does not exist", path)
    permissions = None if mode is None else stat.S_IMODE(mode)
    folder = os.path.dirname(target)
    remove_stale_drafts(folder)
    with (
        _create_folders(folder) if creates_folders else contextlib.nullcontext(),
        _write_context(os.fspath(path), target),
        _create_draft(folder, permissions) as (draft, handle),
    ):
        if permissions is not None:
            _copy_owner(draft, target)
            # os.open applied the umask.
            os.chmod(draft, permissions)
        yield handle
        handle.flush()
        os.fsync(handle.fileno())
        if os.name == "nt":
            # Windows does not rename open files. Elsewhere closing would release the lock too early.
            handle.close()
        os.replace(draft, target)
    fsync_folder(folder)


@contextlib.contextmanager
def _create_folders(folder: str) -> Iterator[None]:
    """Create a folder and those that contain it; if the block fails, remove the ones created, if empty."""
    created: list[str] = []
    try:
        for path in reversed(_missing_folders(folder)):
            # Another process may create it at the same time.
            with contextlib.suppress(FileExistsError):
                os.mkdir(path)
                created.append(path)
        yield
    except BaseException:
        for path in reversed(created):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise


def _missing_folders(folder: str) -> list[str]:
    """Return the folders of an absolute path that do not exist, the innermost first."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def nearest_folder(path: StrPath) -> str:
    """Return the innermost part of a path that exists, in which the folders of a new file are created."""
    folder = os.path.dirname(path)
    while folder and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return folder or "."


@contextlib.contextmanager
def _create_draft(folder: str, permissions: int | None) -> Iterator[tuple[str, BinaryIO]]:
    """Create a draft in a folder, locked while its process lives, and remove it at the end unless renamed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        draft = os.path.join(folder, f"{_DRAFT_PREFIX}{os.urandom(_DRAFT_DIGITS // 2).hex()}{_DRAFT_SUFFIX}")
        # Registered before it exists, because a signal may arrive at any moment.
        _drafts[draft] = os.getpid()
        try:
            descriptor = os.open(draft, flags, 0o666 if permissions is None else permissions)
            with open(descriptor, "wb") as handle:
                # Before it was locked, another writer may have taken it for a stale one.
                if _lock(descriptor) is not False and os.path.exists(draft):
                    yield draft, handle
                    return
        finally:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            del _drafts[draft]


def set_write_context(context: WriteContext) -> None:
    """Enter `context(path, target)` while `atomic_write` has a draft; `target` is `path` without links.

    For programs that handle signals: a library must not.
    """
    global _write_context
    _write_context = context


def remove_own_drafts() -> None:
    """Remove the drafts of this process, which is about to end."""
    for draft, process in list(_drafts.items()):
        # A forked process has a copy of the list.
        if process == os.getpid():
            with contextlib.suppress(OSError):
                os.unlink(draft)


def is_draft(name: str) -> bool:
    """Whether a file name is that of a draft."""
    if not name.startswith(_DRAFT_PREFIX) or not name.endswith(_DRAFT_SUFFIX):
        return False
    digits = name[len(_DRAFT_PREFIX) : -len(_DRAFT_SUFFIX)]
    return len(digits) == _DRAFT_DIGITS and set(digits) <= set("0123456789abcdef")


def remove_stale_drafts(folder: str) -> None:
    """Remove the drafts of dead processes from a folder; does nothing on systems without file locks.

    A process is dead if the lock on its draft is free. Process ids would not show that: they are reused, and
    differ between containers and machines that share a folder.
    """
    if os.name == "nt" or folder in _large_folders:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, MAX_SEARCHED_ENTRIES):
            if is_draft(entry.name):
                with contextlib.suppress(OSError):
                    _remove_unlocked(entry.path, entry.stat(follow_symlinks=False))
        if next(entries, None) is not None:
            _large_folders.add(folder)


def _remove_unlocked(draft: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        return
    # On NFS, an exclusive lock needs write access.
    access = os.O_WRONLY if status.st_mode & stat.S_IWUSR else os.O_RDONLY
    descriptor = os.open(draft, access | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.path.samestat(status, os.fstat(descriptor)) and _lock(descriptor):
            os.unlink(draft)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Lock a file without waiting; returns False if it is locked, None if the system cannot lock it."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _copy_owner(draft: str, target: str) -> None:
    # Ordinary users may not change a file's owner; then the writer owns the file, as it would a copy.
    with contextlib.suppress(OSError, AttributeError):
        old = os.stat(target)
        os.chown(draft, old.st_uid, old.st_gid)


def file_mode(path: StrPath) -> int | None:
    """Return `st_mode` of the file that a path resolves to, None if it does not exist."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def error_reason(error: Exception) -> str:
    """Return the reason of an error without the error number and the file name."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def fsync_folder(folder: str) -> None:
    """Flush a folder so that a new name in it is durable, where the system supports it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        # The file is complete and in place, so a system that cannot fsync folders is acceptable. A disk error
        # is not: the caller must not yet delete what the file replaces.
        if error.errno not in _FSYNC_UNSUPPORTED:
            raise
