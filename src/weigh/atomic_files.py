"""Atomic replacement of files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
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


@contextlib.contextmanager
def atomic_write(path: StrPath) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` once it is complete and on disk.

    A failure leaves the old file unchanged. The new file keeps the old one's permissions, and its owner where
    the system allows it, so a file replaced by an administrator stays its owner's. Pipes and devices are
    written to directly.
    """
    # Replace the target of a symbolic link, not the link.
    target = os.path.realpath(path)
    mode = file_mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as handle:
            yield handle
        return
    permissions = None if mode is None else stat.S_IMODE(mode)
    folder = os.path.dirname(target)
    draft = os.path.join(folder, f".weigh-{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(draft, flags, 0o666 if permissions is None else permissions)
    try:
        with open(descriptor, "wb") as handle:
            if permissions is not None:
                _copy_owner(draft, target)
                # os.open applied the umask.
                os.chmod(draft, permissions)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    fsync_folder(folder)


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
