"""The columns of a table as features of linear models: their schema and the design matrix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import ConstantSequence, Floats, Ints
from weigh.features.columns import encode_column, is_missing
from weigh.features.curves import Curve
from weigh.features.dates.kind import Date
from weigh.features.inference.schema import infer_schema
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Category, Kind, Number, Products, Value, number_matrix
from weigh.features.names import join_names
from weigh.features.schema import Schema
from weigh.features.text_kinds import Text
from weigh.features.width import check_width
from weigh.learn.chunk_encoder import EncodedChunk
from weigh.learn.dataset import SourceDataset, make_feature_index
from weigh.learn.preprocessing import Standardisation
from weigh.learn.scaling import resolve_perceptron_scale
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.distributions.weights import ScaledWeights
from weigh.source.base import Source
from weigh.source.chunk import MatrixColumns, rename_columns
from weigh.source.memory.table import rows as rows_of
from weigh.source.missing import Marker
from weigh.source.sparse_rows import SparseRows

# Long texts and repeated words do not dominate; docs/architecture.md has the figures.
TEXT_WEIGHTING: Mapping[str, Any] = {"weighting": "log-tfidf", "norm": "l2"}
MIN_WEIGHTED_ROWS = 50  # fewer texts hardly tell which words are rare


def linear_schema(
    source: Source,
    columns: object = "auto",
    *,
    scale: str | None = None,
    missing: Sequence[Marker] = (),
    whole_numbers: bool = False,
    weighs_text: bool | None = None,
    centres_missing: bool = False,
    curves: str | None = None,
) -> Schema:
    """Infer the schema of a source for a linear model.

    The columns of an unnamed matrix are numbers. Numbers are standardised if `scale` or their kind is "unit",
    or "auto" and they have other values than 0 and 1. A column inferred to have two values becomes one
    feature: 0/1 as a number, otherwise an indicator of the second value. Explicitly given kinds are kept.
    With `whole_numbers`, integers of an unnamed table are numbers even if they have few distinct values;
    those of a named one follow the rule of all learners. With `weighs_text`, by default if `scale` is "auto",
    the words of inferred texts have the values of `TEXT_WEIGHTING` instead of their counts. With
    `centres_missing`, numbers that are missing in some of the first rows are standardised, so that a missing
    number counts as the mean. With `curves`, numbers are curves and two-valued columns stay categories.
    """
    if isinstance(columns, Schema):
        schema = infer_schema(source, columns)
        return replace(
            schema, kinds=_linear_kinds(schema.kinds, scale), made=_linear_derived_columns(schema.made, scale)
        )
    explicit = _explicit_columns(source, columns)
    if isinstance(columns, str) and columns == "auto" and _is_matrix(source):
        columns = Value()
    schema = infer_schema(source, columns, missing=missing)
    if not schema.column_groups:
        raise errors.DataError("All columns are skipped, so there is nothing to learn from.")
    if isinstance(schema.kinds, ConstantSequence):
        if curves is not None and isinstance(schema.kinds.item, Value):
            return replace(schema, kinds=_curve_kinds(schema, source))
        schema = replace(schema, kinds=_linear_kinds(schema.kinds, scale))
        check_width(schema, source)
        return schema
    prefix = source.prefix().columns if columns == "auto" or isinstance(columns, Mapping) else {}
    if prefix and not source.named:
        prefix = rename_columns(prefix, schema.names)

    def resolve_kind(name: str, kind: Kind) -> Kind:
        if curves is not None and name not in explicit:
            kind = _curve_kind(kind)
        column = None if name in explicit else prefix.get(name)
        if column is None:
            return _linear_kind(kind, scale)
        if whole_numbers and not source.named and _is_integer_category(kind, column, missing):
            return _linear_kind(Value(), scale)
        if isinstance(kind, Text):
            return replace(kind, **text_weighting)
        if curves is not None:
            return _linear_kind(kind, scale)
        return _binary_kind(kind, column, missing) or _linear_kind(kind, "auto" if name in gaps else scale)

    gaps = _find_gaps(schema, source) if centres_missing and source.named else frozenset()
    weighs_text = scale == "auto" if weighs_text is None else weighs_text
    text_weighting = TEXT_WEIGHTING if weighs_text and _has_rows_for_weighting(prefix) else {}
    kinds = [resolve_kind(name, kind) for name, kind in zip(schema.names, schema.kinds, strict=True)]
    return replace(schema, kinds=kinds, made=_linear_derived_columns(schema.made, scale))


def require_no_curves(schema: Schema) -> None:
    """Raise Unsupported if a column is a curve, for learners that cannot smooth it."""
    for group in schema.column_groups:
        if isinstance(group.kind, Curve):
            raise errors.Unsupported(
                f"Column {group.title!r} is a curve, which only exact logistic and linear regression fit.",
                hint="Use 'number', or Number(bins=8) for steps.",
            )


def _curve_kind(kind: Kind) -> Kind:
    """Return the kind of a column for an additive model: a curve if it is a number."""
    if isinstance(kind, Date):
        return replace(kind, curve=kind.bins is None)
    is_number = isinstance(kind, Number | Value) and getattr(kind, "bins", None) is None
    return Curve() if is_number else kind


def _curve_kinds(schema: Schema, source: Source) -> list[Kind]:
    """Return a curve for every column of a bare array; raise Unsupported for a sparse one."""
    if source.n_entries is not None:
        raise errors.Unsupported(
            "A sparse matrix has no curves: most of its numbers are zero.",
            hint=("Give a dense array or a table, or ", Setting("curves", None), "."),
        )
    return [Curve() for _ in schema.names]


def _find_gaps(schema: Schema, source: Source) -> frozenset[str]:
    """Return the numbers that are missing in some of the first rows."""
    chunk = schema.first_rows(source)
    pairs = zip(schema.names, schema.kinds, strict=True)
    names = [name for name, kind in pairs if isinstance(kind, Number | Value) and name in chunk.columns]
    if chunk.sparse is not None or not names:
        return frozenset()
    has_gap = np.isnan(number_matrix(chunk.columns, names, schema.missing)).any(axis=0)
    return frozenset(name for name, gap in zip(names, has_gap.tolist(), strict=True) if gap)


def _has_rows_for_weighting(columns: Mapping[str, Any]) -> bool:
    return any(len(column) >= MIN_WEIGHTED_ROWS for column in columns.values())


def _explicit_columns(source: Source, columns: object) -> frozenset[str]:
    """Return the columns whose kinds the user gave."""
    keys = columns if isinstance(columns, Mapping) else ()
    return frozenset(f"x{key}" if isinstance(key, int) and not source.named else str(key) for key in keys)


def _is_matrix(source: Source) -> bool:
    """Whether the source is a matrix of numbers without column names."""
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
    """Return the kinds for a linear model; a constant sequence stays compact."""
    if isinstance(kinds, ConstantSequence):
        return ConstantSequence(_linear_kind(kinds.item, scale), len(kinds))
    return [_linear_kind(kind, scale) for kind in kinds]


def _is_integer_category(kind: Kind, column: Any, missing: Sequence[Marker]) -> bool:
    """Whether a column was inferred to be a category although its values are numbers."""
    if not isinstance(kind, Category) or kind.levels is not None:
        return False
    values = [value for value in encode_column(column, "")[1] if not is_missing(value, missing)]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _binary_kind(kind: Kind, column: Any, missing: Sequence[Marker]) -> Kind | None:
    """Return the kind of a category with two values, otherwise None; 0/1 is a number, never rescaled."""
    if not isinstance(kind, Category) or kind.levels is not None or column is None:
        return None
    distinct = {value for value in encode_column(column, "")[1] if not is_missing(value, missing)}
    values = sorted(distinct, key=canonical_order_key)
    if len(values) != 2:
        return None
    are_numbers = all(isinstance(value, int | float) for value in values)
    return Value() if are_numbers and values == [0, 1] else Category(against=values[0])


def _linear_kind(kind: Kind, scale: str | None) -> Kind:
    """Return the kind of a column for a linear model."""
    if isinstance(kind, Products) or not isinstance(kind, Number | Value) or getattr(kind, "bins", None):
        return kind
    own_scale = getattr(kind, "scale", None)
    return Value() if (own_scale or scale) is None else Number(scale=own_scale or scale)


def _linear_derived_columns(made: Mapping[str, Kind], scale: str | None) -> dict[str, Kind]:
    return {
        name: replace(kind, kind=_linear_kind(kind.kind, scale)) if isinstance(kind, Derived | Lag) else kind
        for name, kind in made.items()
    }


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Labelled rows over named features.

    The features of each row are in increasing order. The class of row i is `classes[codes[i]]`; the classes
    are in canonical order. `weights` None means one each. The values of some features are standardised, by
    their `standardisations`.
    """

    names: Sequence[str]
    X: SparseRows
    codes: Ints
    classes: list[Any]
    weights: Floats | None = None
    schema: Schema | None = None
    standardisations: Mapping[str, Standardisation] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.X.n_rows

    @property
    def width(self) -> int:
        """The number of features."""
        return self.X.width

    def to_dense(self) -> Floats:
        """Return the matrix [n_rows, width] including zeros."""
        return self.X.to_dense()


