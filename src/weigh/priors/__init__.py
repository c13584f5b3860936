"""Prior distributions of probabilities and weights, and how they smooth counts and penalise weights."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "beta": ("Beta",),
        "conversion": (
            "WeightPrior",
            "weight_prior_from_json",
            "weight_prior_to_json",
        ),
        "dirichlet": ("Dirichlet",),
        "equivalents": ("Equivalent", "Equivalents"),
        "location_scale": ("Laplace", "Normal"),
        "penalty": ("Penalty",),
        "smoothing": (
            "Prior",
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
        ),
    },
)
