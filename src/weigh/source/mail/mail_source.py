"""Mail as rows: headers, visible text, link hosts, flags and size of each message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from weigh.errors import SourceError
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, check_chunk_size
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

# The code of a class, and messages of that class.
_LabelledBatch = tuple[int, list[RawMessage]]


class MailSource(TextSource):
    """Messages as rows, labelled by their folder if there is one folder per class.

    The columns `from`, `to` and `subject` are headers, `text` is the visible text, `hosts` are the hosts of
    links, `flags` name suspicious features, and `size` is the size rounded up to a power of two.
    """

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.classes: list[str] = []
        if path.is_dir():
            # The total size is known only after reading all messages.
            self.bytes_total = None
            self.classes = [] if is_mailbox(path) else _list_classes(path)
        self.kinds = _COLUMN_KINDS
        self.set_columns({self.label_column: "string", **_COLUMN_KINDS}, self.label_column)
        if next(self._batches(1, 1), None) is None:
            raise SourceError(f"{path} holds no messages.", path)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers that parse about one block of messages each."""
        self.bytes_read = first_row = 0
        for batch in self._batches(self.block, check_chunk_size(size)):
            n_rows = len(batch[1])
            self.bytes_read += sum(raw.length for raw in batch[1])
            yield ChunkReader(n_rows, self._chunk, batch, first_row, kinds)
            first_row += n_rows
        self.bytes_read = self.bytes_total or self.bytes_read

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        # All of them are of the first class.
        return self._chunk(next(self._batches(MAX_PREFIX_BYTES, n)), 0, kinds)

    def _batches(self, n_bytes: int, max_rows: int) -> Iterator[_LabelledBatch]:
        """Yield batches of messages of one class each, class by class."""
        folders = [(code, self.path / name) for code, name in enumerate(self.classes)]
        for code, path in folders or [(_NO_LABEL_CODE, self.path)]:
            for batch in batches(messages_at(path), n_bytes, max_rows):
                yield code, batch

    def _chunk(self, batch: _LabelledBatch, first_row: int, kinds: ColumnKinds | None) -> Chunk:
        code, messages = batch
        rows = [message_row(raw) for raw in messages]
        columns: dict[str, Any] = {
            self.label_column: self.encode_labels(np.full(len(rows), code, dtype=np.int32), self.classes)
        }
        for name in _COLUMN_KINDS:
            column = np.empty(len(rows), dtype=object)
            column[:] = [row[name] for row in rows]
            columns[name] = column
        return self.make_chunk(columns, first_row, kinds)


def _list_classes(path: Path) -> list[str]:
    try:
        return class_names(path)
    except OSError as error:
        raise unreadable_error(path, error) from error


def message_row(raw: RawMessage) -> dict[str, Any]:
    """Return the values of a message by column, in column order; absent headers are None."""
    message = read(raw.content)
    return {
        **{name: message.header(name) for name in _HEADERS},
        "text": message.text,
        "hosts": [link.host for link in message.links if link.host],
        "flags": list(message.flags),
        "size": size_category(raw.length),
    }


def size_category(length: int) -> str:
    """Return the size of a message rounded up to a power of two kB."""
    return f"up to {1 << ((max(1, length) - 1) >> 10).bit_length():,} kB"
