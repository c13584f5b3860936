"""Standard input as a file: kept on disk, because rows are read more than once."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path

from weigh.errors import SourceError
from weigh.replacing import reason

NAME = "-"
_CLOSED = "Standard input is closed. Give a file, or something to read."
# How packed files begin.
_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"\x04\x22\x4d\x18": ".lz4",
}


class Spooled(Path):
    """A temporary file that messages call standard input, and whose packing was found in its bytes."""

    # Before Python 3.12, only the two concrete kinds of paths have one.
    _flavour = getattr(type(Path()), "_flavour", None)
    packing: str

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return super().__str__()

    @property
    def suffix(self) -> str:
        """The ending that the packing has in file names."""
        return self.packing


def spooled() -> Path:
    """Everything that standard input still holds, in a file without a name where the system allows it."""
    if sys.stdin is None:
        raise SourceError(_CLOSED)
    kept = tempfile.NamedTemporaryFile(prefix="weigh-", delete=False)  # noqa: SIM115
    try:
        shutil.copyfileobj(sys.stdin.buffer, kept, 1 << 20)
        kept.seek(0)
        start = kept.read(max(map(len, _MAGIC)))
    except BaseException as cause:
        kept.close()
        os.unlink(kept.name)
        if isinstance(cause, OSError) and cause.errno == errno.EBADF:
            raise SourceError(_CLOSED) from cause
        if isinstance(cause, OSError):
            raise SourceError(
                f"Standard input cannot be read and kept in {os.path.dirname(kept.name)}: {reason(cause)}. "
                f"Make room there, or set TMPDIR to a folder that has some."
            ) from cause
        raise
    nameless = f"/proc/self/fd/{kept.fileno()}"
    if os.path.exists(nameless):
        path = Spooled(nameless)
        os.unlink(kept.name)
        weakref.finalize(path, kept.close)
    else:
        path = Spooled(kept.name)
        kept.close()
        weakref.finalize(path, os.unlink, kept.name)
    path.packing = next((ending for magic, ending in _MAGIC.items() if start.startswith(magic)), "")
    return path
