"""The strength of the weights of many words, chosen on held-out rows.

The marginal likelihood needs the inverse Hessian. Of thousands of words only its diagonal is affordable, and
the diagonal alone overstates what the rows say about words that occur together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.additive.effects import Effect
from weigh.learn.additive.problem import AdditiveProblem
from weigh.learn.additive.smoothing import initial_smoothing
from weigh.learn.additive.solver import minimise
from weigh.learn.linear.losses import ScoreLoss

SCALES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # standard deviations of the weights that are tried
MAX_ROWS = 5_000
VALIDATION_SHARE = 5  # every fifth row is held out
RELATIVE_GAP = 1e-3  # per row: precise enough to compare strengths
MAX_ITERATIONS = 10


def fix_word_strengths(
    problem: AdditiveProblem, make_loss: Callable[[Mask, Floats | None], ScoreLoss]
) -> AdditiveProblem:
    """Return the problem with the strength of wide effects of words that suits held-out rows best.

    `make_loss` returns the loss of the rows in a mask. All these effects have the same strength.
    """
    keys = {c.key for effect in problem.effects for c in effect.components if c.is_validated}
    n = problem.X.n_rows
    if not keys or n < 2 * VALIDATION_SHARE:
        return problem
    order = np.full(n, -1)
    order[np.linspace(0, n - 1, min(n, MAX_ROWS)).astype(np.int64)] = 0
    order = np.where(order < 0, -1, np.cumsum(order + 1) % VALIDATION_SHARE)
    is_train, is_held_out = order > 0, order == 0
    train = AdditiveProblem(problem.X.select_rows(is_train), make_loss(is_train, None), problem.effects)
    held_out = AdditiveProblem(
        problem.X.select_rows(is_held_out), make_loss(is_held_out, None), problem.effects
    )
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


def _fix_strength(effect: Effect, strength: float) -> Effect:
    components = [replace(c, fixed=strength) if c.is_validated else c for c in effect.components]
    return replace(effect, components=components)
