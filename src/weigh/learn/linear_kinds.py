"""Kinds of columns for learners of weights: numbers as they are, two values as one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.features import (
    Category,
    Derived,
    Kind,
    Lag,
    Number,
    Products,
    Schema,
    Value,
    find_schema,
)
from weigh.features.blocks import Repeated
from weigh.features.columns import encode, is_gap
from weigh.model.tally import name_key
from weigh.source import Source
from weigh.source.matrix_columns import MatrixColumns
from weigh.source.missing import Marker


def linear_schema(
    source: Source,
    columns: object = "auto",
    *,
    scale: str | None = None,
    missing: Sequence[Marker] = (),
    owner: str = "Perceptron",
    whole_numbers: bool = False,
) -> Schema:
    """Return the schema of a source as learners of weights see it.

    The columns of a bare matrix are numbers. Numbers are weighed as they are, unless `scale` is
    "unit" (or their kind says so). A column that was found to have two values is one feature: the
    value 1 of zeros and ones, else the second of the two. Kinds that were given stay as they are.
    With `whole_numbers` a column of them is found to be a number however few it has. `owner` is whose
    parameters they are.
    """
    if not isinstance(scale, str | None) or scale not in (None, "unit"):
        raise errors.parameter(owner, "scale", "None or 'unit'", scale)
    if isinstance(columns, Schema):
        found = find_schema(source, columns)
        return replace(found, kinds=_each(found.kinds, scale), made=_made(found.made, scale))
    given = _given_names(source, columns)
    if isinstance(columns, str) and columns == "auto" and _is_matrix(source):
        columns = Value()
    schema = find_schema(source, columns, missing=missing)
    if not schema.parts:
        raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
    if isinstance(schema.kinds, Repeated):
        return replace(schema, kinds=_each(schema.kinds, scale))
    first = source.prefix().columns if columns == "auto" or isinstance(columns, Mapping) else {}
    if first and not source.named:
        first = dict(zip(schema.names, first.values(), strict=True))

    def taken(name: str, kind: Kind) -> Kind:
        column = None if name in given else first.get(name)
        if column is None:
            return _weighed(kind, scale)
        if whole_numbers and _is_whole(kind, column, missing):
            return _weighed(Value(), scale)
        return _two_valued(kind, column, missing) or _weighed(kind, scale)

    kinds = [taken(name, kind) for name, kind in zip(schema.names, schema.kinds, strict=True)]
    return replace(schema, kinds=kinds, made=_made(schema.made, scale))


def _given_names(source: Source, columns: object) -> frozenset[str]:
    """The columns whose kinds were said."""
    keys = columns if isinstance(columns, Mapping) else ()
    return frozenset(f"x{key}" if isinstance(key, int) and not source.named else str(key) for key in keys)


def _is_matrix(source: Source) -> bool:
    """Whether all columns are numbers without names."""
    if source.named:
        return False
    if not source.names:
        return True
    columns = source.prefix(100).columns
    return isinstance(columns, MatrixColumns) or all(
        getattr(column, "dtype", None) is not None and column.dtype.kind in "biuf"
        for column in columns.values()
    )


def _each(kinds: Sequence[Kind], scale: str | None) -> Sequence[Kind]:
    """Return the kinds as they are weighed; one that repeats is not spelled out."""
    if isinstance(kinds, Repeated):
        return Repeated(_weighed(kinds.item, scale), len(kinds))
    return [_weighed(kind, scale) for kind in kinds]


def _is_whole(kind: Kind, column: Any, missing: Sequence[Marker]) -> bool:
    """Whether a column was taken for a category although it holds whole numbers."""
    if not isinstance(kind, Category) or kind.levels is not None:
        return False
    values = [value for value in encode(column, "")[1] if not is_gap(value, missing)]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _two_valued(kind: Kind, column: Any, missing: Sequence[Marker]) -> Kind | None:
    """Return the kind of a category of two values; zeros and ones are a number that is never rescaled."""
    if not isinstance(kind, Category) or kind.levels is not None or column is None:
        return None
    found = {value for value in encode(column, "")[1] if not is_gap(value, missing)}
    values = sorted(found, key=name_key)
    if len(values) != 2:
        return None
    plain = all(isinstance(value, int | float) for value in values)
    return Value() if plain and values == [0, 1] else Category(against=values[0])


def _weighed(kind: Kind, scale: str | None) -> Kind:
    """Return the kind that a column is weighed as."""
    if isinstance(kind, Products) or not isinstance(kind, Number | Value) or getattr(kind, "bins", None):
        return kind
    if scale == "unit" or getattr(kind, "scale", None) == "unit":
        return Number(scale="unit")
    return Value()


def _made(made: Mapping[str, Kind], scale: str | None) -> dict[str, Kind]:
    return {
        name: replace(kind, kind=_weighed(kind.kind, scale)) if isinstance(kind, Derived | Lag) else kind
        for name, kind in made.items()
    }
