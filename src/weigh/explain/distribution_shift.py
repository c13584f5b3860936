"""Test whether the columns of new rows are distributed as in training.

Numbers have a z-test of the mean, categories and flags a G-test of the counts. Words within a row are not
independent, so their counts vary more than single draws. This overdispersion is estimated between groups of
the new rows, and Pearson's chi-square of training against new rows is divided by it (an F-test). The effect
is the total variation distance of the word frequencies, minus its expectation under the null hypothesis.

New rows from the same source contain unseen words. Their expected number follows from the words that occur
once in training (Good–Turing): each of them would be new if its row were left out. Fewer unseen words are
no shift: the training rows themselves have none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.explain.chi_square import chi_square_tail
from weigh.explain.training_inputs import NumberInput, TextInput
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock, SparseBlock
from weigh.features.words import TextBlock, as_sparse_block
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.distributions.weights import format_value
from weigh.result import Facts
from weigh.source.sparse_rows import SparseRows
from weigh.text import format_float, format_percent

ROW_GROUPS = 8
MIN_EXPECTED_COUNT = 5.0  # words with a smaller expected count are pooled
HUGE_NUMBER, HUGE_NUMBER_SCALE = 1e150, 2.0**-600
RARE_WORDS, NEW_WORDS = "rare words", "new words"


class WordShiftCounter:
    """Counts the words of a multinomial part, in groups of rows."""

    def __init__(self, part: Multinomial) -> None:
        self._part = part
        # Words with values are compared by the texts that contain them.
        self._counts_texts = part.counts.weighting is not None
        self._training_counts = np.asarray(part.counts.frequencies.sum(axis=0), dtype=np.float64)
        self._has_open_vocabulary = not part.counts.fixed and not part.is_hashed
        if part.is_hashed:
            self._training_counts = self._training_counts[self._training_counts > 0]
        self._names = part.words if part.is_hashed else part.counts.names
        self._index_by_name = (
            {name: at for at, name in enumerate(self._names)} if self._has_open_vocabulary else {}
        )
        # The last two columns count unnamed words, and unseen words that occur once in their row.
        self._current_counts = np.zeros((ROW_GROUPS, len(self._training_counts) + 2))
        self._n_rows_seen = self._n_known_rows = 0

    def add(self, block: SparseBlock | TextBlock) -> None:
        """Add the counts of a block."""
        entries, indices = self._match_entries(block)
        if self._counts_texts:
            entries = replace(entries, values=None)
        amounts, rows = entries.entry_values(), entries.entry_rows()
        unknown, width = self._current_counts.shape[1] - 2, self._current_counts.shape[1]
        # In training, a word that occurs twice in its only row is not a singleton, so it is not one here.
        indices = np.where(indices < 0, np.where(amounts == 1.0, unknown + 1, unknown), indices)
        cells = (self._n_rows_seen + rows) % ROW_GROUPS * width + indices
        np.add.at(self._current_counts.reshape(-1), cells, amounts)
        self._count_empty_buckets(block, entries)
        self._n_rows_seen += block.n_rows
        self._n_known_rows += block.n_rows if block.known is None else int(block.known.sum())

    def _match_entries(self, block: SparseBlock | TextBlock) -> tuple[SparseRows, Ints]:
        """Return the entries of a block and their indices in the training vocabulary, −1 if unseen."""
        if not self._has_open_vocabulary:
            entries = self._part.weights.entries(block)
            return entries, entries.indices
        words = as_sparse_block(block)
        lookup = np.array([self._index_by_name.get(name, -1) for name in words.names], dtype=np.int32)
        return words.rows, lookup[words.rows.indices] if len(lookup) else words.rows.indices

    def _count_empty_buckets(self, block: SparseBlock | TextBlock, matched: SparseRows) -> None:
        """Count the words in empty buckets as unnamed, because their identity is unknown."""
        if self._part.is_hashed:
            for sign, entries in ((1, as_sparse_block(block).rows), (-1, matched)):
                groups = (self._n_rows_seen + entries.entry_rows()) % ROW_GROUPS
                amounts = None if self._counts_texts else entries.values
                self._current_counts[:, -2] += sign * np.bincount(groups, amounts, minlength=ROW_GROUPS)

    def shifts(self) -> Iterator[ColumnShift]:
        """Yield the shift of the column, if there are enough rows and words."""
        if (
            self._n_known_rows < MIN_TEST_ROWS
            or min(self._training_counts.sum(), self._current_counts.sum()) < MIN_TEST_ROWS
        ):
            return
        names, training, groups = self._contingency_table()
        now = groups.sum(axis=0)
        sizes = training.sum(), now.sum()
        before, after = training / sizes[0], now / sizes[1]
        dof = int((training + now > 0).sum()) - 1
        excess = _overdispersion(groups, dof)
        at = int(np.argmax(np.abs(before - after)))
        texts = (f"{names[at]} {format_percent(float(share[at]))}" for share in (before, after))
        p = _f_test_p_value(_pearson_chi_square(np.array([training, now])), dof, excess)
        yield ColumnShift(
            self._part.part.title, "F", p, _excess_total_variation(before, after, sizes, excess), *texts
        )

    def _contingency_table(self) -> tuple[list[str], Floats, Floats]:
        """Return names, training counts and counts per group, with rare words pooled."""
        words, now = self._training_counts, self._current_counts.sum(axis=0)
        sizes = words.sum(), now.sum()
        smaller = min(sizes) / sum(sizes)
        frequent = np.flatnonzero((words + now[:-2]) * smaller >= MIN_EXPECTED_COUNT)
        singletons, unseen = float((words == 1.0).sum()), float(now[-1])
        training = np.append(words[frequent], [sizes[0] - words[frequent].sum(), 0.0])
        groups = self._current_counts[:, [*frequent, -2, -1]]
        groups[:, -2] = self._current_counts.sum(axis=1) - groups[:, :-2].sum(axis=1)
        if (
            unseen / sizes[1] > singletons / sizes[0]
            and (singletons + unseen) * smaller >= MIN_EXPECTED_COUNT
        ):
            training[-2:] += [-singletons, singletons]
            groups[:, -2] -= self._current_counts[:, -1]
        else:
            groups[:, -1] = 0.0
        return (
            [*(self._names[at] for at in frequent.tolist()), RARE_WORDS, NEW_WORDS],
            np.maximum(training, 0.0),
            groups,
        )


def _pearson_chi_square(table: Floats) -> float:
    """Return Pearson's Σ (observed − expected)² / expected for the homogeneity of the rows of a table."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    filled = expected > 0
    return float(((table[filled] - expected[filled]) ** 2 / expected[filled]).sum())


