"""Margins, the planes that have them, and the bounds on mistakes that follow."""
