"""What a pointer is told on a mark of a chart: its tooltip, written beside the row that it shows.

The words are made here and go into the chart as values. Nothing of the data becomes an expression.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from weigh.text import cut, short

WIDEST = 120


def with_words(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification in which every mark with a tooltip is described by it, and no other mark at all."""
    return _Teller(spec.get("datasets", {})).told(spec, None)


class _Teller:
    """Goes through a specification; remembers how many kinds of words the rows have."""

    def __init__(self, datasets: Mapping[str, list[dict[str, Any]]]) -> None:
        self._datasets = datasets
        self._kinds = 0

    def told(self, spec: dict[str, Any], rows: list[dict[str, Any]] | None) -> dict[str, Any]:
        rows = self._rows(spec.get("data"), rows)
        found = dict(spec)
        for parts in ("layer", "hconcat", "vconcat", "concat"):
            if parts in spec:
                found[parts] = [self.told(each, rows) for each in spec[parts]]
        if "spec" in spec:
            found["spec"] = self.told(spec["spec"], rows)
        return self._described(found, rows) if "mark" in spec else found

    def _rows(self, data: Any, rows: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        if not data:
            return rows
        return self._datasets.get(data["name"]) if "name" in data else data.get("values")

    def _described(self, spec: dict[str, Any], rows: list[dict[str, Any]] | None) -> dict[str, Any]:
        tooltip = spec.get("encoding", {}).get("tooltip")
        if not isinstance(tooltip, list) or not rows:
            mark = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
            return {**spec, "mark": {**mark, "aria": False}}
        field = f"told{self._kinds}"
        self._kinds += 1
        for row in rows:
            row[field] = _words(tooltip, row)
        described = {"field": field, "type": "nominal"}
        return {**spec, "encoding": {**spec["encoding"], "description": described}}


def _words(tooltip: list[dict[str, Any]], row: Mapping[str, Any]) -> str:
    """The lines of a tooltip for one row."""
    pairs = ((each.get("title") or each["field"], row.get(each["field"])) for each in tooltip)
    return "\n".join(f"{cut(title, WIDEST)}: {_value(value)}" for title, value in pairs if value is not None)


def _value(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return short(value).replace("-", "−") if is_number else cut(value, WIDEST)
