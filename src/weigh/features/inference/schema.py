"""Inference of the schema of a source: the kinds of its columns from their types and the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import ConstantSequence, Floats, NumberedNames
from weigh.features.cells import PLAIN, Reading, read_column
from weigh.features.columns import drop_unused_values, encode_column, to_numbers
from weigh.features.curves import Curve
from weigh.features.dates.columns import DateReader
from weigh.features.dates.kind import Date, part_name, split_part_name
from weigh.features.derived_columns import derive_column
from weigh.features.inference.dates import complete_date, state_parts
from weigh.features.inference.kinds import find_reading, infer_bare_kind, infer_column, storage_type
from weigh.features.inference.outliers import warn_of_outliers
from weigh.features.kind_registry import Derived, Lag, to_kind
from weigh.features.kinds import Kind, Number, Skip
from weigh.features.schema import MAX_DENSE_CELLS, NUMERIC_KINDS, Schema
from weigh.features.width import allows_separate_columns, check_shared_columns, check_width
from weigh.source.base import PREFIX_ROWS, Source
from weigh.source.chunk import Chunk, MatrixColumns
from weigh.source.missing import Marker

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
        return replace(columns, label=source.label or columns.label, label_reading=None)
    names = source.names if source.named else NumberedNames(source.width, source.start)
    stated, derived = _parse_kinds(columns, names, source.named)
    markers = tuple(dict.fromkeys([*missing, *source.missing]))
    schema = Schema(
        names, (), source.named, source.label, markers, derived, dialect=dict(source.file_dialect)
    )
    if isinstance(stated, Kind):
        uniform = replace(schema, kinds=ConstantSequence(stated, len(names)))
        check_width(uniform, source)
        if not _needs_rows(stated):
            return _add_readings(uniform, source)
    by_name: Any = dict.fromkeys(names, stated) if isinstance(stated, Kind) else stated
    if not isinstance(stated, Kind):
        _check_width(source)
    known = {name: to_kind(word, "the source") for name, word in source.kinds.items()} | by_name
    is_stated = len(known) == len(names) and not any(map(_needs_rows, known.values()))
    if not derived and is_stated and known.keys() == set(names):
        return _add_readings(replace(schema, kinds=[known[name] for name in names]), source)
    return _infer_from_rows(schema, source, known, number_kind or Number())


def _infer_from_rows(
    schema: Schema, source: Source, known: Mapping[str, Kind], number_kind: Number
) -> Schema:
    """Complete a schema by the kinds and readings that are found in the first rows."""
    prefix, markers = _read_prefix(source, schema.names), schema.missing
    kinds: list[Kind] = []
    readings: dict[str, Reading] = {}
    for name in schema.names:
        kind, reading = known.get(name), None
        if name in prefix.unreadable:
            if not isinstance(kind, Skip):
                raise prefix.unreadable[name]
            kinds.append(kind)
            continue
        column = prefix.columns[name]
        if not source.named:
            kind = kind or infer_bare_kind(column, name, number_kind)
        elif kind is None:
            kind, reading = infer_column(column, name, number_kind, source.number_format, markers)
        else:
            if isinstance(kind, Curve):
                kind = _curve_of_dates(
                    kind, infer_column(column, name, number_kind, source.number_format, markers)[0], name
                )
            reading = find_reading(kind, column, name, source.number_format)
        if reading is not None and reading != PLAIN:
            readings[name] = reading
        if isinstance(kind, Number) and source.named:
            warn_of_outliers(source, column, name, reading, markers)
        kinds.append(_resolve_kind(kind, prefix, name, markers, known, reading))
    derived = schema.made
    schema = replace(schema, kinds=kinds, readings=readings)
    _check_part_names(schema, known)
    _report_skipped_columns(schema, prefix, known)
    if derived and schema.dates:
        prefix = DateReader(schema.dates, markers).add_parts(prefix)
    return replace(schema, made=_resolve_derived_bins(derived, prefix, markers))


def _curve_of_dates(kind: Curve, inferred: Kind, name: str) -> Kind:
    """Return the curve, or that of the days if the column has dates."""
    if not isinstance(inferred, Date):
        return kind
    if kind != Curve():
        raise errors.ColumnError(
            f"Column {name!r} has dates, whose curve has no settings, got {kind!r}.",
            hint="Use Curve() or Date(curve=True).",
        )
    return replace(inferred, parts=("days",), curve=True)


def _add_readings(schema: Schema, source: Source) -> Schema:
    """Add the readings of columns whose kinds were stated."""
    pairs = list(zip(schema.names, schema.kinds, strict=True)) if source.named else []
    numeric = [(name, kind) for name, kind in pairs if isinstance(kind, NUMERIC_KINDS)]
    if not numeric:
        return schema
    skipped = {name: "skip" for name, kind in pairs if isinstance(kind, Skip)}
    columns = _drop_unused_values(source.prefix(kinds=skipped or None)).columns
    numeric = [(name, kind) for name, kind in numeric if name in columns]  # others cannot be read
    found = {name: find_reading(kind, columns[name], name, source.number_format) for name, kind in numeric}
    for name, kind in numeric:
        if isinstance(kind, Number):
            warn_of_outliers(source, columns[name], name, found[name], schema.missing)
    readings = {name: reading for name, reading in found.items() if reading not in (None, PLAIN)}
    return replace(schema, readings=readings)


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
            columns_by_name = kind.single_lags(name) if isinstance(kind, Lag) else {name: kind}
            for derived_name in columns_by_name:
                if derived_name in known or derived_name in derived:
                    raise errors.ColumnError(
                        f"The derived column {derived_name!r} has the name of an existing column. Choose "
                        "another name."
                    )
            derived |= columns_by_name
        elif isinstance(kind, Skip) and name not in known and (fields := _list_fields(name, names)):
            stated |= dict.fromkeys(fields, kind)
        elif name not in known and split_part_name(name)[0] not in known:
            raise errors.unknown_column_error(name, names[:50], "The table")
        else:
            stated[name] = kind
    return stated, derived


def _list_fields(name: str, names: Sequence[str]) -> list[str]:
    """Return the columns that are the fields of a nested column."""
    return [] if isinstance(names, NumberedNames) else [each for each in names if each.startswith(f"{name}.")]


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
    return _drop_unused_values(prefix) if source.named else prefix.with_names(names)


def _drop_unused_values(prefix: Chunk) -> Chunk:
    """Return the first rows without values that none of them has, which say nothing about the column."""
    if isinstance(prefix.columns, MatrixColumns):
        return prefix
    columns = {name: drop_unused_values(column, name) for name, column in prefix.columns.items()}
    return replace(prefix, columns=columns)


def _report_skipped_columns(schema: Schema, prefix: Chunk, known: Mapping[str, Kind]) -> None:
    """Warn about columns that are skipped because they identify the rows or have no values."""
    pairs = zip(schema.names, schema.kinds, strict=True)
    skipped = [name for name, kind in pairs if isinstance(kind, Skip)]
    # A date is skipped if all of its parts are.
    stated = {*known, *(split_part_name(name)[0] for name in known)}
    new = [name for name in skipped if name not in stated]
    empty = [name for name in new if storage_type(prefix.columns[name]) == "nothing"]
    is_all = len(skipped) == len(schema.names) and not schema.made
    identifiers = [name for name in new if name not in empty]
    if identifiers:
        _report_identifiers(identifiers, prefix, is_all=is_all)
    if empty:
        _report_empty_columns(empty, is_all=is_all)


def _report_empty_columns(names: Sequence[str], *, is_all: bool) -> None:
    """Warn about columns without values in the first rows; fail if no others are left."""
    if len(names) == 1:
        subject, are, have = f"Column {names[0]!r}", "is", "it has"
    else:
        subject, are, have = f"Columns {errors.quote_names(names)}", "are", "they have"
    hint = ("If there are values later, state the kind, such as ", set_kind(names[0], "category"), ".")
    reason = f"{have} no values in the first rows."
    if is_all:
        raise errors.DataError(
            f"There is nothing to learn from. {subject} would be skipped: {reason}", hint=hint
        )
    warn(
        errors.SkippedColumns(f"{subject} {are} skipped: {reason}", hint=hint),
        names,
    )


def _report_identifiers(names: Sequence[str], prefix: Chunk, *, is_all: bool) -> None:
    """Warn about columns that are skipped because they identify the rows; fail if no others are left."""
    column = prefix.columns[names[0]]
    if len(names) == 1:
        n_values = int((encode_column(column, names[0])[0] >= 0).sum())
        subject, are, looks = f"Column {names[0]!r}", "is", "it looks like an identifier"
        reason = f"nearly all of its {n_values:,} values are distinct"
    else:
        subject, are, looks = f"Columns {errors.quote_names(names)}", "are", "they look like identifiers"
        reason = "nearly all of their values are distinct"
    kind = "number" if storage_type(column) == "integer" else "category"
    hint = ("To keep ", "it" if len(names) == 1 else "one", ", use ", set_kind(names[0], kind), ".")
    if is_all:
        raise errors.DataError(
            f"There is nothing to learn from. {subject} would be skipped: {reason}, so {looks}.", hint=hint
        )
    warn(errors.SkippedColumns(f"{subject} {are} skipped: {reason}, so {looks}.", hint=hint), names)


def _needs_rows(kind: Kind) -> bool:
    """Whether settings of a kind are found in the first rows."""
    if isinstance(kind, Date):
        return not kind.is_complete
    if isinstance(kind, Curve):
        return True  # the column may have dates
    return isinstance(kind, Number) and isinstance(kind.bins, int)


def _resolve_kind(
    kind: Kind,
    prefix: Chunk,
    name: str,
    missing: tuple[Marker, ...],
    stated: Mapping[str, Kind],
    reading: Reading | None = None,
) -> Kind:
    """Replace settings that are found in the first rows: a number of bins, and order and parts of dates."""
    if isinstance(kind, Date):
        return _resolve_date(kind, prefix, name, missing, stated)
    if not isinstance(kind, Number) or not isinstance(kind.bins, int):
        return kind
    column = prefix.columns[name]
    values = (
        to_numbers(column, name, missing)
        if reading is None
        else read_column(column, name, reading, missing)[0]
    )
    return replace(kind, bins=find_cuts(values, kind.bins, name))


def _resolve_date(
    kind: Date, prefix: Chunk, name: str, missing: tuple[Marker, ...], stated: Mapping[str, Kind]
) -> Kind:
    date = state_parts(complete_date(kind, prefix.columns[name], name, missing), name, stated)
    if not isinstance(date, Date) or not isinstance(date.bins, int):
        return date
    if "days" not in (date.parts or ()):
        return replace(date, bins=None)
    rows = replace(prefix, columns={name: prefix.columns[name]})
    days = DateReader({name: date}, missing).add_parts(rows).columns[part_name(name, "days")]
    if len(np.unique(days[~np.isnan(days)])) < 2:
        return replace(date, bins=None)  # the first rows of a sorted file may all be of one day
    return replace(date, bins=find_cuts(days, date.bins, name))


def _check_part_names(schema: Schema, stated: Mapping[str, Kind]) -> None:
    """Raise ColumnError if a part of a date has the name of a column, or a stated part is of no date."""
    kinds = dict(zip(schema.names, schema.kinds, strict=True))
    for name in stated.keys() - kinds.keys():
        column = split_part_name(name)[0]
        if not isinstance(kinds[column], Date | Skip):
            raise errors.unknown_column_error(name, schema.names[:50], "The table")
    parts = [name for column, date in schema.dates.items() for name, _ in date.part_kinds(column)]
    taken = sorted({*schema.names, *schema.made}.intersection(parts)) if parts else ()
    if taken:
        raise errors.ColumnError(
            f"The table has a column {taken[0]!r}, which is also the name of a part of a date. Rename it."
        )


def _resolve_derived_bins(
    derived: Mapping[str, Kind], prefix: Chunk, missing: tuple[Marker, ...]
) -> dict[str, Kind]:
    resolved: dict[str, Any] = {}
    for name, kind in derived.items():
        column = derive_column(prefix, name, kind)
        extended = replace(prefix, columns={name: column})
        if isinstance(kind, (Derived, Lag)):
            resolved[name] = replace(kind, kind=_resolve_kind(kind.kind, extended, name, missing, {}))
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
    ends = np.fromiter(_bin_ends(row_counts, heavy, rows_per_bin), dtype=np.int64)
    low, high = distinct[ends], distinct[ends + 1]
    middle = low / 2 + high / 2  # halved before adding: the sum of two large numbers may overflow
    # Between neighbouring floats, the middle may be rounded up to the higher one.
    return tuple(np.where((low <= middle) & (middle < high), middle, low).tolist())


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
