"""Charts in a page: words beside their marks, ids apart, and nothing that a name could smuggle in."""

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


def told(drawn: str) -> list[str]:
    return [each for node in ElementTree.fromstring(drawn).iter() if (each := node.get("data-told"))]


def test_a_mark_tells_its_row() -> None:
    assert told(inline_svg(bars(["first", "second"]), "a", "two bars")) == [
        "name: first\nnats: 1",
        "name: second\nnats: 2",
    ]


def test_lines_tell_their_points_and_not_themselves() -> None:
    rows = [{"series": "s", "x": x, "y": 2.0 * x} for x in (0, 1, 2)]
    assert told(inline_svg(pictures.line_chart(rows, x="rows", y="loss"), "a", "")) == [
        f"series: s\nrows: {x}\nloss: {2 * x}" for x in (0, 1, 2)
    ]


@pytest.mark.parametrize("name", tables.NAMES)
def test_a_name_stays_a_name(name: str) -> None:
    drawn = inline_svg(bars([name, "other"]), "a", name)
    root = ElementTree.fromstring(drawn)
    assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {"svg", "g", "path", "line", "text"}
    assert root.get("aria-label") == name.replace("\0", "�")
    assert told(drawn)[0].startswith("name: ")


def test_words_are_in_the_colour_of_the_page() -> None:
    root = ElementTree.fromstring(inline_svg(bars(["a"]), "a", ""))
    inks = {node.get("fill") for node in root.iter() if node.tag.endswith("text")}
    assert inks == {"currentColor"}


def test_ids_of_two_charts_differ_and_of_one_chart_do_not() -> None:
    # Charts of layers are clipped, and each clip has an id.
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


def test_words_go_in_as_values() -> None:
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