def _overdispersion(groups: Floats, dof: int) -> float:
    """Return the variance of the counts between groups, relative to independent draws; at least 1."""
    return max(1.0, _pearson_chi_square(groups) / max(1, dof * (ROW_GROUPS - 1)))


def _excess_total_variation(
    before: Floats, after: Floats, sizes: tuple[float, float], excess: float
) -> float:
    """Return ½ Σ |before − after| minus its expectation for samples of one distribution; at least 0."""
    pooled = (before * sizes[0] + after * sizes[1]) / sum(sizes)
    deviation = np.sqrt(excess * pooled * (1.0 - pooled) * (1.0 / sizes[0] + 1.0 / sizes[1]))
    expected = math.sqrt(2.0 / math.pi) * float(deviation.sum())
    return max(0.0, 0.5 * (float(np.abs(before - after).sum()) - expected))


def _f_test_p_value(chi_square: float, dof: int, excess: float) -> float:
    """Return the upper tail of Fisher's F by Paulson's approximation, since `excess` is estimated too."""
    if dof < 1:
        return 1.0
    ratio = (chi_square / (dof * excess)) ** (1.0 / 3.0)
    first, second = 2.0 / (9.0 * dof), 2.0 / (9.0 * dof * (ROW_GROUPS - 1))
    z = ((1.0 - second) * ratio - (1.0 - first)) / math.sqrt(second * ratio**2 + first)
    return 0.5 * math.erfc(z / math.sqrt(2.0))


MAX_TESTED_FLAGS = 10_000  # of more flags, only those that occur are tested
MIN_TEST_ROWS = 20  # columns with fewer known values are not tested
SIGNIFICANCE_LEVEL = 0.001
MIN_EFFECT = 0.1
SMALLEST_P_VALUE = 1e-300  # smaller p-values are displayed as < 1e-300


