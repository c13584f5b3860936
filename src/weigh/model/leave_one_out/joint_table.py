"""Leave-one-out contributions of the joint table of all columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, Longs, Mask
from weigh.model.counts.joint_counts import CellIndex
from weigh.model.distributions.joint_table import MISSING, JointTable
from weigh.model.leave_one_out.base import LeftOutRows, zero_rounding_residue


def add_joint_table(
    table: JointTable, columns: Sequence[CategoryBlock], rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores the log-probability of its cell without the row.

    A level that disappears with its row becomes an unseen level. With a prior, an unseen level is one
    additional level of its column, so the number of cells is unchanged and the row's cell is empty. Without a
    prior it contributes nothing, like a missing value.
    """
    unweighted, weighted = np.flatnonzero(rows.weights == 0), np.flatnonzero(rows.weights != 0)
    if len(unweighted):
        # Rows without weight were never counted and may have unseen levels.
        scores[unweighted] += table.log_probabilities(_select_rows(columns, unweighted))
    if len(weighted):
        codes = table.codes(_select_rows(columns, weighted))
        scores[weighted] += _log_probabilities_without(table, codes, rows.select(weighted))


def _select_rows(columns: Sequence[CategoryBlock], rows: Longs) -> list[CategoryBlock]:
    return [CategoryBlock(column.codes[rows], column.levels) for column in columns]


def _log_probabilities_without(table: JointTable, codes: Ints, rows: LeftOutRows) -> Floats:
    index = CellIndex.from_codes(table.cells, table.sizes)
    counts = table.counts.table[rows.classes, index.row_positions()[index.find(codes)]].astype(np.float64)
    change = table.discount_counts(counts - rows.weights) - table.discount_counts(counts)
    known_codes = codes.copy()
    if not table.nonnegative_pseudo_count:
        known_codes[_vanishing_levels(table, codes, rows)] = MISSING
    logs = np.empty((rows.n_rows, len(table.counts.table)))
    patterns = CellIndex.from_codes((known_codes == MISSING).astype(np.int32), [2] * known_codes.shape[1])
    for pattern, example in enumerate(patterns.row_positions().tolist()):
        selected = np.flatnonzero(patterns.ids == pattern)
        known = known_codes[example] != MISSING
        logs[selected] = _log_ratios_without(
            table, known_codes[selected], known, rows.select(selected), change[selected]
        )
    return logs


def _vanishing_levels(table: JointTable, codes: Ints, rows: LeftOutRows) -> Mask:
    """Return the mask [rows, columns] of undeclared levels that no other row has."""
    vanishes = np.zeros(codes.shape, dtype=bool)
    cell_totals = table.counts.table.sum(axis=0).astype(np.float64)
    for j, size in enumerate(table.sizes):
        has_value = table.cells[:, j] >= 0
        totals = np.bincount(table.cells[has_value, j], cell_totals[has_value], size)
        known = np.flatnonzero(codes[:, j] >= 0)
        before = totals[codes[known, j]]
        after = zero_rounding_residue(before - rows.weights[known], before, rows.has_fractional_weights)
        vanishes[known, j] = (after == 0) & ~table.declared_mask(j)[codes[known, j]]
    return vanishes


def _log_ratios_without(
    table: JointTable, codes: Ints, known: Mask, rows: LeftOutRows, change: Floats
) -> Floats:
    """Return the log-probabilities of rows with values in the same columns `known`."""
    matching, before = table.matching_weights(codes, known)
    totals = np.tile(before, (rows.n_rows, 1))
    for counts in (matching, totals):
        counts[rows.class_positions] += change
    totals = zero_rounding_residue(totals, before, rows.has_fractional_weights)
    if not table.nonnegative_pseudo_count:
        is_empty_class = totals == 0
        matching, totals = (
            np.where(is_empty_class, counts.sum(axis=1, keepdims=True), counts)
            for counts in (matching, totals)
        )
    return table.log_ratios(matching, totals, known)
