"""Dependence between columns within the classes, which naive Bayes assumes away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features import Block, Codes, Numbers, Part, Schema
from weigh.features.blocks import Floats, Ints
from weigh.model.bayes_counts import encode_labels
from weigh.source import Chunk

ROWS = 2_000  # enough to see a repetition, few enough not to be felt
MOST_LEVELS = 40  # a column with more levels than this is not compared
MOST_COLUMNS = 60
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
    if chunk.n_rows < 20 or chunk.wide is not None:
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
    if len(named) < 2:
        return []
    starts = np.cumsum([0, *(levels for _, _, levels in named)])
    indicators = np.zeros((len(classes), int(starts[-1])), dtype=np.float32)
    for (_, codes, _), start in zip(named, starts, strict=False):
        known = np.flatnonzero(codes >= 0)
        indicators[known, start + codes[known]] = 1
    tables = [indicators[classes == c].T @ indicators[classes == c] for c in np.unique(classes)]
    strength = np.zeros((len(named), len(named)))
    for i in range(len(named)):
        for j in range(i + 1, len(named)):
            cells = [t[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] for t in tables]
            strength[i, j] = strength[j, i] = _explained(cells)
    return _strong([name for name, _, _ in named], strength)


def _flags(schema: Schema, chunk: Chunk) -> list[tuple[str, Ints, int]]:
    found: list[tuple[str, Ints, int]] = []
    for part in schema.parts:
        if part.kind.family == "bernoulli" and part.kind.gathers:
            for name in part.names[:MOST_COLUMNS]:
                block: Any = part.kind.encode(chunk.columns, [name], schema.missing)
                present: Ints = np.diff(block.indptr).astype(np.int32)
                found.append((name, present, int(present.max(initial=0)) + 1))
    return found


def _explained(tables: list[Floats]) -> float:
    """Return Σ information / Σ min(entropy, entropy) over the classes' contingency tables."""
    informed = least = 0.0
    for table in tables:
        total = float(table.sum())
        if total:
            rows, columns = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
            informed += total * (rows + columns - _entropy(table.ravel()))
            least += total * min(rows, columns)
    # A column that hardly varies explains itself away: it cannot mislead either.
    total = sum(float(table.sum()) for table in tables)
    return informed / least if least > 0.05 * total else 0.0


def _entropy(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _strong(names: list[str], strength: Floats) -> list[Dependence]:
    pairs = zip(*np.nonzero(np.triu(strength, 1) >= STRONG), strict=True)
    return [Dependence(names[i], names[j], min(1.0, float(strength[i, j]))) for i, j in pairs]
