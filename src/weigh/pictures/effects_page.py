"""One page with the charts of several effects, in a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import shorten_titles
from weigh.pictures.curve_charts import CurvePanel
from weigh.pictures.effect_style import PanelSize
from weigh.pictures.level_charts import LevelPanel
from weigh.pictures.style import apply_style, import_altair
from weigh.pictures.surface_charts import SurfacePanel

EffectPanel = CurvePanel | LevelPanel | SurfacePanel
PANEL_SIZE = PanelSize(320, 150)
N_COLUMNS = 2
MAX_PANELS = 24
MAX_PANEL_TITLE, MAX_PANEL_SUBTITLE = 44, 62  # characters


def effects_page(
    panels: Sequence[EffectPanel], title: str = "", more: str = "", description: str = ""
) -> Any:
    """Draw panels in the given order, two beside each other.

    Parameters
    ----------
    panels : curves, levels and surfaces
    title, more : the title and the subtitle of the page
    description : text for screen readers
    """
    if not 1 <= len(panels) <= MAX_PANELS:
        raise errors.DataError(f"A page has 1 to {MAX_PANELS} panels, got {len(panels)}.")
    alt = import_altair()
    title, more = shorten_titles(title, more)
    names = ", ".join(shorten_titles(*(panel.title for panel in panels)))
    charts = [_draw_panel(alt, panel) for panel in panels]
    page = alt.concat(*charts, columns=N_COLUMNS, spacing={"row": 26, "column": 34})
    page = page.resolve_scale(x="independent", y="independent", fill="independent", yOffset="independent")
    return apply_style(page, description or f"Effects, the strongest first: {names}.", title, more)


def effect_chart(panel: EffectPanel, description: str = "") -> Any:
    """Draw one panel as large as on a page of several, without its subtitle."""
    (title,) = shorten_titles(panel.title, width=MAX_PANEL_TITLE)
    text = description or f"Effect of {title}."
    return apply_style(panel.draw(import_altair(), PANEL_SIZE), text, title)


def _draw_panel(alt: Any, panel: EffectPanel) -> Any:
    (title,) = shorten_titles(panel.title, width=MAX_PANEL_TITLE)
    (subtitle,) = shorten_titles(panel.subtitle, width=MAX_PANEL_SUBTITLE)
    # Titles start where the axes cross, so that they are below each other whatever the labels are.
    text = {
        "text": title or " ", "fontSize": 13, "fontWeight": "bold", "limit": PANEL_SIZE.width + 30,
        "frame": "group",
    }  # fmt: skip
    return panel.draw(alt, replace(PANEL_SIZE, is_in_grid=True)).properties(
        title=text | ({"subtitle": subtitle} if subtitle else {})
    )
