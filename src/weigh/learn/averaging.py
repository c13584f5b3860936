"""Averaging after convergence: how many further passes, all without an update, the average needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints
from weigh.learn.perceptron_state import PerceptronState
from weigh.source.sparse_rows import SparseRows

MAX_SCORES = 1 << 22  # scores of rows that are in memory at once


def extend_average(
    state: PerceptronState, rows: Iterable[tuple[SparseRows, Ints]], width: int, max_passes: int
) -> None:
    """Add the last hypothesis to the average until the average classifies all rows correctly.

    After a pass without an update every further pass would be the same: it would add the last weights w once
    per row to the sum S of the weights. So the passes are not made; the number that is needed, at most
    `max_passes`, follows from the scores of S and w. `rows` are those of the training, with their classes.
    """
    if state.converged and max_passes > 0 and state.keeps_average:
        n_passes, n_rows = count_needed_passes(state, rows, width, max_passes)
        state.add_passes(n_passes, n_rows)


def count_needed_passes(
    state: PerceptronState, rows: Iterable[tuple[SparseRows, Ints]], width: int, max_passes: int
) -> tuple[int, int]:
    """Return the number of passes to add to the average, at most `max_passes`, and the number of rows."""
    parts, n_rows = [], 0
    tables = [state.hypothesis(how, width) for how in ("averaged", "last")]
    batch = max(1, MAX_SCORES // state.columns)
    for chunk, codes in rows:
        n_rows += len(codes)
        for start in range(0, len(codes), batch):
            stop = min(start + batch, len(codes))
            scores = [_class_scores(chunk.slice(start, stop), *table) for table in tables]
            parts.append(_pairwise_leads(scores, codes[start:stop]))
    needed = 0
    for lead, gain, wins_ties in parts:
        needed = max(needed, _smallest_multiple(lead, gain * n_rows, wins_ties, max_passes))
    return needed, n_rows


def _class_scores(rows: SparseRows, weights: Floats, biases: Floats) -> Floats:
    """Return the scores [rows, classes]; of two classes the first has the score 0."""
    scores = np.tile(biases, (rows.n_rows, 1))
    rows.add_product(np.ascontiguousarray(weights), scores)
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores


def _pairwise_leads(scores: Any, codes: Ints) -> tuple[Floats, Floats, Any]:
    """Return, for each row and rival that is ahead in the average, both leads and whether a tie is won."""
    average, last = scores
    at = np.arange(len(codes))
    lead, gain = (table[at, codes][:, None] - table for table in (average, last))
    n_classes = average.shape[1]
    classes = np.arange(n_classes)
    # A score of zero predicts the second of two classes; of more classes the first wins.
    wins_ties = codes[:, None] > classes if n_classes == 2 else codes[:, None] < classes
    is_wrong = ((lead < 0) | ((lead == 0) & ~wins_ties)) & (codes[:, None] != classes)
    return lead[is_wrong], gain[is_wrong], wins_ties[is_wrong]


def _smallest_multiple(lead: Floats, gain: Floats, wins_ties: Any, most: int) -> int:
    """Return the smallest k ≤ `most` such that lead + k · gain is positive, or zero if ties are won."""
    if not len(lead):
        return 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiples = np.where(gain > 0, np.ceil(np.minimum(-lead / gain, most)), most)
    after = lead + multiples * gain
    multiples += (after < 0) | ((after == 0) & ~wins_ties)
    return int(min(multiples.max(), most))
