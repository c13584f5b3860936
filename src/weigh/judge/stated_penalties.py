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

PLAIN = re.compile(r"(Normal|Laplace|Penalty)\(([^()]*)\)")
UNKNOWN = "The features have penalties of their own, which a model does not keep: only the loss was checked."


@dataclass(frozen=True, eq=False)
class Penalties:
    """l1 and l2 of every feature, and where the prior expects its weight."""

    l1: Floats
    l2: Floats
    centre: float = 0.0


def stated_penalties(
    model: RegressionModel | LogisticModel, rows: Design, W: Floats, s: Floats, loss: float
) -> Penalties | None:
    """Return the penalties that a model tells, or that follow from what it tells; None if none do."""
    fit, proof = model.fit, model.certificate
    ones = np.ones(len(W))
    prior = PLAIN.fullmatch(fit.prior)
    centre = _centre(fit.prior)
    if fit.l1 is not None and fit.l2 is not None and centre is not None:
        return Penalties(fit.l1 * ones, fit.l2 * ones, centre)
    if prior is None or centre is None or proof is None:
        return None
    # One prior, and yet penalties differ: those are of numbers in standard deviations.
    units = _units(model, rows, s)
    away, paid = np.abs(W - centre), proof.objective - loss
    if prior[1] == "Penalty":
        given = dict(part.split("=") for part in prior[2].split(", "))
        l1, l2 = (float(Fraction(given.get(name, "0"))) for name in ("l1", "l2"))
        return Penalties(l1 * units, l2 * np.square(units), centre)
    sizes = units[:, None] * away
    cost = float(0.5 * np.square(sizes).sum() if prior[1] == "Normal" else sizes.sum())
    if not cost:
        return None
    if prior[1] == "Normal":
        return Penalties(0.0 * ones, paid / cost * np.square(units), centre)
    return Penalties(paid / cost * units, 0.0 * ones, centre)


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
