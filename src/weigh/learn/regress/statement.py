"""A learner's question to its rows: a problem for solvers, and their answer as weights of a model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Value
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.gathered import Gathered
from weigh.learn.regress.problem import Problem
from weigh.learn.regress.spread import means_and_spreads
from weigh.learn.regress.weight_priors import Columns, FeaturePriors
from weigh.priors.weights import WeightPrior


@dataclass(frozen=True, eq=False)
class Statement:
    """A problem without its penalties, and what it leaves out.

    Weights are learned as distances from their `centre`; features that are not `kept` are the offset's, whose
    weight is one.
    """

    rows: Gathered
    problem: Problem
    priors: FeaturePriors
    centre: Floats | None
    kept: Longs

    def weights(self, w: Floats) -> Floats:
        """Return the weights of all features, [features] or [features, results]."""
        full = np.ones((self.rows.space.width, *w.shape[1:]))
        full[self.kept] = w if self.centre is None else w + self.centre
        return full

    @property
    def start(self) -> Floats:
        """The weights of all features where nothing was learned: their centres, and one of the offset."""
        return self.weights(np.zeros(len(self.kept)))

    def terms(self, table: Floats) -> list[Any]:
        """Return the terms of a model with the weights [features, results]."""
        orders = self.rows.orders
        return self.rows.space.terms(orders, np.ascontiguousarray(table[np.concatenate(orders)]))

    @property
    def places(self) -> Longs:
        """Where the features of a model, in its order, are among those that were learned; −1 if nowhere."""
        found = np.full(self.rows.space.width, -1)
        found[self.kept] = np.arange(len(self.kept))
        return found[np.concatenate(self.rows.orders)]


def stated(
    rows: Gathered,
    prior: WeightPrior | Columns | None,
    rest: WeightPrior | None,
    *,
    bias: bool,
    scale: str | None,
    offset: str | None,
    owner: str,
    classes: int = 1,
    units: Floats | None = None,
) -> Statement:
    """Return the problem of gathered rows, and the prior of every feature in it.

    `units` are the features' standard deviations, where the rows cannot tell them.
    """
    _warn_of_gaps(rows)
    X, o = rows.X, None
    kept = np.arange(rows.space.width)
    if offset is not None and classes > 1:
        raise errors.ParameterError(
            f"{owner}: an offset is added to the log-odds of two classes; there are {classes:,}. Leave it "
            f"out."
        )
    if offset is not None:
        place = _offset_place(rows, offset, owner)
        kept = np.delete(kept, place)
        o = X.columns(np.array([place]))[:, 0]
        X = X.features(np.arange(X.width) != place)
    if scale is None:
        units = np.ones(rows.space.width)
    units = _units(rows, means_and_spreads(rows.X, rows.weights)[1] if units is None else units)
    priors = FeaturePriors.of(prior, rest, rows, units, owner).taken(kept)
    centre = priors.centres(classes)
    priors.check_classes(rows.classes)
    if centre is not None:
        shift = X.times(centre)
        o = shift if o is None else (o if shift.ndim == 1 else o[:, None]) + shift
    none = np.zeros(X.width)
    y = np.asarray(rows.y, dtype=np.float64)
    return Statement(rows, Problem(X, y, none, none, bias, rows.weights, o), priors, centre, kept)


def _warn_of_gaps(rows: Gathered) -> None:
    if rows.gaps:
        one = "1 number is missing, and counts as zero. Fill it in"
        many = f"{rows.gaps:,} numbers are missing, and count as zero. Fill them in"
        warnings.warn(
            f"{one if rows.gaps == 1 else many} before (by the column's mean, say), or leave such rows out.",
            errors.MissingNumbers,
            stacklevel=2,
        )


def _offset_place(rows: Gathered, offset: str, owner: str) -> int:
    """Return the feature that is the offset."""
    columns = dict(rows.columns)
    if offset not in columns:
        raise errors.unknown_column(offset, columns, f"{owner}: offset names what is no column; the table")
    if len(columns[offset]) != 1 or len(columns) < 2:
        raise errors.ParameterError(
            f"{owner}: offset must be a column of numbers beside others, got {offset!r}, which has "
            f"{len(columns[offset]):,} features of {rows.space.width:,}."
        )
    return int(columns[offset][0])


def _units(rows: Gathered, spreads: Floats) -> Floats:
    """Return what counts as one unit: of numbers their spread; flags, levels and words keep theirs."""
    is_number = np.zeros(len(spreads), dtype=bool)
    for part, places in zip(rows.schema.parts, rows.orders, strict=True):
        is_number[places] = isinstance(part.kind, Value)
    return np.where(is_number & (spreads > 0), spreads, 1.0)
