"""What a perceptron's certificate says, found again from its rows by plain sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.recount import COUNT, KNOWN, CountKey, ExactCount, Recount
from weigh.learn import DesignMatrix, build_design_matrix
from weigh.model import BayesModel, JointModel, PerceptronModel, ThresholdModel
from weigh.model.evidence.strengths import StatisticTable
from weigh.source import Source


def check_perceptron(model: PerceptronModel, source: Source) -> tuple[int, list[Check]]:
    """Return how many rows there are, and the checks of a perceptron against them."""
    rows = build_design_matrix(source, None, model.schema)
    checks = [_check_equal("radius", model.certificate.radius, _largest_row_norm(rows, model))]
    checks.append(_check_classes(model, rows))
    if model.certificate.batches == 1:
        checks.append(
            _check_equal("rows", model.certificate.examples / model.certificate.passes, rows.n_rows)
        )
    is_last = model.kept == "last" or model.record is not None
    if model.certificate.converged and is_last and len(model.classes) == 2:
        checks += _check_last_plane(model.keep("last"), rows)
    return rows.n_rows, checks


def _check_classes(model: PerceptronModel, rows: DesignMatrix) -> Check:
    beyond = [
        Mismatch(f"class {label!r}", "no", "yes") for label in rows.classes if label not in model.classes
    ]
    lacking = [
        Mismatch(f"class {label!r}", "yes", "no") for label in model.classes if label not in rows.classes
    ]
    return Check("classes", len({*rows.classes, *model.classes}), (*beyond, *lacking))


def _largest_row_norm(rows: DesignMatrix, model: PerceptronModel) -> float:
    squares = np.bincount(_row_numbers(rows), np.square(rows.values), minlength=rows.n_rows)
    # The bias's constant is part of every row.
    return math.sqrt(float(squares.max()) + model.certificate.bias)


def _check_last_plane(model: PerceptronModel, rows: DesignMatrix) -> Iterator[Check]:
    # As they were learned: of numbers that were scaled, as the rows are here.
    table = np.concatenate([term.trained_weights() for term in model.terms])
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
    for name, stated, length in _certified_margins(model, w, b):
        yield _check_equal(name, stated, float(leads.min()) / length)


def _certified_margins(model: PerceptronModel, w: Floats, b: float) -> Iterator[tuple[str, Any, float]]:
    length2 = float(w @ w)
    if length2:
        yield "margin of the last plane", model.certificate.margin, math.sqrt(length2)
        yield "the same, bias included", model.certificate.augmented_margin, math.sqrt(length2 + b * b)


def _row_numbers(rows: DesignMatrix) -> Any:
    return np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))


def _check_equal(name: str, stated: float, again: float) -> Check:
    if abs(stated - again) <= ROUNDING_TOLERANCE * abs(again):
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"{stated:.10g}", f"{again:.10g}"),))


ROUNDING_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Mismatch:
    """A number of the model that the data do not give."""

    what: str
    model: str
    data: str


@dataclass(frozen=True)
class Check:
    """One thing that was compared: how many numbers, and which of them differ."""

    name: str
    compared: int
    differing: tuple[Mismatch, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.differing

    def to_dict(self) -> dict[str, Any]:
        """The check for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "compared": self.compared,
            "differing": [vars(each) for each in self.differing],
        }


def check_counts(
    name: str, model: Mapping[Any, ExactCount], data: Mapping[Any, ExactCount], title: str, rounded: bool
) -> Check:
    """Compare counts by their keys: exactly, or to rounding where weights are fractional."""
    keys = list(dict.fromkeys([*model, *(key for key, n in data.items() if n)]))
    pairs = [(key, model.get(key, 0), data.get(key, 0)) for key in keys]
    differing = [
        Mismatch(_describe_count(key, title), _format_count(mine), _format_count(again))
        for key, mine, again in pairs
        if mine != again and not (rounded and abs(mine - again) <= ROUNDING_TOLERANCE * abs(again))
    ]
    return Check(name, len(keys), tuple(differing))


