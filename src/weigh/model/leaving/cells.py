"""Cells of a joint table without one row: its own cell counts less in its class, and some levels are gone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.features import Codes
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.cells import Index
from weigh.model.joint_table import MISSING, JointTable
from weigh.model.leaving.leaving import Leaving, nothing_left


def add_cells(table: JointTable, columns: Sequence[Codes], rows: Leaving, scores: Floats) -> None:
    """Add to each row's scores what all columns together say where the row was never counted.

    A level that goes with the row is one that was never seen. Under a prior it is one more level of its
    column, so that there are as many cells as before, and none of them holds a row; without a prior it
    says nothing, like a missing value.
    """
    stay, leave = (np.flatnonzero(each) for each in (rows.weights == 0, rows.weights != 0))
    if len(stay):
        # What was never counted may have values that the table does not know.
        scores[stay] += table.logs(_taken(columns, stay))
    if len(leave):
        scores[leave] += _logs_without(table, table.codes(_taken(columns, leave)), rows.taken(leave))


def _taken(columns: Sequence[Codes], rows: Longs) -> list[Codes]:
    return [Codes(column.codes[rows], column.levels) for column in columns]


def _logs_without(table: JointTable, codes: Ints, rows: Leaving) -> Floats:
    index = Index.of(table.cells, table.sizes)
    own = table.counts.table[rows.classes, index.first()[index.find(codes)]].astype(np.float64)
    change = table.reduced(own - rows.weights) - table.reduced(own)
    asked = codes.copy()
    if not table.share:
        asked[_gone(table, codes, rows)] = MISSING
    logs = np.empty((rows.n_rows, len(table.counts.table)))
    patterns = Index.of((asked == MISSING).astype(np.int32), [2] * asked.shape[1])
    for number, example in enumerate(patterns.first().tolist()):
        chosen = np.flatnonzero(patterns.ids == number)
        known = asked[example] != MISSING
        logs[chosen] = _logs(table, asked[chosen], known, rows.taken(chosen), change[chosen])
    return logs


def _gone(table: JointTable, codes: Ints, rows: Leaving) -> Mask:
    """Return which values [rows, columns] are of levels that no other row has, and that none declares."""
    gone = np.zeros(codes.shape, dtype=bool)
    each = table.counts.table.sum(axis=0).astype(np.float64)
    for j, size in enumerate(table.sizes):
        seen = table.cells[:, j] >= 0
        totals = np.bincount(table.cells[seen, j], each[seen], size)
        known = np.flatnonzero(codes[:, j] >= 0)
        before = totals[codes[known, j]]
        left = nothing_left(before - rows.weights[known], before, rows.fractional)
        gone[known, j] = (left == 0) & ~table.declared(j)[codes[known, j]]
    return gone


def _logs(table: JointTable, codes: Ints, known: Mask, rows: Leaving, change: Floats) -> Floats:
    """Return the logs of rows that are asked about the same columns."""
    matching, before = table.found(codes, known)
    totals = np.tile(before, (rows.n_rows, 1))
    for counts in (matching, totals):
        counts[rows.own] += change
    totals = nothing_left(totals, before, rows.fractional)
    if not table.share:
        lacking = totals == 0
        matching, totals = (
            np.where(lacking, each.sum(axis=1, keepdims=True), each) for each in (matching, totals)
        )
    return table.ratio(matching, totals, known)
