"""Predictions as tables: classes, numbers and the kept columns of the input."""
