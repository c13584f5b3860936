"""Checks of the assumptions of naive Bayes: dependent columns, and numbers constant within a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.advice import Call, Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock
from weigh.features.dates.kind import split_part_name
from weigh.features.kinds import Category, Number
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.words import Block
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.sufficient_statistics import LIMB_BITS, NumberCounts, limbs_to_integer
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.weights import format_value
from weigh.model.naive_bayes import BayesModel
from weigh.source.chunk import Chunk

MAX_SAMPLE_ROWS = 1_000  # enough to detect a repeated column at negligible cost
MAX_LEVELS = 40  # columns with more levels are not compared
MAX_TOTAL_LEVELS = 300
MAX_COLUMNS = 60
MAX_CLASSES = 20
MIN_CLASS_ROWS = 20  # classes with fewer rows are ignored
MIN_DEPENDENCE = 0.95
SMALLEST_FLOAT = 5e-324
MIN_CLASS_VALUES = 20  # classes with fewer values are ignored
MIN_EXPLICIT_FLOOR = 0.1  # a variance floor this large was chosen by the user


@dataclass(frozen=True)
class Dependence:
    """Two columns, one of which (almost) determines the other within every class."""

    first: str
    second: str
    strength: float

    def __str__(self) -> str:
        verb = "repeats" if self.strength > 0.999999 else f"nearly repeats ({self.strength:.2f})"
        return f"{self.second!r} {verb} {self.first!r}"


def find_dependent_columns(schema: Schema, chunk: Chunk) -> list[Dependence]:
    """Return the pairs of strongly dependent columns, strongest first.

    The strength is the absolute correlation within classes for two numbers, and the mutual information within
    classes divided by the smaller entropy for two categories or flags.
    """
    chunk = chunk.slice(0, MAX_SAMPLE_ROWS)
    if chunk.n_rows < MIN_CLASS_ROWS or chunk.sparse is not None:
        return []
    classes, _ = encode_labels(chunk)
    groups = [group for group in schema.column_groups if isinstance(group.kind, Category | Number)]
    blocks = [(g, g.kind.encode(chunk.columns, g.names, schema.missing)) for g in groups]
    pairs = _correlated_numbers(blocks, classes) + _associated_categories(blocks, schema, chunk, classes)
    return sorted(pairs, key=lambda pair: -pair.strength)


def _correlated_numbers(blocks: list[tuple[ColumnGroup, Block]], classes: Ints) -> list[Dependence]:
    columns = [(g.names[0], b.values) for g, b in blocks if isinstance(b, NumberBlock)][: 4 * MAX_COLUMNS]
    if len(columns) < 2:
        return []
    table = np.column_stack([values for _, values in columns])
    is_present = ~np.isnan(table)
    # Scale to magnitudes of at most one; squares could overflow otherwise.
    table = np.where(is_present, table, 0.0)
    table /= np.maximum(np.abs(table).max(axis=0), SMALLEST_FLOAT)
    table = np.where(is_present, table, table.sum(axis=0) / np.maximum(is_present.sum(axis=0), 1))
    for c in np.unique(classes):
        table[classes == c] -= table[classes == c].mean(axis=0)
    norms = np.sqrt((table**2).sum(axis=0))
    varies = norms > 0
    table[:, varies] /= norms[varies]
    strength = np.abs(table.T @ table)
    strength[~varies] = 0
    return _select_dependent([name for name, _ in columns], strength)


def _associated_categories(
    blocks: list[tuple[ColumnGroup, Block]], schema: Schema, chunk: Chunk, classes: Ints
) -> list[Dependence]:
    columns = [(g.names[0], b.codes, len(b.levels)) for g, b in blocks if isinstance(b, CategoryBlock)]
    columns += _flag_columns(schema, chunk)
    columns = [column for column in columns if 2 <= column[2] <= MAX_LEVELS][:MAX_COLUMNS]
    ends = np.cumsum([n_levels for _, _, n_levels in columns])
    columns = columns[: int(np.searchsorted(ends, MAX_TOTAL_LEVELS, side="right"))]
    frequent = np.flatnonzero(np.bincount(classes) >= MIN_CLASS_ROWS)
    if len(columns) < 2 or not 1 <= len(frequent) <= MAX_CLASSES:
        return []
    class_indices: Ints = np.full(int(classes.max()) + 1, -1, dtype=np.int32)
    class_indices[frequent] = np.arange(len(frequent))
    starts = np.concatenate([[0], ends])[: len(columns) + 1]
    codes = [codes for _, codes, _ in columns]
    tables = _contingency_tables(codes, starts, class_indices[classes], len(frequent))
    names = [name for name, _, _ in columns]
    return _select_dependent(names, _normalised_mutual_information(tables, starts[:-1]))


def _contingency_tables(columns: list[Ints], starts: Any, classes: Ints, n_classes: int) -> Floats:
    """Count the co-occurrences of levels in each class: [C, total levels, total levels]."""
    tables = np.zeros((n_classes, int(starts[-1]), int(starts[-1])))
    for i, first in enumerate(columns):
        low, high = int(starts[i]), int(starts[i + 1])
        is_counted = (first >= 0) & (classes >= 0)
        rows = np.where(is_counted, classes * (high - low) + first, -1).astype(np.int32)
        for j in range(i, len(columns)):
            other = slice(int(starts[j]), int(starts[j + 1]))
            counts = np.zeros((n_classes * (high - low), other.stop - other.start), dtype=np.int64)
            _core.count_codes(rows, columns[j], counts)
            by_class = counts.reshape(n_classes, high - low, -1)
            tables[:, low:high, other] = by_class
            tables[:, other, low:high] = by_class.transpose(0, 2, 1)
    return tables


def _flag_columns(schema: Schema, chunk: Chunk) -> list[tuple[str, Ints, int]]:
    columns: list[tuple[str, Ints, int]] = []
    for group in schema.column_groups:
        if group.kind.family == "bernoulli" and group.kind.shares_block:
            for name in group.names[:MAX_COLUMNS]:
                block: Any = group.kind.encode(chunk.columns, [name], schema.missing)
                codes: Ints = np.diff(block.rows.indptr).astype(np.int32)
                columns.append((name, codes, int(codes.max(initial=0)) + 1))
    return columns


def _normalised_mutual_information(tables: Floats, starts: Any) -> Floats:
    """Return Σ I(a, b) / Σ min(H(a), H(b)) over the classes for each pair of columns.

    `tables` [C, levels, levels] counts co-occurring levels, and column j starts at level `starts[j]`. With f
    = n log n, n H(a) = f(n) − Σ f(row margins) and n I(a, b) = n H(a) + n H(b) − f(n) + Σ f(cells).
    """
    information = min_entropy = total = np.zeros((len(starts), len(starts)))
    for table in tables:
        n = _block_sums(table, starts)
        margins = np.add.reduceat(table, starts, axis=1)
        rows = np.add.reduceat(_n_log_n(margins), starts, axis=0)
        cells = _block_sums(_n_log_n(table), starts)
        entropy = _n_log_n(n) - rows
        information = information + entropy + entropy.T - (_n_log_n(n) - cells)
        min_entropy = min_entropy + np.minimum(entropy, entropy.T)
        total = total + n
    # The ratio is unstable for a nearly constant column, which also carries little evidence to count twice.
    varies = min_entropy > 0.05 * total
    return np.where(varies, information / np.where(varies, min_entropy, 1.0), 0.0)


def _block_sums(table: Floats, starts: Any) -> Floats:
    return np.asarray(np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1))


def _n_log_n(counts: Floats) -> Floats:
    counts = counts.astype(np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def _select_dependent(names: list[str], strength: Floats) -> list[Dependence]:
    pairs = zip(*np.nonzero(np.triu(strength, 1) >= MIN_DEPENDENCE), strict=True)
    return [Dependence(names[i], names[j], min(1.0, float(strength[i, j]))) for i, j in pairs]


@dataclass(frozen=True)
class ZeroVarianceColumn:
    """A number column that is constant within a class but not overall."""

    column: str
    label: Any
    value: float

    def __str__(self) -> str:
        return f"{self.column!r} is always {format_value(self.value)} in {self.label!r}"


def warn_zero_variance_columns(model: BayesModel) -> None:
    """Warn about columns with zero variance in some class."""
    columns = list(find_zero_variance_columns(model))
    if columns:
        more = f" and {len(columns) - 3:,} more" if len(columns) > 3 else ""
        warn(
            errors.FlatColumns(
                "Some numbers do not vary within a class, so any other value gets an enormous weight and "
                f"decides alone: {'; '.join(map(str, columns[:3]))}{more}.",
                hint=_zero_variance_advice(columns[0].column, model.schema),
            ),
            [each.column for each in columns],
        )


def _zero_variance_advice(column: str, schema: Schema) -> tuple[str, Setting, str]:
    if split_part_name(column)[0] in schema.dates:
        return "Use a histogram, for example ", set_kind(column, Call("Number", bins=10)), ", or skip it."
    return (
        "Let the classes share one spread, for example ",
        set_kind(column, Call("Number", spread="shared")),
        ", or give the column a floor of 0.1 or more, bins, or the kind 'skip'.",
    )


def find_zero_variance_columns(model: BayesModel) -> Iterator[ZeroVarianceColumn]:
    """Yield the columns with zero variance in a class, each with the first such class."""
    for dist in model.distributions:
        if isinstance(dist, Gaussian) and dist.kind.spread == "own" and dist.kind.floor < MIN_EXPLICIT_FLOOR:
            c = _first_zero_variance_class(dist.counts)
            if c is not None:
                moments = dist.sample_moments
                if moments[-1, 2] > 0.0:
                    yield ZeroVarianceColumn(dist.part.names[0], model.classes[c], float(moments[c, 0]))


def _first_zero_variance_class(counts: NumberCounts) -> int | None:
    """Return the first class with n Σx² = (Σx)², compared exactly in integers; None if there is none."""
    low = min(2 * counts.sum_x.base, counts.sum_xx.base)
    shift_xx = LIMB_BITS * (counts.sum_xx.base - low)
    shift_x = LIMB_BITS * (2 * counts.sum_x.base - low)
    totals: list[Any] = counts.known.tolist() if counts.weight is None else counts.totals
    sums = zip(totals, counts.sum_x.limbs.tolist(), counts.sum_xx.limbs.tolist(), strict=True)
    for c, (n, x_limbs, xx_limbs) in enumerate(sums):
        if n >= MIN_CLASS_VALUES:
            numerator, denominator = n.as_integer_ratio()
            sum_x, sum_xx = limbs_to_integer(x_limbs), limbs_to_integer(xx_limbs)
            if numerator * sum_xx << shift_xx == denominator * sum_x**2 << shift_x:
                return c
    return None
