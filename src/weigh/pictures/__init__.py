"""Facts made into charts: the one drawing path, which knows no learner."""

from __future__ import annotations

from weigh.pictures.curves import curves
from weigh.pictures.lines import lines
from weigh.pictures.output import image, page
from weigh.pictures.plane import Point, Turn, plane_steps

__all__ = ["Point", "Turn", "curves", "image", "lines", "page", "plane_steps"]
