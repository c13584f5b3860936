"""The weight of one training row, from the counts of a model.

A model keeps sums of weights, not numbers of rows. If all weights are multiples of one unit, the counts are
too, and dividing by it gives numbers of rows: weights of 10 and rows that all occur ten times are the same
counts. Of weights 1, 2, 3, ... a model cannot know that they are not repeated rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.naive_bayes import BayesModel

MAX_PARTS = 12  # the unit is the smallest count divided by at most this number
TOLERANCE = 1e-6  # rows
MIN_DISTINCT, MIN_COUNTS = 5, 50  # fewer counts may have a common divisor by chance or by design


@dataclass(frozen=True)
class WeightUnit:
    """The weight of one row; `is_known` is False if the weights differ, and then it is a typical weight."""

    value: float = 1.0
    is_known: bool = True


def find_weight_unit(model: BayesModel) -> WeightUnit:
    """Return the largest number of which all counts of rows are multiples."""
    totals, values = list(_total_counts(model)), list(_value_counts(model))
    if all(_is_whole(table) for table in (*totals, *values)):
        unit = _common_divisor([*totals, *values])
        if unit > 1 and (_varies([*totals, *values]) or any(_is_mostly(table, unit) for table in values)):
            return WeightUnit(float(unit))
        return WeightUnit()
    arrays = [table[table > 0].astype(np.float64) for table in (*totals, *values)]
    counts = np.concatenate(arrays)
    ratios = counts / counts.min()
    for parts in range(1, MAX_PARTS + 1):
        if (np.abs(parts * ratios - np.round(parts * ratios)) < TOLERANCE * np.maximum(1.0, ratios)).all():
            return WeightUnit(float(counts.min()) / parts)
    return WeightUnit(min(float(np.median(array)) for array in arrays if len(array)), is_known=False)


def _is_whole(table: Any) -> bool:
    return table.dtype.kind in "iu" or not (table % 1).any()


def _common_divisor(tables: Iterable[Any]) -> int:
    divisor = 0
    for table in tables:
        divisor = int(np.gcd.reduce(table.ravel().astype(np.int64), initial=divisor))
        # Nearly always after the first column.
        if divisor == 1:
            break
    return divisor


def _varies(tables: Iterable[Any]) -> bool:
    """Whether there are so many different counts that a common divisor is hardly an accident."""
    return len(np.unique(np.concatenate([table[table > 0] for table in tables]))) >= MIN_DISTINCT


def _is_mostly(counts: Any, unit: float) -> bool:
    """Whether most of many values of a column have the same count, that of one row."""
    counts = counts[counts > 0]
    return len(counts) >= MIN_COUNTS and float(np.mean(counts == unit)) > 0.5


def _total_counts(model: BayesModel) -> Iterator[Any]:
    """Yield the sums of weights of the classes, of known values and of flags."""
    yield model.counts.rows
    for part in model.distributions:
        if isinstance(part, Bernoulli):
            yield part.counts.known
            if part.counts.present.fixed:
                yield part.counts.present.table
        elif isinstance(part, Gaussian | ShapedNumber):
            yield part.counts.known


def _value_counts(model: BayesModel) -> Iterator[Any]:
    """Yield the sums of weights of the values of each category and number, and of words."""
    for part in model.distributions:
        if isinstance(part, Categorical):
            yield part.counts.table
        elif isinstance(part, Gaussian | ShapedNumber) and part.counts.grid is not None:
            yield part.counts.grid.table
        elif isinstance(part, Bernoulli) and not part.counts.present.fixed:
            yield part.counts.present.table
        elif isinstance(part, Multinomial) and not part.counts.fixed:
            yield part.counts.frequencies
