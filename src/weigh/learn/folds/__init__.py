"""Passes over partitions for learners that need several: features first, then sums over encoded rows."""
