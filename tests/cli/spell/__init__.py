"""Tests of `weigh spell`."""
