"""Model inspection: strongest features, counterfactuals, decision regions, novelty and training traces."""

from __future__ import annotations

from weigh.explain.counterfactual import Flip, flip
from weigh.explain.decision_regions import Regions, regions
from weigh.explain.distribution_shift import ColumnShift
from weigh.explain.likelihood_surface import surface
from weigh.explain.novelty_detection import (
    NoveltyDetector,
    NoveltyReason,
    Unfamiliar,
    UnfamiliarRow,
    unfamiliar,
)
from weigh.explain.perceptron_trace import Trace, trace
from weigh.explain.strongest_features import (
    FeatureWeight,
    LargestRegressionWeights,
    LargestWeights,
    StrongestFeatures,
    strongest,
)
from weigh.explain.surface_result import Surface
from weigh.model.evidence.strengths import Strength

__all__ = [
    "ColumnShift",
    "FeatureWeight",
    "Flip",
    "LargestRegressionWeights",
    "LargestWeights",
    "NoveltyDetector",
    "NoveltyReason",
    "Regions",
    "Strength",
    "StrongestFeatures",
    "Surface",
    "Trace",
    "Unfamiliar",
    "UnfamiliarRow",
    "flip",
    "regions",
    "strongest",
    "surface",
    "trace",
    "unfamiliar",
]
