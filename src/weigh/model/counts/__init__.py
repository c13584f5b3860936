"""Counts and exact sums per class; they add and subtract exactly, so models can merge and forget."""
