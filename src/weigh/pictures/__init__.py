"""Draw charts with Altair from plain rows; nothing here depends on a learner."""

from __future__ import annotations

from weigh.pictures.categorical_charts import bar_chart, heatmap, interval_chart, stacked_bar_chart
from weigh.pictures.contour_charts import decision_regions, filled_contours
from weigh.pictures.curve_charts import CurvePanel, curve_chart
from weigh.pictures.effects_page import effect_chart, effects_page
from weigh.pictures.level_charts import LevelPanel, level_chart
from weigh.pictures.output import charts_page, image, make_responsive
from weigh.pictures.plane_animation import LabelledPoint, PlaneStep, animate_plane
from weigh.pictures.surface_charts import CellAxis, SurfacePanel, surface_chart
from weigh.pictures.xy_charts import line_chart, path_chart, reliability_diagram, scatter_plot

__all__ = [
    "CellAxis",
    "CurvePanel",
    "LabelledPoint",
    "LevelPanel",
    "PlaneStep",
    "SurfacePanel",
    "animate_plane",
    "bar_chart",
    "charts_page",
    "curve_chart",
    "decision_regions",
    "effect_chart",
    "effects_page",
    "filled_contours",
    "heatmap",
    "image",
    "interval_chart",
    "level_chart",
    "line_chart",
    "make_responsive",
    "path_chart",
    "reliability_diagram",
    "scatter_plot",
    "stacked_bar_chart",
    "surface_chart",
]
