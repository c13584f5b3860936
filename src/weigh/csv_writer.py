"""Writing CSV that neither a spreadsheet nor a terminal runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TextIO

from weigh.text import escape_control_characters

# A cell that a spreadsheet may run as a formula: one that begins with a sign (full-width ones too), perhaps
# after spaces and quotes, which some programs drop. A number or a sign alone is no formula.
_FORMULA = re.compile(r"[\t\r\n]|[\s'\"]*[=+\-@＝＋－＠]")
_NUMBER_OR_SIGN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|nan)?")
# Spreadsheets in some countries divide lines at semicolons or tabs, where a formula could begin.
_QUOTED = re.compile('[",;\t\r\n]')


class CsvWriter:
    r"""Writes rows of CSV.

    A single quote is put before names that a spreadsheet would run as formulas, such as =1+1, and control
    characters are written as escapes such as \x1b. `raw` writes all names unchanged, except that control
    characters never reach a terminal.
    """

    def __init__(self, file: TextIO, raw: bool, delimiter: str = ",") -> None:
        self._file, self._escapes_formulas, self._delimiter = file, not raw, delimiter
        self._escapes_controls = not raw or file.isatty()

    def field(self, cell: Any) -> str:
        """Return a cell as it is written."""
        text = "" if cell is None else str(cell)
        if self._escapes_formulas and _FORMULA.match(text) and not _NUMBER_OR_SIGN.fullmatch(text):
            text = "'" + text
        if self._escapes_controls:
            text = escape_control_characters(text)
        if _QUOTED.search(text):
            text = '"' + text.replace('"', '""') + '"'
        return text

    def write_row(self, cells: Iterable[Any]) -> None:
        """Write a row."""
        self.write_fields([map(self.field, cells)])

    def write_fields(self, rows: Iterable[Iterable[str]]) -> None:
        """Write rows of numbers, and of cells that `field` returned."""
        self._file.writelines([self._delimiter.join(row) + "\n" for row in rows])
