"""The records of a CSV file as the native parser returns them, and their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.source.cells import CellCounts, OddCell, OddRows
from weigh.source.chunk import Column, DictionaryColumn, TextColumn
from weigh.source.files.base import parse_numeral
from weigh.source.files.text_files import Bytes
from weigh.source.files.units_row import MAX_INSPECTED_VALUES, find_units

# The type, a code per record and the distinct values; for "number" the number of missing cells and the
# records of odd ones, and one value per record; for "text" the start of each text, and their sizes, overflow
# and data.
NativeColumn = tuple[str, Any, Any]


@dataclass(frozen=True)
class ParsedRecords:
    """The columns of parsed records, by name."""

    columns: Mapping[str, NativeColumn]
    n_rows: int

    @classmethod
    def from_native(
        cls, names: Sequence[str], natives: Sequence[NativeColumn], n_rows: int, data: Bytes
    ) -> ParsedRecords:
        """Wrap the columns that the native parser returned for the data."""
        columns = dict(zip(names, natives, strict=True))
        for name, (kind, starts, values) in columns.items():
            if kind == "text":
                columns[name] = kind, starts, (*values, data)
        return cls(columns, n_rows)

    def count_cells(
        self, names: Sequence[str], first_row: int, read_cell: Callable[[str, int], OddCell] | None
    ) -> dict[str, CellCounts]:
        """Return the counts of number columns in which cells are missing or odd."""
        counts = {}
        for name in names:
            kind, codes, _ = self.columns[name]
            n_missing, records = codes if kind == "number" else (int(np.count_nonzero(codes < 0)), codes[:0])
            if len(records) and read_cell is not None:
                odd_rows = OddRows(first_row + records, partial(read_cell, name))
                counts[name] = CellCounts.of_rows(n_missing, odd_rows)
            elif n_missing or len(records):
                counts[name] = CellCounts(n_missing, len(records))
        return counts

    def find_units(self) -> list[str]:
        """Return the units in the first record of string and inferred columns, if it is a row of units."""
        columns = list(self.columns.values())
        firsts = [codes[0] for _, codes, _ in columns]
        # Most files have a number in the first row, which is cheaper to see than a unit.
        if any(code >= 0 and kind != "string" for code, (kind, _, _) in zip(firsts, columns, strict=True)):
            return []
        cells = [
            values[code] if code >= 0 else None for code, (_, _, values) in zip(firsts, columns, strict=True)
        ]

        def list_others(column: int) -> list[Any]:
            _, codes, values = columns[column]
            # A word that recurs is a value, not a unit.
            return list(values[int((codes[1:] != codes[0]).all()) : MAX_INSPECTED_VALUES])

        return find_units(cells, list_others)

    def can_provide(self, wanted: Mapping[str, str]) -> bool:
        """Whether the wanted columns can be converted from these without parsing again."""
        return all((self.columns[name][0], kind) in _COLUMN_CONVERSIONS for name, kind in wanted.items())

    def to_columns(self, wanted: Mapping[str, str]) -> dict[str, Column]:
        """Return the wanted columns, converted to their wanted types."""
        return {
            name: _COLUMN_CONVERSIONS[self.columns[name][0], kind](*self.columns[name][1:])
            for name, kind in wanted.items()
        }


def _parsed_column(
    codes: NDArray[np.int32], values: list[Any], integers: NDArray[np.int64] | None = None
) -> DictionaryColumn:
    # The parser adds a value when a record has it.
    return DictionaryColumn(codes, values, integers, uses_all_values=True)


def _decode_numbers(codes: NDArray[np.int32], values: NDArray[Any]) -> NDArray[np.float64]:
    # The code -1 of a missing value selects the last entry.
    return np.append(values.astype(np.float64), np.nan)[codes]


def _decode_objects(codes: NDArray[np.int32], values: list[str]) -> NDArray[Any]:
    return np.array([*values, None], dtype=object)[codes]


def _text_column(starts: NDArray[np.int64], buffers: tuple[NDArray[np.int64], Bytes, Bytes]) -> TextColumn:
    sizes, overflow, data = buffers
    return TextColumn(starts, sizes, data, overflow)


def _decode_numerals(codes: NDArray[np.int32], texts: list[str]) -> DictionaryColumn:
    """Convert the texts that are numerals to numbers."""
    code_of_value: dict[Any, int] = {}
    lookup = [code_of_value.setdefault(_number_or_text(text), len(code_of_value)) for text in texts]
    return DictionaryColumn(np.array([*lookup, -1], dtype=np.int32)[codes], list(code_of_value))


def _number_or_text(text: str) -> str | int | float:
    number = parse_numeral(text.strip(" \t"))
    return text if number is None else number


# Conversions by parsed type and wanted type.
_COLUMN_CONVERSIONS: dict[tuple[str, str], Callable[[NDArray[Any], Any], Column]] = {
    ("number", "number"): lambda codes, values: values,
    ("real", "number"): _decode_numbers,
    ("integer", "number"): _decode_numbers,
    ("integer", "integer"): lambda codes, values: _parsed_column(codes, values.tolist(), values),
    ("flag", "flag"): lambda codes, values: _parsed_column(codes, values.astype(bool).tolist()),
    ("string", "string"): lambda codes, values: _parsed_column(codes, values),
    ("string", "mixed"): _decode_numerals,
    ("string", "text"): _decode_objects,
    ("text", "text"): _text_column,
}
