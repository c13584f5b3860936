"""Losses taken apart into bias, variance and noise."""
