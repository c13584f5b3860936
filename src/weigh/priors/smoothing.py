"""How a prior turns counts into probabilities: the one place where smoothing is written.

A prior is a number a, None, `Beta` or `Dirichlet`. With n_k rows of value k among n, and K values:

===============  =======================================  ===============================
prior            estimate of p_k                          belief before any row
===============  =======================================  ===============================
None             n_k / n, maximum likelihood              none: parameters 0
a                (n_k + a) / (n + a K)                    Dirichlet(a), whose mean it is
Dirichlet(b)     (n_k + b_k - 1) / (n + Σ (b_m - 1))      Dirichlet(b), whose mode it is
Beta(a, b)       the same with b for the first of two     Beta(a, b), whose mode it is
                 values and a for the second (heads)
===============  =======================================  ===============================

What is added to n_k is the pseudo-count. Where n_k plus a negative pseudo-count is below zero it
counts as zero, in the denominator too, so that the estimates of all values still sum to one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.priors import exact
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.exact import Number

Prior = Number | Beta | Dirichlet | None


def check_prior(prior: object, owner: str, name: str) -> None:
    """Refuse what is not a prior; `owner` and `name` say whose parameter it is."""
    if prior is None or isinstance(prior, Beta | Dirichlet) or exact.positive_fraction(prior) is not None:
        return
    must = "a number above zero, None, Beta(a, b) or Dirichlet(b)"
    raise errors.parameter_error(owner, name, must, prior)


def declared_values(prior: Prior) -> tuple[Hashable, ...]:
    """The values that a prior names, which therefore exist even if no row has them."""
    return prior.values if isinstance(prior, Dirichlet) and prior.is_named else ()


def pseudo_counts(prior: Prior, values: Sequence[Hashable]) -> list[Fraction]:
    """The pseudo-count of each value, in order; below zero where a parameter is below 1."""
    if isinstance(prior, Beta | Dirichlet):
        return [b - 1 for b in prior.parameters_for(values)]
    return [_pseudo_count(prior)] * len(values)


def dirichlet_parameters(prior: Prior, values: Sequence[Hashable]) -> list[Fraction]:
    """The Dirichlet parameter of each value before any row; add counts for the posterior."""
    if isinstance(prior, Beta | Dirichlet):
        return prior.parameters_for(values)
    return [_pseudo_count(prior)] * len(values)


def unseen_pseudo_count(prior: Prior) -> Fraction:
    """The pseudo-count of a value that was never seen nor named; zero if it has no share."""
    if isinstance(prior, Beta):
        return Fraction(0)
    if isinstance(prior, Dirichlet):
        return Fraction(0) if prior.rest is None else max(Fraction(0), prior.rest - 1)
    return _pseudo_count(prior)


def min_pseudo_count(prior: Prior) -> Fraction:
    """The least pseudo-count that a value can have, whichever values there are."""
    if isinstance(prior, Beta):
        return min(prior.a, prior.b) - 1
    if isinstance(prior, Dirichlet):
        stated = prior.parameters_for(prior.values)
        return min(stated if prior.rest is None else [*stated, prior.rest]) - 1
    return _pseudo_count(prior)


def posterior_mean_prior(prior: Prior) -> Prior:
    """The prior whose estimate is the posterior mean under this one."""
    if isinstance(prior, Beta):
        return Beta(prior.a + 1, prior.b + 1)
    return prior.with_one_more_each() if isinstance(prior, Dirichlet) else prior


def estimate_probabilities(counts: NDArray[np.float64], pseudo: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities [C, K] from counts [C, K] and pseudo-counts [K] or [C, K].

    A class with neither rows nor pseudo-counts has no estimate: it is all nan.
    """
    weights = np.asarray(counts, dtype=np.float64) + pseudo
    shares = np.maximum(weights, 0.0)
    total = shares.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares /= total
    for row in np.flatnonzero(total == 0):
        is_zero = weights[row] == 0
        if is_zero.sum() == 1 and is_zero.size > 1:
            shares[row] = is_zero
    return shares


def exact_estimates(counts: Sequence[Fraction], pseudo: Sequence[Fraction]) -> list[Fraction]:
    """The probabilities of all values of one class, exactly; refused where there are none."""
    share = exact.normalise_weights([n + a for n, a in zip(counts, pseudo, strict=True)])
    if share is None:
        raise errors.Unsupported(_NO_ESTIMATE)
    return share


def exact_estimate(count: Fraction, total: Fraction, pseudo_k: Fraction, pseudo_total: Fraction) -> Fraction:
    """The probability of one value, (count + pseudo_k) / (total + pseudo_total), exactly.

    For pseudo-counts of zero or more only: with a negative one the denominator depends on every
    count, and `exact_estimates` is needed.
    """
    if pseudo_k < 0 or pseudo_total < pseudo_k:
        must = "zero or more, for every value; exact_estimates takes negative ones"
        raise errors.parameter_error("exact_estimate", "pseudo_k", must, pseudo_k)
    if total + pseudo_total == 0:
        raise errors.Unsupported(_NO_ESTIMATE)
    return Fraction(count + pseudo_k) / (total + pseudo_total)


_NO_ESTIMATE = (
    "Without a row and without pseudo-counts a probability has no estimate. Give rows, or a prior above zero."
)


def _pseudo_count(prior: Number | None) -> Fraction:
    if prior is None:
        return Fraction(0)
    number = exact.positive_fraction(prior)
    if number is None:
        raise errors.parameter_error("prior", "pseudo-count", "a number above zero", prior)
    return number
