"""Numbers that are all equal in a class: a normal curve without width is sure of everything."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.model import BayesModel
from weigh.model.counts import NumberCounts
from weigh.model.normal import Normal
from weigh.model.sums import LIMB
from weigh.model.weights import as_text

FEWEST = 20  # values of a class, to say anything of it
WIDE = 0.1  # a floor from here on was asked for


@dataclass(frozen=True)
class Flat:
    """A column that is one number throughout a class, and another elsewhere."""

    column: str
    label: Any
    value: float

    def __str__(self) -> str:
        return f"{self.column!r} is always {as_text(self.value)} in {self.label!r}"


def warn_of_flat(model: BayesModel) -> None:
    """Warn of columns that have no spread in some class."""
    found = list(flat_columns(model))
    if found:
        more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
        warnings.warn(
            f"Some numbers do not vary within a class, so that any other number there has an enormous weight "
            f"and decides alone: {'; '.join(map(str, found[:3]))}{more}. Let the classes share one spread, "
            f"for example columns={{{found[0].column!r}: weigh.Number(spread='shared')}}, or give floor= of "
            f"0.1 or more, bins=, or 'skip'.",
            errors.FlatColumns,
            stacklevel=4,
        )


def flat_columns(model: BayesModel) -> Iterator[Flat]:
    """Yield the columns without spread in a class, each with the first such class."""
    for part in model.distributions:
        if isinstance(part, Normal) and part.kind.spread == "own" and part.kind.floor < WIDE:
            c = _flat_class(part.counts)
            if c is not None:
                means, _, _, whole = part.measured
                if whole > 0.0:
                    yield Flat(part.part.names[0], model.classes[c], float(means[c]))


def _flat_class(counts: NumberCounts) -> int | None:
    """The first class with n Σx² = (Σx)²; the deviations themselves cost more, and are seldom asked for."""
    low = min(2 * counts.first.base, counts.second.base)
    up = LIMB * (counts.second.base - low), LIMB * (2 * counts.first.base - low)
    known: list[Any] = counts.known.tolist() if counts.weight is None else counts.totals
    sums = zip(known, counts.first.limbs.tolist(), counts.second.limbs.tolist(), strict=True)
    for c, (n, first, second) in enumerate(sums):
        above, below = n.as_integer_ratio()
        if n >= FEWEST and above * _joined(second) << up[0] == below * _joined(first) ** 2 << up[1]:
            return c
    return None


def _joined(limbs: list[int]) -> int:
    total = 0
    for limb in reversed(limbs):
        total = (total << LIMB) + limb
    return total
