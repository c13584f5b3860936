"""What a perceptron's certificate says, found again from its rows by plain sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verifying.checks import ROUNDING, Check, Mismatch
from weigh.learn import Design, design
from weigh.model import PerceptronModel
from weigh.source import Source


def run_checks(model: PerceptronModel, source: Source) -> tuple[int, list[Check]]:
    """Return how many rows there are, and the checks of a perceptron against them."""
    rows = design(source, None, model.schema)
    checks = [_same("radius", model.certificate.radius, _radius(rows, model))]
    checks.append(_classes(model, rows))
    if model.certificate.batches == 1:
        checks.append(_same("rows", model.certificate.examples / model.certificate.passes, rows.n_rows))
    is_last = model.kept == "last" or model.record is not None
    if model.certificate.converged and is_last and len(model.classes) == 2:
        checks += _plane_checks(model.keep("last"), rows)
    return rows.n_rows, checks


def _classes(model: PerceptronModel, rows: Design) -> Check:
    beyond = [
        Mismatch(f"class {label!r}", "no", "yes") for label in rows.classes if label not in model.classes
    ]
    lacking = [
        Mismatch(f"class {label!r}", "yes", "no") for label in model.classes if label not in rows.classes
    ]
    return Check("classes", len({*rows.classes, *model.classes}), (*beyond, *lacking))


def _radius(rows: Design, model: PerceptronModel) -> float:
    squares = np.bincount(_row_numbers(rows), np.square(rows.values), minlength=rows.n_rows)
    # The bias's constant is part of every row.
    return math.sqrt(float(squares.max()) + model.certificate.bias)


def _plane_checks(model: PerceptronModel, rows: Design) -> Iterator[Check]:
    # As they were learned: of numbers that were scaled, as the rows are here.
    table = np.concatenate([term.learned() for term in model.terms])
    w = table[:, 1] - table[:, 0]
    if list(rows.names) != model.features:
        weights = dict(zip(model.features, w.tolist(), strict=True))
        w = np.array([weights.get(name, 0.0) for name in rows.names])
    b = float(model.base[1] - model.base[0])
    scores = np.bincount(_row_numbers(rows), w[rows.indices] * rows.values, minlength=rows.n_rows) + b
    second = np.array([label == model.classes[1] for label in rows.classes])[rows.codes]
    wrong = np.flatnonzero((scores >= 0) != second)
    told = [Mismatch(f"row {row:,}", "right", f"scores {scores[row]:g}") for row in wrong.tolist()]
    yield Check("rows on the right side of the last plane", rows.n_rows, tuple(told))
    leads = np.where(second, scores, -scores)
    for name, stated, length in _lengths(model, w, b):
        yield _same(name, stated, float(leads.min()) / length)


def _lengths(model: PerceptronModel, w: Floats, b: float) -> Iterator[tuple[str, Any, float]]:
    length2 = float(w @ w)
    if length2:
        yield "margin of the last plane", model.certificate.margin, math.sqrt(length2)
        yield "the same, bias included", model.certificate.augmented_margin, math.sqrt(length2 + b * b)


def _row_numbers(rows: Design) -> Any:
    return np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))


def _same(name: str, stated: float, again: float) -> Check:
    if abs(stated - again) <= ROUNDING * abs(again):
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"{stated:.10g}", f"{again:.10g}"),))
