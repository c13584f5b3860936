"""What is asked of a regression and told of its fit, whichever its loss."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.settings import finite, truth, whole
from weigh.learn.regress.problem import Solution
from weigh.learn.regress.weight_priors import Columns
from weigh.model import Optimality
from weigh.priors import Laplace, Normal
from weigh.priors.weights import WeightPrior
from weigh.text import counted

NOISE = "'normal', 'laplace', Normal(σ) or Laplace(b)"


def checked_noise(noise: Any, owner: str) -> Normal | Laplace | str:
    """Return the noise; refuse what is none, or has another centre than zero."""
    if isinstance(noise, str) and noise in ("normal", "laplace"):
        return noise
    if not isinstance(noise, Normal | Laplace) or noise.is_chosen or not noise.is_centred:
        raise errors.parameter(owner, "noise", NOISE, noise)
    return noise


def check_solving(
    owner: str, *, bias: Any, scale: Any, offset: Any, folds: Any, tol: Any, max_iter: Any
) -> None:
    """Refuse the first of the settings that all solvers share that is none."""
    truth(owner, "bias", bias)
    if not isinstance(scale, str | None) or scale not in (None, "unit"):
        raise errors.parameter(owner, "scale", "None or 'unit'", scale)
    if not isinstance(offset, str | None):
        raise errors.parameter(owner, "offset", "the name of a column, or None", offset)
    if folds != "loo" or owner != "LinearRegression":
        whole(owner, "folds", folds, 2)
    whole(owner, "max_iter", max_iter, 1)
    if not 0 < finite(owner, "tol", tol, "a number between 0 and 1") < 1:
        raise errors.parameter(owner, "tol", "a number between 0 and 1", tol)


def proved(solution: Solution, null: float, tol: float) -> Optimality:
    """Return the proof of a solution; no gap is smaller than what sums of such a size are rounded by."""
    gap = max(solution.gap, float(np.finfo(np.float64).eps) * abs(solution.objective))
    return Optimality(solution.objective, gap, null, tol, solution.iterations, solution.method)


def warn_unless_optimal(proof: Optimality, owner: str, max_iter: int) -> None:
    """Warn of a fit whose proof is not good enough, and say what to do."""
    if not proof.converged:
        warnings.warn(
            f"{owner} stopped with its objective up to {proof.gap:.3g} above the minimum, "
            f"{proof.relative_gap:.1g} of the empty model's, where tol={proof.tol:g} was asked for "
            f"({proof.method}, {counted(proof.iterations, 'iteration')}). Raise max_iter={max_iter:,}, give "
            f"a larger tol, a stronger prior, or scale='unit' if columns differ much in size.",
            errors.NotOptimal,
            stacklevel=3,
        )


def told_prior(prior: WeightPrior | Columns | None) -> str:
    """Return a prior in words."""
    if isinstance(prior, Mapping):
        return ", ".join(f"{name}: {own!r}" for name, own in prior.items())
    return repr(prior)


def common(penalties: Floats) -> float | None:
    """Return the penalty that all features have, or None if they differ."""
    first = float(penalties[0]) if len(penalties) else 0.0
    return first if np.all(penalties == first) else None
