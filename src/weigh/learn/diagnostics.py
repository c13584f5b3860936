"""Numbers that are constant within a class, which naive Bayes takes for certain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.advice import Call, Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.dates.kind import split_part_name
from weigh.features.kinds import Number
from weigh.features.schema import Schema
from weigh.model.counts.sufficient_statistics import LIMB_BITS, NumberCounts, limbs_to_integer
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.weights import format_value
from weigh.model.naive_bayes import BayesModel

MIN_CLASS_VALUES = 20  # classes with fewer values are ignored
MIN_EXPLICIT_FLOOR = 0.1  # a variance floor this large was chosen by the user


@dataclass(frozen=True)
class ZeroVarianceColumn:
    """A number column that is constant within a class but not overall."""

    column: str
    label: Any
    value: float

    def __str__(self) -> str:
        return f"{self.column!r} is always {format_value(self.value)} in {self.label!r}"


def warn_zero_variance_columns(model: BayesModel) -> None:
    """Warn about columns with zero variance in some class."""
    columns = list(find_zero_variance_columns(model))
    if columns:
        more = f" and {len(columns) - 3:,} more" if len(columns) > 3 else ""
        warn(
            errors.FlatColumns(
                "Some numbers do not vary within a class, so any other value gets an enormous weight and "
                f"decides alone: {'; '.join(map(str, columns[:3]))}{more}.",
                hint=_zero_variance_advice(columns[0].column, model.schema),
            ),
            [each.column for each in columns],
        )


def _zero_variance_advice(column: str, schema: Schema) -> tuple[str, Setting, str]:
    if split_part_name(column)[0] in schema.dates:
        return "Use a histogram, for example ", set_kind(column, Call("Number", bins=10)), ", or skip it."
    return (
        "Let the classes share one spread, for example ",
        set_kind(column, Call("Number", spread="shared")),
        ", or give the column a floor of 0.1 or more, bins, or the kind 'skip'.",
    )


def find_zero_variance_columns(model: BayesModel) -> Iterator[ZeroVarianceColumn]:
    """Yield the columns with zero variance in a class, each with the first such class."""
    for i, (group, counts) in enumerate(zip(model.schema.column_groups, model.counts.parts, strict=True)):
        kind = group.kind
        if not isinstance(counts, NumberCounts) or not isinstance(kind, Number):
            continue
        c = _first_zero_variance_class(counts) if kind.floor < MIN_EXPLICIT_FLOOR else None
        # The distributions are made last: choosing their shapes takes longer than comparing sums.
        dist = None if c is None else model.distributions[i]
        if c is not None and isinstance(dist, Gaussian) and dist.spread == "own":
            moments = dist.sample_moments
            if moments[-1, 2] > 0.0:
                yield ZeroVarianceColumn(dist.part.names[0], model.classes[c], float(moments[c, 0]))


def _first_zero_variance_class(counts: NumberCounts) -> int | None:
    """Return the first class with n Σx² = (Σx)², compared exactly in integers; None if there is none."""
    low = min(2 * counts.sum_x.base, counts.sum_xx.base)
    shift_xx = LIMB_BITS * (counts.sum_xx.base - low)
    shift_x = LIMB_BITS * (2 * counts.sum_x.base - low)
    totals: list[Any] = counts.known.tolist() if counts.weight is None else counts.totals
    sums = zip(totals, counts.sum_x.limbs.tolist(), counts.sum_xx.limbs.tolist(), strict=True)
    for c, (n, x_limbs, xx_limbs) in enumerate(sums):
        if n >= MIN_CLASS_VALUES:
            numerator, denominator = n.as_integer_ratio()
            sum_x, sum_xx = limbs_to_integer(x_limbs), limbs_to_integer(xx_limbs)
            if numerator * sum_xx << shift_xx == denominator * sum_x**2 << shift_x:
                return c
    return None
