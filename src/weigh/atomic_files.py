"""Files that are replaced as a whole, or left as they were."""

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
}
_FSYNC_UNSUPPORTED |= {errno.EPERM, errno.EROFS}


def file_mode(path: StrPath) -> int | None:
    """What the file behind a name is and who may use it, as `os.stat` tells; None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def error_reason(error: Exception) -> str:
    """Why the system has refused, without the error's number and the file's name."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


@contextlib.contextmanager
def atomic_write(path: StrPath) -> Iterator[BinaryIO]:
    """A file that takes the name of an ordinary one, or a new name, once all of it is on the disk.

    A failure leaves the old file as it was. The new one has the old one's permissions, and its owner where
    the system allows that: what an administrator replaces stays its owner's. Pipes and devices are
    written to; a file in their place would serve nobody.
    """
    # Through a link, the file behind it is replaced and not the link.
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
                # Once more, for what the system's mask has taken away.
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
    # Whoever may write to a file may not always give one away; then it is the writer's, as a copy would be.
    with contextlib.suppress(OSError, AttributeError):
        old = os.stat(target)
        os.chown(draft, old.st_uid, old.st_gid)


def fsync_folder(folder: str) -> None:
    """Make the new name durable, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        # The file is whole and in place by now, so a system that cannot sync a folder is no failure. A disk
        # that fails is: whoever drops what the file replaces must not do so yet.
        if error.errno not in _FSYNC_UNSUPPORTED:
            raise