def build_design_matrix(
    X: Any,
    y: Any = None,
    columns: object = "auto",
    *,
    scale: str | None = None,
    standardisations: Mapping[str, Standardisation] | None = None,
    missing: Sequence[Any] = (),
    ignored_classes: Collection[Any] = (),
    allows_fractions: bool = False,
) -> DesignMatrix:
    """Encode labelled rows from any storage as the design matrix of a linear model.

    `scale` is that of a perceptron, and `standardisations` replace those fitted to the rows. With
    `allows_fractions`, the targets of a regression are its classes.
    """
    source = X if isinstance(X, Source) and y is None else rows_of(X, y, missing=missing)
    schema = linear_schema(source, columns, scale=resolve_perceptron_scale(scale, source), missing=missing)
    dataset = read_dataset(
        source, schema, standardisations, ignored_classes, allows_fractions=allows_fractions
    )
    return to_design_matrix(dataset)


def read_dataset(
    source: Source,
    schema: Schema,
    standardisations: Mapping[str, Standardisation] | None = None,
    ignored_classes: Collection[Any] = (),
    *,
    allows_fractions: bool = False,
) -> SourceDataset:
    """Read labelled rows; `standardisations` replace those fitted to them."""
    feature_index = make_feature_index(schema, source, ignored_classes, standardisations=standardisations)
    details: dict[str, Any] = {"ignored_classes": ignored_classes, "allows_fractions": allows_fractions}
    return SourceDataset(schema, source, feature_index, **details).read_all()


