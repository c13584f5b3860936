"""Tests of whether a column is distributed as it was in training.

Categories and flags: the G-test on the two rows of counts, values expected fewer than five times taken
together; its effect is the share of rows that would have to change (total variation). Words: an F-test,
see `word_shift`. Numbers: the z-test of the mean; its effect is the difference in spreads of the
training column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weigh.explain.chi_square import chi_square_tail
from weigh.explain.shift import FEWEST, Shift
from weigh.explain.word_shift import WordShift
from weigh.features import Words
from weigh.features.blocks import Codes, Entries, Floats, Numbers
from weigh.features.words import as_entries
from weigh.model.bernoulli import Bernoulli
from weigh.model.categorical import Categorical
from weigh.model.normal import Normal
from weigh.model.weights import as_text
from weigh.text import percent, short


class LevelShift:
    """Counts the levels of a category."""

    def __init__(self, part: Categorical) -> None:
        self._name = part.name
        self._training = dict(zip(part.levels, part.table.sum(axis=0).tolist(), strict=True))
        self._now: Counter[Any] = Counter()

    def add(self, block: Codes) -> None:
        """Count a block."""
        known = block.codes[block.codes >= 0]
        counts = np.bincount(known, minlength=len(block.levels)).tolist()
        self._now.update(dict(zip(block.levels, counts, strict=True)))

    def shifts(self) -> Iterator[Shift]:
        """Yield the column's shift, if there are rows enough."""
        yield from counts_shift(self._name, self._training, self._now)


class FlagShift:
    """Counts how often each flag is present."""

    def __init__(self, part: Bernoulli) -> None:
        self._part = part
        self._present: Counter[str] = Counter()
        self._missing: Counter[str] = Counter()
        self._known = 0

    def add(self, block: Entries | Words) -> None:
        """Count a block."""
        self._known += block.n_rows if block.known is None else int(block.known.sum())
        block = as_entries(block)
        _count(self._present, block)
        if block.missing is not None:
            _count(self._missing, block.missing)

    def shifts(self) -> Iterator[Shift]:
        """Yield the shift of every flag of the model."""
        term = self._part.weights
        present = self._part.present.sum(axis=0).tolist()
        known = np.broadcast_to(self._part.known, self._part.present.shape).sum(axis=0).tolist()
        for at, name in enumerate(self._part.names):
            here, rows = self._present[name], self._known - self._missing[name]
            training = {1: present[at], 0: known[at] - present[at]}
            yield from counts_shift(term.named(at), training, {1: here, 0: rows - here}, shown=1)


class NumberShift:
    """Sums a number."""

    def __init__(self, part: Normal) -> None:
        self._part = part
        self._values: list[tuple[int, float]] = []

    def add(self, block: Numbers) -> None:
        """Sum a block."""
        known = block.values[~np.isnan(block.values)]
        self._values.append((len(known), float(known.sum())))

    def shifts(self) -> Iterator[Shift]:
        """Yield the column's shift, if there are rows enough."""
        n = sum(rows for rows, _ in self._values)
        before = float(self._part.counts.known.sum())
        if n < FEWEST or before < FEWEST or not len(self._part.weights.mean):
            return
        share = self._part.counts.known / before
        mean = float(share @ self._part.mean)
        spread = math.sqrt(float(share @ (self._part.deviation**2 + (self._part.mean - mean) ** 2)))
        now = math.fsum(total for _, total in self._values) / n
        effect = abs(now - mean) / spread
        z = effect / math.sqrt(1.0 / n + 1.0 / before)
        p = math.erfc(z / math.sqrt(2.0))
        yield Shift(self._part.part.names[0], "z", p, effect, f"mean {short(mean)}", f"mean {short(now)}")


_COUNTERS: dict[str, Callable[[Any], Any]] = {
    "normal": NumberShift,
    "categorical": LevelShift,
    "bernoulli": FlagShift,
    "multinomial": WordShift,
}


def shift_counter(part: Any) -> Any:
    """What remembers the rows of one part: `add(block)`, then `shifts()`."""
    return _COUNTERS[part.part.kind.family](part)


def _count(counter: Counter[str], block: Entries) -> None:
    counts = np.bincount(block.indices, minlength=len(block.names)).tolist()
    counter.update({block.names[at]: n for at, n in enumerate(counts) if n})


def counts_shift(name: str, training: Any, now: Any, shown: Any = None) -> Iterator[Shift]:
    """Yield the shift between two mappings from value to count; one value's shares stand for it."""
    values = sorted({*training, *now}, key=lambda value: (str(type(value)), value))
    table = np.array([[counts.get(value, 0) for value in values] for counts in (training, now)], dtype=float)
    yield from table_shift(name, values, table, None if shown is None else values.index(shown))


def table_shift(name: str, values: Sequence[Any], table: Floats, shown: int | None = None) -> Iterator[Shift]:
    """Yield the shift between two rows of counts of the same values."""
    totals = table.sum(axis=1)
    if (totals < FEWEST).any():
        return
    shares = table / totals[:, None]
    effect = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
    at = int(np.argmax(np.abs(shares[0] - shares[1]))) if shown is None else shown
    before, after = (f"{as_text(values[at])} {percent(float(share))}" for share in shares[:, at])
    yield Shift(name, "G", g_test(table), effect, before, after)


def g_test(table: Floats) -> float:
    """The p-value of the hypothesis that both rows of counts have the same distribution."""
    pooled = _pooled(table)
    expected = pooled.sum(axis=1, keepdims=True) * pooled.sum(axis=0) / pooled.sum()
    if pooled.shape[1] < 2:
        return 1.0
    filled = pooled > 0
    g = 2.0 * float((pooled[filled] * np.log(pooled[filled] / expected[filled])).sum())
    return chi_square_tail(g, pooled.shape[1] - 1)


def _pooled(table: Floats) -> Floats:
    """The table with all rare values in one column, which the test's approximation needs."""
    least = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = least < 5.0
    kept: Sequence[Floats] = [table[:, ~rare]]
    if rare.any():
        kept = [*kept, table[:, rare].sum(axis=1, keepdims=True)]
    joined = np.concatenate(kept, axis=1)
    return joined[:, joined.sum(axis=0) > 0]
