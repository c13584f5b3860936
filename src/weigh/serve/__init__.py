"""Predictions, explanations and feedback over HTTP."""
