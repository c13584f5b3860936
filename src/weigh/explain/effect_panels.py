"""Pictures of effects: one panel for each, or a page of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors, pictures
from weigh.explain.column_effects import MAX_SERIES, NORMAL_QUANTILE
from weigh.features.curves import pair_title
from weigh.features.dates.kind import is_days, split_part_name
from weigh.model.distributions.curve_weights import PairAxis
from weigh.model.effects.effect import CurveEffect, LineEffect, Location, PairEffect, TermEffect
from weigh.model.effects.term_effects import format_height
from weigh.text import format_day, format_float, truncate

MAX_PANEL_LEVELS = 8
MAX_CHART_LEVELS = 30
MAX_VALUE = 20  # characters of a marked value, half as many if the title also counts levels
Panel = pictures.CurvePanel | pictures.LevelPanel | pictures.SurfacePanel


@dataclass(frozen=True)
class PanelSettings:
    """The name of the outputs, the classes if there are several, and the index of the only one to draw."""

    target: str
    classes: tuple[str, ...] = ()
    output: int | None = None

    def outputs(self, effect: TermEffect) -> list[int]:
        """Return the outputs to draw: all, or those that depend most on the effect if there are too many."""
        if self.output is not None:
            return [self.output]
        if len(self.classes) <= MAX_SERIES:
            return list(range(effect.heights.shape[1]))
        return sorted(np.argsort(-effect.importances, kind="stable")[:MAX_SERIES].tolist())

    def series_name(self, output: int) -> str:
        """Return the name of the line of an output; empty if there is only one."""
        return self.classes[output] if self.classes else ""


def draw_page(
    settings: PanelSettings, effects: Sequence[TermEffect], n_effects: int, located: list[Location] | None
) -> Any:
    """Draw the strongest effects on one page."""
    if not effects:
        raise errors.Unsupported("There is no effect to draw.")
    panels = [
        effect_panel(settings, effect, [] if located is None else [(located[k], "this row")], is_small=True)
        for k, effect in enumerate(effects)
    ]
    note = f"the strongest {len(effects)} of {n_effects}" if len(effects) < n_effects else ""
    note = "; ".join(filter(None, (note, *_explain_marks(effects))))
    return pictures.effects_page(panels, f"Effects on {settings.target}", note)


def _explain_marks(effects: Sequence[TermEffect]) -> Iterator[str]:
    if any(effect.errors is not None for effect in effects):
        yield "bands: 95 % intervals"
    if any(effect.counts is not None and not isinstance(effect, PairEffect) for effect in effects):
        yield "grey bars: rows"


def draw_effect(settings: PanelSettings, effect: TermEffect, location: Location | None) -> Any:
    """Draw one effect."""
    marks = [] if location is None else [(location, "this row")]
    return draw_panel(effect_panel(settings, effect, marks), settings.target)


def draw_panel(panel: Panel, target: str) -> Any:
    """Draw a panel as a chart of its own."""
    target = target.removeprefix("the ")
    if isinstance(panel, pictures.CurvePanel):
        return pictures.curve_chart(
            panel.cells, panel.missing, panel.title, panel.y or target, "", panel.marks, panel.smooth,
            more=panel.subtitle, is_date=panel.is_date,
        )  # fmt: skip
    if isinstance(panel, pictures.LevelPanel):
        return pictures.level_chart(panel.table, panel.x or target, panel.title, more=panel.subtitle)
    return pictures.surface_chart(
        panel.table, panel.across, panel.up, panel.value or target, panel.title, panel.marks,
        more=panel.subtitle,
    )  # fmt: skip


def effect_panel(
    settings: PanelSettings,
    effect: TermEffect,
    marks: Sequence[tuple[Location, str]],
    *,
    is_small: bool = False,
) -> Panel:
    """Return the panel of an effect, in which rows are marked: pairs of their location and a text."""
    importance = f"importance {format_height(effect.importance).removeprefix('+')}"
    most = MAX_PANEL_LEVELS if is_small else MAX_CHART_LEVELS
    is_cut = effect.kind == "levels" and len(effect.heights) > most
    mark = list(_describe_mark(settings, effect, marks, MAX_VALUE // 2 if is_cut else MAX_VALUE))
    if isinstance(effect, CurveEffect):
        return _curve_panel(settings, effect, marks, "; ".join([importance, *mark]))
    if isinstance(effect, PairEffect):
        return _surface_panel(settings, effect, marks, [importance, *mark])
    more = [f"{most} of {len(effect.heights)} levels"] if is_cut else []
    return _level_panel(settings, effect, marks, "; ".join([importance, *more, *mark]), most)


def _describe_mark(
    settings: PanelSettings, effect: TermEffect, marks: Sequence[tuple[Location, str]], width: int
) -> Iterator[str]:
    """Yield the value of a single marked row and its height."""
    if len(marks) != 1:
        return
    ((location, text),) = marks
    outputs = settings.outputs(effect)
    height = ""
    if len(outputs) == 1 and (number := effect.height_at(location, outputs[0])) is not None:
        height = f": {format_height(number)}"
    yield f"{text} {truncate(_format_location(effect, location), width)}{height}"


def _format_location(effect: TermEffect, location: Location) -> str:
    if location.number is None:
        return location.value
    return format_day(location.number) if is_days(effect.name) else format_float(location.number)


def effect_title(name: str) -> str:
    """Return the title of an effect: its name, or of days since 1970 the column of dates."""
    return split_part_name(name)[0] if is_days(name) else name


def _curve_panel(
    settings: PanelSettings, effect: CurveEffect, marks: Sequence[tuple[Location, str]], subtitle: str
) -> Panel:
    cells: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    for output in settings.outputs(effect):
        *rows, last = _cell_rows(settings, effect, output)
        ends = zip(rows, _shown_ends(effect), strict=False)
        cells += [{**row, "from": start, "to": stop} for row, (start, stop) in ends]
        missing += [last] if effect.has_missing else []
    points = tuple((location.number, text) for location, text in marks)
    if not missing:
        points = tuple(point for point in points if point[0] is not None)
    is_line, title = isinstance(effect, LineEffect), effect_title(effect.name)
    return pictures.CurvePanel(title, cells, missing, "", "", points, is_line, subtitle, is_days(effect.name))


def _shown_ends(effect: CurveEffect) -> list[tuple[Any, Any]]:
    """Return where cells start and stop; a first or last cell of a single value has it in its middle.

    Without the part beyond the limits, its rows would seem twice as dense as those of its neighbours. It
    becomes no wider than its neighbour.
    """
    ends: list[tuple[Any, Any]] = list(effect.cell_ends)
    if effect.n_cells < 3:
        return ends
    last = effect.n_cells - 1
    for at, neighbour, side in ((0, ends[1], 0), (last, ends[last - 1], 1)):
        if effect.positions[at] == effect.limits[side]:
            start, stop = ends[at]
            more = max(min(stop - start, (neighbour[1] - neighbour[0]) / 2), 0.0)
            ends[at] = (start, stop + more) if side else (start - more, stop)
    return ends


def _cell_rows(settings: PanelSettings, effect: TermEffect, output: int) -> Iterator[dict[str, Any]]:
    """Yield the height of each cell, its interval and its rows."""
    heights = effect.heights[:, output].tolist()
    counts = [0.0] * len(heights) if effect.counts is None else effect.counts.tolist()
    name = settings.series_name(output)
    for k, (height, count) in enumerate(zip(heights, counts, strict=True)):
        row = {"series": name, "height": height, "rows": count}
        if effect.errors is not None:
            half = NORMAL_QUANTILE * float(effect.errors[k, output])
            row |= {"low": height - half, "high": height + half}
        yield row


def _level_panel(
    settings: PanelSettings,
    effect: TermEffect,
    marks: Sequence[tuple[Location, str]],
    subtitle: str,
    most: int,
) -> Panel:
    """Return the panel of the most frequent levels and those of marked rows, ordered by their heights."""
    marked = {location.cell for location, _ in marks}
    main = effect.heights[:, effect.main_output]
    sizes = np.abs(main) if effect.counts is None else effect.counts
    by_size = sorted(range(len(main)), key=lambda k: (k not in marked, -sizes[k], k))
    shown = sorted(by_size[:most], key=lambda k: (-main[k], k))
    names = effect.cell_names()
    columns = [list(_cell_rows(settings, effect, output)) for output in settings.outputs(effect)]
    table = [{**rows[k], "name": names[k], "marked": k in marked} for k in shown for rows in columns]
    return pictures.LevelPanel(effect.name, table, "", most, subtitle)


def _surface_panel(
    settings: PanelSettings, effect: PairEffect, marks: Sequence[tuple[Location, str]], parts: list[str]
) -> Panel:
    """Return the panel of a surface, of one output; a number is drawn across, beside a category."""
    output = effect.main_output if settings.output is None else settings.output
    if settings.classes:
        parts = [f"for {truncate(settings.classes[output], 20)}", *parts]
    n_right, turns = effect.right.n_cells, effect.left.cuts is None and effect.right.cuts is not None

    def place(cell: int) -> tuple[int, int]:
        left, right = divmod(cell, n_right)
        return (right, left) if turns else (left, right)

    table = []
    for cell, row in enumerate(_cell_rows(settings, effect, output)):
        x, y = place(cell)
        counted = {"rows": row["rows"]} if effect.counts is not None else {}
        table.append({"x": x, "y": y, "height": row["height"], **counted})
    marked = [place(location.cell) for location, _ in marks if location.cell is not None]
    axes = (effect.left, effect.right)[:: -1 if turns else 1]
    across, up = (_cell_axis(axis) for axis in axes)
    title = pair_title([effect_title(axis.name) for axis in (effect.left, effect.right)])
    return pictures.SurfacePanel(title, table, across, up, "", marked, "; ".join(parts))


def _cell_axis(axis: PairAxis) -> pictures.CellAxis:
    if axis.cuts is not None:
        return pictures.CellAxis(effect_title(axis.name), axis.cuts.tolist(), is_date=is_days(axis.name))
    return pictures.CellAxis(axis.name, None, axis.cell_names())
