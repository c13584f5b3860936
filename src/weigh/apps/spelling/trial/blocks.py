"""Growing parts of texts: nested random blocks of a thousand words, drawn over all documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.trial.texts import Ints

BLOCK = 1000


def usual_sizes(words: int) -> tuple[int, ...]:
    """1, 2 and 5 times each power of ten from 10,000 words on, and all words."""
    steps = [times * 10**power for power in range(4, 19) for times in (1, 2, 5)]
    return (*(size for size in steps if size < words), words)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of documents in a random order; a size takes the first of them, so it contains all smaller.

    `start` is the number of each document's first block, `before` how many words the blocks ahead of each
    block have in the random order.
    """

    start: Ints
    before: Ints
    ends: Ints

    @classmethod
    def of(cls, words: Ints, seed: int) -> Blocks:
        """Cut documents of so many words each."""
        counts = -(-words // BLOCK)
        start = np.concatenate([[0], np.cumsum(counts)])
        sizes = np.full(int(start[-1]), BLOCK, np.int64)
        last = start[1:][counts > 0] - 1
        sizes[last] = words[counts > 0] - (counts[counts > 0] - 1) * BLOCK
        order = np.random.default_rng(seed).permutation(len(sizes))
        ends = np.cumsum(sizes[order])
        before = np.empty_like(ends)
        before[order] = ends - sizes[order]
        return cls(start, before, ends)

    def words(self, size: int) -> int:
        """The words of the first blocks that have at least so many."""
        return int(self.ends[min(int(np.searchsorted(self.ends, size)), len(self.ends) - 1)])

    def holds(self, rows: Occurrences, size: int) -> npt.NDArray[np.bool_]:
        """Whether each occurrence is in the first blocks of so many words."""
        block = self.start[rows.documents] + rows.at // BLOCK
        return np.asarray(self.before[block] < size)
