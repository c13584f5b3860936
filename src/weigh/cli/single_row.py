"""One row, given as JSON on the command line or by its number in a file."""

from __future__ import annotations

import json
from typing import Any

import click

from weigh.cli.options import open_source_for_model


def row_from_json(model: Any, values: str) -> dict[str, Any]:
    """Parse one row; absent columns are missing."""
    from weigh import errors

    try:
        row = json.loads(values)
    except ValueError as cause:
        raise click.BadParameter(f"not JSON: {cause}", param_hint="'--values'") from None
    if not isinstance(row, dict):
        raise click.BadParameter('must be one row: {"column": value, ...}', param_hint="'--values'")
    known = model.schema.names
    for name in row:
        # In a row that was typed, an unknown column is a slip.
        if model.schema.named and name not in known and name != model.label:
            raise errors.unknown_column_error(name, known, "The model")
    return dict.fromkeys(known) | row


def row_from_file(model: Any, data: tuple[str, ...], row: int | None, written: dict[str, Any]) -> Any:
    """Return one row of a file as a chunk."""
    from weigh import errors

    if not data or row is None:
        raise click.UsageError("--row needs DATA, the file that has the row.")
    n_rows = 0
    for chunk in model.chunks(open_source_for_model(model, data, **written)):
        n_rows = chunk.first_row + chunk.n_rows
        if row < n_rows:
            return chunk.slice(row - chunk.first_row, row - chunk.first_row + 1)
    place = ", ".join(data)
    raise errors.DataError(f"{place} has {n_rows:,} rows, so there is no row {row:,} (the first is 0).")
