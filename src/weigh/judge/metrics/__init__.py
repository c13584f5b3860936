"""Measures of models on labelled rows, with their uncertainty."""
