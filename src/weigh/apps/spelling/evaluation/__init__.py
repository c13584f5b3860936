"""Evaluation of spellers: comparison of learners, learning curves, injected errors."""
