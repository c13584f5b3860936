"""Trials of learners: fitted again and again on parts of labelled rows, to see what they are worth."""

from __future__ import annotations