@dataclass(frozen=True)
class ColumnShift(Facts):
    """The test of one column: p-value, effect size, and the change as text."""

    column: str
    test: str
    p: float
    effect: float
    before: str
    now: str
    _json = ("column", "test", "p", "effect", "before", "now", "shifted")

    @property
    def shifted(self) -> bool:
        """Whether the change is both significant and large enough."""
        return self.p < SIGNIFICANCE_LEVEL and self.effect >= MIN_EFFECT

    @property
    def p_text(self) -> str:
        """The p-value as text, never zero."""
        return f"{self.p:.1e}" if self.p >= SMALLEST_P_VALUE else f"< {SMALLEST_P_VALUE:.0e}"


class CategoryShiftCounter:
    """Counts the levels of a categorical column."""

    def __init__(self, part: Categorical) -> None:
        self._name = part.name
        self._training_counts = dict(zip(part.levels, part.table.sum(axis=0).tolist(), strict=True))
        self._current_counts: Counter[Any] = Counter()

    def add(self, block: CategoryBlock) -> None:
        """Add the counts of a block."""
        known = block.codes[block.codes >= 0]
        counts = np.bincount(known, minlength=len(block.levels)).tolist()
        self._current_counts.update(dict(zip(block.levels, counts, strict=True)))

    def shifts(self) -> Iterator[ColumnShift]:
        """Yield the shift of the column, if there are enough rows."""
        yield from compare_counts(self._name, self._training_counts, self._current_counts)


class FlagShiftCounter:
    """Counts how often each flag is present."""

    def __init__(self, part: Bernoulli) -> None:
        self._part = part
        self._present: Counter[str] = Counter()
        self._missing: Counter[str] = Counter()
        self._known_rows = 0

    def add(self, block: SparseBlock | TextBlock) -> None:
        """Add the counts of a block."""
        self._known_rows += block.n_rows if block.known is None else int(block.known.sum())
        block = as_sparse_block(block)
        _update_counts(self._present, block)
        if block.missing is not None:
            _update_counts(self._missing, block.missing)

    def shifts(self) -> Iterator[ColumnShift]:
        """Yield the shift of every flag; of many flags, only of those that were present in some row."""
        term = self._part.weights
        present = self._part.present_counts.sum(axis=0).tolist()
        known = np.broadcast_to(self._part.known_counts, self._part.present_counts.shape).sum(axis=0).tolist()
        tests_all = len(present) <= MAX_TESTED_FLAGS
        for at, name in enumerate(self._part.names):
            if not (tests_all or present[at] or name in self._present):
                continue
            count, rows = self._present[name], self._known_rows - self._missing[name]
            training = {1: present[at], 0: known[at] - present[at]}
            yield from compare_counts(term.display_name(at), training, {1: count, 0: rows - count}, shown=1)


@dataclass(frozen=True, eq=False)
class NormalNumbers:
    """The known training values of a number by class: how many, means in two floats, standard deviations."""

    known: Any
    mean: Floats
    mean_residual: Floats
    deviation: Floats


