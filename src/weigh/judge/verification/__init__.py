"""Verify models against their training rows with code independent of the learners."""
