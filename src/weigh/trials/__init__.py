"""Trials of learners: fitted again and again on parts of labelled rows, to see what they are worth."""

from __future__ import annotations

from weigh.trials.bias_variance import BiasVariance, bias_variance
from weigh.trials.compare import Comparison, compare
from weigh.trials.learning_curve import LearningCurve, learning_curve
from weigh.trials.traits import TraitTable, described

__all__ = [
    "BiasVariance",
    "Comparison",
    "LearningCurve",
    "TraitTable",
    "bias_variance",
    "compare",
    "described",
    "learning_curve",
]
