"""Fixtures for tests of files: a temporary working folder, and rows as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from weigh.errors import SourceError
from weigh.source import Chunk, Source, open
from weigh.source.chunk import to_pylist

Rows = list[dict[str, Any]]


def plain_rows(chunks: Iterable[Chunk]) -> Rows:
    """Return every row as a dict of its values, with "row", "label" and "weight"."""
    rows: Rows = []
    for chunk in chunks:
        columns = {name: to_pylist(column) for name, column in chunk.columns.items()}
        if chunk.sparse is not None:
            columns["wide"] = chunk.sparse.to_dense().tolist()
        if chunk.labels is not None:
            columns["label"] = to_pylist(chunk.labels)
        columns["weight"] = [1.0] * chunk.n_rows if chunk.weights is None else chunk.weights.tolist()
        columns["row"] = list(range(chunk.first_row, chunk.first_row + chunk.n_rows))
        rows += [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return rows


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


ErrorReader = Callable[..., tuple[str, int | None]]


@pytest.fixture
def read_error(working_folder: Path) -> ErrorReader:
    """Return a function that writes a file, reads it and returns the error message and its line."""

    def write_and_read(
        name: str, content: bytes | str | None = None, **options: Any
    ) -> tuple[str, int | None]:
        if content is not None:
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(SourceError) as caught:
            plain_rows(open(name, **options).chunks())
        assert caught.value.path == name
        return str(caught.value), caught.value.line

    return write_and_read


def read(source: Source, size: int = 65_536) -> Rows:
    return plain_rows(source.chunks(size=size))
