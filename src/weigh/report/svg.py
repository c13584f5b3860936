"""Charts as inline SVG: drawn once, without a browser, and cleared of all that a page does not need.

No drawing library goes into the page, so that nothing is evaluated in it and it stays small. Names and values
of the data arrive as text and attributes of an XML tree; elements and attributes that are not listed here are
dropped, whatever a name may have tried.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from weigh.pictures.output import render_svg
from weigh.pictures.style import GREY, NAME_AXIS_WIDTH
from weigh.text import format_float, truncate

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
LEFT_MARGIN = 16
# Pixels of a chart, and of the names beside it, that a phone shows without shrinking its words.
NARROW_WIDTH = 240
NARROW_LIMITS = {"width": NARROW_WIDTH, "labelLimit": 140}
WIDE_LABEL_LIMIT = 260  # pixels of names on a wide page
ALLOWED_ELEMENTS = {
    "svg", "g", "path", "line", "rect", "circle", "text", "tspan", "defs", "clipPath", "linearGradient",
    "radialGradient", "stop",
}  # fmt: skip
ALLOWED_ATTRIBUTES = {
    "viewBox", "transform", "d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry",
    "width", "height", "fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit",
    "font-size", "font-weight", "font-style", "text-anchor", "id", "clip-path", "offset", "stop-color",
    "stop-opacity", "display",
}  # fmt: skip
# What XML cannot hold; the renderer would end the whole program over it.
INVALID_XML_CHARACTERS = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONG_DECIMAL = re.compile(r"-?\d+\.\d{2,}")
GROUP_ROLES = ("axis", "legend", "title", "line mark", "area mark")  # what shows many rows, or none
FRAME_CLASSES = ("background", "foreground")


def inline_svg(chart: Any, name: str, told: str, is_narrow: bool = False) -> str:
    """Return a chart as an SVG element for a page; `name` keeps its ids apart from other charts'."""
    # Checking a chart against its grammar takes longer than drawing it, and ours are tested.
    spec = tooltips_to_descriptions(_replace_invalid_characters(chart.to_dict(validate=False)))
    spec = _limit_widths(spec) if is_narrow else _widen_labels(spec)
    root = ElementTree.fromstring(render_svg(spec))
    width, height = float(root.get("width", 0)) + LEFT_MARGIN, float(root.get("height", 0))
    _sanitise(root, _IdRenumbering(name))
    # The reader's font may be wider than the one that was measured: names at the left need some room.
    root.attrib |= {
        "viewBox": f"{-LEFT_MARGIN} 0 {width:g} {height:g}",
        "width": f"{width:g}",
        "height": f"{height:g}",
    }
    root.attrib |= {"role": "img", "aria-label": _valid_xml_text(told)}
    ElementTree.register_namespace("", SVG_NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _replace_invalid_characters(value: Any) -> Any:
    """A specification without signs that XML cannot hold."""
    if isinstance(value, dict):
        return {_valid_xml_text(key): _replace_invalid_characters(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_invalid_characters(each) for each in value]
    return _valid_xml_text(value) if isinstance(value, str) else value


def _valid_xml_text(value: str) -> str:
    return INVALID_XML_CHARACTERS.sub("�", value)


def _limit_widths(spec: Any, key: str = "") -> Any:
    """A specification whose charts are at most as wide as a phone shows."""
    if isinstance(spec, dict):
        return {
            name: each if name == "datasets" else _limit_widths(each, name) for name, each in spec.items()
        }
    if isinstance(spec, list):
        return [_limit_widths(each) for each in spec]
    most = NARROW_LIMITS.get(key)
    return most if most is not None and isinstance(spec, int | float) and spec > most else spec


def _widen_labels(spec: Any) -> Any:
    """A specification whose names at the left have more room."""
    if isinstance(spec, dict):
        inside = {name: each if name == "datasets" else _widen_labels(each) for name, each in spec.items()}
        is_axis = inside.get("labelLimit") == NAME_AXIS_WIDTH
        return inside | {"labelLimit": WIDE_LABEL_LIMIT} if is_axis else inside
    return [_widen_labels(each) for each in spec] if isinstance(spec, list) else spec


class _IdRenumbering:
    """Ids of one chart, numbered anew: the renderer goes on counting from chart to chart."""

    def __init__(self, name: str) -> None:
        self._prefix = name
        self._new_ids: dict[str, str] = {}

    def __call__(self, given: str) -> str:
        return self._new_ids.setdefault(given, f"{self._prefix}-{len(self._new_ids)}")


def _sanitise(element: ElementTree.Element, ids: _IdRenumbering) -> None:
    """Keep what is listed, in place; what a pointer is told moves to a harmless attribute."""
    for child in list(element):
        if _local_name(child.tag) not in ALLOWED_ELEMENTS or _is_empty(child):
            element.remove(child)
        else:
            _sanitise(child, ids)
    told = element.get("aria-label") if element.get("aria-roledescription") not in GROUP_ROLES else None
    kept = {key: value for key, value in element.attrib.items() if key in ALLOWED_ATTRIBUTES}
    element.attrib.clear()
    element.attrib.update({key: _clean_value(key, value, ids) for key, value in kept.items()})
    if told:
        element.set("data-told", told)


def _is_empty(element: ElementTree.Element) -> bool:
    """Whether an element draws nothing: frames without a colour, and groups that hold only such."""
    unseen = (
        element.get("class") in FRAME_CLASSES
        and "stroke" not in element.attrib
        and "fill" not in element.attrib
    )
    return unseen or element.get("display") == "none"


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _clean_value(key: str, value: str, ids: _IdRenumbering) -> str:
    if key == "id":
        return ids(value)
    if value == GREY:
        # Words and axes in the page's own colour are read in light and dark alike.
        return "currentColor"
    if value.startswith("url(#"):
        return f"url(#{ids(value[5:-1])})"
    if key in ("d", "transform"):
        return LONG_DECIMAL.sub(lambda found: f"{float(found.group()):.1f}", value)
    return value


MAX_TOOLTIP_LENGTH = 120


def tooltips_to_descriptions(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification in which every mark with a tooltip is described by it, and no other mark at all."""
    return _TooltipWriter(spec.get("datasets", {})).rewrite(spec, None)


class _TooltipWriter:
    """Goes through a specification; remembers how many kinds of words the rows have."""

    def __init__(self, datasets: Mapping[str, list[dict[str, Any]]]) -> None:
        self._datasets = datasets
        self._n_fields = 0

    def rewrite(self, spec: dict[str, Any], rows: list[dict[str, Any]] | None) -> dict[str, Any]:
        rows = self._rows_of(spec.get("data"), rows)
        found = dict(spec)
        for parts in ("layer", "hconcat", "vconcat", "concat"):
            if parts in spec:
                found[parts] = [self.rewrite(each, rows) for each in spec[parts]]
        if "spec" in spec:
            found["spec"] = self.rewrite(spec["spec"], rows)
        return self._describe_mark(found, rows) if "mark" in spec else found

    def _rows_of(self, data: Any, rows: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        if not data:
            return rows
        return self._datasets.get(data["name"]) if "name" in data else data.get("values")

    def _describe_mark(self, spec: dict[str, Any], rows: list[dict[str, Any]] | None) -> dict[str, Any]:
        tooltip = spec.get("encoding", {}).get("tooltip")
        if not isinstance(tooltip, list) or not rows:
            mark = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
            return {**spec, "mark": {**mark, "aria": False}}
        field = f"told{self._n_fields}"
        self._n_fields += 1
        for row in rows:
            row[field] = _tooltip_text(tooltip, row)
        described = {"field": field, "type": "nominal"}
        return {**spec, "encoding": {**spec["encoding"], "description": described}}


def _tooltip_text(tooltip: list[dict[str, Any]], row: Mapping[str, Any]) -> str:
    """The lines of a tooltip for one row."""
    pairs = ((each.get("title") or each["field"], row.get(each["field"])) for each in tooltip)
    return "\n".join(
        f"{truncate(title, MAX_TOOLTIP_LENGTH)}: {_format_tooltip_value(value)}"
        for title, value in pairs
        if value is not None
    )


def _format_tooltip_value(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return format_float(value).replace("-", "−") if is_number else truncate(value, MAX_TOOLTIP_LENGTH)
