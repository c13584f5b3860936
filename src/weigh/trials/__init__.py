"""Evaluation of learners by resampling: learning curves, bias–variance decomposition and comparison."""
