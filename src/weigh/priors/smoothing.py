"""Smoothing: estimate probabilities from counts and a prior.

A prior is a number a, None, `Beta` or `Dirichlet`. With n_k rows of value k among n, and K values:

===============  =======================================  ===============================
prior            estimate of p_k                          prior distribution
===============  =======================================  ===============================
None             n_k / n, maximum likelihood              none (parameters 0)
a                (n_k + a) / (n + a K)                    Dirichlet(a), posterior mean
Dirichlet(b)     (n_k + b_k - 1) / (n + Σ (b_m - 1))      Dirichlet(b), posterior mode
Beta(a, b)       the same with b for the first of two     Beta(a, b), posterior mode
                 values and a for the second (heads)
===============  =======================================  ===============================

The number added to n_k is the pseudo-count. If n_k plus a negative pseudo-count is below zero, it is clipped
to zero, in the denominator too, so that the estimates still sum to one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.priors import exact
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet, ProportionalDirichlet
from weigh.priors.exact import Number

Prior = Number | Beta | Dirichlet | None


def declared_values(prior: Prior) -> tuple[Hashable, ...]:
    """Return the values that a prior names; they exist even if no row has them."""
    return prior.values if isinstance(prior, Dirichlet) and prior.is_named else ()


def pseudo_counts(prior: Prior, values: Sequence[Hashable]) -> list[Fraction]:
    """Return the pseudo-count of each value, in order; negative if its parameter is below 1."""
    if isinstance(prior, Beta | Dirichlet):
        return [b - 1 for b in prior.parameters_for(values)]
    return [_pseudo_count(prior)] * len(values)


def pseudo_count_array(prior: Prior, values: Sequence[Hashable]) -> NDArray[np.float64]:
    """Return the pseudo-counts as floats; the last is that of a value neither seen nor named."""
    if isinstance(prior, ProportionalDirichlet):
        return np.append(prior.pseudo_counts_for(values), 0.0)
    if isinstance(prior, Beta | Dirichlet):
        return np.array([float(a) for a in (*pseudo_counts(prior, values), unseen_pseudo_count(prior))])
    return np.full(len(values) + 1, float(_pseudo_count(prior)))


def total_pseudo_count(prior: Prior, values: Sequence[Hashable]) -> Fraction:
    """Return the sum of the pseudo-counts of the values and of one that is neither seen nor named."""
    if isinstance(prior, Beta | Dirichlet):
        return sum(pseudo_counts(prior, values), unseen_pseudo_count(prior))
    return _pseudo_count(prior) * (len(values) + 1)


def dirichlet_parameters(prior: Prior, values: Sequence[Hashable]) -> list[Fraction]:
    """Return the prior Dirichlet parameter of each value; adding the counts gives the posterior."""
    if isinstance(prior, Beta | Dirichlet):
        return prior.parameters_for(values)
    return [_pseudo_count(prior)] * len(values)


def unseen_pseudo_count(prior: Prior) -> Fraction:
    """Return the pseudo-count of a value neither seen nor named; 0 if it has no probability."""
    if isinstance(prior, Beta):
        return Fraction(0)
    if isinstance(prior, Dirichlet):
        return Fraction(0) if prior.rest is None else max(Fraction(0), prior.rest - 1)
    return _pseudo_count(prior)


def min_pseudo_count(prior: Prior) -> Fraction:
    """Return the smallest pseudo-count that any value can have."""
    if isinstance(prior, Beta):
        return min(prior.a, prior.b) - 1
    if isinstance(prior, Dirichlet):
        parameters = prior.parameters_for(prior.values)
        return min(parameters if prior.rest is None else [*parameters, prior.rest]) - 1
    return _pseudo_count(prior)


def posterior_mean_prior(prior: Prior) -> Prior:
    """Return the prior whose estimate is the posterior mean under the given prior."""
    if isinstance(prior, Beta):
        return Beta(prior.a + 1, prior.b + 1)
    return prior.with_one_more_each() if isinstance(prior, Dirichlet) else prior


def estimate_probabilities(counts: NDArray[np.float64], pseudo: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities [C, K] from counts [C, K] and pseudo-counts [K] or [C, K].

    The row of a class with neither counts nor pseudo-counts is NaN.
    """
    weights = np.asarray(counts, dtype=np.float64) + pseudo
    p = np.maximum(weights, 0.0)
    total = p.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        p /= total
    for row in np.flatnonzero(total == 0):
        is_zero = weights[row] == 0
        if is_zero.sum() == 1 and is_zero.size > 1:
            p[row] = is_zero
    return p


