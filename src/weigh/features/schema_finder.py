"""Finding a schema: the kinds a user named, and the rest from the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.features.blocks import Numbered, Repeated
from weigh.features.columns import to_numbers
from weigh.features.cuts import find_cuts
from weigh.features.derived import derive
from weigh.features.kind_finder import find_kind
from weigh.features.kinds import Kind, Number
from weigh.features.made_kinds import Derived, Lag
from weigh.features.naming import to_kind
from weigh.features.schema import Schema
from weigh.source import Chunk, Source
from weigh.source.matrix_columns import renamed
from weigh.source.missing import Marker

WIDEST_GUESS = 1000  # a sparse matrix wider than this must be given its kind
PREFIX_CELLS = 10_000_000


def find_schema(
    source: Source, columns: object = "auto", number: Number | None = None, missing: Sequence[Marker] = ()
) -> Schema:
    """Return the schema of a source.

    `columns` is "auto", one kind for all columns, a mapping from names to kinds (the others are
    found), or a schema found before.
    """
    if isinstance(columns, Schema):
        return replace(columns, label=source.label or columns.label)
    names = source.names if source.named else Numbered(source.width, source.start)
    given, made = _given_kinds(columns, names, source.named)
    marks = tuple(dict.fromkeys([*missing, *source.missing]))
    schema = Schema(names, (), source.named, source.label, marks, made)
    if isinstance(given, Kind) and not (isinstance(given, Number) and isinstance(given.bins, int)):
        return replace(schema, kinds=Repeated(given, len(names)))
    prefix = _prefix(source, names, given)
    found = []
    for name in names:
        kind = given if isinstance(given, Kind) else given.get(name)
        if kind is None and name in source.kinds:
            kind = to_kind(source.kinds[name], "the source")
        kind = kind or find_kind(prefix.columns[name], name, number or Number())
        found.append(_with_cuts(kind, prefix, name, schema.missing))
    return replace(schema, kinds=found, made=_made_with_cuts(made, prefix, schema.missing))


def _given_kinds(
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
            raise errors.unknown_column(name, names[:50], "The table")
        else:
            given[name] = kind
    return given, made


def _prefix(source: Source, names: Sequence[str], given: object) -> Chunk:
    if source.names or not source.width:
        prefix = source.prefix()
        if source.named:
            return prefix
        return replace(prefix, columns=renamed(prefix.columns, names))
    if source.width > WIDEST_GUESS and not isinstance(given, Kind):
        raise errors.DataError(
            f"A sparse matrix of {source.width:,} columns was given without their kind. Say "
            f"columns='count' (how often words occur), 'flag' (whether they occur) or 'number'."
        )
    prefix = source.prefix(max(1, min(10_000, PREFIX_CELLS // source.width)))
    wide: Any = prefix.wide
    dense = wide.toarray()
    return replace(prefix, columns={name: dense[:, j] for j, name in enumerate(names)}, wide=None)


def _with_cuts(kind: Kind, prefix: Chunk, name: str, missing: tuple[Marker, ...]) -> Kind:
    """Replace a number of bins by the cuts that the first rows give."""
    if not isinstance(kind, Number) or not isinstance(kind.bins, int):
        return kind
    values = to_numbers(prefix.columns[name], name, missing)
    return replace(kind, bins=find_cuts(values, kind.bins, name))


def _made_with_cuts(made: Mapping[str, Kind], prefix: Chunk, missing: tuple[Marker, ...]) -> dict[str, Kind]:
    finished: dict[str, Any] = {}
    for name, kind in made.items():
        column = derive(prefix, name, kind)
        extended = replace(prefix, columns={name: column})
        if isinstance(kind, (Derived, Lag)):
            finished[name] = replace(kind, kind=_with_cuts(kind.kind, extended, name, missing))
    return finished
