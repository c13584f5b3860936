"""Exact leave-one-out: what each learned row takes away with it."""
