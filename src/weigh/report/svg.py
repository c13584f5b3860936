"""Charts as inline SVG: drawn once, without a browser, and cleared of all that a page does not need.

No drawing library goes into the page, so that nothing is evaluated in it and it stays small. Names and values
of the data arrive as text and attributes of an XML tree; elements and attributes that are not listed here are
dropped, whatever a name may have tried.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from weigh.pictures.channels import ROOM
from weigh.pictures.output import rendered
from weigh.pictures.style import GREY
from weigh.report.told_marks import with_words

SPACE = "http://www.w3.org/2000/svg"
MARGIN = 16
# Pixels of a chart, and of the names beside it, that a phone shows without shrinking its words.
NARROW = 240
NARROWED = {"width": NARROW, "labelLimit": 140}
ROOMY = 260  # pixels of names on a wide page
ELEMENTS = {
    "svg", "g", "path", "line", "rect", "circle", "text", "tspan", "defs", "clipPath", "linearGradient",
    "radialGradient", "stop",
}  # fmt: skip
ATTRIBUTES = {
    "viewBox", "transform", "d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry",
    "width", "height", "fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit",
    "font-size", "font-weight", "font-style", "text-anchor", "id", "clip-path", "offset", "stop-color",
    "stop-opacity", "display",
}  # fmt: skip
# What XML cannot hold; the renderer would end the whole program over it.
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONG = re.compile(r"-?\d+\.\d{2,}")
WHOLE = ("axis", "legend", "title", "line mark", "area mark")  # what shows many rows, or none
SPECIAL = ("background", "foreground")


def inline(chart: Any, name: str, told: str, is_narrow: bool = False) -> str:
    """Return a chart as an SVG element for a page; `name` keeps its ids apart from other charts'."""
    # Checking a chart against its grammar takes longer than drawing it, and ours are tested.
    spec = with_words(_writable(chart.to_dict(validate=False)))
    spec = _narrowed(spec) if is_narrow else _roomy(spec)
    root = ElementTree.fromstring(rendered(spec))
    width, height = float(root.get("width", 0)) + MARGIN, float(root.get("height", 0))
    _clean(root, _Ids(name))
    # The reader's font may be wider than the one that was measured: names at the left need some room.
    root.attrib |= {
        "viewBox": f"{-MARGIN} 0 {width:g} {height:g}",
        "width": f"{width:g}",
        "height": f"{height:g}",
    }
    root.attrib |= {"role": "img", "aria-label": _text(told)}
    ElementTree.register_namespace("", SPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _writable(value: Any) -> Any:
    """A specification without signs that XML cannot hold."""
    if isinstance(value, dict):
        return {_text(key): _writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    return UNWRITABLE.sub("�", value)


def _narrowed(spec: Any, key: str = "") -> Any:
    """A specification whose charts are at most as wide as a phone shows."""
    if isinstance(spec, dict):
        return {name: each if name == "datasets" else _narrowed(each, name) for name, each in spec.items()}
    if isinstance(spec, list):
        return [_narrowed(each) for each in spec]
    most = NARROWED.get(key)
    return most if most is not None and isinstance(spec, int | float) and spec > most else spec


def _roomy(spec: Any) -> Any:
    """A specification whose names at the left have more room."""
    if isinstance(spec, dict):
        inside = {name: each if name == "datasets" else _roomy(each) for name, each in spec.items()}
        is_axis = inside.get("labelLimit") == ROOM
        return inside | {"labelLimit": ROOMY} if is_axis else inside
    return [_roomy(each) for each in spec] if isinstance(spec, list) else spec


class _Ids:
    """Ids of one chart, numbered anew: the renderer goes on counting from chart to chart."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: dict[str, str] = {}

    def __call__(self, given: str) -> str:
        return self._found.setdefault(given, f"{self._name}-{len(self._found)}")


def _clean(element: ElementTree.Element, ids: _Ids) -> None:
    """Keep what is listed, in place; what a pointer is told moves to a harmless attribute."""
    for child in list(element):
        if _local(child.tag) not in ELEMENTS or _is_empty(child):
            element.remove(child)
        else:
            _clean(child, ids)
    told = element.get("aria-label") if element.get("aria-roledescription") not in WHOLE else None
    kept = {key: value for key, value in element.attrib.items() if key in ATTRIBUTES}
    element.attrib.clear()
    element.attrib.update({key: _value(key, value, ids) for key, value in kept.items()})
    if told:
        element.set("data-told", told)


def _is_empty(element: ElementTree.Element) -> bool:
    """Whether an element draws nothing: frames without a colour, and groups that hold only such."""
    unseen = (
        element.get("class") in SPECIAL and "stroke" not in element.attrib and "fill" not in element.attrib
    )
    return unseen or element.get("display") == "none"


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _value(key: str, value: str, ids: _Ids) -> str:
    if key == "id":
        return ids(value)
    if value == GREY:
        # Words and axes in the page's own colour are read in light and dark alike.
        return "currentColor"
    if value.startswith("url(#"):
        return f"url(#{ids(value[5:-1])})"
    if key in ("d", "transform"):
        return LONG.sub(lambda found: f"{float(found.group()):.1f}", value)
    return value
