"""Trials of learners: fitted again and again on parts of labelled rows, to see what they are worth."""

from __future__ import annotations

from weigh.trials.bias_variance import BiasVariance, bias_variance

__all__ = ["BiasVariance", "bias_variance"]
