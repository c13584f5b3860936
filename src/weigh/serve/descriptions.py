"""What clients need to know of a model, as plain values: its columns, classes, counts and certificates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.cells import FlagReading, NumberReading
from weigh.features.dates.kind import Date
from weigh.features.kinds import Category, Flag, Kind
from weigh.model.base import BaseModel, Model
from weigh.model.count_model import CountModel
from weigh.result import to_json

MAX_LEVELS = 500
MAX_COLUMNS = 2_000
NARROW_CELL = 0.002  # of its numbers
_DATE_FORMATS = {"ymd": "2024-12-31", "dmy": "31/12/2024", "mdy": "12/31/2024"}


def describe(model: BaseModel) -> dict[str, Any]:
    """Return the facts of a model that do not depend on where it is served."""
    facts: dict[str, Any] = {"type": model.type_name, "label": model.label, "named": model.schema.named}
    if isinstance(model, Model):
        facts |= {"classes": to_json(list(model.classes)), "has_probabilities": model.has_probabilities}
    else:
        facts["has_std"] = has_deviations(model)
    columns = list(describe_columns(model))
    facts["columns"] = columns[:MAX_COLUMNS]
    facts["n_columns"] = len(columns)
    facts["can_work"] = isinstance(model, CountModel)
    facts["can_flip"] = isinstance(model, Model)
    inner = model.uncalibrated
    if isinstance(inner, CountModel) and inner.has_rows:
        facts["rows"] = count_rows(inner)
    certificate = getattr(inner, "certificate", None)
    facts["certificate"] = None if certificate is None else to_json(certificate)
    calibration = getattr(model, "calibration", None)
    facts["calibration"] = None if calibration is None else str(calibration)
    return facts


def has_deviations(model: Any) -> bool:
    """Whether a regression has predictive standard deviations."""
    try:
        return model.training_posterior is not None
    except errors.WeighError:
        return False


def count_rows(model: CountModel) -> dict[str, Any]:
    """Return the number of training rows of each class."""
    return {str(label): n for label, n in zip(model.classes, model.counts.rows.tolist(), strict=True)}


def describe_columns(model: BaseModel) -> Iterator[dict[str, Any]]:
    """Yield the columns that rows have, with what a form needs to know of their values."""
    schema, ranges = model.schema, _number_ranges(model)
    for name, kind in zip(schema.names, schema.kinds, strict=True):
        if kind.name == "skip":
            continue
        column = {"name": name, "kind": kind.name, **_describe_kind(kind)}
        if isinstance(kind, Category):
            levels = list(model.levels.get(name, ()))
            column |= {"levels": to_json(levels[:MAX_LEVELS]), "n_levels": len(levels)}
        if isinstance(kind, Flag):
            column["choices"] = [False, True]
        reading = schema.readings.get(name)
        if isinstance(reading, FlagReading):
            column["choices"] = [reading.absent, reading.present]
        if isinstance(reading, NumberReading) and reading.unit:
            column["unit"] = reading.unit
        if name in ranges:
            column["minimum"], column["maximum"] = ranges[name]
        yield column


def _describe_kind(kind: Kind) -> Mapping[str, Any]:
    if not isinstance(kind, Date):
        return {}
    has_time = "hour" in (kind.parts or ())
    return {"format": _DATE_FORMATS[kind.order or "ymd"] + " 18:30" * has_time}


def _number_ranges(model: BaseModel) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest training number of columns, as exactly as the model keeps them."""
    # Imported here because only descriptions and unfamiliar rows need them.
    from weigh.explain.training_inputs import NumberInput, read_inputs
    from weigh.model.counts.value_grid import cell_bounds

    try:
        inputs = read_inputs(model.uncalibrated)
    except errors.Unsupported:
        return {}
    ranges = {}
    for part in inputs.parts:
        grid = getattr(getattr(part, "counts", None), "grid", None)
        if isinstance(part, NumberInput):
            low, high = part.cells.bounds
        elif grid is not None:
            low, high = cell_bounds(grid.cells)
        else:
            continue
        if len(low):
            first, last = int(np.argmin(low)), int(np.argmax(high))
            ends = _end(float(low[first]), float(high[first])), _end(float(high[last]), float(low[last]))
            ranges[part.part.names[0]] = ends
    return ranges


def _end(outer: float, inner: float) -> float:
    """Return an end of a range from the bounds of its last cell, of which one is closer to zero.

    Numbers with few digits, such as whole ones, are that bound of a narrow cell.
    """
    nearer = min(outer, inner, key=abs)
    return nearer if abs(outer - inner) <= NARROW_CELL * abs(nearer) else outer
