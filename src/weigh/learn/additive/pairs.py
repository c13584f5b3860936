"""Pairs of columns with a joint effect: candidates, their order, and how many of them help.

Candidates are ranked as by FAST (Lou et al. 2013): on a coarse grid of two columns, the gradients G and
curvatures H of the fitted main effects add up to Σ G² / H, which is about χ² with (K₁ − 1)(K₂ − 1) degrees of
freedom if the two columns have no joint effect. Pairs are added in this order while the loss of held-out rows
falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Ints, Mask
from weigh.features.curves import Curve, pair_title
from weigh.features.dates.kind import is_days, split_part_name
from weigh.features.kinds import Category
from weigh.learn.additive.effects import Effect, pair_effect
from weigh.learn.additive.held_out_strengths import (
    VALIDATION_SHARE,
    LossOfRows,
    is_clear_gain,
    row_losses,
)
from weigh.learn.additive.problem import AdditiveProblem
from weigh.learn.additive.smoothing import Smoothing, add_strengths, choose_strengths
from weigh.learn.additive.solver import minimise
from weigh.learn.linear.losses import ScoreLoss
from weigh.learn.linear.matrix import SparseMatrix
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis
from weigh.model.distributions.weights import LevelWeights
from weigh.source.sparse_rows import SparseRows

MAX_COLUMNS = 40  # columns with the strongest effects whose pairs are candidates
MIN_ROWS = 100  # fewer rows say too little about pairs
MIN_CELLS, MAX_CELLS = 4, 12  # of each column of a pair
SCHEDULE = (1, 2, 3, 4, 6, 8, 12, 16, 24)  # numbers of pairs that are tried
PATIENCE = 2  # numbers of pairs in turn that do not lower the loss
MIN_GAIN = 0.5  # standard errors by which the loss must fall


@dataclass(frozen=True, eq=False)
class PairData:
    """The columns that can form pairs: their axes, and the cell of every row."""

    indices: list[int]
    axes: list[PairAxis]
    cells: list[Ints]

    @classmethod
    def from_effects(
        cls,
        X: SparseMatrix,
        effects: Sequence[Effect],
        kinds: Sequence[Any],
        terms: Sequence[Any],
        counts: Floats,
    ) -> PairData:
        """Group the cells of curves and categories into few cells of about equal counts."""
        n_cells = int(min(MAX_CELLS, max(MIN_CELLS, round(X.n_rows**0.25))))
        indices, axes, cells = [], [], []
        for j, (effect, kind, term) in enumerate(zip(effects, kinds, terms, strict=True)):
            is_category = isinstance(kind, Category) and isinstance(term, LevelWeights)
            if not isinstance(kind, Curve) and not is_category:
                continue
            own = counts[effect.start : effect.stop]
            axis, groups = (
                _curve_axis(term, own, n_cells)
                if isinstance(kind, Curve)
                else _level_axis(term, own, n_cells)
            )
            if axis.n_cells > 1:
                indices.append(j)
                axes.append(axis)
                cells.append(_row_cells(X, effect, groups))
        return cls(indices, axes, cells)

    def select_rows(self, mask: Mask) -> PairData:
        """Return the same columns with some of the rows."""
        return replace(self, cells=[each[mask] for each in self.cells])


def _curve_axis(term: CurveWeights, counts: Floats, n_cells: int) -> tuple[PairAxis, Ints]:
    """Return the axis of a curve, whose cuts are some of the curve's, and the group of each of its cells."""
    middle = np.cumsum(counts[:-1]) - counts[:-1] / 2
    groups = np.floor(n_cells * middle / max(float(counts[:-1].sum()), 1e-300)).astype(np.int32)
    groups = np.unique(np.minimum(groups, n_cells - 1), return_inverse=True)[1].astype(np.int32)
    ends = np.flatnonzero(np.diff(groups))
    return PairAxis(term.name, term.cuts[ends]), np.append(groups, np.int32(-1))