class NumberShiftCounter:
    """Accumulates the mean of a numeric column, as distances from the mean of the first class."""

    def __init__(self, name: str, normal: NormalNumbers) -> None:
        self._name, self._training = name, normal
        size = max(np.abs(normal.mean).max(initial=0.0), normal.deviation.max(initial=0.0))
        # Squares and differences of the largest floats are infinite; a power of two changes no digit.
        self._scale = HUGE_NUMBER_SCALE if size > HUGE_NUMBER else 1.0
        self._centre = self._scale * float(normal.mean[0]) if len(normal.mean) else 0.0
        self._block_means: list[tuple[int, float]] = []

    @classmethod
    def from_part(cls, part: Gaussian | ShapedNumber | NumberInput) -> NumberShiftCounter:
        """Return the counter of a distribution or a summarised column."""
        if isinstance(part, NumberInput):
            mean, deviation = part.moments
            numbers = NormalNumbers(part.cells.counts.sum(keepdims=True), mean, np.zeros(1), deviation)
        else:
            normal = part.normal
            numbers = NormalNumbers(normal.counts.known, normal.mean, normal.mean_residual, normal.deviation)
        return cls(part.part.names[0], numbers)

    def add(self, block: NumberBlock) -> None:
        """Add the mean of a block."""
        known = block.values[~np.isnan(block.values)]
        if len(known):
            # Dividing first keeps the sum finite.
            mean = float(((self._scale * known - self._centre) / len(known)).sum())
            self._block_means.append((len(known), mean))

    def shifts(self) -> Iterator[ColumnShift]:
        """Yield the shift of the column, if there are enough rows."""
        n = sum(rows for rows, _ in self._block_means)
        training = self._training
        before = float(training.known.sum())
        if n < MIN_TEST_ROWS or before < MIN_TEST_ROWS or not len(training.mean):
            return
        share = training.known / before
        class_means = (self._scale * training.mean - self._centre) + self._scale * training.mean_residual
        mean = float(share @ class_means)
        spreads = self._scale * training.deviation
        deviation = math.sqrt(float(share @ (spreads**2 + (class_means - mean) ** 2)))
        if not deviation > 0:
            return  # numbers that never varied give no unit for an effect; others are rare numbers
        now = math.fsum(mean * (rows / n) for rows, mean in self._block_means)
        effect = abs(now - mean) / deviation
        z = effect / math.sqrt(1.0 / n + 1.0 / before)
        p = math.erfc(z / math.sqrt(2.0))
        yield ColumnShift(
            self._name,
            "z",
            p,
            effect,
            f"mean {format_float((self._centre + mean) / self._scale)}",
            f"mean {format_float((self._centre + now) / self._scale)}",
        )


_COUNTER_BY_FAMILY: dict[str, Callable[[Any], Any]] = {
    "normal": NumberShiftCounter.from_part,
    "categorical": CategoryShiftCounter,
    "bernoulli": FlagShiftCounter,
    "multinomial": WordShiftCounter,
}


def make_shift_counter(part: Any) -> Any:
    """Return a counter for one part, with `add(block)` and `shifts()`."""
    family = "multinomial" if isinstance(part, TextInput) else part.part.kind.family
    return _COUNTER_BY_FAMILY[family](part)


def _update_counts(counter: Counter[str], block: SparseBlock) -> None:
    indices, counts = np.unique(block.rows.indices, return_counts=True)
    pairs = zip(indices.tolist(), counts.tolist(), strict=True)
    counter.update({block.names[at]: n for at, n in pairs})


def compare_counts(name: str, training: Any, now: Any, shown: Any = None) -> Iterator[ColumnShift]:
    """Yield the shift between two mappings from value to count; the text quotes the value `shown`."""
    values = sorted({*training, *now}, key=lambda value: (str(type(value)), value))
    table = np.array([[counts.get(value, 0) for value in values] for counts in (training, now)], dtype=float)
    yield from compare_count_table(name, values, table, None if shown is None else values.index(shown))


def compare_count_table(
    name: str, values: Sequence[Any], table: Floats, shown: int | None = None
) -> Iterator[ColumnShift]:
    """Yield the shift between two rows of counts; by default the text quotes the value that changed most."""
    totals = table.sum(axis=1)
    if (totals < MIN_TEST_ROWS).any():
        return
    shares = table / totals[:, None]
    effect = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
    at = int(np.argmax(np.abs(shares[0] - shares[1]))) if shown is None else shown
    before, after = (f"{format_value(values[at])} {format_percent(float(share))}" for share in shares[:, at])
    yield ColumnShift(name, "G", g_test(table), effect, before, after)


def g_test(table: Floats) -> float:
    """Return the p-value of the G-test that both rows of counts have the same distribution."""
    pooled = _pool_rare_values(table)
    expected = pooled.sum(axis=1, keepdims=True) * pooled.sum(axis=0) / pooled.sum()
    if pooled.shape[1] < 2:
        return 1.0
    filled = pooled > 0
    g = 2.0 * float((pooled[filled] * np.log(pooled[filled] / expected[filled])).sum())
    return chi_square_tail(g, pooled.shape[1] - 1)


def _pool_rare_values(table: Floats) -> Floats:
    """Pool rare values in one column, as the chi-square approximation requires."""
    min_expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = min_expected < 5.0
    kept: Sequence[Floats] = [table[:, ~rare]]
    if rare.any():
        kept = [*kept, table[:, rare].sum(axis=1, keepdims=True)]
    joined = np.concatenate(kept, axis=1)
    return joined[:, joined.sum(axis=0) > 0]
