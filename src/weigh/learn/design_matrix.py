"""Kinds of columns for learners of weights: numbers as they are, two values as one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Derived, Kind, Lag, Number, Products, Schema, Value, infer_schema
from weigh.features.blocks import ConstantSequence, Floats, Ints, Longs
from weigh.features.columns import encode_column, is_missing
from weigh.learn.dataset import EncodedChunk, SourceDataset
from weigh.learn.feature_index import FeatureRows
from weigh.model.counts.count_table import canonical_order_key
from weigh.source import Source
from weigh.source import rows as rows_of
from weigh.source.chunk import MatrixColumns
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
        raise errors.parameter_error(owner, "scale", "None or 'unit'", scale)
    if isinstance(columns, Schema):
        found = infer_schema(source, columns)
        return replace(
            found, kinds=_linear_kinds(found.kinds, scale), made=_linear_derived_columns(found.made, scale)
        )
    given = _explicit_columns(source, columns)
    if isinstance(columns, str) and columns == "auto" and _is_matrix(source):
        columns = Value()
    schema = infer_schema(source, columns, missing=missing)
    if not schema.column_groups:
        raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
    if isinstance(schema.kinds, ConstantSequence):
        return replace(schema, kinds=_linear_kinds(schema.kinds, scale))
    first = source.prefix().columns if columns == "auto" or isinstance(columns, Mapping) else {}
    if first and not source.named:
        first = dict(zip(schema.names, first.values(), strict=True))

    def taken(name: str, kind: Kind) -> Kind:
        column = None if name in given else first.get(name)
        if column is None:
            return _linear_kind(kind, scale)
        if whole_numbers and _is_integer_category(kind, column, missing):
            return _linear_kind(Value(), scale)
        return _binary_kind(kind, column, missing) or _linear_kind(kind, scale)

    kinds = [taken(name, kind) for name, kind in zip(schema.names, schema.kinds, strict=True)]
    return replace(schema, kinds=kinds, made=_linear_derived_columns(schema.made, scale))


def _explicit_columns(source: Source, columns: object) -> frozenset[str]:
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


def _linear_kinds(kinds: Sequence[Kind], scale: str | None) -> Sequence[Kind]:
    """Return the kinds as they are weighed; one that repeats is not spelled out."""
    if isinstance(kinds, ConstantSequence):
        return ConstantSequence(_linear_kind(kinds.item, scale), len(kinds))
    return [_linear_kind(kind, scale) for kind in kinds]


def _is_integer_category(kind: Kind, column: Any, missing: Sequence[Marker]) -> bool:
    """Whether a column was taken for a category although it holds whole numbers."""
    if not isinstance(kind, Category) or kind.levels is not None:
        return False
    values = [value for value in encode_column(column, "")[1] if not is_missing(value, missing)]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _binary_kind(kind: Kind, column: Any, missing: Sequence[Marker]) -> Kind | None:
    """Return the kind of a category of two values; zeros and ones are a number that is never rescaled."""
    if not isinstance(kind, Category) or kind.levels is not None or column is None:
        return None
    found = {value for value in encode_column(column, "")[1] if not is_missing(value, missing)}
    values = sorted(found, key=canonical_order_key)
    if len(values) != 2:
        return None
    plain = all(isinstance(value, int | float) for value in values)
    return Value() if plain and values == [0, 1] else Category(against=values[0])


def _linear_kind(kind: Kind, scale: str | None) -> Kind:
    """Return the kind that a column is weighed as."""
    if isinstance(kind, Products) or not isinstance(kind, Number | Value) or getattr(kind, "bins", None):
        return kind
    if scale == "unit" or getattr(kind, "scale", None) == "unit":
        return Number(scale="unit")
    return Value()


def _linear_derived_columns(made: Mapping[str, Kind], scale: str | None) -> dict[str, Kind]:
    return {
        name: replace(kind, kind=_linear_kind(kind.kind, scale)) if isinstance(kind, Derived | Lag) else kind
        for name, kind in made.items()
    }


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Labelled rows in compressed form over named features, as linear learners see them.

    Row i has the values `values[indptr[i]:indptr[i + 1]]` for the features of the same places in
    `indices`, which rise; all others are zero. `classes[codes[i]]` is its class, the classes are in
    canonical order. `weights` None means one each.
    """

    names: Sequence[str]
    indptr: Longs
    indices: Ints
    values: Floats
    codes: Ints
    classes: list[Any]
    weights: Floats | None = None
    schema: Schema | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.names)

    def to_dense(self) -> Floats:
        """Return the rows with all their zeros."""
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))
        table = np.zeros((self.n_rows, self.width))
        table[rows, self.indices] = self.values
        return table


def build_design_matrix(
    X: Any, y: Any = None, columns: object = "auto", *, missing: Sequence[Any] = ()
) -> DesignMatrix:
    """Return labelled rows of any storage as linear learners see them."""
    source = X if isinstance(X, Source) and y is None else rows_of(X, y, missing=missing)
    schema = linear_schema(source, columns, missing=missing)
    reading = SourceDataset.read(schema, source)
    classes = reading.classes()
    places, orders = reading.class_indices(classes), reading.feature_index.feature_orders()
    order = np.concatenate(orders)
    numbers = np.full(reading.feature_index.width + 1, -1, dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    parts = list(reading.chunks())
    sizes = np.concatenate([np.diff(part.rows.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.concatenate([numbers[part.rows.indices] for part in parts])
    values = np.concatenate([_row_values(part.rows) for part in parts])
    # Within a row features rise, whatever the order in which they were first met.
    rise = np.lexsort((indices, np.repeat(np.arange(len(sizes)), sizes)))
    names = [
        name
        for term in reading.feature_index.build_terms(orders, np.zeros((len(order), 1)))
        for name in term.features().names
    ]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([_row_weights(part) for part in parts])
    codes = np.concatenate([places[part.targets] for part in parts])
    return DesignMatrix(names, indptr, indices[rise], values[rise], codes, classes, weights, schema)


def _row_values(rows: FeatureRows) -> Floats:
    return np.ones(len(rows.indices)) if rows.values is None else rows.values


def _row_weights(part: EncodedChunk) -> Floats:
    return np.ones(len(part.targets)) if part.weights is None else part.weights
