"""Compare what the values of a column add to the scores of two linear models, on values that both know.

A curve is compared over the common refinement of both models' cells, a category over all levels, a number by
its weight, words by the weight of each. A number and a curve are compared at the cells of the curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints, NumberBlock
from weigh.features.schema import ColumnGroup
from weigh.model.counts.count_table import have_same_names
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights, name_cells
from weigh.model.distributions.weights import (
    LevelWeights,
    LinearNumberTerm,
    NumberWeights,
    ScaledWeights,
)
from weigh.model.distributions.word_weights import VocabularyWeights

MAX_SEPARATE_COLUMNS = 10_000  # more columns of a matrix are compared as one block


@dataclass(frozen=True, eq=False)
class AlignedTerms:
    """What the same values add in two models: old and new [values, outputs], with names and counts.

    `counts` are the weights of the training rows of the new model, None if unknown.
    """

    names: Sequence[str]
    old: Floats
    new: Floats
    counts: Floats | None = None


def separate_columns(group: ColumnGroup, term: Any) -> Iterator[tuple[str, Any]]:
    """Yield the terms of a column group by column; the words of a text and a wide matrix are one term."""
    if not isinstance(term, VocabularyWeights) or not term.fixed or len(term.names) > MAX_SEPARATE_COLUMNS:
        yield group.title, term
        return
    part: Any = term
    linear = part.features()
    for name, slope in zip(linear.names, linear.coef, strict=True):
        yield name, NumberWeights(name, slope, np.zeros(len(slope)))


def align_terms(old: Any, new: Any) -> AlignedTerms | None:
    """Return both terms over the same values; None if they have nothing in common.

    A term that is None adds nothing.
    """
    for kinds, align in _ALIGNMENTS.items():
        if isinstance(old, kinds[0] | None) and isinstance(new, kinds[1] | None):
            return align(old, new)
    return None


def _align_curves(old: CurveWeights | None, new: CurveWeights | None) -> AlignedTerms:
    curves = [curve for curve in (old, new) if curve is not None]
    cuts = np.unique(np.concatenate([curve.cuts for curve in curves]))
    # A cell of the refinement is represented by its upper end; the last value stands for missing ones.
    values = NumberBlock(np.concatenate([cuts, [np.inf, np.nan]]))
    heights = [None if curve is None else curve.table[curve.cells(values)] for curve in (old, new)]
    last = curves[-1]
    names = [*name_cells(cuts, last.name), "missing"]
    return AlignedTerms(names, *_fill(heights), _spread_counts(last, cuts))


def _spread_counts(curve: CurveWeights, cuts: Floats) -> Floats:
    """Return the counts of a curve over finer cells, as if values were uniform within each cell."""
    low, high = (
        min(curve.limits[0], cuts.min(initial=np.inf)),
        max(curve.limits[1], cuts.max(initial=-np.inf)),
    )
    widths = np.diff(np.concatenate([[low], cuts, [high]]))
    cells = curve.cells(NumberBlock(np.append(cuts, np.inf)))
    totals = np.bincount(cells, widths, minlength=curve.n_cells)[cells]
    sizes = np.bincount(cells, minlength=curve.n_cells)[cells]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(totals > 0, widths / totals, 1.0 / sizes)
    return np.append(curve.counts[cells] * shares, curve.counts[-1])


def _align_pairs(old: PairWeights | None, new: PairWeights | None) -> AlignedTerms | None:
    pairs = [pair for pair in (old, new) if pair is not None]
    sides = [_refine_axes([getattr(pair, side) for pair in pairs]) for side in ("left", "right")]
    if any(side is None for side in sides):
        return None
    (left_names, left), (right_names, right) = (side for side in sides if side is not None)
    heights = []
    for pair, rows, columns in zip(pairs, left, right, strict=True):
        grid = np.vstack([pair.table, np.zeros((1, pair.table.shape[1]))])
        cells = rows[:, None] * pair.right.n_cells + columns
        heights.append(grid[np.where((rows[:, None] < 0) | (columns < 0), -1, cells).ravel()])
    counts = _split_counts(pairs[-1], left[-1], right[-1])
    names = [f"{a}, {b}" for a in left_names for b in right_names]
    both = [heights.pop(0) if pair is not None else None for pair in (old, new)]
    return AlignedTerms(names, *_fill(both), counts)


def _refine_axes(axes: Sequence[PairAxis]) -> tuple[list[str], list[Ints]] | None:
    """Return the names of the common cells of axes, and the cell of each axis (−1 for none) for each."""
    if len({axis.cuts is None for axis in axes}) > 1:
        return None
    if axes[0].cuts is None:
        levels = list(dict.fromkeys(level for axis in axes for level in axis.levels))
        groups = [_level_groups(axis) for axis in axes]
        cells = [np.array([group.get(level, -1) for level in levels], dtype=np.int32) for group in groups]
        return [str(level) for level in levels], cells
    cuts = np.unique(np.concatenate([axis.cuts for axis in axes if axis.cuts is not None]))
    values = NumberBlock(np.append(cuts, np.inf))
    return name_cells(cuts, axes[0].name), [axis.cells(values) for axis in axes]


def _level_groups(axis: PairAxis) -> dict[Any, int]:
    groups = [] if axis.groups is None else axis.groups.tolist()
    return dict(zip(axis.levels, groups, strict=True))


def _split_counts(pair: PairWeights, left: Ints, right: Ints) -> Floats:
    """Return the counts of a surface over finer cells, divided equally among the parts of a cell."""
    shares = []
    for cells, n in ((left, pair.left.n_cells), (right, pair.right.n_cells)):
        parts = np.bincount(cells[cells >= 0], minlength=n)
        shares.append(np.where(cells >= 0, 1.0 / np.maximum(parts[cells], 1), 0.0))
    counts = pair.counts.reshape(pair.left.n_cells, pair.right.n_cells)[left][:, right]
    return np.asarray((counts * np.outer(*shares)).ravel())


def _align_numbers(old: LinearNumberTerm | None, new: LinearNumberTerm | None) -> AlignedTerms:
    """Compare the weights of a number, per standard deviation in training if the new model knows it."""
    terms = [term for term in (old, new) if term is not None]
    units = [term.unit for term in terms if isinstance(term, ScaledWeights) and term.unit != 1.0]
    unit = units[-1] if units else 1.0
    slopes = [None if term is None else (unit * np.asarray(term.slope))[None, :] for term in (old, new)]
    return AlignedTerms([f"per {unit:.4g}"], *_fill(slopes))


def _align_number_with_curve(old: LinearNumberTerm, new: CurveWeights) -> AlignedTerms:
    line, names = _line_heights(old, new), [*name_cells(new.cuts, new.name), "missing"]
    return AlignedTerms(names, line, new.table, new.counts)


def _align_curve_with_number(old: CurveWeights, new: LinearNumberTerm) -> AlignedTerms:
    line, names = _line_heights(new, old), [*name_cells(old.cuts, old.name), "missing"]
    return AlignedTerms(names, old.table, line, old.counts)


def _line_heights(number: LinearNumberTerm, curve: CurveWeights) -> Floats:
    """Return what a number adds at the cells of a curve, relative to its mean over the curve's rows."""
    values = np.append(curve.positions, np.nan)
    heights = np.zeros((len(values), len(number.slope)))
    number.add(NumberBlock(values), heights)
    return np.asarray(heights - curve.counts @ heights / max(float(curve.counts.sum()), np.finfo(float).tiny))


