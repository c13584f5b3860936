"""Tests of `weigh mail`."""
