"""Bodies of requests as rows for a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from weigh import errors
from weigh.features.schema import Schema
from weigh.serve.limits import Limits
from weigh.serve.problems import Problem


class Batch(NamedTuple):
    """The rows of a request, in a form that models read, and its options."""

    rows: Any
    n_rows: int
    options: dict[str, Any]
    ignored_columns: tuple[str, ...] = ()


def parse_json_body(body: bytes, schema: Schema, limits: Limits) -> Batch:
    """Return the batch of the object {"rows": [...], options...}."""
    document = _load_json(body, limits, "The body")
    if not isinstance(document, dict) or "rows" not in document:
        raise Problem(422, 'The body must be an object such as {"rows": [{"column": value}]}.')
    rows = document.pop("rows")
    return batch_of_rows(rows if isinstance(rows, list) else [rows], schema, limits, document)


def batch_of_rows(
    rows: list[Any], schema: Schema, limits: Limits, options: dict[str, Any], label: str | None = None
) -> Batch:
    """Return rows after checking their types, their number and the lengths of their cells."""
    if not rows:
        raise Problem(422, "There are no rows.")
    if len(rows) > limits.rows:
        raise Problem(413, f"There are {len(rows):,} rows; a request takes {limits.rows:,} at most.")
    kinds = set(map(type, rows))
    if kinds == {dict}:
        for row in rows:
            _check_cells(row.values(), limits)
        return _batch_of_objects(rows, schema, options, label)
    if kinds == {list}:
        for row in rows:
            _check_cells(row, limits)
    elif kinds == {str}:
        _check_cells(rows, limits)
    else:
        raise Problem(422, "Every row must be an object, or every row a list, or every row a text.")
    return Batch(rows, len(rows), options)


def _batch_of_objects(
    rows: list[dict[str, Any]], schema: Schema, options: dict[str, Any], label: str | None
) -> Batch:
    if not schema.named:
        return Batch(_name_free_rows(rows, schema.names), len(rows), options)
    return Batch(rows, len(rows), options)


def _name_free_rows(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[list[Any]]:
    """Return the cells in the order of the columns x0, x1, ... of a model of bare arrays."""
    absent = [name for name in names if not any(name in row for row in rows)]
    if absent:
        raise errors.ColumnError(
            f"The rows lack the column {errors.quote_names(absent)}; the model was trained on columns without "
            "names, which are called x0, x1 and so on here."
        )
    return [[row.get(name) for name in names] for row in rows]


def _check_cells(cells: Any, limits: Limits) -> None:
    for cell in cells:
        if type(cell) is str and len(cell) > limits.text_length:
            raise Problem(
                413, f"A text has {len(cell):,} characters; a cell takes {limits.text_length:,} at most."
            )


def _load_json(text: bytes, limits: Limits, what: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _nesting_problem(limits) from None
    except UnicodeDecodeError:
        raise Problem(400, f"{what} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Problem(
            400, f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except ValueError as error:
        raise Problem(400, f"{what} is not JSON: {error}.") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON; use null for a missing value")


def _nesting_problem(limits: Limits) -> Problem:
    return Problem(400, f"The body nests lists and objects more than {limits.nesting} levels deep.")
