"""A CSV file with a prediction, its probability and the strongest reasons added to each row."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from typing import Any

from weigh.csv_writer import CsvWriter
from weigh.model.base import Model
from weigh.model.evidence.evidence import Evidence
from weigh.model.partitioned import format_reasons
from weigh.serve.http.limits import Limits
from weigh.serve.http.media_types import CSV
from weigh.serve.rows import read_batch
from weigh.source.base import Source
from weigh.source.chunk import Chunk, to_pylist

N_REASONS = 3
MAX_CLASS_COLUMNS = 10  # with more classes only the verdict has its probability
ROWS_AT_ONCE = 200  # explained between two parts of the answer


class BatchAnswer:
    """The rows of a CSV file with predictions, written part by part."""

    def __init__(self, model: Any, body: bytes, limits: Limits) -> None:
        self._model = model
        self._batch = read_batch(body, CSV, model, limits)
        self._classes = list(model.classes) if isinstance(model, Model) else []
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._batch)
            self._names, self._records = _read_cells(self._batch.rows)
            # What the model cannot predict must be known before the answer begins.
            model.predict(self._batch.rows)
            stack.pop_all()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._records)

    def parts(self) -> Iterator[bytes]:
        """Yield the answer as CSV."""
        with self._batch:
            yield _write_rows([[*self._names, *self._added_names]])
            records = iter(self._records)
            for part in self._chunks():
                explained = self._model.explain(part)
                yield _write_rows([*next(records), *self._added_cells(evidence)] for evidence in explained)

    def _chunks(self) -> Iterator[Chunk]:
        for chunk in self._model.chunks(self._batch.rows):
            for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
                yield chunk.slice(start, min(start + ROWS_AT_ONCE, chunk.n_rows))

    @property
    def _has_probabilities(self) -> bool:
        return bool(self._classes) and self._model.has_probabilities

    @property
    def _class_columns(self) -> list[Any]:
        return self._classes if self._has_probabilities and len(self._classes) <= MAX_CLASS_COLUMNS else []

    @property
    def _added_names(self) -> list[str]:
        measure = ["probability"] if self._has_probabilities else ["lead"] if self._classes else []
        shares = [f"P({label})" for label in self._class_columns]
        return ["prediction", *measure, *shares, *(f"reason {n}" for n in range(1, N_REASONS + 1))]

    def _added_cells(self, evidence: Evidence) -> list[Any]:
        cells: list[Any] = [evidence.verdict]
        if self._has_probabilities:
            cells.append(f"{evidence.probability:.6g}")
            cells += [f"{evidence.probabilities[label]:.6g}" for label in self._class_columns]
        elif self._classes:
            cells.append(f"{evidence.total:.6g}")
        return [*cells, *format_reasons(evidence, N_REASONS)]


def _read_cells(source: Source) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of all columns of a file and its cells as they are written."""
    label = [] if source.label is None else [source.label]
    names = [*source.names, *label]
    texts = source.without_markers().with_storage(dict.fromkeys(names, "string"))
    records: list[tuple[Any, ...]] = []
    for chunk in texts.chunks():
        columns = {**chunk.columns, **dict.fromkeys(label, chunk.labels)}
        records += zip(*(to_pylist(columns[name], name) for name in names), strict=True)
    return names, records


def _write_rows(rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    writer = CsvWriter(text, raw=False)
    for row in rows:
        writer.write_row(row)
    return text.getvalue().encode("utf-8", "backslashreplace")