def exact_estimates(counts: Sequence[Fraction], pseudo: Sequence[Fraction]) -> list[Fraction]:
    """Return the exact probabilities of all values of one class."""
    probabilities = exact.normalise_weights([n + a for n, a in zip(counts, pseudo, strict=True)])
    if probabilities is None:
        raise errors.Unsupported(_NO_ESTIMATE)
    return probabilities


def exact_estimate(count: Fraction, total: Fraction, pseudo_k: Fraction, pseudo_total: Fraction) -> Fraction:
    """Return the exact probability of one value, (count + pseudo_k) / (total + pseudo_total).

    All pseudo-counts must be zero or more; with a negative one the denominator depends on every count, and
    `exact_estimates` is needed.
    """
    if pseudo_k < 0 or pseudo_total < pseudo_k:
        rule = "zero or more, for every value; exact_estimates takes negative ones"
        raise errors.parameter_error("exact_estimate", "pseudo_k", rule, pseudo_k)
    if total + pseudo_total == 0:
        raise errors.Unsupported(_NO_ESTIMATE)
    return Fraction(count + pseudo_k) / (total + pseudo_total)


_NO_ESTIMATE = (
    "A probability has no estimate without rows or pseudo-counts. Give rows, or a prior above zero."
)


def _pseudo_count(prior: Number | None) -> Fraction:
    if prior is None:
        return Fraction(0)
    number = exact.positive_fraction(prior)
    if number is None:
        raise errors.parameter_error("prior", "pseudo-count", "a number above zero", prior)
    return number


def prior_to_json(prior: Prior) -> object:
    """Return a prior as plain JSON: null, an integer, 'p/q', or an object with its kind."""
    if isinstance(prior, Beta | Dirichlet):
        return prior.to_json()
    number = exact.to_fraction(prior)
    return None if number is None else exact.fraction_to_json(number)


def prior_from_json(data: object) -> Prior:
    """Return the prior that `prior_to_json` wrote; raise a ModelFileError for anything else."""
    if data is None:
        return None
    if not isinstance(data, dict):
        number = _number_from_json(data)
        return int(number) if number.denominator == 1 else number
    fields = set(data)
    if data.get("kind") == "beta" and fields == {"kind", "a", "b"}:
        return Beta(_number_from_json(data["a"]), _number_from_json(data["b"]))
    if data.get("kind") == "dirichlet" and isinstance(data.get("b"), list) and data["b"]:
        numbers = [_number_from_json(item) for item in data["b"]]
        if fields == {"kind", "b"}:
            return Dirichlet(numbers)
        if fields == {"kind", "b", "values", "rest"}:
            rest = None if data["rest"] is None else _number_from_json(data["rest"])
            return Dirichlet(_parameters_by_value(data["values"], numbers), rest=rest)
    if data.get("kind") == "dirichlet" and fields == {"kind", "b"}:
        return Dirichlet(_number_from_json(data["b"]))
    raise invalid_prior_error(data)


def _number_from_json(data: object) -> Fraction:
    number = exact.fraction_from_json(data)
    if number is None:
        raise invalid_prior_error(data)
    return number


def _parameters_by_value(values: object, numbers: list[Fraction]) -> dict[Hashable, Fraction]:
    scalars = (str, int, float, bool, type(None))
    if not isinstance(values, list) or not all(isinstance(value, scalars) for value in values):
        raise invalid_prior_error(values)
    if len(values) != len(numbers) or len(set(values)) != len(values):
        raise invalid_prior_error(values)
    return dict(zip(values, numbers, strict=True))


def invalid_prior_error(data: object) -> errors.ModelFileError:
    """Return the error for JSON that is not a prior."""
    text = repr(data)
    text = text if len(text) <= 80 else text[:77] + "..."
    return errors.ModelFileError(
        f"{text} is not part of a prior as weigh writes it: the file is damaged or foreign."
    )