def _level_axis(term: LevelWeights, counts: Floats, n_cells: int) -> tuple[PairAxis, Ints]:
    """Return the axis of a category: the most frequent levels, and all others together."""
    order = np.argsort(-counts, kind="stable")
    groups = np.empty(len(counts), dtype=np.int32)
    groups[order] = np.minimum(np.arange(len(counts)), n_cells - 1)
    return PairAxis(term.name, None, list(term.levels), groups), groups


def _row_cells(X: SparseMatrix, effect: Effect, groups: Ints) -> Ints:
    """Return the group of each row's cell, −1 for none."""
    is_own = (X.rows.indices >= effect.start) & (X.rows.indices < effect.stop)
    cells = np.full(X.n_rows, -1, dtype=np.int32)
    cells[X.rows.entry_rows()[is_own]] = groups[X.rows.indices[is_own] - effect.start]
    return cells


def pair_cells(data: PairData, a: int, b: int) -> Ints:
    """Return the cell of every row on the grid of two columns, −1 for none."""
    left, right = data.cells[a], data.cells[b]
    return np.where((left < 0) | (right < 0), -1, left * data.axes[b].n_cells + right).astype(np.int32)


def rank_pairs(
    data: PairData, loss: ScoreLoss, p: Floats, strongest: Sequence[int], noise: float
) -> dict[tuple[int, int], float]:
    """Return the pairs of the strongest columns with Σ G² / H less its mean without a joint effect, sorted.

    `p` are the predictions of the main effects. Gradients of squared loss vary with the variance of the
    `noise`; for log loss it is 1.
    """
    gradients, curvatures = loss.score_gradient(p), _curvatures(loss, p)
    gains = {}
    for a, b in combinations(strongest, 2):
        cells = pair_cells(data, a, b) + 1
        size = data.axes[a].n_cells * data.axes[b].n_cells + 1
        excess = 0.0
        for k in range(gradients.shape[1]):
            G = np.bincount(cells, gradients[:, k], minlength=size)[1:]
            H = np.bincount(cells, curvatures[:, k], minlength=size)[1:]
            n_filled = int((H > 0).sum())
            degrees = max(n_filled - data.axes[a].n_cells - data.axes[b].n_cells + 1, 1)
            excess += float((G**2 / np.maximum(H, 1e-12))[H > 0].sum()) / noise - degrees
        gains[a, b] = excess
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def build_pairs(
    X: SparseMatrix | None, n_rows: int, data: PairData, pairs: Sequence[tuple[int, int]], weights: Floats
) -> tuple[SparseMatrix, list[Effect], list[Floats]]:
    """Return the rows with the cells of pairs as further features, their effects and their counts."""
    builder = _core.CsrBuilder(n_rows)
    width = 0 if X is None else X.width
    if X is not None:
        builder.add_entries(*X.rows.csr, np.arange(width, dtype=np.int32))
    effects, all_counts = [], []
    for a, b in pairs:
        left, right = data.axes[a], data.axes[b]
        cells, size = pair_cells(data, a, b), left.n_cells * right.n_cells
        counts = np.bincount(cells + 1, weights, minlength=size + 1)[1:].astype(np.float64)
        title = pair_title((left.name, right.name))
        are_numbers = left.cuts is not None, right.cuts is not None
        effects.append(pair_effect(title, width, counts.reshape(left.n_cells, right.n_cells), are_numbers))
        all_counts.append(counts)
        builder.add_codes(cells, np.arange(width, width + size, dtype=np.int32))
        width += size
    return SparseMatrix(SparseRows(*builder.build(), width)), effects, all_counts


