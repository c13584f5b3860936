"""Every chart: it shows the rows it was given, refuses others in words, and is drawn without a browser."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.hostile import find_control_characters
from weigh import errors, pictures
from weigh.pictures.style import BLACK, COLOURS, DASHES, GREY, HEATMAP_COLOURS, SHAPES, WHITE

HOSTILE = "a\x00\x1b\ud800</script><script>alert(1)</script>"
GRID = [{"x": i, "y": j, "value": i * j} for i in range(4) for j in range(3)]
CELLS = [
    {"x": i, "y": j, "label": "no" if i < 2 else "yes", "share": 0.5 + 0.1 * abs(i - 1.5)}
    for i in range(4)
    for j in range(3)
]
EFFECT_CELLS = [
    {"from": k, "to": k + 1, "height": 0.1 * k * k, "low": -1.0, "high": 1.0, "rows": 5 - k} for k in range(3)
]
MISSING = [{"height": 0.4, "low": 0.1, "high": 0.8, "rows": 2}]
SURFACE = [{"x": i, "y": j, "height": i - j, "rows": i} for i in range(3) for j in range(2)]


SAMPLES: dict[str, Callable[[str], Any]] = {
    "curves": lambda name: pictures.line_chart(
        [
            {"series": name, "x": 1, "y": 0.9, "low": 0.8, "high": 1.0},
            {"series": name, "x": 10, "y": 0.5, "low": 0.4, "high": None},
            {"series": name, "x": 100, "y": 0.3, "fitted": True},
        ],
        name,
        "loss",
        name,
        log=True,
        marks=[(5, name)],
    ),
    "bars": lambda name: pictures.bar_chart(
        [{"name": name, "value": 2.0}, {"name": "b", "value": -1.5}], name, name
    ),
    "panels": lambda name: pictures.bar_chart(
        [{"name": name, "value": v, "group": g} for g, v in ((name, 1), ("h", -2))], name
    ),
    "cells": lambda name: pictures.heatmap(
        [{"row": name, "column": c, "value": 7, "shade": s} for c, s in ((name, 0), ("q", 0.9))],
        name,
        name,
    ),
    "intervals": lambda name: pictures.interval_chart(
        [{"name": name, "value": 1, "low": 0.5, "high": 2.5, "series": s} for s in (name, "t")],
        name,
        mark=1,
    ),
    "reliability": lambda name: pictures.reliability_diagram(
        [{"series": name, "predicted": 0.2, "observed": 0.3, "low": 0.1, "high": 0.5, "rows": 40}], name
    ),
    "scatter": lambda name: pictures.scatter_plot(
        [{"x": 1, "y": 2, "series": name, "text": name}, {"x": 2, "y": 2}], name, diagonal=True
    ),
    "surface": lambda name: pictures.filled_contours(
        GRID, name, "y", points=[{"x": 1, "y": 1, "name": name}], value=name
    ),
    "areas": lambda name: pictures.decision_regions(
        CELLS,
        [{"x": 1, "y": 1, "label": name, "wrong": True}],
        [{"series": name, "x": x, "y": 1} for x in (0, 3)],
        name,
    ),
    "steps": lambda name: pictures.curve_chart(EFFECT_CELLS, MISSING, name, name, name, [(1.5, name)]),
    "levels": lambda name: pictures.level_chart(
        [
            {"name": n, "height": 0.3, "low": 0.1, "high": 0.6, "rows": 4, "marked": n == name}
            for n in (name, "c")
        ],
        name,
        name,
    ),
    "heights": lambda name: pictures.surface_chart(
        SURFACE, pictures.CellAxis(name, [0.5, 1.5]), pictures.CellAxis(name, None, [name, "c"]), name, name
    ),
    "effects": lambda name: pictures.effects_page(
        [
            pictures.CurvePanel(name, EFFECT_CELLS, MISSING, name, name, [(1.5, name), (0.5, name)]),
            pictures.LevelPanel(name, [{"name": name, "height": -0.2, "rows": 4}], name),
            pictures.SurfacePanel(
                name, SURFACE, pictures.CellAxis(name, [0.5, 1.5]), pictures.CellAxis(name, None, [name, "c"])
            ),
        ],
        name,
        name,
    ),
    "stacked": lambda name: pictures.stacked_bar_chart(
        [{"name": name, "part": p, "value": 0.2} for p in (name, "noise")], name
    ),
    "lines": lambda name: pictures.path_chart(
        [{"series": name, "x": x, "y": 1, "named": True} for x in (1, 2)], name, mark=1
    ),
}


@functools.cache
def sample(kind: str, name: str = "a") -> Any:
    """Return a small chart of a kind, with a name in it."""
    return SAMPLES[kind](name)


def tables(spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield every layer with its rows."""
    for part in [*spec.get("vconcat", []), spec]:
        for layer in part.get("layer", []):
            yield layer, spec["datasets"][layer.get("data", part.get("data"))["name"]]


