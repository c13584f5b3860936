"""What is believed before the data: priors, and how they smooth counts."""

from __future__ import annotations

from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
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
    posterior_of,
    unseen,
)

__all__ = [
    "Beta",
    "Dirichlet",
    "Prior",
    "averaged",
    "check",
    "concentration",
    "declared",
    "estimates",
    "exact_estimate",
    "exact_estimates",
    "from_json",
    "posterior_of",
    "to_json",
    "unseen",
]
