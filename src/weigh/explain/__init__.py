"""Explaining: what models look for, which rows they know little about, and how perceptrons learn."""

from __future__ import annotations

from weigh.explain.flip import Flip, flip
from weigh.explain.heaviest import Heaviest, Slopes, Weight
from weigh.explain.regions import Regions, regions
from weigh.explain.shift import Shift
from weigh.explain.strongest import Strongest, strongest
from weigh.explain.surface_result import Surface
from weigh.explain.surfaces import surface
from weigh.explain.trace import Trace, trace
from weigh.explain.unfamiliar import Reason, Unfamiliar, UnfamiliarRow, Watch, unfamiliar
from weigh.model.strengths import Strength

__all__ = [
    "Flip",
    "Heaviest",
    "Reason",
    "Regions",
    "Shift",
    "Slopes",
    "Strength",
    "Strongest",
    "Surface",
    "Trace",
    "Unfamiliar",
    "UnfamiliarRow",
    "Watch",
    "Weight",
    "flip",
    "regions",
    "strongest",
    "surface",
    "trace",
    "unfamiliar",
]
