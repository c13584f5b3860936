"""Inline charts have tooltips and unique ids, and names cannot inject markup."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.report import tables
from weigh import pictures
from weigh.report.svg import NARROW_WIDTH, inline_svg, tooltips_to_descriptions


def bars(names: list[str]) -> object:
    return pictures.bar_chart(
        [{"name": name, "value": float(at)} for at, name in enumerate(names, 1)], x="nats"
    )


def tooltips(svg: str) -> list[str]:
    return [each for node in ElementTree.fromstring(svg).iter() if (each := node.get("data-told"))]


def test_marks_have_tooltips_with_their_rows() -> None:
    assert tooltips(inline_svg(bars(["first", "second"]), "a", "two bars")) == [
        "name: first\nnats: 1",
        "name: second\nnats: 2",
    ]


def test_tooltips_belong_to_points_and_not_to_lines() -> None:
    rows = [{"series": "s", "x": x, "y": 2.0 * x} for x in (0, 1, 2)]
    assert tooltips(inline_svg(pictures.line_chart(rows, x="rows", y="loss"), "a", "")) == [
        f"series: s\nrows: {x}\nloss: {2 * x}" for x in (0, 1, 2)
    ]


@pytest.mark.parametrize("name", tables.NAMES)
def test_a_hostile_name_stays_text(name: str) -> None:
    svg = inline_svg(bars([name, "other"]), "a", name)
    root = ElementTree.fromstring(svg)
    assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {"svg", "g", "path", "line", "text"}
    assert root.get("aria-label") == name.replace("\0", "�")
    assert tooltips(svg)[0].startswith("name: ")


def test_text_has_the_colour_of_the_page() -> None:
    root = ElementTree.fromstring(inline_svg(bars(["a"]), "a", ""))
    colours = {node.get("fill") for node in root.iter() if node.tag.endswith("text")}
    assert colours == {"currentColor"}


def test_ids_are_unique_across_charts_and_reproducible() -> None:
    # Layered charts have clip paths, and each has an id.
    rows = [{"series": "s", "x": 0, "y": 0}, {"series": "s", "x": 1, "y": 1}]
    chart = pictures.line_chart(rows, title="t").interactive()
    first, again, other = (inline_svg(chart, name, "") for name in ("a", "a", "b"))
    assert first == again
    ids = [
        {node.get("id") for node in ElementTree.fromstring(drawn).iter() if node.get("id")}
        for drawn in (first, other)
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_a_narrow_chart_fits_a_phone() -> None:
    wide, narrow = (
        float(ElementTree.fromstring(inline_svg(bars(["a"]), "a", "", is_narrow)).get("width", ""))
        for is_narrow in (False, True)
    )
    assert narrow < NARROW_WIDTH + 108 < wide


def test_tooltips_are_added_as_values() -> None:
    spec = tooltips_to_descriptions(
        {
            "data": {"values": [{"name": "'+alert(1)+'", "value": 1}]},
            "layer": [
                {"mark": "bar", "encoding": {"tooltip": [{"field": "name", "title": "datum.x"}]}},
                {"mark": "rule"},
            ],
        }
    )
    assert spec["data"]["values"][0]["told0"] == "datum.x: '+alert(1)+'"
    assert spec["layer"][0]["encoding"]["description"] == {"field": "told0", "type": "nominal"}
    assert spec["layer"][1]["mark"] == {"type": "rule", "aria": False}
