"""Columns of the input that `weigh predict` copies next to its predictions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from weigh import errors
from weigh.source.base import Source
from weigh.source.chunk import Chunk, is_text, to_pylist

ALL = "all"
# Numbers whose text can be written again from the number: no leading zeros, at most 15 digits.
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?", re.ASCII)


def select_columns(requested: Sequence[str], source: Source, written: Sequence[str]) -> list[str]:
    """Return the columns of a source that --keep names, or raise BadParameter."""
    known = _column_names(source)
    takes_all = ALL in requested and ALL not in known
    asked = [name for name in dict.fromkeys(requested) if not (takes_all and name == ALL)]
    for name in dict.fromkeys([*asked, *known] if takes_all else asked):
        if name not in known:
            near = errors.did_you_mean(name, known)
            raise click.BadParameter(
                f"the rows have no column {name!r}; they have {errors.quote_names(known)}.{near}",
                param_hint="'--keep'",
            )
        if name in written:
            raise click.BadParameter(
                f"the output has a column {name!r} of its own. Keep other columns, or rename it.",
                param_hint="'--keep'",
            )
    return known if takes_all else asked


def _column_names(source: Source) -> list[str]:
    """Return all columns in the order of the file, the label column included."""
    types = getattr(source, "types", None)
    label = [source.label] if source.label is not None else []
    return list(types) if types else [*source.names, *label]


class KeptColumns:
    """Reads columns of a source a second time, as they are in the file.

    Cells of a text file stay texts; with `is_typed`, columns of plain numbers become numbers. Identifiers
    with leading zeros, and longer ones than a float can hold, stay texts.
    """

    def __init__(self, source: Source, names: Sequence[str], is_typed: bool) -> None:
        self.names = names
        self._source = source.without_markers().with_storage(dict.fromkeys(names, "string"))
        self._skipped = {name: "skip" for name in self._source.names if name not in names}
        self._chunks: Iterator[Chunk] = self._source.chunks(self._skipped) if names else iter(())
        # Columns that were inferred or requested as text stay text.
        types = getattr(source, "types", {})
        self._numbers = self._find_numbers(types) if is_typed and names else set()
        self._waiting: list[list[Any]] = [[] for _ in names]

    def _find_numbers(self, types: Mapping[str, Any]) -> set[str]:
        """Return the columns of texts whose first rows are all plain numbers."""
        head = self._source.prefix(kinds=self._skipped)
        return {
            name
            for name in self.names
            if types.get(name) not in ("string", "mixed") and _are_plain_numbers(self._column(head, name))
        }

    def _column(self, chunk: Chunk, name: str) -> Any:
        return chunk.labels if name == self._source.label else chunk.columns[name]

    def take(self, n_rows: int) -> list[list[Any]]:
        """Return the next rows, column by column."""
        while self.names and len(self._waiting[0]) < n_rows:
            chunk = next(self._chunks)
            for name, waiting in zip(self.names, self._waiting, strict=True):
                waiting += self._cells(chunk, name)
        taken = [waiting[:n_rows] for waiting in self._waiting]
        self._waiting = [waiting[n_rows:] for waiting in self._waiting]
        return taken

    def _cells(self, chunk: Chunk, name: str) -> list[Any]:
        column = self._column(chunk, name)
        cells = to_pylist(column, name)
        if name in self._numbers:
            return [_to_number(cell) for cell in cells]
        # A number that is missing is NaN in a column of floats.
        return [None if cell != cell else cell for cell in cells]


def _are_plain_numbers(column: Any) -> bool:
    cells = [cell for cell in to_pylist(column) if cell is not None] if is_text(column) else []
    return bool(cells) and all(isinstance(cell, str) and _PLAIN_NUMBER.fullmatch(cell) for cell in cells)


def _to_number(text: Any) -> Any:
    """Return a number; a text that is none stays a text."""
    if text is None or not _PLAIN_NUMBER.fullmatch(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)