def to_design_matrix(dataset: SourceDataset) -> DesignMatrix:
    """Return the rows of a data set with their features in the order of a model."""
    feature_index, classes = dataset.feature_index, dataset.classes()
    class_indices, orders = dataset.class_indices(classes), feature_index.feature_orders()
    order = np.concatenate(orders)
    columns_by_feature = np.full(feature_index.width + 1, -1, dtype=np.int32)
    columns_by_feature[order] = np.arange(len(order), dtype=np.int32)
    chunks = list(dataset.chunks())
    rows = SparseRows.concatenate([chunk.rows for chunk in chunks], len(order))
    indices = columns_by_feature[rows.indices]
    # Features were numbered in order of appearance; sort them within each row.
    permutation = np.lexsort((indices, rows.entry_rows()))
    rows = replace(rows, indices=indices[permutation], values=rows.entry_values()[permutation])
    terms = feature_index.build_terms(orders, np.zeros((len(order), 1)))
    names = join_names([term.features().names for term in terms])
    weights = None
    if any(chunk.weights is not None for chunk in chunks):
        weights = np.concatenate([_row_weights(chunk) for chunk in chunks])
    codes = np.concatenate([class_indices[chunk.targets] for chunk in chunks])
    fitted = feature_index.standardisations()
    return DesignMatrix(names, rows, codes, classes, weights, dataset.schema, fitted)


def model_standardisations(model: Any) -> dict[str, Standardisation]:
    """Return the standardisation of each number that a linear model was trained on."""
    scaled = [term for term in model.terms if isinstance(term, ScaledWeights)]
    return {term.name: Standardisation(term.centre, term.unit) for term in scaled}


def _row_weights(chunk: EncodedChunk) -> Floats:
    return np.ones(len(chunk.targets)) if chunk.weights is None else chunk.weights
