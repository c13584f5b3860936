"""Bytes on the disk: read, written and flushed, or a sentence that says why not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from weigh.errors import JournalError
from weigh.replacing import reason

# Systems read and write a little less than 2 GiB at once.
_AT_ONCE = 1 << 30


@contextlib.contextmanager
def telling(path: str, doing: str) -> Iterator[None]:
    """Turn a refusal of the system into a sentence about the journal."""
    try:
        yield
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be {doing}: {reason(error)}.") from error


def pieces(descriptor: int, at: int, length: int) -> bytes:
    """So many bytes from a place in a file, fewer if it ends before."""
    found = [os.pread(descriptor, min(length, _AT_ONCE), at)]
    done = len(found[0])
    while done < length and found[-1]:
        found.append(os.pread(descriptor, min(length - done, _AT_ONCE), at + done))
        done += len(found[-1])
    return b"".join(found)


def written(descriptor: int, data: bytes, at: int) -> None:
    """Write all bytes at a place in a file."""
    rest = memoryview(data)
    while rest:
        done = os.pwrite(descriptor, rest[:_AT_ONCE], at)
        rest = rest[done:]
        at += done


def flushed(descriptor: int) -> None:
    """Have a file's bytes on the disk."""
    import fcntl

    # macOS leaves bytes in the disk's own memory unless it is asked in this way.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)
