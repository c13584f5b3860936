"""Trials of learners: fitted again and again on parts of labelled rows, to see what they are worth."""

from __future__ import annotations

from weigh.trials.comparing.compare import Comparison, compare
from weigh.trials.comparing.traits import TraitTable, described
from weigh.trials.curves.learning_curve import LearningCurve, learning_curve
from weigh.trials.parts.bias_variance import BiasVariance, bias_variance

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
