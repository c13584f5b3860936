"""The test of whether the words of a column are distributed as they were in training.

Words are not drawn one by one: a row that has a word has it again, and others with it. How much more
than single draws they vary is measured between groups of the rows at hand, and Pearson's chi-square of
training against these rows divided by it (an F-test). The effect is the share of words that would have
to change, beyond what chance makes of so many words.

New rows of the same source have words that were never seen. How many is to be expected is told by the
words that training has seen once (Good and Turing): each of them would be new, were its row left out.
Fewer are no shift: the rows of training itself have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from weigh.explain.shift import FEWEST, Shift
from weigh.features import Words
from weigh.features.blocks import Entries, Floats, Ints
from weigh.features.words import as_entries
from weigh.model.multinomial import Multinomial
from weigh.text import percent

GROUPS = 8
ENOUGH = 5.0  # words that are expected more rarely are taken together
RARE, NEW = "rare words", "new words"


class WordShift:
    """Counts words, or the columns of one multinomial."""

    def __init__(self, part: Multinomial) -> None:
        self._part = part
        self._training = np.asarray(part.counts.table.sum(axis=0), dtype=np.float64)
        self._grows = not part.counts.fixed and not part.is_hashed
        if part.is_hashed:
            self._training = self._training[self._training > 0]
        self._names = part.words if part.is_hashed else part.counts.names
        self._place = {name: at for at, name in enumerate(self._names)} if self._grows else {}
        # After the words those that no name is known of, and those that are new and single.
        self._now = np.zeros((GROUPS, len(self._training) + 2))
        self._seen = self._rows = 0

    def add(self, block: Entries | Words) -> None:
        """Count a block."""
        entries, places = self._placed(block)
        amounts = np.ones(len(places)) if entries.values is None else entries.values
        rows = np.repeat(np.arange(entries.n_rows), np.diff(entries.indptr))
        unknown, width = self._now.shape[1] - 2, self._now.shape[1]
        # Training counts a word that a single row has twice as seen twice, so it is not compared.
        places = np.where(places < 0, np.where(amounts == 1.0, unknown + 1, unknown), places)
        cells = (self._seen + rows) % GROUPS * width + places
        self._now += np.bincount(cells, amounts, minlength=GROUPS * width).reshape(GROUPS, width)
        self._count_unfound(block, entries)
        self._seen += block.n_rows
        self._rows += block.n_rows if block.known is None else int(block.known.sum())

    def _placed(self, block: Entries | Words) -> tuple[Entries, Ints]:
        """The entries of a block, and the place of each among the words of training."""
        if not self._grows:
            found = self._part.weights.entries(block)
            return found, found.indices
        entries = as_entries(block)
        lookup = np.array([self._place.get(name, -1) for name in entries.names], dtype=np.int32)
        return entries, lookup[entries.indices] if len(lookup) else entries.indices

    def _count_unfound(self, block: Entries | Words, found: Entries) -> None:
        """Count the words whose buckets are empty; which of them are alike cannot be told."""
        if self._part.is_hashed:
            everything = as_entries(block)
            for sign, entries in ((1, everything), (-1, found)):
                rows = np.repeat(np.arange(entries.n_rows), np.diff(entries.indptr))
                groups = (self._seen + rows) % GROUPS
                self._now[:, -2] += sign * np.bincount(groups, entries.values, minlength=GROUPS)

    def shifts(self) -> Iterator[Shift]:
        """Yield the column's shift, if there are rows and words enough."""
        if self._rows < FEWEST or min(self._training.sum(), self._now.sum()) < FEWEST:
            return
        names, training, groups = self._cells()
        now = groups.sum(axis=0)
        sizes = training.sum(), now.sum()
        before, after = training / sizes[0], now / sizes[1]
        freedom = int((training + now > 0).sum()) - 1
        excess = _excess(groups, freedom)
        at = int(np.argmax(np.abs(before - after)))
        told = (f"{names[at]} {percent(float(share[at]))}" for share in (before, after))
        p = _p_value(_chi_square(np.array([training, now])), freedom, excess)
        yield Shift(self._part.part.title, "F", p, _effect(before, after, sizes, excess), *told)

    def _cells(self) -> tuple[list[str], Floats, Floats]:
        """Names, counts of training, and counts of each group, rare words taken together."""
        words, now = self._training, self._now.sum(axis=0)
        sizes = words.sum(), now.sum()
        smaller = min(sizes) / sum(sizes)
        often = np.flatnonzero((words + now[:-2]) * smaller >= ENOUGH)
        once, new = float((words == 1.0).sum()), float(now[-1])
        training = np.append(words[often], [sizes[0] - words[often].sum(), 0.0])
        groups = self._now[:, [*often, -2, -1]]
        groups[:, -2] = self._now.sum(axis=1) - groups[:, :-2].sum(axis=1)
        if new / sizes[1] > once / sizes[0] and (once + new) * smaller >= ENOUGH:
            training[-2:] += [-once, once]
            groups[:, -2] -= self._now[:, -1]
        else:
            groups[:, -1] = 0.0
        return [*(self._names[at] for at in often.tolist()), RARE, NEW], np.maximum(training, 0.0), groups


def _chi_square(table: Floats) -> float:
    """Pearson's Σ (observed − expected)² / expected of rows of counts that should be alike."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    filled = expected > 0
    return float(((table[filled] - expected[filled]) ** 2 / expected[filled]).sum())


def _excess(groups: Floats, freedom: int) -> float:
    """How many times more the counts of groups of rows vary than those of single draws would; at least 1."""
    return max(1.0, _chi_square(groups) / max(1, freedom * (GROUPS - 1)))


def _effect(before: Floats, after: Floats, sizes: tuple[float, float], excess: float) -> float:
    """Half of Σ |before − after| beyond its expectation, were both samples of the same words."""
    pooled = (before * sizes[0] + after * sizes[1]) / sum(sizes)
    spread = np.sqrt(excess * pooled * (1.0 - pooled) * (1.0 / sizes[0] + 1.0 / sizes[1]))
    chance = math.sqrt(2.0 / math.pi) * float(spread.sum())
    return max(0.0, 0.5 * (float(np.abs(before - after).sum()) - chance))


def _p_value(chi_square: float, freedom: int, excess: float) -> float:
    """The tail of Fisher's F: the excess, too, is a measured one (Paulson's approximation)."""
    if freedom < 1:
        return 1.0
    ratio = (chi_square / (freedom * excess)) ** (1.0 / 3.0)
    first, second = 2.0 / (9.0 * freedom), 2.0 / (9.0 * freedom * (GROUPS - 1))
    z = ((1.0 - second) * ratio - (1.0 - first)) / math.sqrt(second * ratio**2 + first)
    return 0.5 * math.erfc(z / math.sqrt(2.0))
