"""Regression: a loss, penalties on the weights, and solvers that prove how near the optimum they are."""