def layers(chart: Any, mark: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    return [(layer, rows) for layer, rows in tables(chart.to_dict()) if layer["mark"]["type"] == mark]


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_chart_renders_without_a_browser_and_has_a_description(kind: str, tmp_path: Path) -> None:
    chart = sample(kind, HOSTILE)
    pictures.image(chart, tmp_path / "x.png")
    pictures.image(chart, tmp_path / "x.svg")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    drawn = ElementTree.fromstring((tmp_path / "x.svg").read_text("utf-8"))
    assert (drawn.get("role"), drawn.get("aria-label")) == ("img", chart.to_dict()["description"])
    assert not list(drawn.iter("{http://www.w3.org/2000/svg}script"))
    sizes = [
        float(each.get("font-size", "0px")[:-2]) for each in drawn.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert min(sizes) >= 12


@pytest.mark.parametrize("kind", SAMPLES)
def test_hostile_names_are_escaped_and_invalid_characters_replaced(kind: str) -> None:
    page = pictures.charts_page([sample(kind, HOSTILE)], HOSTILE)
    assert "<script>alert" not in page
    (embedded,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    told = json.dumps(json.loads(embedded), ensure_ascii=False)
    # Data keep the escapes of text; titles have none, because Vega-Lite would read them.
    assert re.search(r"a(\\\\|∖)x00\1x1b\1ud800</script><script>alert\(1\)</script>", told)
    assert '"background": "transparent"' in told


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("name", [r"a\x00b", "a\\", 'a\\"+(1)+"'])
def test_backslashes_in_names_are_neither_escapes_nor_code(kind: str, name: str, tmp_path: Path) -> None:
    pictures.image(sample(kind, name), tmp_path / "x.svg")
    drawn = (tmp_path / "x.svg").read_text("utf-8")
    assert not find_control_characters(drawn)
    assert ElementTree.fromstring(drawn) is not None


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("name", ["a" + "😀" * 80, "😀" * 6], ids=["long", "short"])
def test_names_of_astral_characters_can_be_drawn(kind: str, name: str, tmp_path: Path) -> None:
    pictures.image(sample(kind, name), tmp_path / "x.svg")
    assert "\ufffd" not in (tmp_path / "x.svg").read_text("utf-8")


def test_the_description_defaults_to_the_titles() -> None:
    rows = [{"name": "a", "value": 1}]
    assert (
        pictures.bar_chart(rows, "nats", "Words", description="One bar.").to_dict()["description"]
        == "One bar."
    )
    assert pictures.bar_chart(rows, "nats", "Words").to_dict()["description"] == "Bars of nats: Words."
    assert (
        pictures.scatter_plot([{"x": 1, "y": 2}], "p", "q").to_dict()["description"] == "Points of q over p."
    )


def test_fitted_curves_are_thin_and_dashed_in_the_colour_of_their_series() -> None:
    chart = sample("curves")
    (thin, fitted), (line, measured) = layers(chart, "line")
    assert [row["x"] for row in fitted] == [100]
    assert [row["x"] for row in measured] == [1, 10]
    assert thin["encoding"]["color"] == line["encoding"]["color"]
    assert (thin["mark"]["strokeDash"], thin["mark"].get("point")) == ([3, 3], None)
    assert line["encoding"]["x"]["scale"]["type"] == "log"
    ((_, band),) = layers(chart, "area")
    assert [row["x"] for row in band] == [1]


def test_marks_are_vertical_lines_labelled_on_the_side_that_has_room() -> None:
    rows = [{"series": "a", "x": x, "y": x} for x in (0, 10)]
    chart = pictures.line_chart(rows, marks=[(1, "early"), (9, "late")])
    ((_, drawn),) = layers(chart, "rule")
    assert [row["x"] for row in drawn] == [1, 9]
    told = {rows[0]["text"]: layer["mark"]["align"] for layer, rows in layers(chart, "text")}
    assert told == {"early": "left", "late": "right"}


@pytest.mark.parametrize(
    ("heights", "has_zero"), [((0.8, 0.9), False), ((0.1, 0.9), True), ((-1.0, 1.0), True)]
)
def test_curves_far_from_zero_are_drawn_without_it(heights: tuple[float, float], has_zero: bool) -> None:
    chart = pictures.line_chart([{"series": "a", "x": x, "y": y} for x, y in enumerate(heights)])
    ((line, _),) = layers(chart, "line")
    assert line["encoding"]["y"]["scale"]["zero"] is has_zero


def test_bars_keep_their_order_and_have_a_colour_per_sign() -> None:
    ((bar, rows),) = layers(sample("bars"), "bar")
    assert [(row["name"], row["value"]) for row in rows] == [("a", 2), ("b", -1.5)]
    assert bar["encoding"]["y"]["scale"]["domain"] == ["a", "b"]
    colour = bar["encoding"]["color"]
    assert (colour["condition"]["value"], colour["value"]) == COLOURS[:2]


def test_groups_of_bars_share_a_scale_and_repeated_names_are_numbered() -> None:
    table = [{"name": "a", "value": v, "group": g} for g, v in (("g", 1), ("h", 2), ("g", 3))]
    spec = pictures.bar_chart(table).to_dict()
    assert [panel["title"]["text"] for panel in spec["vconcat"]] == ["g", "h"]
    assert spec["resolve"] == {"scale": {"x": "shared"}}
    drawn = [rows for layer, rows in tables(spec) if layer["mark"]["type"] == "bar"]
    assert [[(row["name"], row["value"]) for row in rows] for rows in drawn] == [
        [("a", 1), ("a (2)", 3)],
        [("a", 2)],
    ]


def test_whiskers_replace_the_numbers_of_bars() -> None:
    chart = pictures.bar_chart([{"name": "a", "value": 1, "low": 0, "high": 2}, {"name": "b", "value": 1}])
    assert not layers(chart, "text")
    ((rule, _),) = layers(chart, "rule")
    assert (rule["encoding"]["x"]["field"], rule["encoding"]["x2"]["field"]) == ("low", "high")


@pytest.mark.parametrize("draw", [pictures.bar_chart, pictures.interval_chart])
def test_many_names_are_limited_with_a_note(draw: Any) -> None:
    spec = draw([{"name": f"n{k}", "value": k} for k in range(50)], title="Many").to_dict()
    kind = "bars" if draw is pictures.bar_chart else "intervals"
    assert spec["title"] == {"text": "Many", "subtitle": f"the first 40 of 50 {kind}"}
    assert max(len(rows) for _, rows in tables(spec)) == 40


def test_cell_numbers_have_a_legible_colour() -> None:
    rows = [{"row": "r", "column": str(s), "value": 3, "shade": s} for s in (0, 0.2, 0.8)]
    ((text, told),) = layers(pictures.heatmap(rows), "text")
    assert [row["ink"] for row in told] == [GREY, BLACK, WHITE]
    assert text["encoding"]["text"]["format"] == ",d"
    (rect, _), *_ = layers(pictures.heatmap(rows), "rect")
    assert rect["encoding"]["x"]["scale"]["domain"] == ["0", "0.2", "0.8"]


def test_large_heatmaps_show_numbers_only_in_tooltips() -> None:
    rows = [{"row": "r", "column": str(k), "value": 3, "shade": 0.1} for k in range(20)]
    assert not layers(pictures.heatmap(rows), "text")
    ((rect, _),) = layers(pictures.heatmap(rows), "rect")
    assert [each["field"] for each in rect["encoding"]["tooltip"]] == ["row", "column", "value"]


def test_intervals_of_several_series_differ_in_shape_and_place() -> None:
    ((dots, rows),) = layers(sample("intervals"), "point")
    assert [(row["series"], row["value"]) for row in rows] == [("a", 1), ("t", 1)]
    assert dots["encoding"]["yOffset"]["scale"]["domain"] == ["a", "t"]
    assert len(set(dots["encoding"]["shape"]["scale"]["range"])) == 2


def test_intervals_keep_the_order_of_their_names_where_some_have_no_whiskers() -> None:
    rows = [{"name": "x", "value": 1}, {"name": "y", "value": 1, "low": 0, "high": math.nan}]
    chart = pictures.interval_chart([*rows, {"name": "z", "value": 2, "low": 1, "high": 3}])
    _, (dots, _) = layers(chart, "rule")[0], layers(chart, "point")[0]
    assert dots["encoding"]["y"]["scale"]["domain"] == ["x", "y", "z"]
    assert [row["name"] for row in layers(chart, "rule")[0][1]] == ["z"]


def test_reliability_has_the_diagonal_and_sizes_by_rows() -> None:
    chart = sample("reliability")
    (_, ideal), (_, line) = layers(chart, "line")
    assert ideal == [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    assert [(row["predicted"], row["observed"], row["rows"]) for row in line] == [(0.2, 0.3, 40)]
    ((dots, _),) = layers(chart, "point")
    assert dots["encoding"]["size"]["field"] == "rows"


def test_shares_beyond_one_by_rounding_are_clipped() -> None:
    row = {"series": "a", "predicted": 1 + 2e-16, "observed": 1 + 1e-12, "rows": 3}
    _, (_, line) = layers(pictures.reliability_diagram([row]), "line")
    assert (line[0]["predicted"], line[0]["observed"]) == (1, 1)


def test_the_diagonal_of_points_spans_both_axes() -> None:
    ((_, ends),) = layers(pictures.scatter_plot([{"x": 1, "y": 7}, {"x": -2, "y": 3}], diagonal=True), "line")
    assert ends == [{"x": -2, "y": -2}, {"x": 7, "y": 7}]
    assert not layers(pictures.scatter_plot([{"x": 1, "y": 7}]), "line")


@pytest.mark.parametrize(("least", "form"), [(1, "~s"), (0.3, "~g")])
def test_a_logarithmic_axis_has_si_prefixes_only_for_thousands(least: float, form: str) -> None:
    rows = [{"series": "a", "x": x, "y": 1} for x in (least, 4_000)]
    ((layer, _),) = layers(pictures.line_chart(rows, log=True), "line")
    assert layer["encoding"]["x"]["axis"]["format"] == form


def test_a_horizontal_line_is_as_wide_as_the_points() -> None:
    ((_, ends),) = layers(pictures.scatter_plot([{"x": 1, "y": 7}, {"x": -2, "y": 3}], level=0.0), "line")
    assert ends == [{"x": -2, "y": 0.0}, {"x": 1, "y": 0.0}]


def test_stacked_parts_follow_each_other_on_their_side_of_zero() -> None:
    values = {"bias": 0.5, "variance": -0.25, "noise": 0.25}
    table = [{"name": "nb", "part": part, "value": value} for part, value in values.items()]
    ((bar, rows),) = layers(pictures.stacked_bar_chart(table), "bar")
    assert [(row["from"], row["to"]) for row in rows] == [(0, 0.5), (-0.25, 0), (0.5, 0.75)]
    assert bar["encoding"]["color"]["scale"]["domain"] == list(values)


def test_regions_meet_at_equal_confidence_and_wrong_points_have_rings() -> None:
    chart = sample("areas")
    rows = [row for layer, rows in layers(chart, "line") if "fill" in layer["encoding"] for row in rows]
    extent = {
        name: (
            min(row["x"] for row in rows if row["label"] == name),
            max(row["x"] for row in rows if row["label"] == name),
        )
        for name in ("no", "yes")
    }
    assert extent == {"no": (0, 1.5), "yes": (1.5, 3)}
    sure = {row["sure"]: row["x"] for row in rows if row["label"] == "no" and row["x"] > 0}
    assert list(sure) == sorted(sure)
    assert list(sure.values()) == sorted(sure.values(), reverse=True)
    (dots, points), (_, rings) = layers(chart, "point")
    assert dots["encoding"]["shape"]["scale"]["domain"] == ["a", "no", "yes"]
    assert points == rings == [{"label": "a", "x": 1, "y": 1, "wrong": True}]


def test_regions_of_full_confidence_meet_half_way() -> None:
    cells = [{"x": x, "y": y, "label": str(x > 4), "share": 1} for x in (0, 4, 6) for y in (0, 1)]
    ((_, rows),) = layers(pictures.decision_regions(cells), "line")
    assert {row["x"] for row in rows if row["label"] == "True"} == {5, 6}
    assert {row["x"] for row in rows if row["label"] == "False"} == {0, 5}


def test_the_first_line_of_regions_is_solid_and_others_are_dashed() -> None:
    rows = [{"series": s, "x": x, "y": 1} for s in ("boundary", "margin") for x in (3, 0)]
    _, (full, drawn), (dashed, _) = layers(pictures.decision_regions(CELLS, lines=rows), "line")
    assert "strokeDash" not in full["mark"]
    assert dashed["mark"]["strokeDash"]
    assert [row["x"] for row in drawn] == [3, 0]


def test_large_grids_stay_small() -> None:
    at = np.linspace(-3, 3, 100)
    waves = [{"x": x, "y": y, "value": math.sin(2 * x) * math.cos(2 * y)} for x in at for y in at]
    halves = [
        {"x": x, "y": y, "label": str(x + y > 0), "share": 1 / (1 + math.exp(-abs(x + y)))}
        for x in at
        for y in at
    ]
    for chart in (pictures.filled_contours(waves), pictures.decision_regions(halves)):
        assert len(json.dumps(chart.to_dict())) < 150_000


def test_numbers_have_thousands_separators_and_significant_digits() -> None:
    rows = [{"series": "a", "x": x, "y": x / 7} for x in (1, 2_000)]
    ((line, _),) = layers(pictures.line_chart(rows, "rows", "loss"), "line")
    said = {each["field"]: each.get("format") for each in line["encoding"]["tooltip"]}
    assert said == {"series": None, "x": ",d", "y": ",.4~r"}
    assert [each.get("title") for each in line["encoding"]["tooltip"]] == [None, "rows", "loss"]


def test_numpy_numbers_become_python_numbers_and_other_fields_are_dropped() -> None:
    rows = [{"name": np.str_("a"), "value": np.float32(0.5), "model": object()}]
    ((_, drawn),) = layers(pictures.bar_chart(rows), "bar")
    assert drawn == [{"name": "a", "value": 0.5}]


def test_only_single_panels_without_fixed_aspect_are_responsive() -> None:
    spec = pictures.make_responsive(sample("scatter")).to_dict()
    assert (spec["width"], spec["autosize"]["type"]) == ("container", "fit-x")
    assert spec["usermeta"]["widest"] > sample("scatter").to_dict()["width"]
    panels = sample("panels")
    assert pictures.make_responsive(panels) is panels
    plane = pictures.animate_plane(
        [pictures.LabelledPoint(0, 0, "no")],
        [pictures.PlaneStep(0, (1.0, 1.0), 0.0, False, "")],
        ("no", "yes"),
    )
    assert pictures.make_responsive(plane) is plane


def test_an_image_may_be_a_page(tmp_path: Path) -> None:
    pictures.image(pictures.bar_chart([{"name": "a", "value": 1}], title="Words & more"), tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "<title>Words &amp; more</title>" in page
    assert '"width":"container"' in page


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: pictures.bar_chart([]), "Bars are drawn from rows with 'name', 'value', got no rows."),
        (
            lambda: pictures.bar_chart([{"name": "a"}]),
            "Bars are drawn from rows with 'name', 'value', got rows without 'value'.",
        ),
        (
            lambda: pictures.bar_chart([{"name": "a", "value": 1}, {"name": "a", "value": math.nan}]),
            "Bars are drawn from finite numbers, got nan for 'value' in row 1.",
        ),
        (
            lambda: pictures.bar_chart([{"name": "a", "value": 10**400}], "x", "t"),
            f"Bars are drawn from finite numbers, got 1{'0' * 59}… for 'value' in row 0.",
        ),
        (
            lambda: pictures.scatter_plot([{"x": "one", "y": 1}]),
            "Points are drawn from finite numbers, got 'one' for 'x' in row 0.",
        ),
        (
            lambda: pictures.scatter_plot([{"x": k, "y": k} for k in range(5_001)]),
            "A picture has room for 5,000 points, got 5,001. Give a sample of them.",
        ),
        (
            lambda: pictures.heatmap([{"row": "a", "column": "b", "value": 1, "shade": 1.5}]),
            "Cells have a 'shade' from 0 to 1, got 1.5.",
        ),
        (
            lambda: pictures.heatmap([{"row": "a", "column": k, "value": 1, "shade": 1} for k in range(41)]),
            "A picture has room for 40 columns, got 41. Join the rare ones.",
        ),
        (
            lambda: pictures.filled_contours(GRID[:-1]),
            "Surfaces are drawn from a full grid (every x with every y once, at least two of each), "
            "got 11 rows for 4 x and 3 y.",
        ),
        (
            lambda: pictures.line_chart([{"series": "a", "x": 0, "y": 1}], log=True),
            "A logarithmic axis shows numbers above zero, got 0 for 'x'.",
        ),
        (
            lambda: pictures.line_chart([{"series": "a", "x": 1, "y": 1}], marks=[(math.inf, "end")]),
            "Vertical lines are drawn from finite numbers, got inf for 'x' in row 0.",
        ),
        (
            lambda: pictures.stacked_bar_chart([{"name": "a", "part": str(k), "value": 1} for k in range(8)]),
            "Stacked bars show at most 7 series, got 8: '0', '1', '2', '3', '4', '5', '6', '7'. Draw fewer.",
        ),
    ],
)
def test_invalid_rows_are_rejected(ask: Any, told: str) -> None:
    with pytest.raises(errors.DataError) as refusal:
        ask()
    assert str(refusal.value) == told


def test_a_long_title_is_wrapped_in_charts_but_not_in_page_titles(tmp_path: Path) -> None:
    title = "grower 1, probability 99.99 %: without this one of its features it would be grower 2"
    chart = pictures.bar_chart([{"name": "a", "value": 1}], title=title)
    lines = chart.to_dict()["title"]
    assert (len(lines), " ".join(lines)) == (2, title)
    pictures.image(chart, tmp_path / "x.html")
    assert f"<title>{title}</title>" in (tmp_path / "x.html").read_text("utf-8")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_cell_text_is_legible_on_every_shade() -> None:
    table = [
        {"row": f"r{at // 4}", "column": f"c{at % 4}", "value": at, "shade": (at + 1) / 100}
        for at in range(100)
    ]
    drawn = json.dumps(pictures.heatmap(table).to_dict())
    inks = dict(re.findall(r'"shade": ([\d.]+), "ink": "(#\w+)"', drawn))
    assert len(inks) == 100
    first, last = ([int(end[at : at + 2], 16) for at in (1, 3, 5)] for end in HEATMAP_COLOURS)
    for shade, ink in inks.items():
        mixed = [round(a + (b - a) * float(shade)) for a, b in zip(first, last, strict=True)]
        assert contrast(ink, "#" + "".join(f"{part:02x}" for part in mixed)) >= 4.5, shade


def test_chart_text_is_legible_on_white_and_on_black() -> None:
    assert min(contrast(GREY, "#ffffff"), contrast(GREY, "#000000")) >= 4.5


def test_the_note_about_omitted_names_says_what_they_are() -> None:
    table = [{"name": f"n{at}", "value": at} for at in range(50)]
    for draw in (pictures.bar_chart, pictures.interval_chart):
        assert "the first 40 of 50 sets" in json.dumps(draw(table, title="t", what="sets").to_dict())
        assert "of 50" not in json.dumps(draw(table, title="t", what="sets", most=60).to_dict())


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((10_000, 1_500_000), [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]),
        ((3, 100), [5, 10, 20, 50, 100]),
        ((100, 1000), None),
        ((1, 10**6), None),
    ],
)
def test_a_logarithmic_axis_has_ticks_at_one_two_and_five(ends, ticks) -> None:
    rows = [{"series": "a", "x": x, "y": x} for x in ends]
    axis = pictures.line_chart(rows, log=True).to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert axis.get("values") == ticks
    assert "values" not in pictures.line_chart(rows).to_dict()["layer"][0]["encoding"]["x"]["axis"]


def test_a_line_chart_has_a_subtitle() -> None:
    rows = [{"series": "a", "x": 1, "y": 1}]
    assert pictures.line_chart(rows, title="t", more="dashed").to_dict()["title"]["subtitle"] == "dashed"


def test_every_colour_is_visible_on_white_and_on_black() -> None:
    assert len(set(COLOURS)) == len(SHAPES) == len(DASHES)
    assert min(contrast(each, ground) for each in COLOURS for ground in ("#ffffff", "#000000")) >= 3
