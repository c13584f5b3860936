"""The text of a file as UTF-8 bytes: mapped into memory, or unpacked and decoded on the way."""

from __future__ import annotations

import codecs
import lzma
import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]

MARK = b"\xef\xbb\xbf"
_STEP = 1 << 20
_COMPRESSION = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4"}


def compression(path: Path) -> str | None:
    """The compression a file's ending stands for, if any."""
    return _COMPRESSION.get(path.suffix.lower())


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8 under any of its names; LookupError when there is none such."""
    if "\0" in encoding or not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
        raise LookupError(f"unknown encoding: {encoding}")
    return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}


class FileText(ABC):
    """A file's text; windows on it may move forwards only."""

    @abstractmethod
    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""

    @abstractmethod
    def read_up_to(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file; windows stay valid."""

    def windows(self, stop: int | None = None) -> Iterator[bytes]:
        """The text from its start, up to `stop`, step by step."""
        at, closed = 0, False
        while not closed and (stop is None or at < stop):
            data, closed = self.window(at, _STEP if stop is None else min(_STEP, stop - at))
            at += len(data)
            yield data.tobytes()


def open_text(path: Path, encoding: str) -> FileText:
    """The text of a file that is not empty."""
    if compression(path) is None and is_utf8(encoding):
        return MappedText(path)
    return StreamedText(path, encoding)


def unpacked(path: Path) -> tuple[Any, Any]:
    """The file's bytes, unpacked, and the file below them, whose position tells progress."""
    raw = path.open("rb")
    codec = compression(path)
    if codec == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw), raw
    if codec == "bz2":
        import bz2

        return bz2.BZ2File(raw), raw
    if codec == "xz":
        return lzma.LZMAFile(raw), raw
    if codec is None:
        return raw, raw
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec), raw


class MappedText(FileText):
    """A plain UTF-8 file; windows are views of it, mapped one by one so that only those in use count."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._size = os.fstat(self._file.fileno()).st_size

    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""
        end = min(at + size, self._size)
        if end <= at:
            return np.empty(0, dtype=np.uint8), True
        begin = at - at % mmap.ALLOCATIONGRANULARITY
        held = mmap.mmap(self._file.fileno(), end - begin, access=mmap.ACCESS_READ, offset=begin)
        return np.frombuffer(held, dtype=np.uint8)[at - begin :], end == self._size

    def read_up_to(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""
        return at

    def close(self) -> None:
        """Close the file; a mapping ends with its last view."""
        self._file.close()


class StreamedText(FileText):
    """A packed file, or one in another encoding; only the current window is in memory."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._decoder = None if is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()
        self._stream, self._raw = unpacked(path)
        self._held = b""
        self._begin = 0  # where in the text the held bytes begin
        self._ended = False

    def window(self, at: int, size: int) -> tuple[Bytes, bool]:
        """The `size` bytes from `at` on, fewer at the end, and whether the end is reached."""
        self._drop(at)
        parts = [self._held]
        held = len(self._held)
        # One byte more than asked for: only its absence tells that the end is reached.
        while held <= size and not self._ended:
            parts.append(self._more())
            held += len(parts[-1])
        self._held = b"".join(parts) if len(parts) > 1 else self._held
        return np.frombuffer(self._held, dtype=np.uint8)[:size], self._ended and held <= size

    def read_up_to(self, at: int) -> int:
        """How many bytes of the file had to be read for the text up to `at`."""
        return int(self._raw.tell())

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def _drop(self, at: int) -> None:
        """Let go of everything before `at`."""
        while at - self._begin > len(self._held) and not self._ended:
            self._begin += len(self._held)
            self._held = self._more()
        self._held = self._held[at - self._begin :]
        self._begin = at

    def _more(self) -> bytes:
        packed: bytes = self._stream.read(_STEP)
        self._ended = not packed
        if self._decoder is None:
            return packed
        return self._decoder.decode(packed, final=self._ended).encode("utf-8", "surrogatepass")
