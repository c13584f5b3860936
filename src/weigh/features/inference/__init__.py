"""Inference of the kinds of columns from the first rows of a table."""
