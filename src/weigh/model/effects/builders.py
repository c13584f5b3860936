"""Build the effects of the terms of a model, from the counts that the terms store or from given rows.

A builder of a term has `observe(block)`, which counts rows, and `build(outputs)`, which yields its effects.
Without observed rows, curves and pairs have the counts of the training rows, and standardised numbers their
spread; of other terms a model does not know how frequent their values were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock
from weigh.features.curves import PairBlock
from weigh.features.kinds import Flag, Products
from weigh.features.schema import ColumnGroup
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.distributions.weights import LevelWeights, LinearNumberTerm, NumberWeights, ScaledWeights
from weigh.model.distributions.word_weights import FlagWeights, GridWeights, ValueWeights, WordWeights
from weigh.model.effects.effect import (
    CurveEffect,
    FlagEffect,
    LevelEffect,
    LineEffect,
    PairEffect,
    TermEffect,
)

LINE_CELLS = 40  # equal cells over which a straight line is drawn
LINE_SPREADS = 2.5  # standard deviations to either side, if only they are known
MAX_COLUMNS = 200  # of numbers or flags in one block
FLAG_WORDS = ("no", "yes")


@dataclass(frozen=True)
class OmittedTerm:
    """A term without an effect to list, and why."""

    name: str
    why: str


@dataclass(frozen=True, eq=False)
class Outputs:
    """How the scores [.., classes] of a model become outputs: `to_outputs` of heights, `to_errors` of errors.

    `sd` are the standard deviations of the term's features, None if unknown.
    """

    to_outputs: Callable[[Floats], Floats]
    to_errors: Callable[[Floats], Floats]
    sd: Floats | None = None


class EffectBuilder(Protocol):
    """Builds the effects of one term."""

    def observe(self, block: Any) -> None:
        """Count the rows of a block."""

    def build(self, outputs: Outputs) -> Iterator[TermEffect | OmittedTerm]:
        """Yield the effects of the term, or why there is none."""


@dataclass(eq=False)
class CurveBuilder:
    """Builds the effect of a curve."""

    index: int
    term: CurveWeights
    counts: Floats | None = None

    def observe(self, block: NumberBlock) -> None:
        """Count the rows of a block by their cells."""
        self.counts = _add_counts(self.counts, self.term.cells(block), len(self.term.table))

    def build(self, outputs: Outputs) -> Iterator[TermEffect]:
        """Yield the curve."""
        term = self.term
        counts = self.counts if self.counts is not None else term.counts if term.counts.any() else None
        spreads = None if term.errors is None else outputs.to_errors(term.errors)
        low, high = term.limits.tolist()
        heights = outputs.to_outputs(term.table)
        yield CurveEffect(
            term.name, self.index, heights, counts, spreads, term.cuts, term.positions, (low, high)
        )


@dataclass(eq=False)
class PairBuilder:
    """Builds the effect of a pair of columns."""

    index: int
    term: PairWeights
    counts: Floats | None = None

    def observe(self, block: PairBlock) -> None:
        """Count the rows of a block by their cells."""
        self.counts = _add_counts(self.counts, self.term.cells(block), len(self.term.table))

    def build(self, outputs: Outputs) -> Iterator[TermEffect]:
        """Yield the surface."""
        term = self.term
        counts = self.counts if self.counts is not None else term.counts if term.counts.any() else None
        spreads = None if term.errors is None else outputs.to_errors(term.errors)
        yield PairEffect(term.name, self.index, outputs.to_outputs(term.table), counts, spreads, term)


@dataclass(eq=False)
class LevelBuilder:
    """Builds the effect of a category."""

    index: int
    term: LevelWeights
    counts: Floats | None = None

    def observe(self, block: CategoryBlock) -> None:
        """Count the rows of a block by their levels; the reference level has the last code."""
        codes = self.term.codes(block)
        if self.term.reference_level is not None:
            is_unseen = np.array([level != self.term.reference_level for level in block.levels] + [False])
            codes = np.where(is_unseen[block.codes] & (codes == len(self.term.levels)), -1, codes)
        else:
            codes = np.where(codes == len(self.term.levels), -1, codes)
        self.counts = _add_counts(self.counts, codes, len(self.term.known_levels()))

    def build(self, outputs: Outputs) -> Iterator[TermEffect | OmittedTerm]:
        """Yield the levels; a reference level adds nothing."""
        term, levels = self.term, self.term.known_levels()
        if term.is_constant or not levels:
            yield OmittedTerm(term.name, "constant")
            return
        table = np.zeros((len(levels), term.table.shape[1]))
        table[: len(term.levels)] = term.table[:-1]
        spreads = None
        if outputs.sd is not None:
            spreads = np.zeros((len(levels), 1))
            spreads[: len(term.levels), 0] = outputs.sd
        yield LevelEffect(term.name, self.index, outputs.to_outputs(table), self.counts, spreads, levels)


@dataclass(eq=False)
class NumberBuilder:
    """Builds the effect of a number with a straight line."""

    index: int
    term: LinearNumberTerm
    values: list[Floats] = field(default_factory=list)

    def observe(self, block: NumberBlock) -> None:
        """Keep the values of a block."""
        self.values.append(block.values)

    def build(self, outputs: Outputs) -> Iterator[TermEffect | OmittedTerm]:
        """Yield the line; without rows, a standardised number reaches as far as most rows do."""
        term = self.term
        sd = None if outputs.sd is None else float(outputs.sd[0])
        line = _Line(term.name, self.index, np.asarray(term.slope), term.centre, sd)
        if self.values:
            yield line.over(np.concatenate(self.values), outputs)
        elif isinstance(term, ScaledWeights):
            reach = LINE_SPREADS * term.unit
            yield line.between(term.centre - reach, term.centre + reach, term.unit, None, outputs)
        else:
            yield OmittedTerm(term.name, "rows")


@dataclass(eq=False)
class ColumnsBuilder:
    """Builds the effects of columns of numbers or flags that share a term."""

    index: int
    term: GridWeights | ValueWeights | WordWeights | FlagWeights
    are_flags: bool
    flag_words: Mapping[str, tuple[str, str]]
    values: list[Floats] = field(default_factory=list)

    def observe(self, block: Any) -> None:
        """Keep the values of a block."""
        self.values.append(self.term.entries(block).to_dense().astype(np.float64))

    def build(self, outputs: Outputs) -> Iterator[TermEffect | OmittedTerm]:
        """Yield one effect per column."""
        values = np.concatenate(self.values) if self.values else None
        for j, name in enumerate(self.term.names):
            column = None if values is None else values[:, j]
            sd = None if outputs.sd is None else float(outputs.sd[j])
            if self.are_flags:
                yield self._flag(j, name, column, sd, outputs)
            elif column is None:
                yield OmittedTerm(name, "rows")
            else:
                slope = self.term.table[j]  # type: ignore[union-attr]  # numbers have a table
                yield _Line(name, self.index, slope, float(column.mean()), sd, self.term, j).over(
                    column, outputs
                )

    def _flag(
        self, j: int, name: str, column: Floats | None, sd: float | None, outputs: Outputs
    ) -> TermEffect:
        term = self.term
        if isinstance(term, FlagWeights):
            table = np.array([term.absent[j], term.present[j]])
        else:
            table = np.array([np.zeros(term.table.shape[1]), term.table[j]])
        counts = None
        if column is not None:
            counts = np.array([np.sum(column == 0), np.sum(column != 0)], dtype=np.float64)
        spreads = None if sd is None else np.array([[0.0], [sd]])
        words = self.flag_words.get(name, FLAG_WORDS)
        return FlagEffect(name, self.index, outputs.to_outputs(table), counts, spreads, words, term, j)


@dataclass(frozen=True, eq=False)
class _Line:
    """A straight line through (centre, 0) with a slope [classes], whose standard deviation is `sd`."""

    name: str
    index: int
    slope: Floats
    centre: float
    sd: float | None
    source: Any = None
    column: int = 0

    def over(self, values: Floats, outputs: Outputs) -> TermEffect | OmittedTerm:
        """Return the line over the values of rows."""
        known = values[~np.isnan(values)]
        if not len(known):
            return OmittedTerm(self.name, "missing in all rows")
        return self.between(float(known.min()), float(known.max()), float(known.std()), values, outputs)

    def between(
        self, low: float, high: float, spread: float, values: Floats | None, outputs: Outputs
    ) -> TermEffect:
        """Return the line between two numbers, for rows with this standard deviation."""
        edges = np.linspace(low, high, LINE_CELLS + 1)
        middles = np.append((edges[1:] + edges[:-1]) / 2, self.centre)  # missing values add nothing
        counts = None
        if values is not None:
            cells = np.where(np.isnan(values), LINE_CELLS, np.searchsorted(edges[1:-1], values, side="left"))
            counts = np.bincount(cells, minlength=LINE_CELLS + 1).astype(np.float64)
        heights = outputs.to_outputs(np.outer(middles - self.centre, self.slope))
        spreads = None if self.sd is None else np.abs(middles - self.centre)[:, None] * self.sd
        importances = np.abs(outputs.to_outputs(spread * self.slope[None, :]))[0]
        return LineEffect(
            self.name, self.index, heights, counts, spreads, edges[1:-1], middles[:-1], (low, high),
            importances, self.source, self.column,
        )  # fmt: skip


@dataclass(eq=False)
class OmittedBuilder:
    """Stands for a term whose effect is not listed."""

    omitted: OmittedTerm

    def observe(self, block: Any) -> None:
        """Ignore the rows."""

    def build(self, outputs: Outputs) -> Iterator[OmittedTerm]:
        """Yield why there is no effect."""
        del outputs
        yield self.omitted


def _add_counts(counts: Floats | None, cells: Ints, n_cells: int) -> Floats:
    """Add the rows of each cell; rows without a cell, −1, do not count."""
    added = np.bincount(cells[cells >= 0], minlength=n_cells).astype(np.float64)
    return added if counts is None else counts + added


def make_builder(index: int, term: Any, group: ColumnGroup, flag_words: Mapping[str, Any]) -> EffectBuilder:
    """Return the builder of a term, which belongs to a group of columns."""
    simple: Sequence[tuple[type, Any]] = (
        (CurveWeights, CurveBuilder),
        (PairWeights, PairBuilder),
        (LevelWeights, LevelBuilder),
        (NumberWeights, NumberBuilder),
        (ScaledWeights, NumberBuilder),
    )
    for term_type, builder in simple:
        if isinstance(term, term_type):
            made: EffectBuilder = builder(index, term)
            return made
    if not term.fixed:
        return OmittedBuilder(OmittedTerm(term.title, "words"))
    if isinstance(group.kind, Products):
        return OmittedBuilder(OmittedTerm(term.title, "products"))
    if len(term.names) > MAX_COLUMNS:
        return OmittedBuilder(OmittedTerm(term.title, f"more than {MAX_COLUMNS} columns"))
    return ColumnsBuilder(index, term, isinstance(group.kind, Flag), flag_words)
