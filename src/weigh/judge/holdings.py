"""What a model holds, number by number, in the form in which rows are counted again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.judge.checks import Check, compare
from weigh.judge.recount import COUNT, KNOWN, SQUARES, SUM, Cell, Count, Recount
from weigh.model import BayesModel, JointModel, ThresholdModel
from weigh.model.counts import FlagCounts, NumberCounts

SIDES = ("≤ cut", "> cut", "missing")


def class_check(model: Any, recount: Recount) -> Check:
    """Compare the rows of each class."""
    rows = model.counts.sum(axis=0) if isinstance(model, ThresholdModel) else model.counts.rows
    mine = dict(zip(model.classes, map(_exact, rows.tolist()), strict=True))
    return compare("rows of each class", mine, recount.classes, "", rows.dtype == np.float64)


def naive_checks(model: BayesModel, recount: Recount) -> Iterator[Check]:
    """Compare every part of a naive Bayes model."""
    for part, counts, again in zip(model.schema.parts, model.counts.parts, recount.parts, strict=True):
        one_known = any(what == KNOWN and name == "" for what, _, name in again)
        mine = dict(_cells(counts, model.classes, one_known))
        # Only fractional weights or counts may round: whole counts and sums of numbers are exact.
        rounded = any(table.dtype == np.float64 for table in _tables(counts))
        yield compare(f"{part.title} ({part.kind.name})", mine, again, part.title, rounded)


def joint_checks(model: JointModel, recount: Recount) -> Iterator[Check]:
    """Compare every cell of a joint table."""
    counts = model.counts.parts[0]
    names = [
        tuple(None if code < 0 else levels[code] for levels, code in zip(counts.levels, row, strict=True))
        for row in counts.codes.tolist()
    ]
    mine = dict(_table_cells(COUNT, model.classes, names, counts.table))
    yield compare("cells of the table", mine, recount.rows_together(), "", counts.table.dtype == np.float64)


def threshold_checks(model: ThresholdModel, recount: Recount) -> Iterator[Check]:
    """Compare the rows on each side of the cut."""
    mine = dict(_table_cells(COUNT, model.classes, SIDES, model.counts.T))
    again: dict[Cell, Count] = {}
    for (what, label, (value,)), n in recount.rows_together().items():
        side = 2 if value is None else int(value > model.cut)
        key = (what, label, SIDES[side])
        again[key] = again.get(key, 0) + n
    yield compare(f"sides of {model.column}", mine, again, "", model.counts.dtype == np.float64)


def _tables(counts: Any) -> list[Any]:
    if isinstance(counts, NumberCounts):
        return [counts.known]
    return [counts.present.table, counts.known] if isinstance(counts, FlagCounts) else [counts.table]


def _cells(counts: Any, classes: list[Any], one_known: bool) -> Iterator[tuple[Cell, Count]]:
    if isinstance(counts, NumberCounts):
        yield from _table_cells(KNOWN, classes, [""], counts.known[:, None])
        for what, total in ((SUM, counts.first), (SQUARES, counts.second)):
            integers, exponent = total.integers()
            for c, value in zip(classes, integers, strict=True):
                yield (what, c, ""), value * Fraction(2) ** exponent
        return
    tally = counts.present if isinstance(counts, FlagCounts) else counts
    yield from _table_cells(COUNT, classes, tally.names, tally.table)
    if isinstance(counts, FlagCounts):
        names = [""] if one_known and counts.known.shape[1] == 1 else tally.names
        known = np.broadcast_to(counts.known, (len(classes), len(names)))
        yield from _table_cells(KNOWN, classes, names, known)


def _table_cells(
    what: str, classes: list[Any], names: Iterable[Any], table: Any
) -> Iterator[tuple[Cell, Count]]:
    named = list(names)
    for c, row in zip(classes, table.tolist(), strict=True):
        for name, n in zip(named, row, strict=True):
            if n:
                yield (what, c, name), _exact(n)


def _exact(count: float) -> Count:
    return count if isinstance(count, int) else Fraction(count)
