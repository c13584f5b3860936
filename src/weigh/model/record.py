"""The record of a perceptron's run: its mistaken rows and what each of them changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Ints, Longs
from weigh.model import store

KEPT = ("averaged", "last", "voted", "lazy")
ARRAYS = {
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float64,
    "plus": np.int32,
    "minus": np.int32,
    "amounts": np.float64,
    "lives": np.int64,
}


@dataclass(frozen=True, eq=False)
class Record:
    """All hypotheses of a run, as the changes that lead from one to the next.

    Update k adds `amounts[k]` times row k to the weights of column `plus[k]` and takes it from
    column `minus[k]`; a negative column is none. The hypothesis before the first update decided on
    `lives[0]` examples, the one after update k on `lives[k + 1]`, the example that made it included.
    Two classes are one column; `separate` columns are classes against the rest.
    """

    indptr: Longs
    indices: Ints
    values: Floats
    plus: Ints
    minus: Ints
    amounts: Floats
    lives: Longs
    width: int
    columns: int
    bias: bool = True
    separate: bool = False

    def weights(self, how: str) -> tuple[Floats, Floats, float]:
        """Return the last, averaged or lazy weights [features, columns] and biases, and their divisor."""
        table, biases = np.zeros((self.width, self.columns)), np.zeros(self.columns)
        for columns, sign in ((self.plus, 1.0), (self.minus, -1.0)):
            shares = sign * self.amounts * self._shares(how, columns)
            here = columns >= 0
            rows = np.repeat(np.arange(len(columns)), np.diff(self.indptr))
            entries = here[rows]
            at = (self.indices[entries], columns[rows[entries]])
            np.add.at(table, at, shares[rows[entries]] * self.values[entries])
            np.add.at(biases, columns[here], shares[here])
        biases = biases if self.bias else np.zeros(self.columns)
        total = self._total(how)
        if isinstance(total, float):
            return table, biases, total
        return table / total, biases / total, 1.0

    def _shares(self, how: str, columns: Ints) -> Floats:
        """Return in how many of the hypotheses that are added up each update is."""
        if how == "averaged":
            return np.asarray(self.lives[1:][::-1].cumsum()[::-1], dtype=np.float64)
        if how == "last":
            return np.ones(len(columns))
        if not self.separate:
            return np.arange(len(columns), 0, -1, dtype=np.float64)
        shares = np.zeros(len(columns))
        for column in range(self.columns):
            own = columns == column
            after = (self.plus == column) | (self.minus == column)
            shares[own] = after[::-1].cumsum()[::-1][own]
        return shares

    def _total(self, how: str) -> Any:
        if how == "averaged":
            return float(max(1, self.lives.sum()))
        if how == "last":
            return 1.0
        if not self.separate:
            return float(max(1, len(self.amounts)))
        touched = np.concatenate([self.plus[self.plus >= 0], self.minus[self.minus >= 0]])
        ticks = np.maximum(1, np.bincount(touched, minlength=self.columns)).astype(np.float64)
        return float(ticks[0]) if (ticks == ticks[0]).all() else ticks

    def votes(self, indptr: Longs, indices: Ints, values: Floats | None) -> Floats:
        """Return the votes [rows, columns] of all hypotheses on rows of the same features."""
        votes = np.zeros((len(indptr) - 1, self.columns))
        _core.add_perceptron_votes(
            self.indptr,
            self.indices,
            self.values,
            self.plus,
            self.minus,
            self.amounts,
            self.lives,
            self.bias,
            self.separate,
            indptr,
            indices,
            values,
            self.width,
            votes,
        )
        return votes

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the record to what a model file will hold."""
        for name in ARRAYS:
            arrays[f"record.{name}"] = getattr(self, name)
        meta["record"] = [self.width, self.columns, self.bias, self.separate]

    @classmethod
    def get(cls, stored: store.Stored, width: int, columns: int) -> Record | None:
        """Return the record that `put` added, if there is one."""
        if "record" not in stored.meta:
            return None
        found, own, bias, separate = stored.meta["record"]
        arrays = {name: stored.arrays[f"record.{name}"] for name in ARRAYS}
        right = all(arrays[name].dtype == kind and arrays[name].ndim == 1 for name, kind in ARRAYS.items())
        if (found, own) != (width, columns) or not right:
            raise store.damaged(stored.path, "its record is of the wrong shape")
        record = cls(**arrays, width=width, columns=columns, bias=bool(bias), separate=bool(separate))
        record._check(stored)
        return record

    def _check(self, stored: store.Stored) -> None:
        updates = len(self.amounts)
        sizes = len(self.plus) == len(self.minus) == updates == len(self.lives) - 1 == len(self.indptr) - 1
        finite = np.isfinite(self.amounts).all() and np.isfinite(self.values).all()
        if not sizes or self.lives.min(initial=0) < 0 or not finite:
            raise store.damaged(stored.path, "its record does not fit together")
        try:
            # The native code checks every index before it reads anything.
            self.votes(np.zeros(1, np.int64), np.zeros(0, np.int32), None)
        except ValueError as cause:
            raise store.damaged(stored.path, f"its record is contradictory ({cause})") from cause


def check_kept(how: object) -> str:
    """Return which hypothesis is asked for, checked."""
    if not isinstance(how, str) or how not in KEPT:
        raise errors.parameter("Perceptron", "keep", "'averaged', 'last', 'voted' or 'lazy'", how)
    return how
