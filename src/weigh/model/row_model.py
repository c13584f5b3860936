"""What all models share: rows in of any storage, a few at a time, and a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from weigh.features import Schema
from weigh.features.blocks import Level
from weigh.model import display, store
from weigh.model.pipeline import in_order
from weigh.source import Chunk
from weigh.source import rows as rows_of
from weigh.source.base import Piece, made

Result = TypeVar("Result")
CELLS = 4_000_000  # results held at once: rows × results of each


class RowModel(ABC):
    """A frozen model: reads rows, knows no training rows; `results` says how many numbers a row gets."""

    type_name: ClassVar[str]
    schema: Schema

    @abstractmethod
    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds: plain data, and arrays."""

    @property
    def results(self) -> int:
        """How many numbers a row gets."""
        return 1

    @property
    def uncalibrated(self) -> RowModel:
        """The model as it was learned; a calibrated one has another inside."""
        return self

    @property
    def label(self) -> str | None:
        """The name of the label column, if there was one."""
        return self.schema.label

    @property
    def levels(self) -> Mapping[str, Sequence[Level]]:
        """The values that columns of categories are known to have; empty if the model keeps none."""
        return {}

    @property
    def named_labels(self) -> Mapping[str, Sequence[Any]]:
        """The classes under the name of their column; empty where labels are no classes."""
        return {}

    @cached_property
    def storage(self) -> dict[str, str]:
        """How text files must be read to match what was learned, for `Source.stored`."""
        return self.schema.spelling({**self.levels, **self.named_labels})

    def chunks(self, rows: Any) -> Iterator[Chunk]:
        """Read rows of any storage, a few at a time, in the schema's names."""
        return (chunk for piece in self._pieces(rows) for chunk in self._cut(piece()))

    def worked(self, work: Callable[[Chunk], Result], rows: Any) -> Iterator[Result]:
        """Yield work(chunk) for all chunks of rows, in order, read and worked on by all cores."""

        def done(piece: Piece) -> list[Result]:
            return [work(chunk) for chunk in self._cut(piece())]

        return (result for results in in_order(done, self._pieces(rows)) for result in results)

    def _pieces(self, rows: Any) -> Iterator[Piece]:
        if isinstance(rows, Chunk):
            return iter([made(rows)])
        return self.schema.pieces(rows_of(rows, missing=self.schema.missing).stored(self.storage))

    def _cut(self, chunk: Chunk) -> list[Chunk]:
        """Return a chunk in parts whose results do not take too much memory."""
        step = max(1, CELLS // max(1, self.results))
        if chunk.n_rows <= step:
            return [chunk]
        return [chunk.slice(start, start + step) for start in range(0, chunk.n_rows, step)]

    def tables(self) -> Iterator[display.Told]:
        """Yield what the model is as small tables, for its display."""
        yield display.column_table(self.schema)

    def _repr_html_(self) -> str:
        return display.markup(repr(self)[1:-1], self.tables())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, at once or not at all."""
        meta, arrays = self.to_store()
        store.write(path, {"model": self.type_name, **meta}, arrays)

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes: equal models, equal bytes."""
        meta, arrays = self.to_store()
        return store.to_bytes({"model": self.type_name, **meta}, arrays)
