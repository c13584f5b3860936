"""Messy tables as people have them: what `weigh fit` must make of each, word for word."""
