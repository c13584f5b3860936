"""Explaining models: what they look for, and which rows they know little about."""

from __future__ import annotations

from weigh.explain.shifts import Shift
from weigh.explain.strongest import Strength, Strongest, strongest
from weigh.explain.unfamiliar import Reason, Unfamiliar, UnfamiliarRow, Watch, unfamiliar

__all__ = [
    "Reason",
    "Shift",
    "Strength",
    "Strongest",
    "Unfamiliar",
    "UnfamiliarRow",
    "Watch",
    "strongest",
    "unfamiliar",
]
