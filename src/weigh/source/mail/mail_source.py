"""Mail as rows: what people see of a message, where its links lead, and what is odd about it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from weigh.errors import SourceError
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ChunkReader, ColumnKinds, check_chunk_size
from weigh.source.chunk import Chunk
from weigh.source.files.base import MAX_PREFIX_BYTES, TextSource
from weigh.source.files.folder import class_names
from weigh.source.mail.mailboxes import is_mailbox, messages_at
from weigh.source.mail.message import read
from weigh.source.mail.raw_message import RawMessage, batches
from weigh.source.missing import Marker
from weigh.source.paths import unreadable_error

_HEADERS = ("from", "to", "subject")
_COLUMN_KINDS = {
    **dict.fromkeys((*_HEADERS, "text"), "text"),
    "hosts": "tokens",
    "flags": "tokens",
    "size": "category",
}
_NO_LABEL_CODE = -1

# A code of a class, and messages of it.
_LabelledBatch = tuple[int, list[RawMessage]]


class MailSource(TextSource):
    """Messages as rows, labelled by the folders that hold them if there is a folder per class.

    The columns `from`, `to` and `subject` are headers, `text` is what is visible of the parts, `hosts` are
    those that links lead to, `flags` name what is odd, and `size` is a power of two that it does not exceed.
    """

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.classes: list[str] = []
        if path.is_dir():
            # Only reading a folder tells how many bytes its messages have.
            self.bytes_total = None
            self.classes = [] if is_mailbox(path) else _list_classes(path)
        self.kinds = _COLUMN_KINDS
        self.set_columns({self.label_column: "string", **_COLUMN_KINDS}, self.label_column)
        if next(self._batches(1, 1), None) is None:
            raise SourceError(f"{path} holds no messages.", path)

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all messages, at most `size` of them and about a block at a time."""
        return (piece() for piece in self.chunk_readers(kinds, size))

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Put messages together to about a block; they are taken apart when their piece is called."""
        self.bytes_read = self.rows_read = 0
        for batch in self._batches(self.block, check_chunk_size(size)):
            first_row = self.rows_read
            self.rows_read += len(batch[1])
            self.bytes_read += sum(stored.length for stored in batch[1])
            yield partial(self._chunk, batch, first_row, kinds)
        self.bytes_read = self.bytes_total or self.bytes_read

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first n messages, or fewer when they exceed 32 MB or end with a class; consumes nothing."""
        return self._chunk(next(self._batches(MAX_PREFIX_BYTES, check_chunk_size(n))), 0, kinds)

    def _batches(self, size: int, rows: int) -> Iterator[_LabelledBatch]:
        """Messages of one class at a time, of all of them in turn."""
        folders = [(code, self.path / name) for code, name in enumerate(self.classes)]
        for code, path in folders or [(_NO_LABEL_CODE, self.path)]:
            for batch in batches(messages_at(path), size, rows):
                yield code, batch

    def _chunk(self, batch: _LabelledBatch, first_row: int, kinds: ColumnKinds | None) -> Chunk:
        code, messages = batch
        rows = [_message_row(stored) for stored in messages]
        columns: dict[str, Any] = {
            self.label_column: self.encode_labels(np.full(len(rows), code, dtype=np.int32), self.classes)
        }
        for at, name in enumerate(_COLUMN_KINDS):
            column = np.empty(len(rows), dtype=object)
            column[:] = [row[at] for row in rows]
            columns[name] = column
        return self.make_chunk(columns, first_row, kinds)


def _list_classes(path: Path) -> list[str]:
    try:
        return class_names(path)
    except OSError as error:
        raise unreadable_error(path, error) from error


def _message_row(stored: RawMessage) -> tuple[Any, ...]:
    """The values of a message, in the order of the columns; a header that it lacks is missing."""
    message = read(stored.content)
    hosts = [link.host for link in message.links if link.host]
    return (
        *map(message.header, _HEADERS),
        message.text,
        hosts,
        list(message.flags),
        size_category(stored.length),
    )


def size_category(length: int) -> str:
    """How long a message is, in steps of a factor of two."""
    return f"up to {1 << ((max(1, length) - 1) >> 10).bit_length():,} kB"
