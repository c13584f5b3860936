"""Dependence between columns within the classes, which naive Bayes assumes away."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features import Block, CategoryBlock, ColumnGroup, NumberBlock, Schema
from weigh.features.blocks import Floats, Ints
from weigh.model import BayesModel
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.sufficient_statistics import LIMB_BITS, NumberCounts
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.weights import format_value
from weigh.source import Chunk

MAX_SAMPLE_ROWS = 1_000  # enough to see a repetition, few enough not to be felt
MAX_LEVELS = 40  # a column with more levels than this is not compared
MAX_TOTAL_LEVELS = 300
MAX_COLUMNS = 60
MAX_CLASSES = 20
MIN_CLASS_ROWS = 20  # in a class, to say anything of it
MIN_DEPENDENCE = 0.95
SMALLEST_FLOAT = 5e-324


@dataclass(frozen=True)
class Dependence:
    """Two columns of which one tells (almost) all about the other, within every class."""

    first: str
    second: str
    strength: float

    def __str__(self) -> str:
        how = "repeats" if self.strength > 0.999999 else f"nearly repeats ({self.strength:.2f})"
        return f"{self.second!r} {how} {self.first!r}"


def find_dependent_columns(schema: Schema, chunk: Chunk) -> list[Dependence]:
    """Return the pairs of columns that depend strongly on each other, strongest first.

    Two numbers: the absolute correlation within classes. Two categories or flags: the share of the
    less varied one's entropy that the other one explains, within classes.
    """
    chunk = chunk.slice(0, MAX_SAMPLE_ROWS)
    if chunk.n_rows < MIN_CLASS_ROWS or chunk.sparse is not None:
        return []
    classes, _ = encode_labels(chunk)
    blocks = list(zip(schema.column_groups, schema.encode(chunk), strict=True))
    pairs = _correlated_numbers(blocks, classes) + _associated_categories(blocks, schema, chunk, classes)
    return sorted(pairs, key=lambda pair: -pair.strength)


def _correlated_numbers(blocks: list[tuple[ColumnGroup, Block]], classes: Ints) -> list[Dependence]:
    named = [(p.names[0], b.values) for p, b in blocks if isinstance(b, NumberBlock)][: 4 * MAX_COLUMNS]
    if len(named) < 2:
        return []
    table = np.column_stack([values for _, values in named])
    known = ~np.isnan(table)
    # Scaled to at most one, or squares would overflow.
    table = np.where(known, table, 0.0)
    table /= np.maximum(np.abs(table).max(axis=0), SMALLEST_FLOAT)
    table = np.where(known, table, table.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    for c in np.unique(classes):
        table[classes == c] -= table[classes == c].mean(axis=0)
    scale = np.sqrt((table**2).sum(axis=0))
    varied = scale > 0
    table[:, varied] /= scale[varied]
    strength = np.abs(table.T @ table)
    strength[~varied] = 0
    return _select_dependent([name for name, _ in named], strength)


def _associated_categories(
    blocks: list[tuple[ColumnGroup, Block]], schema: Schema, chunk: Chunk, classes: Ints
) -> list[Dependence]:
    named = [(p.names[0], b.codes, len(b.levels)) for p, b in blocks if isinstance(b, CategoryBlock)]
    named += _flag_columns(schema, chunk)
    named = [each for each in named if 2 <= each[2] <= MAX_LEVELS][:MAX_COLUMNS]
    sizes = np.cumsum([levels for _, _, levels in named])
    named = named[: int(np.searchsorted(sizes, MAX_TOTAL_LEVELS, side="right"))]
    often = np.flatnonzero(np.bincount(classes) >= MIN_CLASS_ROWS)
    if len(named) < 2 or not 1 <= len(often) <= MAX_CLASSES:
        return []
    place: Ints = np.full(int(classes.max()) + 1, -1, dtype=np.int32)
    place[often] = np.arange(len(often))
    starts = np.concatenate([[0], sizes])[: len(named) + 1]
    tables = _contingency_tables([codes for _, codes, _ in named], starts, place[classes], len(often))
    return _select_dependent(
        [name for name, _, _ in named], _normalised_mutual_information(tables, starts[:-1])
    )


def _contingency_tables(columns: list[Ints], starts: Any, classes: Ints, n_classes: int) -> Floats:
    """Count, for each class, how often every two levels of two columns meet: [C, levels, levels]."""
    tables = np.zeros((n_classes, int(starts[-1]), int(starts[-1])))
    for i, first in enumerate(columns):
        low, high = int(starts[i]), int(starts[i + 1])
        known = (first >= 0) & (classes >= 0)
        rows = np.where(known, classes * (high - low) + first, -1).astype(np.int32)
        for j in range(i, len(columns)):
            other = slice(int(starts[j]), int(starts[j + 1]))
            counts = np.zeros((n_classes * (high - low), other.stop - other.start), dtype=np.int64)
            _core.count_codes(rows, columns[j], counts)
            met = counts.reshape(n_classes, high - low, -1)
            tables[:, low:high, other] = met
            tables[:, other, low:high] = met.transpose(0, 2, 1)
    return tables


def _flag_columns(schema: Schema, chunk: Chunk) -> list[tuple[str, Ints, int]]:
    found: list[tuple[str, Ints, int]] = []
    for part in schema.column_groups:
        if part.kind.family == "bernoulli" and part.kind.shares_block:
            for name in part.names[:MAX_COLUMNS]:
                block: Any = part.kind.encode(chunk.columns, [name], schema.missing)
                present: Ints = np.diff(block.indptr).astype(np.int32)
                found.append((name, present, int(present.max(initial=0)) + 1))
    return found


def _normalised_mutual_information(tables: Floats, starts: Any) -> Floats:
    """Return, for each pair of columns, Σ information / Σ min(entropy, entropy) over the classes.

    A table counts, for every two levels, how often they meet in a class; `starts` says where each
    column's levels begin. All sums of n log n, of cells and of margins, are taken at once.
    """
    informed = least = total = np.zeros((len(starts), len(starts)))
    for table in tables:
        n = _block_sums(table, starts)
        margins = np.add.reduceat(table, starts, axis=1)
        rows = np.add.reduceat(_n_log_n(margins), starts, axis=0)
        cells = _block_sums(_n_log_n(table), starts)
        own = _n_log_n(n) - rows
        informed = informed + own + own.T - (_n_log_n(n) - cells)
        least = least + np.minimum(own, own.T)
        total = total + n
    # A column that hardly varies explains itself away: it cannot mislead either.
    varied = least > 0.05 * total
    return np.where(varied, informed / np.where(varied, least, 1.0), 0.0)


def _block_sums(table: Floats, starts: Any) -> Floats:
    return np.asarray(np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1))


def _n_log_n(counts: Floats) -> Floats:
    counts = counts.astype(np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def _select_dependent(names: list[str], strength: Floats) -> list[Dependence]:
    pairs = zip(*np.nonzero(np.triu(strength, 1) >= MIN_DEPENDENCE), strict=True)
    return [Dependence(names[i], names[j], min(1.0, float(strength[i, j]))) for i, j in pairs]


MIN_CLASS_VALUES = 20  # values of a class, to say anything of it
MIN_EXPLICIT_FLOOR = 0.1  # a floor from here on was asked for


@dataclass(frozen=True)
class ZeroVarianceColumn:
    """A column that is one number throughout a class, and another elsewhere."""

    column: str
    label: Any
    value: float

    def __str__(self) -> str:
        return f"{self.column!r} is always {format_value(self.value)} in {self.label!r}"


def warn_zero_variance_columns(model: BayesModel) -> None:
    """Warn of columns that have no spread in some class."""
    found = list(find_zero_variance_columns(model))
    if found:
        more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
        warnings.warn(
            f"Some numbers do not vary within a class, so that any other number there has an enormous weight "
            f"and decides alone: {'; '.join(map(str, found[:3]))}{more}. Let the classes share one spread, "
            f"for example columns={{{found[0].column!r}: weigh.Number(spread='shared')}}, or give floor= of "
            f"0.1 or more, bins=, or 'skip'.",
            errors.FlatColumns,
            stacklevel=4,
        )


def find_zero_variance_columns(model: BayesModel) -> Iterator[ZeroVarianceColumn]:
    """Yield the columns without spread in a class, each with the first such class."""
    for part in model.distributions:
        if isinstance(part, Gaussian) and part.kind.spread == "own" and part.kind.floor < MIN_EXPLICIT_FLOOR:
            c = _first_zero_variance_class(part.counts)
            if c is not None:
                means, _, _, whole = part.sample_moments
                if whole > 0.0:
                    yield ZeroVarianceColumn(part.part.names[0], model.classes[c], float(means[c]))


def _first_zero_variance_class(counts: NumberCounts) -> int | None:
    """The first class with n Σx² = (Σx)²; the deviations themselves cost more, and are seldom asked for."""
    low = min(2 * counts.sum_x.base, counts.sum_xx.base)
    up = LIMB_BITS * (counts.sum_xx.base - low), LIMB_BITS * (2 * counts.sum_x.base - low)
    known: list[Any] = counts.known.tolist() if counts.weight is None else counts.totals
    sums = zip(known, counts.sum_x.limbs.tolist(), counts.sum_xx.limbs.tolist(), strict=True)
    for c, (n, first, second) in enumerate(sums):
        above, below = n.as_integer_ratio()
        if (
            n >= MIN_CLASS_VALUES
            and above * _limbs_to_integer(second) << up[0] == below * _limbs_to_integer(first) ** 2 << up[1]
        ):
            return c
    return None


def _limbs_to_integer(limbs: list[int]) -> int:
    total = 0
    for limb in reversed(limbs):
        total = (total << LIMB_BITS) + limb
    return total
