"""Metrics of models on labelled rows, with confidence intervals."""
