"""Kinds of columns: what a column's values mean to a learner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import DenseBlock, Floats, Level, NumberBlock, sparse_from_dense
from weigh.features.columns import to_bins, to_codes, to_numbers
from weigh.features.validation import (
    check_exact_counts,
    check_non_negative,
    check_sparse_block,
    clean_dense_block,
)
from weigh.features.words import Block
from weigh.immutable import Immutable
from weigh.parameters.kinds import KINDS, NUMBER, ReferenceLevel
from weigh.source.chunk import Column, MatrixColumns
from weigh.source.missing import Marker

ColumnMap = Mapping[str, Column]
MarkerTuple = tuple[Marker, ...]


@dataclass(frozen=True, repr=False)
class Kind(Immutable):
    """Base of all kinds; `name` is the lower-case word users may write instead of the object."""

    name: ClassVar[str]
    shares_block: ClassVar[bool] = False  # whether all columns of this kind form one block
    supports_sparse: ClassVar[bool] = False  # whether that block can be read from a sparse matrix directly

    def __post_init__(self) -> None:
        """Check the settings and convert them to the form that learners use."""
        table = KINDS.get(self.name)
        if table is None:
            return
        # A table of many columns has as many kinds, nearly all with the very objects that are the defaults.
        for name, default in table.defaults.items():
            value = getattr(self, name)
            if value is not default:
                object.__setattr__(self, name, table.settings[name].allowed.check(table.owner, name, value))

    def __repr__(self) -> str:
        # Nearly all of the many settings have their defaults.
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    @property
    def family(self) -> str:
        """The distribution that naive Bayes gives such a column within a class."""
        raise errors.Unsupported(
            f"A {self.name} column has no distribution within a class, so naive Bayes cannot use it; "
            f"perceptrons can. For naive Bayes use 'number', 'count' or 'category'."
        )

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the block of the named columns: several if the kind shares a block, otherwise one."""
        raise errors.Unsupported(f"A {self.name} column has no values.")

    def features(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the features in the block of the named columns, if the kind shares a block."""
        return names

    def to_json(self) -> dict[str, Any]:
        """Return the kind as plain data; settings left at their defaults are not written."""
        settings = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.init and getattr(self, f.name) != f.default
        }
        return {"kind": self.name} | {
            key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()
        }


@dataclass(frozen=True, repr=False)
class Category(Kind):
    """One of several values without order.

    `levels` declares the possible values; by default they are the values seen so far. Linear models have
    one feature per level, except for the reference level `against`.
    """

    name: ClassVar[str] = "category"
    levels: tuple[Level, ...] | None = None
    against: Level | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels is not None and self.against is not None and self.against not in self.levels:
            raise ReferenceLevel().error("Category", "against", self.against)

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "categorical"

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the codes of one column."""
        return to_codes(columns[names[0]], names[0], missing)


@dataclass(frozen=True, repr=False)
class Flag(Kind):
    """Present or absent: a number greater than zero, or True, is present."""

    name: ClassVar[str] = "flag"
    shares_block: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "bernoulli"

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the present flags of all columns."""
        return sparse_from_dense(number_matrix(columns, names, missing), names, flags=True)


@dataclass(frozen=True, repr=False)
class Count(Kind):
    """How often something occurs; all count columns share one multinomial."""

    name: ClassVar[str] = "count"
    shares_block: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "multinomial"

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the counts of all columns."""
        matrix = number_matrix(columns, names, missing)
        check_non_negative(np.nanmin(matrix, axis=0, initial=0.0), names)
        check_exact_counts(np.nanmax(matrix, axis=0, initial=0.0), names)
        return sparse_from_dense(matrix, names, flags=False)


@dataclass(frozen=True, repr=False)
class Number(Kind):
    """A number with a distribution within each class, normal if nothing else is stated.

    `shape`: "normal", "log-normal", "zero-inflated", "histogram", or "auto" = the one of them that predicts
    the class best from this column alone. None means "auto" for naive Bayes on a table with column names,
    unless `spread`, `floor` or `bins` is stated, and otherwise "normal". `spread`: "own" = one standard
    deviation per class, "shared" = one for all classes, a number = that standard deviation; None chooses
    between the first two, or is "own" if the shape is stated to be normal. `floor`: lower bound of a class's
    standard deviation, as a fraction of the whole column's. `bins`: a histogram with stated bins: the number
    of equally filled bins (cut at quantiles of the first rows) or the cuts themselves. `scale`: "unit"
    standardises the number for linear models; None does not.
    """

    name: ClassVar[str] = "number"
    spread: str | float | None = None
    floor: float = NUMBER.defaults["floor"]
    bins: int | tuple[float, ...] | None = None
    scale: str | None = None
    shape: str | None = None

    def __post_init__(self) -> None:
        """Check the settings: bins are a shape themselves."""
        super().__post_init__()
        if self.bins is not None and self.shape is not None:
            raise errors.parameter_error("Number", "shape", "left out where bins are given", self.shape)

    @property
    def has_grid(self) -> bool:
        """Whether the shape of the distribution is found from counts on a grid."""
        return self.shape not in (None, "normal")

    @property
    def has_default_distribution(self) -> bool:
        """Whether nothing is stated about the distribution."""
        stated = self.shape, self.spread, self.bins
        return stated == (None, None, None) and self.floor == NUMBER.defaults["floor"]

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "normal" if self.bins is None else "categorical"

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the numbers of one column, or the codes of its bins."""
        numbers = to_numbers(columns[names[0]], names[0], missing)
        return to_bins(numbers, self.bins) if isinstance(self.bins, tuple) else NumberBlock(numbers)


@dataclass(frozen=True, repr=False)
class Value(Kind):
    """A number for linear models, without a distribution; all such columns share one block."""

    name: ClassVar[str] = "value"
    shares_block: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the values of all columns; a missing value contributes nothing, like zero."""
        matrix = None if missing else find_base_matrix(columns, names)
        if matrix is None:
            matrix = number_matrix(columns, names, missing)
        return clean_dense_block(DenseBlock(matrix, names))


@dataclass(frozen=True, repr=False)
class Skip(Kind):
    """A column that is left out."""

    name: ClassVar[str] = "skip"


def number_matrix(columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Any:
    """Return number columns as a matrix, missing values as NaN."""
    numbers = [to_numbers(columns[name], name, missing) for name in names]
    # In Fortran order, because columns are contiguous.
    matrix = np.empty((len(numbers[0]), len(numbers)), order="F")
    for j, column in enumerate(numbers):
        matrix[:, j] = column
    return matrix


def find_base_matrix(table: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the number matrix that these columns are views of, or None if there is none.

    Thousands of columns are cheap to encode as one matrix and expensive one at a time.
    """
    if isinstance(table, MatrixColumns) and len(names) == len(table):
        return table.matrix
    columns = [table[name] for name in names]
    first = columns[0]
    if not isinstance(first, np.ndarray) or first.dtype.kind not in "biuf" or first.base is None:
        return None
    begin, step = _data_address(first), first.itemsize
    if len(columns) > 1 and isinstance(columns[1], np.ndarray):
        step = _data_address(columns[1]) - begin
    like = (first.base, first.dtype, first.strides)
    for at, column in enumerate(columns):
        if not isinstance(column, np.ndarray) or column.base is not like[0]:
            return None
        if (column.dtype, column.strides, len(column)) != (*like[1:], len(first)) or _data_address(
            column
        ) != begin + at * step:
            return None
    shape, strides = (len(first), len(columns)), (*first.strides, step)
    # Every column is a view of the base, so all addresses between the first and the last are valid.
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def _data_address(column: Any) -> int:
    return int(column.__array_interface__["data"][0])


MAX_PRODUCTS = 1_000_000
SUPERSCRIPTS = {1: "", 2: "²", 3: "³"}


@dataclass(frozen=True, repr=False)
class Products(Kind):
    """Numbers and all products of up to `degree` of them: x, y, x², x·y, y² for degree 2.

    `powers=False` leaves out powers, which add nothing for 0/1 columns: x, y, x·y. A product with a missing
    factor is missing.
    """

    name: ClassVar[str] = "products"
    shares_block: ClassVar[bool] = True
    degree: int = 2
    powers: bool = True

    def features(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of all products."""
        return [_product_name([names[j] for j in factors]) for factors in self._factor_indices(len(names))]

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the products of all columns."""
        matrix: Floats = number_matrix(columns, names, missing)
        with np.errstate(over="ignore"):
            products = np.column_stack(
                [matrix[:, factors].prod(axis=1) for factors in self._factor_indices(len(names))]
            )
        if np.isinf(products).any():
            raise errors.ColumnError(
                "A product of columns overflows. Divide the columns by their largest values."
            )
        return check_sparse_block(sparse_from_dense(products, self.features(names), flags=False))

    def _factor_indices(self, width: int) -> list[list[int]]:
        """Return the column indices of each product."""
        n_products = sum(comb(width + (k - 1) * self.powers, k) for k in range(1, self.degree + 1))
        if n_products > MAX_PRODUCTS:
            raise errors.ColumnError(
                f"Products of degree {self.degree} of {width:,} columns are {n_products:,} features; at most "
                f"{MAX_PRODUCTS:,} are allowed. Use a lower degree, or fewer columns."
            )
        return _enumerate_factors(width, self.degree, self.powers)


@lru_cache(maxsize=16)
def _enumerate_factors(width: int, degree: int, powers: bool) -> list[list[int]]:
    choose = combinations_with_replacement if powers else combinations
    return [list(factors) for k in range(1, degree + 1) for factors in choose(range(width), k)]


def _product_name(factors: Sequence[str]) -> str:
    times = Counter(factors)
    return "·".join(name + SUPERSCRIPTS.get(k, f"^{k}") for name, k in times.items())
