"""Bodies of Arrow IPC streams, checked before their buffers are read."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from weigh.serve.http.problems import Problem

_COMPRESSION_SLOT = 3  # of the table RecordBatch in Arrow's Message.fbs
_HEADER_SLOT = 2  # of the table Message
_BATCH_SLOT = 1  # of the table DictionaryBatch, whose data is a RecordBatch
_DICTIONARY_BATCH = 2  # of the union MessageHeader


def read_table(body: bytes) -> Any:
    """Return the table of an Arrow IPC stream, or raise a problem for a damaged or compressed one."""
    import pyarrow as pa

    try:
        stream = pa.BufferReader(body)
        while True:
            try:
                message = pa.ipc.read_message(stream)
            except EOFError:
                break
            if message.type != "schema" and _is_compressed(bytes(message.metadata)):
                # A few bytes could decompress to more than all memory.
                raise Problem(415, "The Arrow stream is compressed; write it without compression.")
        table = pa.ipc.open_stream(pa.BufferReader(body)).read_all()
        # Damaged offsets would let readers of the buffers leave them.
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError) as error:
        if isinstance(error, Problem):
            raise
        raise Problem(400, "The body is not a complete Arrow IPC stream.") from None
    return table


def _is_compressed(metadata: bytes) -> bool:
    """Return whether the buffers of a message are compressed, from its flatbuffer."""
    (root,) = struct.unpack_from("<I", metadata)
    header = _follow(metadata, root, _HEADER_SLOT)
    if header is None:
        return False
    kind = _slot(metadata, root, _HEADER_SLOT - 1)
    if kind is not None and metadata[kind] == _DICTIONARY_BATCH:
        header = _follow(metadata, header, _BATCH_SLOT)
    return header is not None and _slot(metadata, header, _COMPRESSION_SLOT) is not None


def _slot(data: bytes, table: int, number: int) -> int | None:
    """Return the position of a field of a flatbuffer table, or None if it is absent."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    place = 4 + 2 * number
    if place + 2 > struct.unpack_from("<H", data, vtable)[0]:
        return None
    (offset,) = struct.unpack_from("<H", data, vtable + place)
    return table + offset if offset else None


def _follow(data: bytes, table: int, number: int) -> int | None:
    """Return the position of the table that a field refers to, or None."""
    place = _slot(data, table, number)
    return None if place is None else place + struct.unpack_from("<I", data, place)[0]


def write_table(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as an Arrow IPC stream."""
    import pyarrow as pa

    arrays = {name: _to_array(list(values)) for name, values in columns.items()}
    table = pa.table(arrays)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _to_array(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Labels of several types, such as classes and 'unsure'.
        return pa.array([None if value is None else str(value) for value in values])
