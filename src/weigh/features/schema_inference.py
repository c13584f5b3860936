"""Inference of kinds and schemas from column types and the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import ConstantSequence, Floats, Ints, Mask, NumberedNames
from weigh.features.cells import (
    MAX_INSPECTED_VALUES,
    PLAIN,
    DetectedNumbers,
    NumberReading,
    Reading,
    RowCounts,
    count_rows,
    detect_flags,
    detect_numbers,
    is_numeric,
    read_column,
)
from weigh.features.columns import encode_column, is_missing, to_numbers, to_objects
from weigh.features.derived_columns import derive_column
from weigh.features.kind_registry import Derived, Lag, to_kind
from weigh.features.kinds import Category, Flag, Kind, Number, Skip
from weigh.features.odd_cells import MAX_ODD_SHARE, advise_missing
from weigh.features.outliers import warn_of_outliers
from weigh.features.schema import MAX_DENSE_CELLS, NUMERIC_KINDS, Schema
from weigh.features.text_kinds import Text, Tokens
from weigh.features.width import allows_separate_columns, check_shared_columns, check_width
from weigh.source.base import PREFIX_ROWS, Source
from weigh.source.cells import MAX_EXAMPLES, NumberFormat
from weigh.source.chunk import (
    Chunk,
    Column,
    DictionaryColumn,
    ListColumn,
    TextColumn,
    is_arrow,
)
from weigh.source.missing import Marker

MIN_NUMERALS = 4  # distinct numerals that make a string column look numeric
MAX_NOTED_SHARE = 0.2  # of the cells may be words in a column that looks numeric
MIN_FLAG_ROWS = 100  # of a column of yes and no; in a small table the words are categories
MAX_INTEGER_LEVELS = 20  # integers with more distinct values than this are numbers


def infer_kind(column: Column, name: str, number_kind: Number) -> Kind:
    """Infer the kind of a column from its type and its first rows.

    Booleans are flags; strings are categories, or text when most of them have several words and
    are distinct; floats are numbers; integers are numbers, or categories with few distinct
    values; lists of strings are tokens. Numbers get the kind `number_kind`.
    """
    return _kind_of_storage(_storage_type(column), column, name, number_kind)


def infer_column(
    column: Column, name: str, number_kind: Number, number_format: NumberFormat | None = None
) -> tuple[Kind, Reading | None]:
    """Infer the kind of a column of a named table, and the reading of text that means numbers or flags."""
    storage = _storage_type(column)
    if storage == "string":
        return _read_strings(*encode_column(column, name), name, number_kind, number_format)
    kind = _kind_of_storage(storage, column, name, number_kind)
    return kind, _file_reading(number_format) if isinstance(kind, NUMERIC_KINDS) else None


def _file_reading(number_format: NumberFormat | None) -> Reading | None:
    """Return the reading of the numbers of a file in this format, for other files without it."""
    return None if number_format is None else NumberReading(number_format.decimal, number_format.thousands)


def _kind_of_storage(storage: str, column: Column, name: str, number_kind: Number) -> Kind:
    if storage == "flag":
        return Flag()
    if storage == "float":
        return number_kind
    if storage == "integer":
        return _kind_of_integers(column, name, number_kind)
    if storage == "string":
        codes, values = encode_column(column, name)
        _warn_of_odd_values(values, name)
        return _kind_of_words(codes, values, name)
    if storage == "list":
        return Tokens()
    if storage == "nothing":
        raise errors.ColumnError(
            f"Column {name!r} has no values in the first rows, so its kind cannot be inferred.",
            hint=("Leave it out with ", set_kind(name, "skip"), ", or state its kind."),
        )
    raise errors.ColumnError(
        f"Column {name!r} has the type {storage}, for which there is no kind.",
        hint=("Leave it out with ", set_kind(name, "skip"), ", or convert it to numbers or strings."),
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


def _kind_of_integers(column: Column, name: str, number_kind: Number) -> Kind:
    if isinstance(column, DictionaryColumn):
        return Category() if len(column.values) <= MAX_INTEGER_LEVELS else number_kind
    if is_arrow(column):
        column = to_objects(column.drop_null())
    distinct = {value for value in encode_column(column, name)[1] if not is_missing(value)}
    return Category() if len(distinct) <= MAX_INTEGER_LEVELS else number_kind


def _read_strings(
    codes: Ints, values: list[Any], name: str, number_kind: Number, number_format: NumberFormat | None
) -> tuple[Kind, Reading | None]:
    row_counts = count_rows(codes, values)
    flags = detect_flags(values)
    if flags is not None and row_counts.sum() >= MIN_FLAG_ROWS:
        return Flag(), flags
    found = detect_numbers(values, row_counts, number_format)
    if found is not None:
        n_odd, n_known = int(row_counts[~found.fits].sum()), int(row_counts.sum())
        if n_odd <= MAX_ODD_SHARE * n_known:
            kind = _kind_of_numbers(found, name, number_kind)
            if isinstance(kind, Number):
                return kind, found.reading
        if n_odd:
            _warn_of_odd_cells(values, row_counts, found.fits, name)
    return _kind_of_words(codes, values, name), None


def _kind_of_numbers(found: DetectedNumbers, name: str, number_kind: Number) -> Kind:
    """Return the kind of a text column that is read as numbers."""
    numbers = found.numbers[found.fits & np.isfinite(found.numbers)]
    if not found.are_whole or np.abs(numbers).max(initial=0.0) >= 2**53:
        return number_kind
    return _kind_of_integers(numbers.astype(np.int64), name, number_kind)


def _warn_of_odd_cells(values: list[Any], row_counts: RowCounts, fits: Mask, name: str) -> None:
    """Warn that a column would be numeric except for a few words."""
    odd = [value for value, is_number in zip(values, fits.tolist(), strict=True) if not is_number]
    n_odd, n_known = int(row_counts[~fits].sum()), int(row_counts.sum())
    if len(values) < MIN_NUMERALS + len(odd) or (len(odd) > 2 and n_odd > MAX_NOTED_SHARE * n_known):
        return
    warn(
        errors.OddValues(
            f"Column {name!r} contains numbers except for {errors.quote_names(odd, MAX_EXAMPLES)} ({n_odd:,} "
            f"of {n_known:,} cells), so it is treated as a category.",
            hint=advise_missing(odd[:MAX_EXAMPLES]),
        ),
        [name],
    )


def _kind_of_words(codes: Ints, values: list[Any], name: str) -> Kind:
    known = codes[codes >= 0]
    has_several_words = np.fromiter((_has_several_words(v) for v in values), dtype=bool, count=len(values))
    is_text = 2 * has_several_words[known].sum() > len(known)
    if 2 * len(values) <= len(known):
        if is_text and len(values) > MAX_INSPECTED_VALUES:
            warn(
                errors.OddValues(
                    f"Column {name!r} is treated as a category of at least {len(values):,} values, most of "
                    "them with several words.",
                    hint=("If it is running text, use ", set_kind(name, "text"), "."),
                ),
                [name],
            )
        return Category()
    return Text() if is_text else Category()


def _has_several_words(value: Any) -> bool:
    return isinstance(value, str) and len(value.split(None, 2)) >= 2


def _warn_of_odd_values(values: list[Any], name: str) -> None:
    """Warn if a column would be numeric except for one or two distinct words."""
    odd = [value for value in values[:MAX_INSPECTED_VALUES] if not _is_numeral(value)]
    if 1 <= len(odd) <= 2 and len(values) >= MIN_NUMERALS + len(odd):
        warn(
            errors.OddValues(
                f"Column {name!r} contains numbers except for {errors.quote_names(odd)}, so it is treated as "
                "a category.",
                hint=("If that means missing, use ", Setting("missing", odd), "."),
            ),
            [name],
        )


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # a huge integer
        return True
    return True


MAX_INFERRED_COLUMNS = 1000  # wider sparse matrices need a stated kind


def infer_schema(
    source: Source,
    columns: object = "auto",
    number_kind: Number | None = None,
    missing: Sequence[Marker] = (),
) -> Schema:
    """Infer the schema of a source.

    `columns` is "auto", one kind for all columns, a mapping from names to kinds (the others are inferred), or
    an existing schema. `number_kind` is the kind of inferred number columns, by default `Number()`. `missing`
    lists values that mean missing, in addition to those of the source.
    """
    if isinstance(columns, Schema):
        return replace(columns, label=source.label or columns.label)
    names = source.names if source.named else NumberedNames(source.width, source.start)
    stated, derived = _parse_kinds(columns, names, source.named)
    markers = tuple(dict.fromkeys([*missing, *source.missing]))
    schema = Schema(
        names, (), source.named, source.label, markers, derived, dialect=dict(source.file_dialect)
    )
    if isinstance(stated, Kind):
        uniform = replace(schema, kinds=ConstantSequence(stated, len(names)))
        check_width(uniform, source)
        if not _has_bin_count(stated):
            return _add_readings(uniform, source)
    by_name: Any = dict.fromkeys(names, stated) if isinstance(stated, Kind) else stated
    if not isinstance(stated, Kind):
        _check_width(source)
    known = {name: to_kind(word, "the source") for name, word in source.kinds.items()} | by_name
    if not derived and all(name in known and not _has_bin_count(known[name]) for name in names):
        return _add_readings(replace(schema, kinds=[known[name] for name in names]), source)
    prefix, number_kind = _read_prefix(source, names), number_kind or Number()
    kinds: list[Kind] = []
    readings: dict[str, Reading] = {}
    for name in names:
        column = prefix.columns[name]
        kind, reading = known.get(name), None
        if not source.named:
            kind = kind or infer_kind(column, name, number_kind)
        elif kind is None:
            kind, reading = infer_column(column, name, number_kind, source.number_format)
        else:
            reading = _find_reading(kind, column, name, source.number_format)
        if reading is not None and reading != PLAIN:
            readings[name] = reading
        if isinstance(kind, Number) and source.named:
            warn_of_outliers(source, column, name, reading, schema.missing)
        kinds.append(_resolve_bins(kind, prefix, name, schema.missing, reading))
    made = _resolve_derived_bins(derived, prefix, schema.missing)
    return replace(schema, kinds=kinds, made=made, readings=readings)


def _add_readings(schema: Schema, source: Source) -> Schema:
    """Add the readings of columns whose kinds were stated."""
    pairs = list(zip(schema.names, schema.kinds, strict=True)) if source.named else []
    numeric = [(name, kind) for name, kind in pairs if isinstance(kind, NUMERIC_KINDS)]
    if not numeric:
        return schema
    skipped = {name: "skip" for name, kind in pairs if isinstance(kind, Skip)}
    columns = source.prefix(kinds=skipped or None).columns
    found = {name: _find_reading(kind, columns[name], name, source.number_format) for name, kind in numeric}
    for name, kind in numeric:
        if isinstance(kind, Number):
            warn_of_outliers(source, columns[name], name, found[name], schema.missing)
    readings = {name: reading for name, reading in found.items() if reading not in (None, PLAIN)}
    return replace(schema, readings=readings)


def _find_reading(
    kind: Kind, column: Column, name: str, number_format: NumberFormat | None
) -> Reading | None:
    """Return how the text of a column of a stated kind becomes numbers."""
    if not isinstance(kind, NUMERIC_KINDS):
        return None
    if is_numeric(column):
        return _file_reading(number_format)
    codes, values = encode_column(column, name)
    row_counts = count_rows(codes, values)
    found = detect_numbers(values, row_counts, number_format)
    return detect_flags(values) if found is None else found.reading


def _parse_kinds(
    columns: object, names: Sequence[str], named: bool
) -> tuple[Kind | dict[str, Kind], dict[str, Kind]]:
    if isinstance(columns, str) and columns == "auto":
        return {}, {}
    if not isinstance(columns, Mapping):
        return to_kind(columns, "columns"), {}
    stated: dict[str, Kind] = {}
    derived: dict[str, Kind] = {}
    known = names if isinstance(names, NumberedNames) else set(names)
    for key, value in columns.items():
        name = f"x{key}" if isinstance(key, int) and not named else str(key)
        kind = to_kind(value, f"columns[{name!r}]")
        if isinstance(kind, (Derived, Lag)):
            if name in known:
                raise errors.ColumnError(
                    f"The derived column {name!r} has the name of an existing column. Choose another name."
                )
            derived[name] = kind
        elif name not in known:
            raise errors.unknown_column_error(name, names[:50], "The table")
        else:
            stated[name] = kind
    return stated, derived


def _check_width(source: Source) -> None:
    if not source.names and source.width > MAX_INFERRED_COLUMNS:
        check_shared_columns(source)
        numbers = " or 'number'" if allows_separate_columns(source.n_entries, source.width) else ""
        flags = f"{',' if numbers else ' or'} 'flag' (whether they occur){numbers}."
        raise errors.DataError(
            f"A sparse matrix of {source.width:,} columns needs a stated kind.",
            hint=("Use ", Setting("columns", "count"), f" (how often words occur){flags}"),
        )


def _read_prefix(source: Source, names: Sequence[str]) -> Chunk:
    """Return the first rows as named columns; fewer of a wide sparse matrix, which becomes dense."""
    max_rows = PREFIX_ROWS if source.names else max(1, MAX_DENSE_CELLS // max(1, source.width))
    prefix = source.prefix(min(PREFIX_ROWS, max_rows))
    return prefix if source.named else prefix.with_names(names)


def _has_bin_count(kind: Kind) -> bool:
    return isinstance(kind, Number) and isinstance(kind.bins, int)


def _resolve_bins(
    kind: Kind, prefix: Chunk, name: str, missing: tuple[Marker, ...], reading: Reading | None = None
) -> Kind:
    """Replace a number of bins by cuts at quantiles of the first rows."""
    if not isinstance(kind, Number) or not isinstance(kind.bins, int):
        return kind
    column = prefix.columns[name]
    values = (
        to_numbers(column, name, missing)
        if reading is None
        else read_column(column, name, reading, missing)[0]
    )
    return replace(kind, bins=find_cuts(values, kind.bins, name))


def _resolve_derived_bins(
    derived: Mapping[str, Kind], prefix: Chunk, missing: tuple[Marker, ...]
) -> dict[str, Kind]:
    resolved: dict[str, Any] = {}
    for name, kind in derived.items():
        column = derive_column(prefix, name, kind)
        extended = replace(prefix, columns={name: column})
        if isinstance(kind, (Derived, Lag)):
            resolved[name] = replace(kind, kind=_resolve_bins(kind.kind, extended, name, missing))
    return resolved


def find_cuts(values: Floats, bins: int, name: str) -> tuple[float, ...]:
    """Return cuts that divide the first values of a column into about equally filled bins.

    A value that would fill a whole bin gets its own (such as the zeros of a column that is mostly zero); the
    others are divided into equal counts. Cuts lie midway between neighbouring values.
    """
    distinct, row_counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(distinct) < 2:
        raise errors.ColumnError(
            f"Column {name!r} has {len(distinct)} distinct value in the first rows, too few for {bins} bins.",
            hint=("Give the cuts themselves, or ", set_kind(name, "number"), "."),
        )
    heavy, rows_per_bin = _find_heavy_values(row_counts, bins)
    # Halve before adding: the sum of two large numbers may overflow.
    return tuple(
        float(distinct[i] / 2 + distinct[i + 1] / 2) for i in _bin_ends(row_counts, heavy, rows_per_bin)
    )


def _bin_ends(row_counts: Any, heavy: Any, rows_per_bin: float) -> Iterator[int]:
    """Yield the index of the last value of every bin but the last."""
    cumulative_rows = np.cumsum(np.where(heavy, 0, row_counts))
    forced_ends = np.append(np.flatnonzero(heavy[:-1] | heavy[1:]), len(row_counts))
    end, rows_in_earlier_bins = -1, 0
    while True:
        # A bin ends when it is full, or next to a heavy value.
        full_end = int(np.searchsorted(cumulative_rows, rows_in_earlier_bins + rows_per_bin))
        end = min(full_end, int(forced_ends[np.searchsorted(forced_ends, end, side="right")]))
        if end >= len(row_counts) - 1:
            return
        yield end
        rows_in_earlier_bins = int(cumulative_rows[end])


def _find_heavy_values(row_counts: Any, bins: int) -> tuple[Any, float]:
    """Return which values fill a bin alone, and the number of rows of each other bin."""
    heavy = np.zeros(len(row_counts), dtype=bool)
    while True:
        n_left = max(bins - int(heavy.sum()), 1)
        rows_per_bin = float(row_counts[~heavy].sum() / n_left)
        new = ~heavy & (row_counts >= rows_per_bin)
        if n_left == 1 or not new.any():
            # If every value has its own bin, no rows are left.
            return heavy, rows_per_bin or np.inf
        heavy |= new
