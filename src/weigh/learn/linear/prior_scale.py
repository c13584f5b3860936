"""The scale of the Normal prior of a logistic regression, chosen from the rows by cross-validation.

The standard deviation of the weights is a property of the table, not of the number of its rows, so a sample
of the rows is enough. Another scale than 1 must predict the held-out rows better by more than the standard
error of the difference: otherwise the choice would follow chance where the prior hardly matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.cross_validation import stratified_folds
from weigh.learn.linear.logistic import solve_logistic
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.matrix import SparseMatrix
from weigh.learn.linear.problem import Problem, Solution, centre_distant_columns
from weigh.model.parallel import available_cores

DEFAULT_SCALE = 1.0
SCALES = (0.1, 0.3, DEFAULT_SCALE, 3.0, 10.0, 30.0, 100.0, 300.0)
N_FOLDS = 5
MIN_ROWS = 50  # with fewer, differences between the scales are mostly chance
MAX_ROWS = 2_000  # of the sample
TOLERANCE = 1e-3  # a duality gap, relative to the objective without features, that is enough for a choice
MAX_EXCESS = 2.0  # standard errors above the best loss at which weaker priors are not tried any more


def can_choose_prior_scale(problem: Problem) -> bool:
    """Whether there are enough rows to choose the scale of the prior."""
    return problem.X.n_rows >= MIN_ROWS


def choose_prior_scale(problem: Problem, l2: Floats, n_classes: int, max_iter: int) -> float:
    """Return the scale of the prior that predicts held-out rows best; `l2` are the penalties at scale 1."""
    sample, l2, n_classes = _sample_problem(problem, l2, n_classes)
    if n_classes < 2 or not sample.X.width:
        return DEFAULT_SCALE
    weights = np.ones(sample.X.n_rows) if sample.weights is None else sample.weights
    folds = [_Fold(sample, l2, mask, n_classes, max_iter) for mask in stratified_folds(sample.y, N_FOLDS)]
    losses: list[Floats] = []
    with ThreadPoolExecutor(available_cores()) as pool:
        for scale in SCALES:
            parts = list(pool.map(lambda fold, scale=scale: fold.held_out_losses(scale), folds))
            losses.append(_assemble(parts, folds))
            best = _smallest(losses, weights)
            excess, error = _compare(losses[-1], losses[best], weights)
            if scale > DEFAULT_SCALE and excess > MAX_EXCESS * error:
                break
    gain, error = _compare(losses[SCALES.index(DEFAULT_SCALE)], losses[best], weights)
    return SCALES[best] if gain > error else DEFAULT_SCALE


def _sample_problem(problem: Problem, l2: Floats, n_classes: int) -> tuple[Problem, Floats, int]:
    """Return evenly spaced rows of classes with two rows at least, without features that never occur."""
    problem = centre_distant_columns(problem.drop_zero_weights())[0]
    n_rows = problem.X.n_rows
    is_chosen = np.zeros(n_rows, dtype=bool)
    is_chosen[np.linspace(0, n_rows - 1, min(n_rows, MAX_ROWS)).round().astype(np.int64)] = True
    counts = np.bincount(problem.y[is_chosen].astype(np.int64), minlength=n_classes)
    is_chosen &= counts[problem.y.astype(np.int64)] > 1
    sample = problem.select_rows(is_chosen)
    if isinstance(sample.X, SparseMatrix):
        occurs = np.zeros(sample.X.width, dtype=bool)
        occurs[sample.X.rows.indices] = True
        none = np.zeros(int(occurs.sum()))
        sample = replace(sample, X=sample.X.select_features(occurs), l1=none, l2=none)
        l2 = l2[occurs]
    # Classes are numbered without gaps.
    y = np.unique(sample.y, return_inverse=True)[1].astype(np.float64)
    return replace(sample, y=y), l2, int((counts > 1).sum())


class _Fold:
    """The rows of one fold, whose losses under ever weaker priors start from the solution before."""

    def __init__(self, sample: Problem, l2: Floats, mask: Mask, n_classes: int, max_iter: int) -> None:
        self.mask, self._l2, self._n_classes, self._max_iter = mask, l2, n_classes, max_iter
        self._training, self._held_out = sample.select_rows(~mask), sample.select_rows(mask)
        self._solution: Solution | None = None

    def held_out_losses(self, scale: float) -> Floats:
        """Return the log loss of each row of the fold, learned from the other rows."""
        problem = self._training.with_penalties(self._training.l1, self._l2 / scale**2)
        solution = solve_logistic(problem, self._n_classes, TOLERANCE, self._max_iter, self._solution)
        self._solution, X = solution, self._held_out.X
        scores = X.times(solution.w.reshape(X.width, -1)) + solution.b
        return make_loss(self._held_out, self._n_classes).row_values(scores)


def _assemble(parts: Sequence[Floats], folds: Sequence[_Fold]) -> Floats:
    """Return the losses of the folds in the order of the rows."""
    losses = np.empty(len(folds[0].mask))
    for part, fold in zip(parts, folds, strict=True):
        losses[fold.mask] = part
    return losses


def _smallest(losses: Sequence[Floats], weights: Floats) -> int:
    return int(np.argmin([weights @ each for each in losses]))


def _compare(losses: Floats, others: Floats, weights: Floats) -> tuple[float, float]:
    """Return the mean difference of the rows' losses and its standard error."""
    difference, total = losses - others, weights.sum()
    mean = weights @ difference / total
    return float(mean), float(np.sqrt(np.square(weights * (difference - mean)).sum()) / total)
