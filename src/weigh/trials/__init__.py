"""Evaluation of learners by resampling: learning curves, bias–variance decomposition and comparison."""

from __future__ import annotations

from weigh.trials.bias_variance import BiasVariance, bias_variance
from weigh.trials.comparison import Comparison, compare
from weigh.trials.learner_traits import TraitTable, describe_learners
from weigh.trials.learning_curves import LearningCurve, learning_curve

__all__ = [
    "BiasVariance",
    "Comparison",
    "LearningCurve",
    "TraitTable",
    "bias_variance",
    "compare",
    "describe_learners",
    "learning_curve",
]
