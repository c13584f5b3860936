"""Leave-one-out contributions of categories and binned numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import CategoryBlock, Floats, Ints, Longs, Mask
from weigh.features.kinds import Category, Number
from weigh.model.distributions.categorical import Categorical
from weigh.model.leave_one_out.base import (
    LeaveOneOutTerm,
    LeftOutRows,
    leave_one_out_term,
    zero_rounding_residue,
)
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.smoothing import declared_values


@leave_one_out_term.register(Categorical)
class CategoricalLeaveOneOut(LeaveOneOutTerm):
    """The log-probabilities of a column's levels, each without the level of its row.

    Rows with the same level, class and weight have the same scores, which are computed once.
    """

    def __init__(self, column: Categorical) -> None:
        self._column = column

    def add(self, block: CategoryBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add to each row's scores the log-probability of its level without the row."""
        codes = self._column.weights.codes(block)
        groups, group_of_row = rows.groups
        cases = np.where(codes < 0, -1, codes.astype(np.int64) * len(groups) + group_of_row)
        distinct, case_of_row = _number_cases(cases, (len(self._column.levels) + 1) * len(groups))
        if len(distinct):
            levels, case_groups = np.divmod(distinct, len(groups))
            logs = _log_probabilities(self._column, levels, rows.select(groups[case_groups]))
            _core.score_codes(case_of_row, np.ascontiguousarray(logs), scores)


def _number_cases(cases: Longs, n_possible: int) -> tuple[Longs, Ints]:
    """Return the distinct cases, and each row's index among them; a missing case is -1."""
    if n_possible > 4 * len(cases):
        distinct, indices = np.unique(cases, return_inverse=True)
        n_missing = int(np.searchsorted(distinct, 0))
        return distinct[n_missing:], (indices.reshape(-1) - n_missing).astype(np.int32)
    occurs = np.zeros(n_possible + 1, dtype=bool)  # the last is that of missing cases
    occurs[cases] = True
    occurs[-1] = False
    index = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    index[-1] = -1
    return np.flatnonzero(occurs), index[cases]


def _log_probabilities(column: Categorical, codes: Longs, rows: LeftOutRows) -> Floats:
    """Return the log-probabilities [rows, classes] of known levels without each row."""
    counts = _append_total(column.table)
    pseudo = column.pseudo_counts  # the last is that of an unseen level
    # Only rows without weight can have an unseen level; its counts are 0.
    level_counts = np.hstack([counts, np.zeros((len(counts), 1))]).T[codes]
    before = np.maximum(level_counts + pseudo[codes, None], 0.0)
    for c in (rows.classes, -1):
        level_counts[rows.class_positions[0], c] -= rows.weights
    vanishes = ~level_counts[:, :-1].any(axis=1) & ~_persistent_levels(column)[codes]
    totals = np.maximum(counts + pseudo[:-1], 0.0).sum(axis=1)
    after = np.maximum(level_counts + pseudo[codes, None], 0.0)
    is_fractional = rows.has_fractional_weights or bool((pseudo < 0).any())
    remaining = zero_rounding_residue(totals + (after - before), totals, is_fractional)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(after / remaining)
    is_empty_class = remaining[:, :-1] == 0
    logs = np.where(is_empty_class, logs[:, -1:], logs[:, :-1])
    if vanishes.any():
        logs[vanishes] = _log_unseen_share(column, rows.select(np.flatnonzero(vanishes)), codes[vanishes])
    logs[_is_constant_without(column, vanishes, codes)] = 0.0
    return np.asarray(np.nan_to_num(logs, nan=0.0, neginf=-np.inf))


def _append_total(table: Any) -> Floats:
    """Return the counts per class and, as the last row, of all classes, for classes without values."""
    counts = table.astype(np.float64)
    return np.vstack([counts, counts.sum(axis=0)])


def _persistent_levels(column: Categorical) -> Mask:
    """Return the mask of levels that exist without rows: declared levels, bins, and values of a prior."""
    kind, prior = column.part.kind, column.prior
    is_sequence = isinstance(prior, Dirichlet) and not prior.is_named
    if isinstance(kind, Number) or isinstance(prior, Beta) or is_sequence:
        return np.ones(len(column.levels) + 1, dtype=bool)
    declared = {*((kind.levels or ()) if isinstance(kind, Category) else ()), *declared_values(prior)}
    return np.array([*(level in declared for level in column.levels), False])


def _is_constant_without(column: Categorical, vanishes: Mask, codes: Longs) -> Mask:
    """Return the rows without which the column is constant: one level remains."""
    if not (column.part.named and isinstance(column.part.kind, Category)):
        return np.zeros(len(codes), dtype=bool)
    n_vanishing = vanishes & (codes < len(column.levels))
    return np.asarray(len(column.levels) - n_vanishing == 1)


def _log_unseen_share(column: Categorical, rows: LeftOutRows, codes: Any) -> Floats:
    """Return the log-probability of an unseen level, for rows whose level disappears with them."""
    n_classes = len(column.table)
    *pseudo, unseen = column.exact_pseudo_counts
    if not unseen > 0:
        return np.zeros((rows.n_rows, n_classes))
    totals = np.tile(column.table.sum(axis=1).astype(np.float64), (rows.n_rows, 1))
    totals[rows.class_positions] -= rows.weights
    # The pseudo-count of the level disappears with it; that of an unseen level remains.
    pseudo_total = sum(column.exact_pseudo_counts)
    remaining = [pseudo_total - a for a in pseudo] + [pseudo_total]
    totals += np.array([float(a) for a in remaining])[codes, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(float(unseen) / totals))
