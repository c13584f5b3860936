"""Additive models: smoothed curves, pooled levels and pairs of columns as one convex problem."""
