"""Charts as sanitised inline SVG, rendered without a browser.

The page contains no plotting library, so it stays small and evaluates nothing. Names and values of the data
are text and attributes of an XML tree. Elements and attributes that are not on the allow lists are dropped,
so names cannot inject markup.
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
# Widths in pixels at which a phone shows a chart and its labels without scaling.
NARROW_WIDTH = 240
NARROW_LIMITS = {"width": NARROW_WIDTH, "labelLimit": 140}
WIDE_LABEL_LIMIT = 260  # pixels
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
# Characters that XML does not allow; they would abort the renderer and with it the whole process.
INVALID_XML_CHARACTERS = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONG_DECIMAL = re.compile(r"-?\d+\.\d{2,}")
GROUP_ROLES = ("axis", "legend", "title", "line mark", "area mark")  # they do not show a single row
FRAME_CLASSES = ("background", "foreground")


def inline_svg(chart: Any, name: str, description: str, is_narrow: bool = False) -> str:
    """Return a chart as an SVG element; `name` is the prefix that makes its ids unique in the page."""
    # Validating the specification takes longer than rendering it, and our charts are tested.
    spec = tooltips_to_descriptions(_replace_invalid_characters(chart.to_dict(validate=False)))
    spec = _limit_widths(spec) if is_narrow else _widen_labels(spec)
    root = ElementTree.fromstring(render_svg(spec))
    width, height = float(root.get("width", 0)) + LEFT_MARGIN, float(root.get("height", 0))
    _sanitise(root, _IdRenumbering(name))
    # The reader's font may be wider than the one that the renderer measured.
    root.attrib |= {
        "viewBox": f"{-LEFT_MARGIN} 0 {width:g} {height:g}",
        "width": f"{width:g}",
        "height": f"{height:g}",
    }
    root.attrib |= {"role": "img", "aria-label": _valid_xml_text(description)}
    ElementTree.register_namespace("", SVG_NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _replace_invalid_characters(value: Any) -> Any:
    """Return a specification without characters that XML does not allow."""
    if isinstance(value, dict):
        return {_valid_xml_text(key): _replace_invalid_characters(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_invalid_characters(each) for each in value]
    return _valid_xml_text(value) if isinstance(value, str) else value


def _valid_xml_text(value: str) -> str:
    return INVALID_XML_CHARACTERS.sub("�", value)


def _limit_widths(spec: Any, key: str = "") -> Any:
    """Return a specification whose widths are limited to those of a phone."""
    if isinstance(spec, dict):
        return {
            name: each if name == "datasets" else _limit_widths(each, name) for name, each in spec.items()
        }
    if isinstance(spec, list):
        return [_limit_widths(each) for each in spec]
    limit = NARROW_LIMITS.get(key)
    return limit if limit is not None and isinstance(spec, int | float) and spec > limit else spec


def _widen_labels(spec: Any) -> Any:
    """Return a specification with wider labels on name axes."""
    if isinstance(spec, dict):
        widened = {name: each if name == "datasets" else _widen_labels(each) for name, each in spec.items()}
        is_name_axis = widened.get("labelLimit") == NAME_AXIS_WIDTH
        return widened | {"labelLimit": WIDE_LABEL_LIMIT} if is_name_axis else widened
    return [_widen_labels(each) for each in spec] if isinstance(spec, list) else spec


class _IdRenumbering:
    """Renumbers the ids of one chart, because the renderer's counter depends on earlier charts."""

    def __init__(self, name: str) -> None:
        self._prefix = name
        self._new_ids: dict[str, str] = {}

    def __call__(self, old_id: str) -> str:
        return self._new_ids.setdefault(old_id, f"{self._prefix}-{len(self._new_ids)}")


def _sanitise(element: ElementTree.Element, ids: _IdRenumbering) -> None:
    """Remove everything that is not on the allow lists, in place; tooltips move to `data-told`."""
    for child in list(element):
        if _local_name(child.tag) not in ALLOWED_ELEMENTS or _is_empty(child):
            element.remove(child)
        else:
            _sanitise(child, ids)
    tooltip = element.get("aria-label") if element.get("aria-roledescription") not in GROUP_ROLES else None
    allowed = {key: value for key, value in element.attrib.items() if key in ALLOWED_ATTRIBUTES}
    element.attrib.clear()
    element.attrib.update({key: _clean_value(key, value, ids) for key, value in allowed.items()})
    if tooltip:
        element.set("data-told", tooltip)


def _is_empty(element: ElementTree.Element) -> bool:
    """Return whether an element draws nothing: a frame without a colour, or a hidden element."""
    is_colourless_frame = (
        element.get("class") in FRAME_CLASSES
        and "stroke" not in element.attrib
        and "fill" not in element.attrib
    )
    return is_colourless_frame or element.get("display") == "none"


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _clean_value(key: str, value: str, ids: _IdRenumbering) -> str:
    if key == "id":
        return ids(value)
    if value == GREY:
        # Text and axes follow the colour of the page in light and dark mode.
        return "currentColor"
    if value.startswith("url(#"):
        return f"url(#{ids(value[5:-1])})"
    if key in ("d", "transform"):
        return LONG_DECIMAL.sub(lambda match: f"{float(match.group()):.1f}", value)
    return value


MAX_TOOLTIP_LENGTH = 120


def tooltips_to_descriptions(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification in which tooltips become descriptions and other marks have none."""
    return _TooltipWriter(spec.get("datasets", {})).rewrite(spec, None)


class _TooltipWriter:
    """Rewrites a specification, and adds one field with the tooltip text to the rows of each mark."""

    def __init__(self, datasets: Mapping[str, list[dict[str, Any]]]) -> None:
        self._datasets = datasets
        self._n_fields = 0

    def rewrite(self, spec: dict[str, Any], rows: list[dict[str, Any]] | None) -> dict[str, Any]:
        rows = self._rows_of(spec.get("data"), rows)
        rewritten = dict(spec)
        for parts in ("layer", "hconcat", "vconcat", "concat"):
            if parts in spec:
                rewritten[parts] = [self.rewrite(each, rows) for each in spec[parts]]
        if "spec" in spec:
            rewritten["spec"] = self.rewrite(spec["spec"], rows)
        return self._describe_mark(rewritten, rows) if "mark" in spec else rewritten

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
        description = {"field": field, "type": "nominal"}
        return {**spec, "encoding": {**spec["encoding"], "description": description}}


def _tooltip_text(tooltip: list[dict[str, Any]], row: Mapping[str, Any]) -> str:
    """Return the tooltip of one row, one line per field."""
    pairs = ((each.get("title") or each["field"], row.get(each["field"])) for each in tooltip)
    return "\n".join(
        f"{truncate(title, MAX_TOOLTIP_LENGTH)}: {_format_tooltip_value(value)}"
        for title, value in pairs
        if value is not None
    )


def _format_tooltip_value(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return format_float(value).replace("-", "−") if is_number else truncate(value, MAX_TOOLTIP_LENGTH)
