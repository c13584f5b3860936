"""Products: columns multiplied with each other, so that a plane can do what it could not before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, entries_from_dense
from weigh.features.kinds import Columns, Kind, Markers, number_matrix
from weigh.features.settings import truth, whole
from weigh.features.value_checks import checked
from weigh.features.words import Block

MOST = 1_000_000  # features that are made of a table
LARGEST_DEGREE = 100
POWERS = {1: "", 2: "²", 3: "³"}


@dataclass(frozen=True, repr=False)
class Products(Kind):
    """Numbers, and all products of up to `degree` of them: x, y, x², x·y, y² for the degree 2.

    `powers=False` leaves out products of a column with itself, which add nothing for columns of zeros
    and ones: x, y, x·y. A product of which one factor is missing is missing.
    """

    name: ClassVar[str] = "products"
    gathers: ClassVar[bool] = True
    degree: int = 2
    powers: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole("Products", "degree", self.degree, 1))
        truth("Products", "powers", self.powers)
        if self.degree > LARGEST_DEGREE:
            raise errors.parameter("Products", "degree", f"at most {LARGEST_DEGREE}", self.degree)

    def features(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of all products."""
        return [_named([names[j] for j in places]) for places in self._places(len(names))]

    def encode(self, columns: Columns, names: Sequence[str], missing: Markers) -> Block:
        """Return the products of all columns."""
        matrix: Floats = number_matrix(columns, names, missing)
        with np.errstate(over="ignore"):
            made = np.column_stack([matrix[:, places].prod(axis=1) for places in self._places(len(names))])
        if np.isinf(made).any():
            raise errors.ColumnError(
                "A product of columns is too large for a number. Divide the columns by their largest values."
            )
        return checked(entries_from_dense(made, self.features(names), flags=False))

    def _places(self, width: int) -> list[list[int]]:
        """Return the columns of each product."""
        made = sum(comb(width + (k - 1) * self.powers, k) for k in range(1, self.degree + 1))
        if made > MOST:
            raise errors.ColumnError(
                f"Products of degree {self.degree} make {made:,} features of {width:,} columns; {MOST:,} are "
                f"the most. Take a lower degree, or fewer columns."
            )
        return _places(width, self.degree, self.powers)


@lru_cache(maxsize=16)
def _places(width: int, degree: int, powers: bool) -> list[list[int]]:
    choose = combinations_with_replacement if powers else combinations
    return [list(places) for k in range(1, degree + 1) for places in choose(range(width), k)]


def _named(factors: Sequence[str]) -> str:
    times = Counter(factors)
    return "·".join(name + POWERS.get(k, f"^{k}") for name, k in times.items())
