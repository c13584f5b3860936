"""Exact leave-one-out scores, computed by subtracting each training row from the counts."""
