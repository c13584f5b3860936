"""Learners compared on the same splits."""
