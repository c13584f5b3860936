"""Tests of additive models: solver, smoothing, pairs."""