def choose_pairs(
    problem: AdditiveProblem, smoothing: Smoothing, data: PairData, make_loss: LossOfRows, weights: Floats
) -> list[tuple[int, int]]:
    """Return the best pairs: in order of their rank, as many as lower the loss of held-out rows."""
    n = problem.X.n_rows
    if n < MIN_ROWS or len(data.axes) < 2:
        return []
    is_held_out = np.arange(n) % VALIDATION_SHARE == VALIDATION_SHARE - 1
    train = AdditiveProblem(
        problem.X.select_rows(~is_held_out), make_loss(~is_held_out, None), problem.effects
    )
    main = minimise(
        train, smoothing.strengths, (smoothing.U, smoothing.b), 1e-3 * n * smoothing.noise, 8
    ).state
    scores = problem.scores(main.U, main.b)
    strongest = strongest_columns(problem, main.U, data)
    gains = rank_pairs(data.select_rows(~is_held_out), train.loss, main.p, strongest, smoothing.noise)
    ranked = [pair for pair, gain in gains.items() if gain > 0]
    held_out = make_loss(is_held_out, None)
    main_losses = row_losses(held_out, scores[is_held_out])
    best, chosen, n_worse = main_losses, [], 0
    for n_pairs in SCHEDULE:
        tried = ranked[:n_pairs]
        if len(tried) < n_pairs or n_worse == PATIENCE:
            break
        added = _pair_scores(train, make_loss, data, tried, weights, is_held_out, scores, smoothing)
        losses = row_losses(held_out, scores[is_held_out] + added)
        n_worse += 1
        if losses.sum() < best.sum():
            best, chosen, n_worse = losses, tried, 0
    gain = main_losses - best
    return chosen if is_clear_gain(gain, MIN_GAIN) else []


def _pair_scores(
    train: AdditiveProblem,
    make_loss: LossOfRows,
    data: PairData,
    pairs: Sequence[tuple[int, int]],
    weights: Floats,
    is_held_out: Mask,
    scores: Floats,
    smoothing: Smoothing,
) -> Floats:
    """Fit pairs to the training rows beside fixed main effects, and return their scores of held-out rows."""
    n = len(is_held_out)
    X, _, _ = build_pairs(None, n, data, pairs, weights)
    is_train = ~is_held_out
    _, effects, _ = build_pairs(
        None, int(is_train.sum()), data.select_rows(is_train), pairs, weights[is_train]
    )
    loss = make_loss(is_train, scores[is_train])
    problem = AdditiveProblem(X.select_rows(is_train), loss, effects)
    start = Smoothing(
        add_strengths(problem, {}, smoothing.noise),
        np.zeros((problem.offsets[-1], train.loss.n_outputs)),
        np.zeros(train.loss.n_outputs),
        smoothing.noise,
        {},
    )
    found = choose_strengths(problem, start)
    return X.select_rows(is_held_out).times(problem.expand(found.U))


def strongest_columns(problem: AdditiveProblem, U: Floats, data: PairData) -> list[int]:
    """Return the columns with the widest contributions, among those that can form pairs."""
    parts = dict(enumerate(problem.slices()))
    spreads = []
    for j in data.indices:
        effect, at = parts[j]
        heights = effect.expand(U[at])
        spreads.append(float(np.abs(heights).max(initial=0.0)))
    return sorted(np.argsort(spreads)[::-1][:MAX_COLUMNS].tolist())


def _curvatures(loss: ScoreLoss, p: Floats) -> Floats:
    """Return the second derivative of each row's loss in each score."""
    columns = []
    for k in range(p.shape[1]):
        unit = np.zeros((1, p.shape[1]))
        unit[0, k] = 1.0
        columns.append(loss.hessian_times(p, np.broadcast_to(unit, p.shape))[:, k])
    return np.column_stack(columns)


def named_pairs(pairs: Sequence[Any], data: PairData, owner: str) -> list[tuple[int, int]]:
    """Return the pairs that a user named; a column of dates stands for its days."""
    known = [axis.name for axis in data.axes]
    positions = {name: at for at, name in enumerate(known)}
    for at, name in enumerate(known):
        if is_days(name):
            positions.setdefault(split_part_name(name)[0], at)
    found: list[tuple[int, int]] = []
    for pair in pairs:
        for name in pair:
            if name not in positions:
                raise errors.ColumnError(
                    f"{owner}: pairs names {name!r}, but the columns with curves or levels are "
                    f"{errors.quote_names(known)}.{errors.did_you_mean(name, known)}"
                )
        a, b = positions[pair[0]], positions[pair[1]]
        if a == b or (a, b) in found or (b, a) in found:
            must = "pairs of two different column names, each once"
            raise errors.parameter_error(owner, "pairs", must, list(pairs))
        found.append((a, b))
    return found
