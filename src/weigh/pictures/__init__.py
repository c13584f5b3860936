"""Facts made into charts: the one drawing path, which knows no learner."""

from __future__ import annotations

from weigh.pictures.areas import areas
from weigh.pictures.bars import bars
from weigh.pictures.cells import cells
from weigh.pictures.curves import curves
from weigh.pictures.intervals import intervals
from weigh.pictures.lines import lines
from weigh.pictures.output import fluid, image, page
from weigh.pictures.plane import Point, Turn, plane_steps
from weigh.pictures.reliability import reliability
from weigh.pictures.scatter import scatter
from weigh.pictures.stacked import stacked
from weigh.pictures.surface import surface

__all__ = [
    "Point",
    "Turn",
    "areas",
    "bars",
    "cells",
    "curves",
    "fluid",
    "image",
    "intervals",
    "lines",
    "page",
    "plane_steps",
    "reliability",
    "scatter",
    "stacked",
    "surface",
]
