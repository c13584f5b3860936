"""Rows of accuracy and the like, computed in one process."""
