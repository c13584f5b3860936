"""Pictures: what is drawn of which facts, pages, images, and what is refused."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from weigh import errors, pictures
from weigh.pictures.geometry import ViewBox

POINTS = [pictures.LabelledPoint(0.0, 0.0, "no"), pictures.LabelledPoint(2.0, 1.0, "yes")]
TURNS = [
    pictures.PlaneStep(0, (0.0, 0.0), -1.0, True, "first", "w = (0,0)"),
    pictures.PlaneStep(1, (2.0, 1.0), 0.0, True, "second", "w = (2,1)"),
    pictures.PlaneStep(1, (2.0, 1.0), 0.0, False, "third", "w = (2,1)"),
]
SVG_TEXT = "{http://www.w3.org/2000/svg}text"


def plane(**settings: Any) -> Any:
    return pictures.animate_plane(POINTS, TURNS, ("no", "yes"), **settings)


def rows_with(spec: dict[str, Any], key: str) -> list[list[dict[str, Any]]]:
    """Return the data of the layers whose rows have a key."""
    tables = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    return [rows for rows in tables if rows and key in rows[0]]


def test_the_slider_covers_all_steps_and_starts_at_the_given_one() -> None:
    (step,) = [each for each in plane(at=2).to_dict()["params"] if each["name"] == "step"]
    assert (step["value"], step["bind"]["min"], step["bind"]["max"]) == (2, 1, 3)


def test_every_step_has_its_caption_and_mistakes_have_their_crosses() -> None:
    spec = plane().to_dict()
    captions = [[row["t"] for row in rows] for rows in rows_with(spec, "t")]
    assert captions == [["first", "second", "third"], ["w = (0,0)", "w = (2,1)", "w = (2,1)"]]
    rings, crosses = rows_with(spec, "wrong")
    assert [row["s"] for row in rings] == [1, 2, 3]
    assert [row["s"] for row in crosses] == [1, 2]


def test_the_line_before_a_step_is_the_one_after_the_step_before() -> None:
    shades_and_lines = rows_with(plane().to_dict(), "o")
    _, _, before, after, _ = shades_and_lines
    assert {row["s"] for row in before} == {3}
    assert {row["s"] for row in after} == {2, 3}
    strip = [{key: row[key] for key in "oxy"} for row in after if row["s"] == 2]
    assert strip == [{key: row[key] for key in "oxy"} for row in before]


def test_a_plane_without_direction_gives_all_to_the_class_of_its_bias() -> None:
    first, second, *_ = rows_with(plane().to_dict(), "o")
    assert len([row for row in first if row["s"] == 1]) == 4
    assert not [row for row in second if row["s"] == 1]


def test_the_two_classes_differ_in_shape_and_colour() -> None:
    (scatter,) = [layer for layer in plane().to_dict()["layer"] if "shape" in layer["encoding"]]
    for channel in ("shape", "color"):
        scale = scatter["encoding"][channel]["scale"]
        assert scale["domain"] == ["no", "yes"]
        assert len(set(scale["range"])) == 2


def test_a_half_plane_and_its_line_are_clipped_to_the_box() -> None:
    box = ViewBox((0.0, 0.0), (2.0, 2.0), 100, 100)
    assert box.half_plane((1.0, 0.0), -1.0) == [(1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 2.0)]
    assert sorted(box.line((1.0, 0.0), -1.0)) == [(1.0, 0.0), (1.0, 2.0)]
    assert box.half_plane((1.0, 0.0), -5.0) == []
    assert box.line((1.0, 0.0), -5.0) == []


@pytest.mark.parametrize("height", [1.0, 3.0, 1_000.0])
def test_the_arrow_is_perpendicular_to_its_line_on_the_screen(height: float) -> None:
    box = ViewBox.around([(0.0, 0.0), (1.0, height)], 400)
    w, b = (1.0, 2.0 / height), -1.2
    (x0, y0), (x1, y1) = box.line(w, b)
    drawn = box.arrow(w, b, box.arrow_length(w))
    assert drawn is not None
    (fx, fy), (tx, ty), angle = drawn
    along = (x1 - x0) * box.pixels_per_unit[0], (y1 - y0) * box.pixels_per_unit[1]
    arrow = (tx - fx) * box.pixels_per_unit[0], (ty - fy) * box.pixels_per_unit[1]
    assert along[0] * arrow[0] + along[1] * arrow[1] == pytest.approx(0.0, abs=1e-6)
    assert math.hypot(*arrow) == pytest.approx(min(box.width, box.height) / 4)
    assert math.degrees(math.atan2(*arrow)) == pytest.approx(angle)
    assert w[0] * tx + w[1] * ty + b > 0


@pytest.mark.parametrize(
    "spots", [[(1.0, 1.0)], [(0.0, 5.0), (3.0, 5.0)], [(0.0, 0.0), (1.0, 1e6)], [(-2.0, 1.0), (4.0, 2.0)]]
)
def test_a_box_holds_its_points_and_is_never_flat(spots: list[tuple[float, float]]) -> None:
    box = ViewBox.around(spots, 400)
    for x, y in spots:
        assert box.low[0] < x < box.high[0]
        assert box.low[1] < y < box.high[1]
    assert max(box.width, box.height) == 400
    assert min(box.width, box.height) >= 200


def test_axes_of_like_lengths_have_equal_units() -> None:
    assert ViewBox.around([(0.0, 0.0), (3.0, 1.0)], 400).pixels_per_unit == pytest.approx(
        (98.04, 98.04), abs=0.01
    )


CURVES = [
    {"series": name, "x": x, "y": 1 / x, "low": 0.9 / x, "high": 1.1 / x}
    for name in ("last", "averaged")
    for x in (1, 2, 3)
]


def test_curves_have_a_line_and_a_band_per_series() -> None:
    spec = pictures.line_chart(CURVES, "passes", "errors", "Noise").to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["area", "line"]
    assert spec["title"] == "Noise"
    assert spec["layer"][1]["encoding"]["color"]["scale"]["domain"] == ["last", "averaged"]
    plain = [{key: row[key] for key in ("series", "x", "y")} for row in CURVES]
    assert [layer["mark"]["type"] for layer in pictures.line_chart(plain).to_dict()["layer"]] == ["line"]


# Signs that no XML can hold; on most of them the renderer would end the whole process.
HOSTILE = "a\x00b\x07\ud800\uffff<c>"


def test_the_text_of_an_animation_has_no_invalid_characters(tmp_path: Path) -> None:
    points = [pictures.LabelledPoint(0.0, 0.0, HOSTILE), pictures.LabelledPoint(2.0, 1.0, "yes")]
    turns = [pictures.PlaneStep(0, (2.0, 1.0), -1.0, True, HOSTILE, HOSTILE)]
    chart = pictures.animate_plane(points, turns, (HOSTILE, "yes"), (HOSTILE, "b"))
    told = json.dumps(chart.to_dict())
    assert not re.search(r"(?<!\\)\\(u0000|u0007|ud800|uffff)", told)
    assert r"a\\x00b\\x07\\ud800\\uffff<c>" in told


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_other_altair_charts_with_invalid_characters_are_written(tmp_path: Path, ending: str) -> None:
    alt = pytest.importorskip("altair")
    rows = alt.InlineData(values=[{"name": HOSTILE, "size": 1}])
    chart = alt.Chart(rows, title=HOSTILE, description=HOSTILE).mark_bar().encode(x="size:Q", y="name:N")
    path = tmp_path / f"chart.{ending}"
    pictures.image(chart, path)
    if ending == "svg":
        (shown,) = {
            each.text for each in ElementTree.parse(path).iter(SVG_TEXT) if "<c>" in (each.text or "")
        }
        assert shown == "a�b���<c>"
    assert path.stat().st_size > 1_000


def test_a_page_embeds_its_charts_and_needs_no_network() -> None:
    page = pictures.charts_page([plane(), pictures.line_chart(CURVES)], "Planes & curves", "<p>below</p>")
    assert "<title>Planes &amp; curves</title>" in page
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 2
    assert all("$schema" not in json.loads(each) for each in found)
    assert "<p>below</p>" in page
    assert len(page.encode()) < 1_500_000
    bare = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", bare)
    assert "<script src" not in page


def test_a_page_without_charts_has_no_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    assert "<script" not in pictures.charts_page([], "Nothing", "<p>text</p>")


def test_images_are_written_by_extension(tmp_path: Path) -> None:
    pictures.image(plane(at=2), tmp_path / "plane.png")
    pictures.image(plane(at=2), tmp_path / "plane.svg")
    assert (tmp_path / "plane.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "plane.svg").read_text("utf-8")
    assert drawn.startswith("<svg")
    assert "second" in drawn
    assert "first" not in drawn


@pytest.mark.parametrize(
    ("ask", "error", "told"),
    [
        (
            lambda: pictures.animate_plane([], [], ("a", "b")),
            errors.DataError,
            "animate_plane needs at least one point and one step.",
        ),
        (
            lambda: plane(at=4),
            errors.ParameterError,
            "animate_plane: at must be a step from 1 to 3, got 4.",
        ),
        (
            lambda: pictures.line_chart([]),
            errors.DataError,
            "Curves are drawn from rows with 'series', 'x', 'y', got no rows.",
        ),
        (
            lambda: pictures.line_chart([{"x": 1, "series": "a"}]),
            errors.DataError,
            "Curves are drawn from rows with 'series', 'x', 'y', got rows without 'y'.",
        ),
        (
            lambda: pictures.line_chart([{"x": 1, "y": 1, "series": str(s)} for s in range(8)]),
            errors.DataError,
            "Curves show at most 7 series, got 8: '0', '1', '2', '3', '4', '5', '6', '7'. Draw fewer.",
        ),
        (
            lambda: pictures.image(plane(), "plane.gif"),
            errors.ParameterError,
            "image: path must be a name that ends in .png, .svg or .html, got 'plane.gif'.",
        ),
    ],
)
def test_invalid_charts_are_rejected(ask: Any, error: Any, told: str) -> None:
    with pytest.raises(error) as refusal:
        ask()
    assert str(refusal.value) == told


def test_a_failed_image_write_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(errors.FileError, match=r"plane.png cannot be written: Not a directory"):
        pictures.image(plane(), tmp_path / "file" / "plane.png")


def test_a_missing_altair_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(errors.Unsupported) as refusal:
        plane()
    assert str(refusal.value) == (
        "Pictures are drawn with Altair and vl-convert, which are not installed. "
        "In the folder of weigh: pip install '.[report]'."
    )
