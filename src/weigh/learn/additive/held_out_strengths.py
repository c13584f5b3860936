"""Choose strengths on held-out rows where the marginal likelihood is unreliable.

The marginal likelihood needs the inverse Hessian. With thousands of words only its diagonal is affordable,
which overstates what the rows say about words that occur together. And if the classes are nearly
separable, the strengths of highest marginal likelihood (Laplace) may be too large: held-out rows often prefer
much weaker ones, even where the Hessian is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints, Mask
from weigh.learn.additive.effects import Effect
from weigh.learn.additive.problem import AdditiveProblem, SquaredLoss
from weigh.learn.additive.smoothing import MIN_STRENGTH, Smoothing, initial_smoothing
from weigh.learn.additive.solver import minimise
from weigh.learn.linear.losses import ScoreLoss

SCALES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # standard deviations of the weights that are tried
FACTORS = (1.0, 0.3, 0.1, 0.03, 0.01)  # of all chosen strengths, if the classes are nearly separable
NEARLY_SEPARABLE = 0.25  # largest training loss, as a share of that without features
MIN_FACTOR_GAIN = 1.0  # standard errors by which each further factor must lower the held-out loss
ENOUGH_HELD_OUT = 200  # held-out rows that compare factors well; fewer rows are held out in several folds
MAX_WEIGHTS = 3_000  # of all classes; with more, every factor would take seconds
MAX_ROWS = 5_000
VALIDATION_SHARE = 5  # every fifth row is held out
RELATIVE_GAP = 1e-3  # per row: precise enough to compare strengths
MAX_ITERATIONS = 10
LossOfRows = Callable[[Mask, Floats | None], ScoreLoss]  # the loss of some rows, with an offset


def fix_word_strengths(problem: AdditiveProblem, make_loss: LossOfRows) -> AdditiveProblem:
    """Return the problem with the strength of wide effects of words that suits held-out rows best.

    `make_loss` returns the loss of the rows in a mask. All these effects have the same strength.
    """
    keys = {c.key for effect in problem.effects for c in effect.components if c.is_validated}
    n = problem.X.n_rows
    if not keys or n < 2 * VALIDATION_SHARE:
        return problem
    train, held_out = _split(problem, make_loss, _assign_folds(n), 0)
    start = initial_smoothing(train)
    point, losses = (start.U, start.b), []
    for scale in SCALES:
        strengths = start.strengths | dict.fromkeys(keys, start.noise / scale**2)
        gap = RELATIVE_GAP * n * start.noise
        state = minimise(train, strengths, point, gap, MAX_ITERATIONS).state
        point = state.U, state.b
        losses.append(held_out.loss.value(held_out.scores(*point)))
        if len(losses) > 2 and losses[-1] > losses[-2] > losses[-3]:
            break
    strength = start.noise / SCALES[int(np.argmin(losses))] ** 2
    return replace(problem, effects=[_fix_strength(effect, strength) for effect in problem.effects])


def relax_strengths(
    problem: AdditiveProblem, smoothing: Smoothing, make_loss: LossOfRows, null: float
) -> Smoothing:
    """Return weaker strengths if the classes are nearly separable and held-out rows clearly want them.

    All strengths that are not stated have the same factor. `null` is the loss without features.
    """
    loss, n = problem.loss, problem.X.n_rows
    is_separable = loss.value(problem.scores(smoothing.U, smoothing.b)) <= NEARLY_SEPARABLE * null
    is_large = smoothing.U.size > MAX_WEIGHTS
    if isinstance(loss, SquaredLoss) or not is_separable or is_large or n < 2 * VALIDATION_SHARE:
        return smoothing
    folds = _assign_folds(n)
    n_folds = min(VALIDATION_SHARE, -(-ENOUGH_HELD_OUT // int((folds == 0).sum())))
    splits = [_split(problem, make_loss, folds, fold) for fold in range(n_folds)]
    points = [(smoothing.U, smoothing.b)] * n_folds
    gap = RELATIVE_GAP * loss.value(problem.scores(smoothing.U, smoothing.b))
    best, chosen = None, 1.0
    for factor in FACTORS:
        strengths = scale_strengths(problem, smoothing.strengths, factor)
        losses = []
        for at, (train, held_out) in enumerate(splits):
            state = minimise(train, strengths, points[at], gap, MAX_ITERATIONS).state
            points[at] = state.U, state.b
            losses.append(row_losses(held_out.loss, held_out.scores(*points[at])))
        found = np.concatenate(losses)
        if best is not None and not is_clear_gain(best - found, MIN_FACTOR_GAIN):
            break
        best, chosen = found, factor
    return replace(smoothing, strengths=scale_strengths(problem, smoothing.strengths, chosen))


def scale_strengths(problem: AdditiveProblem, strengths: dict[str, float], factor: float) -> dict[str, float]:
    """Return the strengths with those that are not fixed multiplied by a factor."""
    fixed = {c.key for effect in problem.effects for c in effect.components if c.fixed is not None}
    return {
        key: value if key in fixed else max(factor * value, min(value, MIN_STRENGTH))
        for key, value in strengths.items()
    }


def row_losses(loss: Any, S: Floats) -> Floats:
    """Return the weighted losses of the rows."""
    return np.asarray(loss.weights[:, 0] * loss.row_values(S))


def is_clear_gain(gain: Floats, n_errors: float) -> bool:
    """Whether the total gain of the rows exceeds so many of its standard errors."""
    return bool(gain.sum() > n_errors * gain.std() * np.sqrt(len(gain)))


def _assign_folds(n: int) -> Ints:
    """Return the fold of each of at most `MAX_ROWS` rows at equal distances, −1 for other rows."""
    folds = np.full(n, -1)
    chosen = np.linspace(0, n - 1, min(n, MAX_ROWS)).astype(np.int64)
    folds[chosen] = (np.arange(len(chosen)) + 1) % VALIDATION_SHARE
    return folds


def _split(
    problem: AdditiveProblem, make_loss: LossOfRows, folds: Ints, fold: int
) -> tuple[AdditiveProblem, AdditiveProblem]:
    """Return the problems of the rows in other folds and in one fold."""
    masks = (folds >= 0) & (folds != fold), folds == fold
    train, held_out = (
        AdditiveProblem(problem.X.select_rows(mask), make_loss(mask, None), problem.effects) for mask in masks
    )
    return train, held_out


def _fix_strength(effect: Effect, strength: float) -> Effect:
    components = [replace(c, fixed=strength) if c.is_validated else c for c in effect.components]
    return replace(effect, components=components)