def check_sums_to_one(name: str, totals: list[float]) -> Check:
    """Check that every total is one, to rounding."""
    wrong = [
        Mismatch(name, repr(total), "1") for total in totals if not abs(total - 1.0) <= ROUNDING_TOLERANCE
    ]
    return Check(name, len(totals), tuple(wrong))


def _describe_count(key: Any, title: str) -> str:
    if not isinstance(key, tuple):
        return f"class {key!r}"
    what, label, name = key
    counted_what = f"{what} of {name!r}" if name not in ("", title) else what
    return f"{counted_what} in class {label!r}"


def _format_count(count: ExactCount) -> str:
    return f"{int(count):,}" if count == int(count) and abs(count) < 10**15 else repr(float(count))


THRESHOLD_SIDES = ("≤ cut", "> cut", "missing")


def check_class_counts(model: Any, recount: Recount) -> Check:
    """Compare the rows of each class."""
    rows = model.counts.sum(axis=0) if isinstance(model, ThresholdModel) else model.counts.rows
    mine = dict(zip(model.classes, map(_exact_count, rows.tolist()), strict=True))
    return check_counts("rows of each class", mine, recount.classes, "", rows.dtype == np.float64)


def check_naive_bayes(model: BayesModel, recount: Recount) -> Iterator[Check]:
    """Compare every part of a naive Bayes model."""
    for each, again in zip(model.distributions, recount.parts, strict=True):
        held = list(each.sufficient_statistics())
        one_known = any(what == KNOWN and name == "" for what, _, name in again)
        mine = dict(cell for one in held for cell in _model_counts(one, model.classes, one_known))
        # Only fractional weights or counts may round: whole counts and sums of numbers are exact.
        rounded = any(table.dtype == np.float64 for _, _, table in held)
        title = each.part.title
        yield check_counts(f"{title} ({each.part.kind.name})", mine, again, title, rounded)


def check_joint_table(model: JointModel, recount: Recount) -> Iterator[Check]:
    """Compare every cell of a joint table."""
    counts = model.counts.parts[0]
    names = [
        tuple(None if code < 0 else levels[code] for levels, code in zip(counts.levels, row, strict=True))
        for row in counts.codes.tolist()
    ]
    mine = dict(_table_counts(COUNT, model.classes, names, counts.table))
    yield check_counts(
        "cells of the table", mine, recount.joint_counts(), "", counts.table.dtype == np.float64
    )


def check_threshold(model: ThresholdModel, recount: Recount) -> Iterator[Check]:
    """Compare the rows on each side of the cut."""
    mine = dict(_table_counts(COUNT, model.classes, THRESHOLD_SIDES, model.counts.T))
    again: dict[CountKey, ExactCount] = {}
    for (what, label, (value,)), n in recount.joint_counts().items():
        side = 2 if value is None else int(value > model.cut)
        key = (what, label, THRESHOLD_SIDES[side])
        again[key] = again.get(key, 0) + n
    yield check_counts(f"sides of {model.column}", mine, again, "", model.counts.dtype == np.float64)


def _model_counts(
    held: StatisticTable, classes: list[Any], one_known: bool
) -> Iterator[tuple[CountKey, ExactCount]]:
    what, names, table = held
    if what == KNOWN and one_known and table.shape[1] == 1:
        names = [""]
    yield from _table_counts(what, classes, names, np.broadcast_to(table, (len(classes), len(names))))


def _table_counts(
    what: str, classes: list[Any], names: Iterable[Any], table: Any
) -> Iterator[tuple[CountKey, ExactCount]]:
    named = list(names)
    for c, row in zip(classes, table.tolist(), strict=True):
        for name, n in zip(named, row, strict=True):
            if n:
                yield (what, c, name), _exact_count(n)


def _exact_count(count: float) -> ExactCount:
    return count if isinstance(count, int) else Fraction(count)
