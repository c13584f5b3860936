"""Kinds of additive models: numbers as curves over cells, and pairs of columns as surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weigh import errors
from weigh.features.blocks import CategoryBlock, Mask, NumberBlock
from weigh.features.columns import to_codes, to_numbers
from weigh.features.kinds import ColumnMap, Kind, MarkerTuple


@dataclass(frozen=True, repr=False)
class Curve(Kind):
    """A number whose effect is a curve, constant within each of many cells; missing values have their own.

    `bins`: "auto", the number of cells (cut at quantiles; frequent values get cells of their own), or the
    cuts themselves. `smooth`: the strength of the random-walk prior of the differences between neighbouring
    cells; "auto" chooses it by marginal likelihood. `monotone`: "up" or "down" lets the curve only rise or
    only fall. For logistic and linear regression.
    """

    name: ClassVar[str] = "curve"
    bins: str | int | tuple[float, ...] = "auto"
    smooth: str | float = "auto"
    monotone: str | None = None

    @property
    def family(self) -> str:
        """Raise Unsupported: a curve has no distribution within a class."""
        raise errors.Unsupported(
            "A curve column has no distribution within a class, so naive Bayes cannot use it; logistic and "
            "linear regression can. For naive Bayes use 'number'."
        )

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> NumberBlock:
        """Return the numbers of one column."""
        return NumberBlock(to_numbers(columns[names[0]], names[0], missing))


@dataclass(frozen=True)
class PairBlock:
    """Two columns side by side, each a block of numbers or of codes."""

    left: NumberBlock | CategoryBlock
    right: NumberBlock | CategoryBlock

    @property
    def n_rows(self) -> int:
        return self.left.n_rows

    def where(self, mask: Mask) -> PairBlock:
        """Return the selected rows."""
        return PairBlock(self.left.where(mask), self.right.where(mask))

    def row(self, i: int) -> PairBlock:
        """Return one row as a block."""
        return PairBlock(self.left.row(i), self.right.row(i))


@dataclass(frozen=True, repr=False)
class Pair(Kind):
    """Two columns whose joint effect is a surface; `numbers` tells which of them are numbers.

    Made by regressions with `pairs`, beside the two columns' own effects.
    """

    name: ClassVar[str] = "pair"
    numbers: tuple[bool, bool] = (True, True)

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Any:
        """Return the blocks of the two columns."""
        left, right = (
            NumberBlock(to_numbers(columns[name], name, missing))
            if is_number
            else to_codes(columns[name], name, missing)
            for name, is_number in zip(names, self.numbers, strict=True)
        )
        return PairBlock(left, right)


def pair_title(names: Sequence[str]) -> str:
    """Return the name of the effect of two columns."""
    return " × ".join(names)
