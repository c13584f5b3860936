"""Where the server listens: a socket in the store's folder that one server at a time may own."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
from collections.abc import Iterator

from weigh.errors import FileError
from weigh.replacing import reason

# What the address of a socket can hold on every Unix, without its final zero.
_LONGEST = 103
_WAITING = 128


@contextlib.contextmanager
def listening(path: str) -> Iterator[socket.socket]:
    """A listening socket that its owner alone may use; it and its file are gone afterwards.

    A lock beside it tells a running server from the file that a killed one has left.
    """
    if len(os.fsencode(path)) > _LONGEST:
        raise FileError(
            f"{path} is too long for a socket, which takes {_LONGEST} bytes. "
            "Choose a shorter path: --socket PATH."
        )
    with _owned(path):
        listener = _bound(path)
        ours = os.stat(path)
        try:
            yield listener
        finally:
            listener.close()
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), ours):
                    os.unlink(path)


def _bound(path: str) -> socket.socket:
    with _telling(path):
        _cleared(path)
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(path)
            # Nobody can connect before it listens.
            os.chmod(path, 0o600)
            listener.listen(_WAITING)
        except BaseException:
            listener.close()
            raise
        return listener


@contextlib.contextmanager
def _telling(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: the server cannot listen there: {reason(error)}.") from error


@contextlib.contextmanager
def _owned(path: str) -> Iterator[None]:
    """Hold the lock that belongs to a socket as long as the server runs."""
    with _telling(path):
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _running(path) from None
        yield
    finally:
        os.close(descriptor)


def _cleared(path: str) -> None:
    """Remove the socket of a killed server, and nothing else."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise FileError(
            f"{path} is a file that is not a socket, and stays. Choose another path: --socket PATH."
        )
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(1)
        refusal = caller.connect_ex(path)
    if refusal == 0:
        raise _running(path)
    if refusal == errno.ECONNREFUSED:
        os.unlink(path)


def _running(path: str) -> FileError:
    return FileError(
        f"A server is running already at {path}. "
        "Stop it first, or let this one listen elsewhere: --socket PATH."
    )
