"""Columns as the native CSV reader gives them, and as chunks hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.source.bytes import Bytes
from weigh.source.chunk import Coded, Column, Texts
from weigh.source.labels import numeral

# The kind found, a code per record, and the values: distinct ones, or one per record of numbers. Of texts
# where each begins, and their sizes and bytes.
Native = tuple[str, NDArray[Any], Any]


@dataclass(frozen=True)
class Parsed:
    """Some records' columns, by name."""

    columns: Mapping[str, Native]
    n_rows: int

    @classmethod
    def of(cls, names: Sequence[str], natives: Sequence[Native], n_rows: int, data: Bytes) -> Parsed:
        """Take over what the native reader returned for the named columns of some data."""
        columns = dict(zip(names, natives, strict=True))
        for name, (kind, begins, values) in columns.items():
            if kind == "text":
                columns[name] = kind, begins, (*values, data)
        return cls(columns, n_rows)

    def gives(self, wanted: Mapping[str, str]) -> bool:
        """Whether the wanted columns can be had from these without reading the file again."""
        return all((self.columns[name][0], kind) in _READINGS for name, kind in wanted.items())

    def to_columns(self, wanted: Mapping[str, str]) -> dict[str, Column]:
        """The wanted columns, each in the storage that its kind asks for."""
        return {
            name: _READINGS[self.columns[name][0], kind](*self.columns[name][1:])
            for name, kind in wanted.items()
        }


def _numbers(codes: NDArray[np.int32], values: NDArray[Any]) -> NDArray[np.float64]:
    # A missing value's code is -1, which finds the last entry.
    return np.append(values.astype(np.float64), np.nan)[codes]


def _objects(codes: NDArray[np.int32], values: list[str]) -> NDArray[Any]:
    return np.array([*values, None], dtype=object)[codes]


def _texts(begins: NDArray[np.int64], held: tuple[NDArray[np.int64], Bytes, Bytes]) -> Texts:
    sizes, spilled, data = held
    return Texts(begins, sizes, data, spilled)


def _mixed(codes: NDArray[np.int32], texts: list[str]) -> Coded:
    """Texts, of which those that are numerals become the numbers they mean."""
    place: dict[Any, int] = {}
    lookup = [place.setdefault(_value(text), len(place)) for text in texts]
    return Coded(np.array([*lookup, -1], dtype=np.int32)[codes], list(place))


def _value(text: str) -> str | int | float:
    number = numeral(text.strip(" \t"))
    return text if number is None else number


# What was found (or asked for) and what is wanted of it.
_READINGS: dict[tuple[str, str], Callable[[NDArray[Any], Any], Column]] = {
    ("number", "number"): lambda codes, values: values,
    ("real", "number"): _numbers,
    ("integer", "number"): _numbers,
    ("integer", "integer"): lambda codes, values: Coded(codes, values.tolist()),
    ("flag", "flag"): lambda codes, values: Coded(codes, values.astype(bool).tolist()),
    ("string", "string"): Coded,
    ("string", "mixed"): _mixed,
    ("string", "text"): _objects,
    ("text", "text"): _texts,
}
