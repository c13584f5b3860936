"""Trials of learners: fitted again and again on parts of labelled rows, to see what they are worth."""

from __future__ import annotations

from weigh.trials.bias_variance import BiasVariance, bias_variance
from weigh.trials.learning_curve import LearningCurve, learning_curve

__all__ = [
    "BiasVariance",
    "LearningCurve",
    "bias_variance",
    "learning_curve",
]
