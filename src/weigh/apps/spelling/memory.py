"""The memory-based learner of Banko and Brill: what stood between the same neighbours most often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.apps.spelling.contexts import Occurrences
from weigh.features.blocks import Floats, Longs

PREVIOUS, NEXT, BOTH = 0, 1, 4  # where a context has its nearest words, and the two of them together


@dataclass(frozen=True, eq=False)
class MemoryChooser:
    """How often each word stood between two neighbours, after one and before one.

    It answers by (previous, next) if that pair was ever seen, else by the previous word, else by the next,
    else by how common the words are. Ties go to the commoner word, and so do equal chances: every count has
    one look more, which the words share as they share the text.
    """

    words: tuple[str, ...]
    totals: Longs
    places: dict[str, int]
    table: Longs

    @classmethod
    def of(cls, rows: Occurrences) -> MemoryChooser:
        """Return the memory of occurrences."""
        width = len(rows.words)
        ids = np.concatenate([_neighbours(rows, place) for place in (PREVIOUS, NEXT, BOTH)])
        used, numbers = np.unique(ids, return_inverse=True)
        cells = numbers.reshape(-1) * width + np.tile(rows.members, 3)
        table = np.bincount(cells, minlength=len(used) * width).reshape(len(used), width)
        places = {name: at for at, name in enumerate(rows.names.taken(used))}
        return cls(rows.words, np.bincount(rows.members, minlength=width), places, table)

    @property
    def size(self) -> int:
        """How many neighbours, and pairs of them, it remembers."""
        return len(self.places)

    def chances(self, rows: Occurrences) -> Floats:
        """Return the share of every word [rows, words] where the same neighbours stood before."""
        counts = np.tile(self.totals, (len(rows), 1))
        for place in (NEXT, PREVIOUS, BOTH):
            found = self._found(rows, place)
            counts[found >= 0] = self.table[found[found >= 0]]
        counted = counts + self.totals / self.totals.sum()
        return np.asarray(counted / counted.sum(axis=1, keepdims=True))

    def _found(self, rows: Occurrences, place: int) -> Longs:
        """Return where the memory has a neighbour of each row, -1 where it has not."""
        used, numbers = np.unique(_neighbours(rows, place), return_inverse=True)
        known = [self.places.get(name, -1) for name in rows.names.taken(used)]
        return np.array(known, dtype=np.int64)[numbers.reshape(-1)]


def _neighbours(rows: Occurrences, place: int) -> Longs:
    return rows.features[rows.indptr[:-1] + place].astype(np.int64)
