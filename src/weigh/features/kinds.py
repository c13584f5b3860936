"""Kinds of columns: what a column's values mean to a learner."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Grid, Level, Numbers, entries_from_dense
from weigh.features.columns import to_bins, to_codes, to_numbers
from weigh.features.count_checks import refuse_huge, refuse_negative
from weigh.features.settings import finite
from weigh.features.side_by_side import side_by_side
from weigh.features.value_checks import checked_grid
from weigh.features.words import Block
from weigh.source.chunk import Column
from weigh.source.missing import Marker

SPREADS = "'own', 'shared' or a number above 0"
Columns = Mapping[str, Column]
Markers = tuple[Marker, ...]


@dataclass(frozen=True, repr=False)
class Kind:
    """Base of all kinds; `name` is the lower-case word users may write instead of the object."""

    name: ClassVar[str]
    gathers: ClassVar[bool] = False  # whether all columns of this kind form one block
    sparse: ClassVar[bool] = False  # whether that block can be read from a sparse matrix directly

    def __repr__(self) -> str:
        # There are many settings, and nearly all of them at their defaults.
        given = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in given)})"

    @property
    def family(self) -> str:
        """The distribution that naive Bayes gives such a column within a class."""
        raise errors.Unsupported(
            f"A {self.name} column has no distribution within a class, which naive Bayes would need; "
            f"perceptrons take it. For naive Bayes say 'number', 'count' or 'category'."
        )

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the block of the named columns: one, or all of them for a kind that gathers."""
        raise errors.Unsupported(f"A {self.name} column has no values of its own.")

    def features(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the block that the named columns form, for a kind that gathers."""
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

    `levels` declares the possible values; left out, they are the values seen, and grow. Learners of
    weights have one feature per level, but none for the level that the others are weighed `against`.
    """

    name: ClassVar[str] = "category"
    levels: tuple[Level, ...] | None = None
    against: Level | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.against, str | int | float | None) or self.against != self.against:
            raise errors.parameter("Category", "against", "one of the levels, or None", self.against)
        if self.levels is None:
            return
        given: Any = self.levels
        levels = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        plain = all(isinstance(level, (str, int, float)) and level == level for level in levels)
        if not levels or not plain or len(set(levels)) < len(levels):
            must = "distinct values, one at least: strings or numbers"
            raise errors.parameter("Category", "levels", must, self.levels)
        if self.against is not None and self.against not in levels:
            raise errors.parameter("Category", "against", "one of the levels, or None", self.against)
        object.__setattr__(self, "levels", levels)

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "categorical"

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the codes of one column."""
        return to_codes(columns[names[0]], names[0], missing)


@dataclass(frozen=True, repr=False)
class Flag(Kind):
    """Present or absent: a number greater than zero, or True, is present."""

    name: ClassVar[str] = "flag"
    gathers: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "bernoulli"

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the present flags of all columns."""
        return entries_from_dense(number_matrix(columns, names, missing), names, flags=True)


@dataclass(frozen=True, repr=False)
class Count(Kind):
    """How often something occurs; all count columns share one multinomial."""

    name: ClassVar[str] = "count"
    gathers: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "multinomial"

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the counts of all columns."""
        matrix = number_matrix(columns, names, missing)
        refuse_negative(np.nanmin(matrix, axis=0, initial=0.0), names)
        refuse_huge(np.nanmax(matrix, axis=0, initial=0.0), names)
        return entries_from_dense(matrix, names, flags=False)


@dataclass(frozen=True, repr=False)
class Number(Kind):
    """A measured number, normally distributed within each class.

    `spread`: "own" = each class its own standard deviation, "shared" = one for all classes, a
    number = that standard deviation. `floor`: no class is believed to be narrower than this share
    of the whole column's standard deviation. `bins`: instead of a normal curve, a histogram: the
    number of equally filled bins (cut at quantiles of the first rows) or the cuts themselves.
    `scale`: "unit" lets learners of weights see the number centred and in standard deviations of the
    training rows; None as it is.
    """

    name: ClassVar[str] = "number"
    spread: str | float = "own"
    floor: float = 0.01
    bins: int | tuple[float, ...] | None = None
    scale: str | None = None

    def __post_init__(self) -> None:
        if self.scale not in (None, "unit"):
            raise errors.parameter("Number", "scale", "None or 'unit'", self.scale)
        if isinstance(self.spread, str):
            if self.spread not in ("own", "shared"):
                raise errors.parameter("Number", "spread", SPREADS, self.spread)
        elif finite("Number", "spread", self.spread, SPREADS) <= 0:
            raise errors.parameter("Number", "spread", SPREADS, self.spread)
        if finite("Number", "floor", self.floor, "a number of at least 0") < 0:
            raise errors.parameter("Number", "floor", "a number of at least 0", self.floor)
        self._check_bins()

    def _check_bins(self) -> None:
        bins: Any = self.bins
        if hasattr(bins, "__index__") and not hasattr(bins, "__len__"):
            object.__setattr__(self, "bins", operator.index(bins))
            if operator.index(bins) < 2:
                raise errors.parameter("Number", "bins", "at least 2, or the cuts themselves", bins)
        elif bins is not None:
            if not isinstance(bins, Iterable):
                raise errors.parameter("Number", "bins", "a whole number, or the cuts themselves", bins)
            must = "finite cuts in rising order"
            cuts = tuple(finite("Number", "bins", cut, must) for cut in bins)
            rising = all(a < b for a, b in itertools.pairwise(cuts))
            if not cuts or not rising:
                raise errors.parameter("Number", "bins", must, self.bins)
            object.__setattr__(self, "bins", cuts)

    @property
    def family(self) -> str:
        """The distribution within a class."""
        return "normal" if self.bins is None else "categorical"

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the numbers of one column, or the codes of its bins."""
        numbers = to_numbers(columns[names[0]], names[0], missing)
        return to_bins(numbers, self.bins) if isinstance(self.bins, tuple) else Numbers(numbers)


@dataclass(frozen=True, repr=False)
class Value(Kind):
    """A number that is weighed as it is; all such columns form one block."""

    name: ClassVar[str] = "value"
    gathers: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the values of all columns; a missing one adds nothing, like zero."""
        together = None if missing else side_by_side(columns, names)
        if together is None:
            together = number_matrix(columns, names, missing)
        return checked_grid(Grid(together, names))


@dataclass(frozen=True, repr=False)
class Skip(Kind):
    """A column that is left out."""

    name: ClassVar[str] = "skip"


def number_matrix(columns: Columns, names: Sequence[str], missing: Markers) -> Any:
    """Return columns of numbers side by side, missing ones as NaN."""
    numbers = [to_numbers(columns[name], name, missing) for name in names]
    # Column by column, for that is how they lie in memory.
    matrix = np.empty((len(numbers[0]), len(numbers)), order="F")
    for j, column in enumerate(numbers):
        matrix[:, j] = column
    return matrix
