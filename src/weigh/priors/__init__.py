"""What is believed before the data: priors, and how they smooth counts."""

from __future__ import annotations

from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.equivalents import Equivalent, Equivalents
from weigh.priors.laplace import Laplace
from weigh.priors.normal import Normal
from weigh.priors.penalty import Penalty
from weigh.priors.plain import from_json, to_json
from weigh.priors.smoothing import (
    Prior,
    averaged,
    check,
    concentration,
    declared,
    estimates,
    exact_estimate,
    exact_estimates,
    least,
    posterior_of,
    unseen,
)
from weigh.priors.weights import (
    WeightPrior,
    check_weight_prior,
    weight_prior_from_json,
    weight_prior_to_json,
)

__all__ = [
    "Beta",
    "Dirichlet",
    "Equivalent",
    "Equivalents",
    "Laplace",
    "Normal",
    "Penalty",
    "Prior",
    "WeightPrior",
    "averaged",
    "check",
    "check_weight_prior",
    "concentration",
    "declared",
    "estimates",
    "exact_estimate",
    "exact_estimates",
    "from_json",
    "least",
    "posterior_of",
    "to_json",
    "unseen",
    "weight_prior_from_json",
    "weight_prior_to_json",
]
