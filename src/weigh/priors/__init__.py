"""Prior distributions of probabilities and weights, and how they smooth counts and penalise weights."""

from __future__ import annotations

from weigh.priors.beta import Beta
from weigh.priors.conversion import (
    WeightPrior,
    check_weight_prior,
    prior_from_json,
    prior_to_json,
    weight_prior_from_json,
    weight_prior_to_json,
)
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.equivalents import Equivalent, Equivalents
from weigh.priors.location_scale import Laplace, Normal
from weigh.priors.penalty import Penalty
from weigh.priors.smoothing import (
    Prior,
    check_prior,
    declared_values,
    dirichlet_parameters,
    estimate_probabilities,
    exact_estimate,
    exact_estimates,
    min_pseudo_count,
    posterior_mean_prior,
    pseudo_counts,
    unseen_pseudo_count,
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
    "check_prior",
    "check_weight_prior",
    "declared_values",
    "dirichlet_parameters",
    "estimate_probabilities",
    "exact_estimate",
    "exact_estimates",
    "min_pseudo_count",
    "posterior_mean_prior",
    "prior_from_json",
    "prior_to_json",
    "pseudo_counts",
    "unseen_pseudo_count",
    "weight_prior_from_json",
    "weight_prior_to_json",
]
