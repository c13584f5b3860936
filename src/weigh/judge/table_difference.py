"""Compare two joint tables, or two thresholds: their rows, values and probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats
from weigh.judge.setting_changes import SettingChange, compare_setting, schema_changes
from weigh.model.distributions.weights import format_value
from weigh.model.joint_bayes import JointModel
from weigh.model.threshold import ThresholdModel

NamedProbabilities = tuple[str, Floats, Floats]  # of each class of the old and of the new model
SIDE_NAMES = ("left side", "right side", "missing")


def threshold_settings(old: ThresholdModel, new: ThresholdModel) -> Iterator[SettingChange]:
    """Yield the changes of the columns and of the cut."""
    yield from schema_changes(old.schema, new.schema)
    cuts = [f"{model.column} > {format_value(model.cut)}" for model in (old, new)]
    yield from compare_setting("cut", *cuts)


def threshold_probabilities(old: ThresholdModel, new: ThresholdModel) -> Iterator[NamedProbabilities]:
    """Yield P(class) and P(class | side) in both models; sides of other columns have nothing in common."""
    yield "P(class)", np.exp(old.log_prior), np.exp(new.log_prior)
    if old.column == new.column:
        before, after = (np.exp(model.log_prior + model.weights) for model in (old, new))
        has_rows = old.counts.any(axis=1) | new.counts.any(axis=1)
        for side in np.flatnonzero(has_rows).tolist():
            name = SIDE_NAMES[side]
            yield f"{old.column}: {name}", before[side], after[side]


def joint_probabilities(old: JointModel, new: JointModel) -> Iterator[NamedProbabilities]:
    """Yield P(class), and P(cell | class) of all cells that occurred, if both have the same columns."""
    yield "P(class)", np.exp(old.log_prior), np.exp(new.log_prior)
    columns = list(old.table.columns)
    if columns != list(new.table.columns):
        return
    cells = list(dict.fromkeys([*_cells(old), *_cells(new)]))
    blocks = [_to_block([cell[j] for cell in cells]) for j in range(len(columns))]
    with np.errstate(divide="ignore"):
        before, after = (np.exp(model.table.log_probabilities(blocks)) for model in (old, new))
    for cell, p, q in zip(cells, before, after, strict=True):
        known = [(name, level) for name, level in zip(columns, cell, strict=True) if level is not None]
        yield ", ".join(f"{name}={level}" for name, level in known), p, q


def _cells(model: JointModel) -> Iterator[tuple[Any, ...]]:
    """Yield the levels of the cells that occurred; None is a missing value."""
    counts = model.counts.parts[0]
    for row in counts.codes.tolist():
        pairs = zip(counts.levels, row, strict=True)
        yield tuple(None if code < 0 else levels[code] for levels, code in pairs)


def _to_block(values: Sequence[Any]) -> CategoryBlock:
    levels = list(dict.fromkeys(value for value in values if value is not None))
    index = {level: code for code, level in enumerate(levels)} | {None: -1}
    return CategoryBlock(np.array([index[value] for value in values], dtype=np.int32), levels)
