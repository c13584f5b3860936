"""The penalties of a regression's features, from what its model tells of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from weigh.features import Value
from weigh.features.blocks import Floats
from weigh.learn import Design
from weigh.model import LogisticModel, RegressionModel

UNKNOWN = "The features have penalties of their own, which a model does not keep: only the loss was checked."


@dataclass(frozen=True, eq=False)
class Penalties:
    """l1 and l2 of every feature, and where the prior expects its weight."""

    l1: Floats
    l2: Floats
    centre: float = 0.0


def stated_penalties(model: RegressionModel | LogisticModel, rows: Design, s: Floats) -> Penalties | None:
    """Return the penalties that a model tells of rows with the weights s; None if it tells none."""
    fit, centre = model.fit, _centre(model.fit.prior)
    if centre is None:
        return None
    ones = np.ones(rows.width)
    if fit.l1 is not None and fit.l2 is not None:
        return Penalties(fit.l1 * ones, fit.l2 * ones, centre)
    if fit.units is None:
        return None
    units = _units(model, rows, s)
    return Penalties(fit.units[0] * units, fit.units[1] * np.square(units), centre)


def _centre(prior: str) -> float | None:
    """Return where a prior in words expects all weights; None if that is told of columns or a model."""
    if "mean=" not in prior:
        return 0.0
    found = re.fullmatch(r"\w+\([^()]*, mean=([-+\d./e]+)\)", prior)
    return None if found is None else float(Fraction(found[1]))


def _units(model: RegressionModel | LogisticModel, rows: Design, s: Floats) -> Floats:
    """Return the standard deviations of numbers; flags, levels and words keep their unit."""
    n = rows.n_rows
    place = np.repeat(np.arange(n), np.diff(rows.indptr))
    mean = np.bincount(rows.indices, s[place] * rows.values, minlength=rows.width) / s.sum()
    away = s[place] * np.square(rows.values - mean[rows.indices])
    seen = np.bincount(rows.indices, s[place], minlength=rows.width)
    # Zeros are not stored: they are as far from the mean as the mean from zero.
    variance = (
        np.bincount(rows.indices, away, minlength=rows.width) + (s.sum() - seen) * np.square(mean)
    ) / s.sum()
    is_number = np.zeros(rows.width, dtype=bool)
    first = 0
    for part, term in zip(model.schema.parts, model.terms, strict=True):
        last = first + len(term.features().names)
        is_number[first:last] = isinstance(part.kind, Value)
        first = last
    varies = variance > 1e-14 * np.square(mean)
    return np.where(is_number & varies, np.sqrt(variance), 1.0)
