"""What a model holds, number by number, in the form in which rows are counted again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.judge.verifying.checks import Check, compare
from weigh.judge.verifying.recount import COUNT, KNOWN, Cell, Count, Recount
from weigh.model import BayesModel, JointModel, ThresholdModel
from weigh.model.outcomes import Held

SIDES = ("≤ cut", "> cut", "missing")


def class_check(model: Any, recount: Recount) -> Check:
    """Compare the rows of each class."""
    rows = model.counts.sum(axis=0) if isinstance(model, ThresholdModel) else model.counts.rows
    mine = dict(zip(model.classes, map(_exact, rows.tolist()), strict=True))
    return compare("rows of each class", mine, recount.classes, "", rows.dtype == np.float64)


def naive_checks(model: BayesModel, recount: Recount) -> Iterator[Check]:
    """Compare every part of a naive Bayes model."""
    for each, again in zip(model.distributions, recount.parts, strict=True):
        held = list(each.held())
        one_known = any(what == KNOWN and name == "" for what, _, name in again)
        mine = dict(cell for one in held for cell in _cells(one, model.classes, one_known))
        # Only fractional weights or counts may round: whole counts and sums of numbers are exact.
        rounded = any(table.dtype == np.float64 for _, _, table in held)
        title = each.part.title
        yield compare(f"{title} ({each.part.kind.name})", mine, again, title, rounded)


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


def _cells(held: Held, classes: list[Any], one_known: bool) -> Iterator[tuple[Cell, Count]]:
    what, names, table = held
    if what == KNOWN and one_known and table.shape[1] == 1:
        names = [""]
    yield from _table_cells(what, classes, names, np.broadcast_to(table, (len(classes), len(names))))


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
