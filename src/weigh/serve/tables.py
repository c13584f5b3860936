"""Answers as CSV."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from weigh.csv_writer import CsvWriter


def format_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as CSV; names that a spreadsheet would run as formulas are escaped."""
    text = io.StringIO()
    writer = CsvWriter(text, raw=False)
    writer.write_row(columns)
    for row in zip(*columns.values(), strict=True):
        writer.write_row(row)
    return text.getvalue().encode("utf-8", "replace")