def _align_levels(old: LevelWeights | None, new: LevelWeights | None) -> AlignedTerms:
    terms = [term for term in (old, new) if term is not None]
    levels = list(dict.fromkeys(level for term in terms for level in term.known_levels()))
    heights = [None if term is None else _level_heights(term, levels) for term in (old, new)]
    return AlignedTerms([str(level) for level in levels], *_fill(heights))


def _level_heights(term: LevelWeights, levels: Sequence[Any]) -> Floats:
    """Return the weights of levels; unseen levels have those of the last row, the reference level none."""
    index = {level: k for k, level in enumerate(term.levels)}
    table = np.vstack([term.table, np.zeros((1, term.table.shape[1]))])
    reference = {term.reference_level: len(term.table)} if term.reference_level is not None else {}
    return np.asarray(table[[{**index, **reference}.get(level, len(term.levels)) for level in levels]])


def _align_words(old: VocabularyWeights | None, new: VocabularyWeights | None) -> AlignedTerms:
    terms: tuple[Any, Any] = old, new
    parts = [None if term is None else term.features() for term in terms]
    known = [part for part in parts if part is not None]
    if len(known) == 2 and have_same_names(known[0].names, known[1].names):
        return AlignedTerms(known[0].names, known[0].coef, known[1].coef)
    names = list(dict.fromkeys(name for part in known for name in part.names))
    tables = []
    for part in parts:
        index = {} if part is None else {name: j for j, name in enumerate(part.names)}
        table = (
            np.zeros((1, known[0].coef.shape[1]))
            if part is None
            else np.vstack([part.coef, 0 * part.coef[:1]])
        )
        tables.append(table[[index.get(name, -1) for name in names]])
    return AlignedTerms(names, *tables)


def _fill(heights: Sequence[Floats | None]) -> tuple[Floats, Floats]:
    """Return old and new heights; those of a term that does not exist are zero."""
    old, new = heights
    if old is None and new is not None:
        return np.zeros_like(new), new
    assert old is not None
    return (old, np.zeros_like(old)) if new is None else (old, new)


_ALIGNMENTS: dict[tuple[type, type], Callable[[Any, Any], AlignedTerms | None]] = {
    (CurveWeights, CurveWeights): _align_curves,
    (PairWeights, PairWeights): _align_pairs,
    (LinearNumberTerm, LinearNumberTerm): _align_numbers,
    (LinearNumberTerm, CurveWeights): _align_number_with_curve,
    (CurveWeights, LinearNumberTerm): _align_curve_with_number,
    (LevelWeights, LevelWeights): _align_levels,
    (VocabularyWeights, VocabularyWeights): _align_words,
}
