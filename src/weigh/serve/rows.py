"""Bodies of requests as rows for a model: JSON, JSON lines, CSV and Arrow IPC."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NoReturn

from weigh import errors
from weigh.features.schema import Schema
from weigh.model.base import BaseModel
from weigh.serve.http.limits import Limits
from weigh.serve.http.media_types import ARROW, CSV, JSON, JSON_LINES
from weigh.serve.http.problems import Problem
from weigh.source.base import Source
from weigh.source.chunk import Chunk, DictionaryColumn, TextColumn, to_pylist

MAX_IGNORED_NAMES = 20
_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True)
class Batch:
    """The rows of a request, in a form that models read, and the options beside them.

    `files` hold the text of rows that are read when they are predicted, until the batch is closed.
    """

    rows: Any
    n_rows: int
    options: Mapping[str, Any] = field(default_factory=dict)
    ignored_columns: tuple[str, ...] = ()
    files: contextlib.ExitStack | None = None

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        if self.files is not None:
            self.files.close()


def read_batch(body: bytes, media_type: str, model: BaseModel, limits: Limits) -> Batch:
    """Return the rows of a body, or raise a problem that says what is wrong with it."""
    return _READERS[media_type](body, model, limits)


def read_labelled_rows(
    body: bytes, media_type: str, model: BaseModel, limits: Limits
) -> tuple[list[Any], dict[str, Any]]:
    """Return rows with their labels as JSON values, and the options of the body."""
    if media_type == CSV:
        return _list_csv_rows(body, model, limits), {}
    if media_type == ARROW:
        return _read_arrow_table(body, limits).to_pylist(), {}
    return load_rows(body, media_type, limits)


def load_rows(body: bytes, media_type: str, limits: Limits) -> tuple[list[Any], dict[str, Any]]:
    """Return the rows of JSON or JSON lines as they are, and the options of the body."""
    if media_type == JSON_LINES:
        lines = body.split(b"\n")
        rows = [
            _load_json(line, limits, f"Line {number:,}")
            for number, line in enumerate(lines, 1)
            if line.strip()
        ]
        options: dict[str, Any] = {}
    else:
        options = _load_json(body, limits, "The body")
        if not isinstance(options, dict) or "rows" not in options:
            raise Problem(422, 'The body must be an object such as {"rows": [{"column": value}]}.')
        rows = options.pop("rows")
        rows = rows if isinstance(rows, list) else [rows]
    _check_rows(rows, limits)
    return rows, options


def _read_json(body: bytes, model: BaseModel, limits: Limits) -> Batch:
    return _make_batch(*load_rows(body, JSON, limits), model.schema)


def _read_json_lines(body: bytes, model: BaseModel, limits: Limits) -> Batch:
    return _make_batch(*load_rows(body, JSON_LINES, limits), model.schema)


def _make_batch(rows: list[Any], options: dict[str, Any], schema: Schema) -> Batch:
    if type(rows[0]) is not dict:
        return Batch(rows, len(rows), options)
    if not schema.named:
        return Batch(_order_cells(rows, schema.names), len(rows), options)
    accepted = schema.accepted_names
    if all(row.keys() <= accepted for row in rows):
        return Batch(rows, len(rows), options)
    # The fields of an object become columns of their own, so that its name is not one.
    extra = {name for row in rows for name in row.keys() - accepted if not isinstance(row[name], dict)}
    rows = [{name: cell for name, cell in row.items() if name not in extra} for row in rows]
    if not any(rows):
        raise errors.unknown_column_error(min(extra), schema.names, "The model")
    return Batch(rows, len(rows), options, tuple(sorted(extra)[:MAX_IGNORED_NAMES]))


def _order_cells(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[list[Any]]:
    """Return the cells in the order of the columns x0, x1, ... of a model of bare arrays."""
    absent = [name for name in names if not any(name in row for row in rows)]
    if absent:
        raise errors.ColumnError(
            f"The rows lack the column {errors.quote_names(absent)}; the model was trained on columns "
            "without names, which are x0, x1 and so on."
        )
    return [[row.get(name) for name in names] for row in rows]


def _check_rows(rows: list[Any], limits: Limits) -> None:
    """Raise a problem unless all rows are objects with cells, or all are lists, or all are texts."""
    _check_number(len(rows), limits)
    kinds = set(map(type, rows))
    if kinds == {dict}:
        if not any(rows):
            raise Problem(422, "The rows are empty objects; give them the columns of the model.")
        for row in rows:
            _check_cells(row.values(), limits)
    elif kinds == {list}:
        for row in rows:
            _check_cells(row, limits)
    elif kinds == {str}:
        _check_cells(rows, limits)
    else:
        raise Problem(422, "Every row must be an object, or every row a list, or every row a text.")


def _check_number(n_rows: int, limits: Limits) -> None:
    if n_rows == 0:
        raise Problem(422, "There are no rows.")
    if n_rows > limits.rows:
        raise Problem(413, f"There are {n_rows:,} rows; a request takes {limits.rows:,} at most.")


def _check_cells(cells: Iterable[Any], limits: Limits, depth: int = 3) -> None:
    for cell in cells:
        if type(cell) is str:
            _check_length(len(cell), limits)
        elif type(cell) not in _SCALARS:
            if depth >= limits.nesting:
                raise _nesting_problem(limits)
            nested = cell.values() if isinstance(cell, dict) else cell
            _check_cells(nested, limits, depth + 1)


def _check_length(length: int, limits: Limits) -> None:
    if length > limits.text_length:
        raise Problem(413, f"A text has {length:,} characters; a cell takes {limits.text_length:,} at most.")


def _load_json(text: bytes, limits: Limits, what: str) -> Any:
    try:
        return _DECODER.decode(text.decode().removeprefix("\ufeff"))
    except RecursionError:
        raise _nesting_problem(limits) from None
    except UnicodeDecodeError:
        raise Problem(400, f"{what} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"at line {error.lineno:,}, column {error.colno:,}"
        raise Problem(400, f"{what} is not JSON: {error.msg} {place}.") from None
    except ValueError as error:
        reason = str(error).partition(";")[0]
        raise Problem(400, f"{what} is not JSON: {reason}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON, use null for a missing value")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _nesting_problem(limits: Limits) -> Problem:
    return Problem(400, f"The body nests lists and objects more than {limits.nesting} levels deep.")


def _read_csv(body: bytes, model: BaseModel, limits: Limits) -> Batch:
    """Return the rows of CSV as a source, read as the training file of the model was."""
    with contextlib.ExitStack() as stack:
        source = _open_csv(body, model, stack)
        n_rows = 0
        for chunk in source.chunks():
            n_rows += chunk.n_rows
            _check_chunk(chunk, limits)
        _check_number(n_rows, limits)
        ignored = model.schema.extra_columns(source)[:MAX_IGNORED_NAMES]
        return Batch(source, n_rows, {}, tuple(ignored), stack.pop_all())


def _open_csv(body: bytes, model: BaseModel, stack: contextlib.ExitStack, label: str | None = None) -> Source:
    """Return a body as a source, which the stack closes."""
    from weigh.source.files.open_files import open as open_file

    if not body.strip():
        raise Problem(422, "There are no rows.")
    file, path = _spool(body)
    stack.enter_context(file)
    return open_file(path, label, format="csv", like=model)


def _list_csv_rows(body: bytes, model: BaseModel, limits: Limits) -> list[dict[str, Any]]:
    """Return the rows of CSV with the types that they have in training files."""
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        source = _open_csv(body, model, stack, model.label)
        for chunk in source.chunks(model.schema.kinds_to_read(source)):
            _check_chunk(chunk, limits)
            labels = {} if model.label is None else {model.label: chunk.labels}
            columns = {name: to_pylist(column) for name, column in {**chunk.columns, **labels}.items()}
            rows += [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
            _check_number(len(rows), limits)
    # NaN is a missing number, which JSON does not have.
    return [{name: None if cell != cell else cell for name, cell in row.items()} for row in rows]


def _spool(body: bytes) -> tuple[BinaryIO, str]:
    """Return a file without a name that holds a body, and the path by which this process can open it.

    It stays in memory where the system allows it, so that texts are not written to disks.
    """
    file: BinaryIO
    if hasattr(os, "memfd_create"):
        file = os.fdopen(os.memfd_create("weigh-body", os.MFD_CLOEXEC), "w+b")
        path = f"/proc/self/fd/{file.fileno()}"
    else:
        file = tempfile.NamedTemporaryFile(prefix="weigh-", suffix=".csv")  # type: ignore[assignment]  # noqa: SIM115
        path = file.name
    file.write(body)
    file.flush()
    return file, path


def _check_chunk(chunk: Chunk, limits: Limits) -> None:
    for column in chunk.columns.values():
        if isinstance(column, TextColumn):
            _check_length(int(column.sizes.max(initial=0)), limits)
        elif isinstance(column, DictionaryColumn):
            _check_length(max((len(str(value)) for value in column.values), default=0), limits)


def _read_arrow(body: bytes, model: BaseModel, limits: Limits) -> Batch:
    table, schema = _read_arrow_table(body, limits), model.schema
    if not schema.named:
        return Batch(table, table.num_rows)
    ignored = [
        name
        for name, kind in zip(table.schema.names, table.schema.types, strict=True)
        if name not in schema.accepted_names and not str(kind).startswith("struct<")
    ]
    if len(ignored) == table.num_columns:
        raise errors.unknown_column_error(ignored[0], schema.names, "The model")
    return Batch(table.drop_columns(ignored), table.num_rows, {}, tuple(ignored[:MAX_IGNORED_NAMES]))


def _read_arrow_table(body: bytes, limits: Limits) -> Any:
    from weigh.serve.arrow import read_table

    table = read_table(body)
    _check_number(table.num_rows, limits)
    _check_length(max(map(_longest_text, table.columns), default=0), limits)
    return table


def _longest_text(column: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return 0
    return pc.max(pc.utf8_length(column)).as_py() or 0


_READERS: Mapping[str, Callable[[bytes, BaseModel, Limits], Batch]] = {
    JSON: _read_json,
    JSON_LINES: _read_json_lines,
    CSV: _read_csv,
    ARROW: _read_arrow,
}
