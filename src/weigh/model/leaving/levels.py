"""Categories without one row: its level counts one less in its class, or is gone."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh import priors
from weigh.features import Category, Codes, Number
from weigh.features.blocks import Floats, Mask
from weigh.model.categorical import Categorical
from weigh.model.leaving.leaving import Leaving, nothing_left


def add_levels(column: Categorical, block: Codes, rows: Leaving, scores: Floats) -> None:
    """Add to each row's scores what its level says where the row was never counted."""
    codes = column.weights.codes(block)
    known = np.flatnonzero(codes >= 0)
    at, rows = codes[known], rows.taken(known)
    counts = _with_all(column.table)
    pseudo = np.array([float(a) for a in column.pseudo])  # the last is that of a level never seen
    # Rows without weight may have a level that no other has.
    own = np.hstack([counts, np.zeros((len(counts), 1))]).T[at]
    before = np.maximum(own + pseudo[at, None], 0.0)
    for place in (rows.classes, -1):
        own[rows.own[0], place] -= rows.weights
    gone = ~own[:, :-1].any(axis=1) & ~_declared(column)[at]
    totals = np.maximum(counts + pseudo[:-1], 0.0).sum(axis=1)
    after = np.maximum(own + pseudo[at, None], 0.0)
    left = nothing_left(totals + (after - before), totals, rows.fractional or bool((pseudo < 0).any()))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(after / left)
    lacking = left[:, :-1] == 0
    found = np.where(lacking, logs[:, -1:], logs[:, :-1])
    if gone.any():
        found[gone] = _unseen(column, rows.taken(np.flatnonzero(gone)), at[gone])
    scores[known] += np.nan_to_num(found, nan=0.0, neginf=-np.inf)


def _with_all(table: Any) -> Floats:
    """Return counts by class, and last those of all classes, which a class without any is given."""
    counts = table.astype(np.float64)
    return np.vstack([counts, counts.sum(axis=0)])


def _declared(column: Categorical) -> Mask:
    """Which levels stay without a row: declared ones, bins, and those that a list of a prior is about."""
    kind, prior = column.part.kind, column.prior
    is_counted = isinstance(prior, priors.Dirichlet) and not prior.is_named
    if isinstance(kind, Number) or isinstance(prior, priors.Beta) or is_counted:
        return np.ones(len(column.levels) + 1, dtype=bool)
    stay = {*((kind.levels or ()) if isinstance(kind, Category) else ()), *priors.declared(prior)}
    return np.array([*(level in stay for level in column.levels), False])


def _unseen(column: Categorical, rows: Leaving, at: Any) -> Floats:
    """Return the share of a level never seen, where a row's own level has gone with it."""
    n = len(column.table)
    if not column.pseudo[-1] > 0:
        return np.zeros((rows.n_rows, n))
    totals = np.tile(column.table.sum(axis=1).astype(np.float64), (rows.n_rows, 1))
    totals[rows.own] -= rows.weights
    # The level's own pseudo-count goes with it; that of a level never seen stays.
    pseudo = [sum(column.pseudo) - a for a in column.pseudo[:-1]] + [sum(column.pseudo)]
    totals += np.array([float(total) for total in pseudo])[at, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(float(column.pseudo[-1]) / totals))
