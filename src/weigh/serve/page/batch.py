"""A CSV file with a prediction, its probability and the strongest reasons added to each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.csv_writer import CsvWriter
from weigh.model.base import Model
from weigh.model.evidence.evidence import Evidence
from weigh.serve.limits import Limits
from weigh.serve.problems import Problem
from weigh.serve.rows import batch_of_rows
from weigh.text import format_signed, truncate

N_REASONS = 3
MAX_CLASS_COLUMNS = 10  # with more classes only the verdict has its probability
ROWS_AT_ONCE = 200  # explained between two parts of the answer
MAX_REASON_WIDTH = 120
DELIMITERS = ",;\t|"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvTable:
    """The names and the rows of cells of a CSV file."""

    names: Sequence[str]
    records: Sequence[Sequence[str]]


class BatchAnswer:
    """The rows of a CSV file with predictions, written part by part."""

    def __init__(self, model: Any, body: bytes, limits: Limits) -> None:
        self._model = model
        self._table = parse_csv(body, limits)
        self._classes = list(model.classes) if isinstance(model, Model) else []
        self._rows = batch_of_rows(_rows_for(model, self._table), model.schema, limits, {}).rows
        # What the model cannot predict must be known before the answer begins.
        model.predict(self._rows)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._table.records)

    def parts(self) -> Iterator[bytes]:
        """Yield the answer as CSV."""
        yield _write_rows([[*self._table.names, *self._added_names]])
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            end = start + ROWS_AT_ONCE
            explained = self._model.explain(self._rows[start:end])
            pairs = zip(self._table.records[start:end], explained, strict=True)
            yield _write_rows([*record, *self._added_cells(evidence)] for record, evidence in pairs)

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
        return [*cells, *_format_reasons(evidence)]


def _format_reasons(evidence: Evidence) -> list[str]:
    """Return the strongest contributions without the class prior or bias, as text."""
    strongest = [row for row in evidence.strongest(N_REASONS + 1) if row.feature not in ("class prior", "bias")]
    reasons = [
        f"{truncate(row.title, MAX_REASON_WIDTH)} ({format_signed(row.nats, 3)})"
        for row in strongest[:N_REASONS]
    ]
    return [*reasons, *[""] * (N_REASONS - len(reasons))]


def _write_rows(rows: Any) -> bytes:
    text = io.StringIO()
    writer = CsvWriter(text, raw=False)
    for row in rows:
        writer.write_row(row)
    return text.getvalue().encode("utf-8", "backslashreplace")


def parse_csv(body: bytes, limits: Limits) -> CsvTable:
    """Read a CSV file with a header line, separated by commas, semicolons, tabs or bars."""
    text = _decode(body)
    first_line = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    records: list[list[str]] = []
    try:
        for record in reader:
            if not names:
                names = record
            elif record:
                _check_width(record, names, reader.line_num)
                records.append(record)
            if len(records) > limits.rows:
                raise Problem(413, f"The file has more than {limits.rows:,} rows; split it into smaller ones.")
    except csv.Error as error:
        raise Problem(422, f"Line {reader.line_num:,} of the file is not CSV: {error}.") from None
    if not records:
        raise Problem(422, "The file has no rows: it needs a header line with the columns, and a line per row.")
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise Problem(422, f"The file has several columns {errors.quote_names(repeated)}; rename them.")
    return CsvTable(names, records)


def _decode(body: bytes) -> str:
    if body.startswith(UTF16_MARKS):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _check_width(record: Sequence[str], names: Sequence[str], line: int) -> None:
    if len(record) != len(names):
        raise Problem(
            422, f"Line {line:,} of the file has {len(record):,} cells, but the header has {len(names):,}."
        )


def _rows_for(model: Any, table: CsvTable) -> list[dict[str, Any]]:
    """Return the columns that the model reads, with empty cells as missing and levels of their own types."""
    wanted = [(at, name) for at, name in enumerate(table.names) if name in set(model.schema.names)]
    levels = {name: {str(level): level for level in model.levels.get(name, ())} for _, name in wanted}
    return [
        {name: levels[name].get(record[at], record[at]) if record[at] else None for at, name in wanted}
        for record in table.records
    ]
