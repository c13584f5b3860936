"""Counts of words by class, with the same algebra as a tally, for vocabularies of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Names
from weigh.features.blocks import Longs
from weigh.model import store
from weigh.model.tally import NARROW, STORED, Table, get_table, is_identity, narrow, placed, whole


@dataclass(frozen=True, eq=False)
class WordTally:
    """Counts [classes, words]; the names are sorted, or, if words were hashed, stand by bucket.

    Whole counts are held in the narrowest type, for a table may be long: sums are made in 64 bits.

    A bucket's name is the shortest word of at most 63 bytes ever seen in it (of equally short ones
    that of the smallest hash): whatever the order of the rows, the same. It may outlive a row that
    was taken away.
    """

    names: Names
    table: Table
    hashed: bool = False
    fixed: bool = False  # words come and go

    @classmethod
    def of(cls, names: Sequence[str], table: Table) -> WordTally:
        """Return a tally of words in any order."""
        packed = Names.of(names)
        order = packed.order()
        return cls(packed.taken(order), table[:, order])

    def plus(self, other: WordTally, sign: int = 1) -> WordTally:
        """Return the sum or difference of two tallies over the same classes."""
        ours, theirs = _wide(self.table), _wide(other.table)
        if self.hashed:
            names = self.names
            if sign > 0:
                text, offsets = _core.select_shorter_names(
                    names.text, names.offsets, other.names.text, other.names.offsets
                )
                names = Names(text, offsets)
            return WordTally(names, ours + sign * theirs, True)
        names, places, others = self.names.sorted_with(other.names)
        table = np.zeros((len(ours), len(names)), dtype=np.result_type(ours, theirs))
        table[:, places] = ours
        table[:, others] += sign * theirs
        return WordTally(names, table)

    @property
    def n_classes(self) -> int:
        """How many classes the counts tell apart."""
        return len(self.table)

    def placed(self, places: Longs, classes: int) -> WordTally:
        """Return the tally with class c moved to places[c] among `classes` classes."""
        return WordTally(self.names, placed(self.table, places, classes), self.hashed)

    def taken(self, classes: Longs) -> WordTally:
        """Return the tally of some classes."""
        if is_identity(classes, len(self.table)):
            return self
        return WordTally(self.names, self.table[classes], self.hashed)

    def canonical(self) -> WordTally:
        """Return the one form that equal counts have: without the names of what has no counts."""
        used = np.asarray(self.table.any(axis=0))
        if used.all():
            return WordTally(self.names, narrow(whole(self.table)), self.hashed)
        if not self.hashed:
            kept = np.flatnonzero(used)
            return WordTally(self.names.taken(kept), narrow(whole(self.table[:, kept])))
        names = self.names
        if np.diff(names.offsets)[~used].any():
            # An unused bucket takes an empty name from behind the last one.
            numbers = np.where(used, np.arange(len(used)), len(used))
            names = Names(names.text, np.append(names.offsets, names.offsets[-1])).taken(numbers)
        return WordTally(names, narrow(whole(self.table)), True)

    def least(self) -> float:
        """Return the smallest count, which is negative if more was taken away than there was."""
        return float(self.table.min(initial=0))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the tally to what a model file will hold."""
        arrays[f"{key}.table"] = self.table
        store.put_packed(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def get(cls, stored: store.Stored, key: str, classes: int, buckets: int | None) -> WordTally:
        """Return the tally that `put` added."""
        names = store.get_packed(stored, f"{key}.names")
        if not (names.are_sorted if buckets is None else len(names) == buckets):
            raise store.damaged(stored.path, f"its list of names {key!r} is not in order")
        table = get_table(stored, f"{key}.table", (classes, len(names)), (*STORED, *NARROW))
        # Only files of the first kind hold wide tables; to look at a narrow one would read all of it.
        return cls(names, narrow(table) if table.dtype == np.int64 else table, buckets is not None)


def _wide(table: Table) -> Table:
    return table.astype(np.int64) if table.dtype.kind == "u" else table
