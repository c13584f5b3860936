"""Model inspection: strongest features, counterfactuals, decision regions, novelty and training traces."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "column_effects": ("Effects", "effects"),
        "counterfactual": ("Flip", "flip"),
        "class_curves": ("ClassCurves", "class_curves"),
        "decision_regions": ("Regions", "regions"),
        "distribution_shift": ("ColumnShift",),
        "likelihood_surface": ("surface",),
        "novelty_detection": (
            "NoveltyDetector",
            "NoveltyReason",
            "Unfamiliar",
            "UnfamiliarRow",
            "unfamiliar",
        ),
        "perceptron_trace": ("Trace", "trace"),
        "strongest_features": (
            "FeatureWeight",
            "LargestRegressionWeights",
            "LargestWeights",
            "StrongestFeatures",
            "strongest",
        ),
        "surface_result": ("Surface",),
    },
)
