"""Dependence between columns within the classes, which naive Bayes assumes away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Block, Codes, Numbers, Part, Schema
from weigh.features.blocks import Floats, Ints
from weigh.model.bayes_counts import encode_labels
from weigh.source import Chunk

ROWS = 1_000  # enough to see a repetition, few enough not to be felt
MOST_LEVELS = 40  # a column with more levels than this is not compared
MOST_LEVELS_IN_ALL = 300
MOST_COLUMNS = 60
MOST_CLASSES = 20
FEWEST_ROWS = 20  # in a class, to say anything of it
STRONG = 0.95
SMALLEST = 5e-324


@dataclass(frozen=True)
class Dependence:
    """Two columns of which one tells (almost) all about the other, within every class."""

    first: str
    second: str
    strength: float

    def __str__(self) -> str:
        how = "repeats" if self.strength > 0.999999 else f"nearly repeats ({self.strength:.2f})"
        return f"{self.second!r} {how} {self.first!r}"


def dependent_columns(schema: Schema, chunk: Chunk) -> list[Dependence]:
    """Return the pairs of columns that depend strongly on each other, strongest first.

    Two numbers: the absolute correlation within classes. Two categories or flags: the share of the
    less varied one's entropy that the other one explains, within classes.
    """
    chunk = chunk.slice(0, ROWS)
    if chunk.n_rows < FEWEST_ROWS or chunk.wide is not None:
        return []
    classes, _ = encode_labels(chunk)
    blocks = list(zip(schema.parts, schema.encode(chunk), strict=True))
    pairs = _numbers(blocks, classes) + _codes(blocks, schema, chunk, classes)
    return sorted(pairs, key=lambda pair: -pair.strength)


def _numbers(blocks: list[tuple[Part, Block]], classes: Ints) -> list[Dependence]:
    named = [(p.names[0], b.values) for p, b in blocks if isinstance(b, Numbers)][: 4 * MOST_COLUMNS]
    if len(named) < 2:
        return []
    table = np.column_stack([values for _, values in named])
    known = ~np.isnan(table)
    # Scaled to at most one, or squares would overflow.
    table = np.where(known, table, 0.0)
    table /= np.maximum(np.abs(table).max(axis=0), SMALLEST)
    table = np.where(known, table, table.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    for c in np.unique(classes):
        table[classes == c] -= table[classes == c].mean(axis=0)
    scale = np.sqrt((table**2).sum(axis=0))
    varied = scale > 0
    table[:, varied] /= scale[varied]
    strength = np.abs(table.T @ table)
    strength[~varied] = 0
    return _strong([name for name, _ in named], strength)


def _codes(blocks: list[tuple[Part, Block]], schema: Schema, chunk: Chunk, classes: Ints) -> list[Dependence]:
    named = [(p.names[0], b.codes, len(b.levels)) for p, b in blocks if isinstance(b, Codes)]
    named += _flags(schema, chunk)
    named = [each for each in named if 2 <= each[2] <= MOST_LEVELS][:MOST_COLUMNS]
    sizes = np.cumsum([levels for _, _, levels in named])
    named = named[: int(np.searchsorted(sizes, MOST_LEVELS_IN_ALL, side="right"))]
    often = np.flatnonzero(np.bincount(classes) >= FEWEST_ROWS)
    if len(named) < 2 or not 1 <= len(often) <= MOST_CLASSES:
        return []
    place: Ints = np.full(int(classes.max()) + 1, -1, dtype=np.int32)
    place[often] = np.arange(len(often))
    starts = np.concatenate([[0], sizes])[: len(named) + 1]
    tables = _meetings([codes for _, codes, _ in named], starts, place[classes], len(often))
    return _strong([name for name, _, _ in named], _explained(tables, starts[:-1]))


def _meetings(columns: list[Ints], starts: Any, classes: Ints, n_classes: int) -> Floats:
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


def _flags(schema: Schema, chunk: Chunk) -> list[tuple[str, Ints, int]]:
    found: list[tuple[str, Ints, int]] = []
    for part in schema.parts:
        if part.kind.family == "bernoulli" and part.kind.gathers:
            for name in part.names[:MOST_COLUMNS]:
                block: Any = part.kind.encode(chunk.columns, [name], schema.missing)
                present: Ints = np.diff(block.indptr).astype(np.int32)
                found.append((name, present, int(present.max(initial=0)) + 1))
    return found


def _explained(tables: Floats, starts: Any) -> Floats:
    """Return, for each pair of columns, Σ information / Σ min(entropy, entropy) over the classes.

    A table counts, for every two levels, how often they meet in a class; `starts` says where each
    column's levels begin. All sums of n log n, of cells and of margins, are taken at once.
    """
    informed = least = total = np.zeros((len(starts), len(starts)))
    for table in tables:
        n = _blocks(table, starts)
        margins = np.add.reduceat(table, starts, axis=1)
        rows = np.add.reduceat(_n_log_n(margins), starts, axis=0)
        cells = _blocks(_n_log_n(table), starts)
        own = _n_log_n(n) - rows
        informed = informed + own + own.T - (_n_log_n(n) - cells)
        least = least + np.minimum(own, own.T)
        total = total + n
    # A column that hardly varies explains itself away: it cannot mislead either.
    varied = least > 0.05 * total
    return np.where(varied, informed / np.where(varied, least, 1.0), 0.0)


def _blocks(table: Floats, starts: Any) -> Floats:
    return np.asarray(np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1))


def _n_log_n(counts: Floats) -> Floats:
    counts = counts.astype(np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def _strong(names: list[str], strength: Floats) -> list[Dependence]:
    pairs = zip(*np.nonzero(np.triu(strength, 1) >= STRONG), strict=True)
    return [Dependence(names[i], names[j], min(1.0, float(strength[i, j]))) for i, j in pairs]
