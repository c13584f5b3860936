"""Finding the kinds of columns from their types and first rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import ConstantSequence, Floats, NumberedNames
from weigh.features.columns import encode_column, is_missing, to_numbers, to_objects
from weigh.features.derived_columns import derive_column
from weigh.features.kind_registry import Derived, Lag, to_kind
from weigh.features.kinds import Category, Flag, Kind, Number
from weigh.features.schema import Schema
from weigh.features.text_kinds import Text, Tokens
from weigh.source import Chunk, Source
from weigh.source.chunk import Column, DictionaryColumn, ListColumn, TextColumn, is_arrow, rename_columns
from weigh.source.missing import Marker

MIN_NUMERALS = 4  # distinct ones, to speak of a column of numbers
MAX_INSPECTED_VALUES = 200  # distinct values
MAX_INTEGER_LEVELS = 20  # integers with more distinct values than this are numbers


def infer_kind(column: Column, name: str, number: Number) -> Kind:
    """Return the kind of a column from its type and its first rows.

    Booleans are flags; strings are categories, or text when most of them have several words and
    are distinct; floats are numbers; integers are numbers, or categories with few distinct
    values; lists of strings are tokens.
    """
    found = _storage_type(column)
    if found == "flag":
        return Flag()
    if found == "float":
        return number
    if found == "integer":
        return _kind_of_integers(column, name, number)
    if found == "string":
        return _kind_of_strings(column, name)
    if found == "list":
        return Tokens()
    if found == "nothing":
        raise errors.ColumnError(
            f"Column {name!r} has no values at all in the first rows, so its kind cannot be found. "
            f"Leave it out with columns={{{name!r}: 'skip'}}, or say its kind."
        )
    raise errors.ColumnError(
        f"Column {name!r} is of type {found}, which has no kind of its own. Leave it out with "
        f"columns={{{name!r}: 'skip'}}, or turn it into numbers or strings."
    )


def _storage_type(column: Column) -> str:
    if isinstance(column, DictionaryColumn):
        return _object_storage_type(column.values)
    if isinstance(column, (TextColumn, ListColumn)):
        column = to_objects(column)
    if is_arrow(column):
        if column.null_count == len(column):
            return "nothing"
        return _arrow_storage_type(str(column.type))
    kind = column.dtype.kind
    if kind == "f":
        return "nothing" if np.isnan(column).all() else "float"
    if kind == "O":
        return _object_storage_type(column.tolist())
    return {"b": "flag", "i": "integer", "u": "integer", "U": "string"}.get(kind, str(column.dtype))


def _arrow_storage_type(name: str) -> str:
    if name.startswith("dictionary<values="):
        name = name.removeprefix("dictionary<values=").split(",")[0]
    if name == "bool":
        return "flag"
    if name.startswith(("int", "uint")):
        return "integer"
    if name.startswith(("double", "float", "halffloat", "decimal")):
        return "float"
    if name in ("string", "large_string", "string_view"):
        return "string"
    if name.startswith(("list<", "large_list<", "list_view<")) and "string" in name:
        return "list"
    return name


def _object_storage_type(values: list[Any]) -> str:
    types = set(map(type, values)) - {type(None)}
    if float in types and all(is_missing(v) for v in values if isinstance(v, float)):
        types.discard(float)
    if not types:
        return "nothing"
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return "flag"
    if all(issubclass(t, (bool, int, np.integer, np.bool_)) for t in types):
        return "integer"
    if all(issubclass(t, (bool, int, float, np.number, np.bool_)) for t in types):
        return "float"
    if all(issubclass(t, (list, tuple, set, frozenset, np.ndarray)) for t in types):
        return "list"
    if any(issubclass(t, str) for t in types):
        return "string"
    return next(iter(sorted(t.__name__ for t in types)))


def _kind_of_integers(column: Column, name: str, number: Number) -> Kind:
    if isinstance(column, DictionaryColumn):
        return Category() if len(column.values) <= MAX_INTEGER_LEVELS else number
    if is_arrow(column):
        column = to_objects(column.drop_null())
    distinct = {value for value in encode_column(column, name)[1] if not is_missing(value)}
    return Category() if len(distinct) <= MAX_INTEGER_LEVELS else number


def _kind_of_strings(column: Column, name: str) -> Kind:
    codes, values = encode_column(column, name)
    _warn_of_odd_values(values, name)
    known = codes[codes >= 0]
    several = np.fromiter((_has_several_words(v) for v in values), dtype=bool, count=len(values))
    is_wordy = 2 * several[known].sum() > len(known)
    if 2 * len(values) <= len(known):
        if is_wordy and len(values) > MAX_INSPECTED_VALUES:
            warnings.warn(
                f"Column {name!r} was taken for a category of {len(values):,} values or more, most of them "
                f"of several words. If that is running text, say columns={{{name!r}: 'text'}}.",
                errors.OddValues,
                stacklevel=2,
            )
        return Category()
    return Text() if is_wordy else Category()


def _has_several_words(value: Any) -> bool:
    return isinstance(value, str) and len(value.split(None, 2)) >= 2


def _warn_of_odd_values(values: list[Any], name: str) -> None:
    """Warn of a column that would hold numbers but for one or two words."""
    odd = [value for value in values[:MAX_INSPECTED_VALUES] if not _is_numeral(value)]
    if 1 <= len(odd) <= 2 and len(values) >= MIN_NUMERALS + len(odd):
        warnings.warn(
            f"Column {name!r} holds numbers but for {errors.quote_names(odd)}, and was taken for a category. If "
            f"that means missing, say missing={odd!r}.",
            errors.OddValues,
            stacklevel=2,
        )


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


MAX_INFERRED_COLUMNS = 1000  # a sparse matrix wider than this must be given its kind
MAX_PREFIX_CELLS = 10_000_000


def infer_schema(
    source: Source, columns: object = "auto", number: Number | None = None, missing: Sequence[Marker] = ()
) -> Schema:
    """Return the schema of a source.

    `columns` is "auto", one kind for all columns, a mapping from names to kinds (the others are
    found), or a schema found before.
    """
    if isinstance(columns, Schema):
        return replace(columns, label=source.label or columns.label)
    names = source.names if source.named else NumberedNames(source.width, source.start)
    given, made = _parse_kinds(columns, names, source.named)
    marks = tuple(dict.fromkeys([*missing, *source.missing]))
    schema = Schema(names, (), source.named, source.label, marks, made)
    if isinstance(given, Kind) and not (isinstance(given, Number) and isinstance(given.bins, int)):
        return replace(schema, kinds=ConstantSequence(given, len(names)))
    prefix = _read_prefix(source, names, given)
    found = []
    for name in names:
        kind = given if isinstance(given, Kind) else given.get(name)
        if kind is None and name in source.kinds:
            kind = to_kind(source.kinds[name], "the source")
        kind = kind or infer_kind(prefix.columns[name], name, number or Number())
        found.append(_resolve_bins(kind, prefix, name, schema.missing))
    return replace(schema, kinds=found, made=_resolve_derived_bins(made, prefix, schema.missing))


def _parse_kinds(
    columns: object, names: Sequence[str], named: bool
) -> tuple[Kind | dict[str, Kind], dict[str, Kind]]:
    if isinstance(columns, str) and columns == "auto":
        return {}, {}
    if not isinstance(columns, Mapping):
        return to_kind(columns, "columns"), {}
    given: dict[str, Kind] = {}
    made: dict[str, Kind] = {}
    known = set(names)
    for key, value in columns.items():
        name = f"x{key}" if isinstance(key, int) and not named else str(key)
        kind = to_kind(value, f"columns[{name!r}]")
        if isinstance(kind, (Derived, Lag)):
            if name in known:
                raise errors.ColumnError(
                    f"The derived column {name!r} has the name of a column of the table. Give it another."
                )
            made[name] = kind
        elif name not in known:
            raise errors.unknown_column_error(name, names[:50], "The table")
        else:
            given[name] = kind
    return given, made


def _read_prefix(source: Source, names: Sequence[str], given: object) -> Chunk:
    if source.names or not source.width:
        prefix = source.prefix()
        if source.named:
            return prefix
        return replace(prefix, columns=rename_columns(prefix.columns, names))
    if source.width > MAX_INFERRED_COLUMNS and not isinstance(given, Kind):
        raise errors.DataError(
            f"A sparse matrix of {source.width:,} columns was given without their kind. Say "
            f"columns='count' (how often words occur), 'flag' (whether they occur) or 'number'."
        )
    prefix = source.prefix(max(1, min(10_000, MAX_PREFIX_CELLS // source.width)))
    wide: Any = prefix.sparse
    dense = wide.toarray()
    return replace(prefix, columns={name: dense[:, j] for j, name in enumerate(names)}, sparse=None)


def _resolve_bins(kind: Kind, prefix: Chunk, name: str, missing: tuple[Marker, ...]) -> Kind:
    """Replace a number of bins by the cuts that the first rows give."""
    if not isinstance(kind, Number) or not isinstance(kind.bins, int):
        return kind
    values = to_numbers(prefix.columns[name], name, missing)
    return replace(kind, bins=find_cuts(values, kind.bins, name))


def _resolve_derived_bins(
    made: Mapping[str, Kind], prefix: Chunk, missing: tuple[Marker, ...]
) -> dict[str, Kind]:
    finished: dict[str, Any] = {}
    for name, kind in made.items():
        column = derive_column(prefix, name, kind)
        extended = replace(prefix, columns={name: column})
        if isinstance(kind, (Derived, Lag)):
            finished[name] = replace(kind, kind=_resolve_bins(kind.kind, extended, name, missing))
    return finished


def find_cuts(values: Floats, bins: int, name: str) -> tuple[float, ...]:
    """Return the cuts of a column into about equally filled bins, from its first values.

    A value that would fill a whole bin gets one of its own (a column that is mostly zero keeps its
    zeros apart); the others are cut into equal counts. Cuts lie midway between neighbours.
    """
    distinct, times = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(distinct) < 2:
        raise errors.ColumnError(
            f"Column {name!r} has {len(distinct)} distinct value in the first rows, too few for "
            f"{bins} bins. Give the cuts themselves, or columns={{{name!r}: 'number'}}."
        )
    heavy, share = _find_heavy_values(times, bins)
    # Halves first: the sum of two large numbers may not exist.
    return tuple(float(distinct[i] / 2 + distinct[i + 1] / 2) for i in _bin_ends(times, heavy, share))


def _bin_ends(times: Any, heavy: Any, share: float) -> Iterator[int]:
    """Yield the last value of every bin but the last: where a bin is full, or a heavy one begins."""
    filled = np.cumsum(np.where(heavy, 0, times))
    borders = np.append(np.flatnonzero(heavy[:-1] | heavy[1:]), len(times))
    end, before = -1, 0
    while True:
        full = int(np.searchsorted(filled, before + share))
        end = min(full, int(borders[np.searchsorted(borders, end, side="right")]))
        if end >= len(times) - 1:
            return
        yield end
        before = int(filled[end])


def _find_heavy_values(times: Any, bins: int) -> tuple[Any, float]:
    """Return which values fill a bin alone, and how many rows each other bin shall hold."""
    heavy = np.zeros(len(times), dtype=bool)
    while True:
        left = max(bins - int(heavy.sum()), 1)
        share = float(times[~heavy].sum() / left)
        new = ~heavy & (times >= share)
        if left == 1 or not new.any():
            # With every value in a bin of its own nothing is left to share.
            return heavy, share or np.inf
        heavy |= new
