"""The values of one row, as short texts under their columns' names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weigh.model.weights import as_text
from weigh.report.facts import NOTHING, Fact
from weigh.source import Chunk
from weigh.source import rows as rows_of
from weigh.source.chunk import to_pylist
from weigh.text import cut

MOST = 40  # values of a row that are told
WIDEST = 300  # signs of a value


def values_of(rows: Any) -> tuple[Fact, ...]:
    """Return the values of a batch of one row; those beyond the first forty are counted."""
    chunk = rows if isinstance(rows, Chunk) else rows_of(rows).prefix(1)
    found = list(_pairs(chunk))
    told = tuple(Fact(cut(name, 120), cut(value, WIDEST)) for name, value in found[:MOST])
    return (*told, Fact("…", f"and {len(found) - MOST:,} more")) if len(found) > MOST else told


def _pairs(chunk: Chunk) -> Iterator[tuple[str, str]]:
    if chunk.wide is not None:
        entries = zip(chunk.wide.indices.tolist(), chunk.wide.data.tolist(), strict=True)
        yield from ((f"x{at}", as_text(value)) for at, value in entries)
        return
    for name, column in chunk.columns.items():
        value = to_pylist(column)[0]
        yield name, NOTHING if value is None or value != value else as_text(value)
