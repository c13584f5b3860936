"""The rows of a partitioned frame as a source, and those of one of its partitions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weigh.errors import ColumnError, DataError, LabelError, first_line, unknown_column_error
from weigh.source.base import PREFIX_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import Chunk
from weigh.source.memory.conversion import table_from_arrow
from weigh.source.memory.table import TableSource
from weigh.source.missing import Marker
from weigh.source.partitioned.frame import PartitionedFrame
from weigh.source.partitioned.recognition import to_frame


class PartitionedSource(Source):
    """The rows of a frame, which only the engine's workers read; this process reads the first ones."""

    named = True

    def __init__(
        self, frame: PartitionedFrame, label: str | None = None, missing: tuple[Marker, ...] = ()
    ) -> None:
        self.frame, self.label, self.missing = frame, label, missing
        self._first_rows = frame.first_rows(PREFIX_ROWS)
        if not self._first_rows.num_rows:
            raise DataError(f"The {frame.engine} DataFrame has no rows, so there is nothing to read.")
        source = self._first_source()
        self.names, self.width, self.n_rows = source.names, source.width, None
        self.kinds = source.kinds

    @property
    def partition(self) -> PartitionReader:
        """What reads the rows of one partition."""
        types = {field.name: field.type for field in self._first_rows.schema}
        return PartitionReader(self.label, self.missing, types)

    def _first_source(self) -> TableSource:
        return TableSource(table_from_arrow(self._first_rows), label=self.label, missing=self.missing)

    def chunk_readers(self, kinds: ColumnKinds | None = None, size: int = 65_536) -> Iterator[ChunkReader]:
        """Raise DataError: the rows are not in this process."""
        raise DataError(
            f"This needs all rows in this process, and those of a {self.frame.engine} DataFrame are in its "
            "partitions.",
            hint=f"If they fit into memory, collect them: {self.frame.how_to_collect}.",
        )

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self._first_source().prefix(n, kinds)

    def with_label(self, name: str) -> Source:
        """Return the same rows with column `name` as the label."""
        source = copy.copy(self)
        source.label = name
        first = source._first_source()
        source.names, source.width = first.names, first.width
        return source

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing = missing
        return source


@dataclass(frozen=True)
class PartitionReader:
    """Reads the rows of a partition, whose columns must have the types of the first rows of the frame."""

    label: str | None
    missing: tuple[Marker, ...]
    types: dict[str, Any]

    def source(self, rows: Any) -> Source:
        """Return an Arrow table or record batch of the partition as a source."""
        conformed = _conform(rows, self.types)
        return TableSource(table_from_arrow(conformed), label=self.label, missing=self.missing)


def partitioned_source(data: Any, label: Any, weights: Any, missing: tuple[Marker, ...]) -> PartitionedSource:
    """Return the rows of a frame as a source; the label is the name of a column."""
    frame = to_frame(data)
    if weights is not None:
        raise DataError(f"Rows of a {frame.engine} DataFrame count once; leave out the weights.")
    if label is not None and not isinstance(label, str):
        raise LabelError(
            f"The labels of a {frame.engine} DataFrame are one of its columns, got {type(label).__name__}. "
            "Give the name of that column."
        )
    return PartitionedSource(frame, label, missing)


def _conform(rows: Any, types: dict[str, Any]) -> Any:
    """Return rows with the types of the first rows of the frame, or raise ColumnError; {} allows any."""
    if not types:
        return rows
    absent = [name for name in types if name not in rows.schema.names]
    if absent:
        raise unknown_column_error(absent[0], rows.schema.names, "The partition")
    columns = {name: _conform_column(name, rows.column(name), types[name]) for name in types}
    return type(rows).from_arrays(list(columns.values()), names=list(columns))


def _conform_column(name: str, column: Any, expected: Any) -> Any:
    given, wanted = _family(column.type), _family(expected)
    if given == wanted == "numbers" and column.type != expected:
        import pyarrow as pa

        try:
            return column.cast(expected)
        except pa.ArrowException as error:
            raise ColumnError(
                f"Column {name!r} is {expected} in the first rows and {column.type} here: "
                f"{first_line(error)}. Convert it to one type in all partitions."
            ) from error
    if given == wanted or "nothing" in (given, wanted):
        return column
    raise ColumnError(
        f"Column {name!r} holds {given} here and {wanted} in the first rows of the frame. Convert it to one "
        "type in all partitions."
    )


def _family(arrow_type: Any) -> str:
    """Return what a column holds, whatever its storage."""
    import pyarrow.types as t

    if t.is_dictionary(arrow_type):
        return _family(arrow_type.value_type)
    if t.is_null(arrow_type):
        return "nothing"
    if t.is_boolean(arrow_type):
        return "booleans"
    if t.is_integer(arrow_type) or t.is_floating(arrow_type) or t.is_decimal(arrow_type):
        return "numbers"
    if t.is_temporal(arrow_type):
        return "times"
    if "string" in str(arrow_type) and not t.is_nested(arrow_type):
        return "text"
    return "nested values" if t.is_nested(arrow_type) else str(arrow_type)
