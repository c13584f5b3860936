"""Compare a model with its rows: the counts of Bayes and threshold models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from weigh.judge.verification.recount import (
    ALL_CLASSES,
    ALL_TEXTS,
    COUNT,
    KNOWN,
    TEXTS,
    CountKey,
    ExactCount,
    Recount,
)
from weigh.learn.design_matrix import DesignMatrix
from weigh.model.counts.count_table import have_same_names
from weigh.model.evidence.strengths import StatisticTable
from weigh.model.joint_bayes import JointModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.threshold import ThresholdModel
from weigh.result import Facts

ROUNDING_TOLERANCE = 1e-9
NULL_TOLERANCE = 1e-12  # relative to the objective of the empty model
THRESHOLD_SIDES = ("≤ cut", "> cut", "missing")


@dataclass(frozen=True)
class Mismatch:
    """A value of the model that differs from the data."""

    what: str
    model: str
    data: str


@dataclass(frozen=True)
class Check(Facts):
    """One check: how many numbers were compared, and which of them differ."""

    name: str
    compared: int
    differing: tuple[Mismatch, ...] = ()
    _json = ("name", "ok", "compared", "differing")

    @property
    def ok(self) -> bool:
        """Whether all numbers agree."""
        return not self.differing


class Unchecked(NamedTuple):
    """What a verification could not check, and why; `what` is empty if all was checked, in another way."""

    what: str
    why: str


class RowChecks(NamedTuple):
    """The checks of a model against its rows."""

    n_rows: int
    checks: Sequence[Check]
    unchecked: Sequence[Unchecked] = ()


def check_counts(
    name: str, model: Mapping[Any, ExactCount], data: Mapping[Any, ExactCount], title: str, rounded: bool
) -> Check:
    """Compare counts by their keys: exactly, or up to rounding for fractional weights."""
    keys = list(dict.fromkeys([*model, *(key for key, n in data.items() if n)]))
    pairs = [(key, model.get(key, 0), data.get(key, 0)) for key in keys]
    differing = [
        Mismatch(_describe_count(key, title), _format_count(stated), _format_count(recounted))
        for key, stated, recounted in pairs
        if stated != recounted
        and not (rounded and abs(stated - recounted) <= ROUNDING_TOLERANCE * abs(recounted))
    ]
    return Check(name, len(keys), tuple(differing))


def check_close(
    name: str, stated: float, recomputed: float, tolerance: float = ROUNDING_TOLERANCE, scale: float = 0.0
) -> Check:
    """Compare a stated number with the recomputed one, up to a relative tolerance.

    `scale` is the size of the terms that were summed, whose rounding errors may exceed the tolerance.
    """
    if abs(stated - recomputed) <= tolerance * abs(recomputed) + NULL_TOLERANCE * scale:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, f"{stated:.10g}", f"{recomputed:.10g}"),))


def check_classes(model: Any, rows: DesignMatrix) -> Check:
    """Compare the classes of a model with those of the rows."""
    labels = dict.fromkeys([*model.classes, *rows.classes])
    differing = [
        Mismatch(
            f"class {label!r}",
            format_presence(label in model.classes),
            format_presence(label in rows.classes),
        )
        for label in labels
        if (label in model.classes) != (label in rows.classes)
    ]
    return Check("classes", len(labels), tuple(differing))


def check_features(model: Any, rows: DesignMatrix) -> Check:
    """Compare the names of a model's features with those of the rows."""
    if have_same_names(rows.names, model.feature_names):
        return Check("features", len(rows.names), ())
    in_model, in_rows = set(model.features), set(rows.names)
    differing = [
        Mismatch(name, format_presence(name in in_model), format_presence(name in in_rows))
        for name in sorted(in_model ^ in_rows)
    ]
    return Check("features", len(in_model | in_rows), tuple(differing))


def format_presence(is_present: bool) -> str:
    """Format whether a class or feature exists."""
    return "yes" if is_present else "no"


def check_sums_to_one(name: str, totals: list[float]) -> Check:
    """Check that every total is one, up to rounding."""
    wrong = [
        Mismatch(name, repr(total), "1") for total in totals if not abs(total - 1.0) <= ROUNDING_TOLERANCE
    ]
    return Check(name, len(totals), tuple(wrong))


def _describe_count(key: Any, title: str) -> str:
    if not isinstance(key, tuple):
        return f"class {key!r}"
    statistic, label, name = key
    of_name = f" of {name!r}" if name not in ("", title) else ""
    return f"{statistic}{of_name} in class {label!r}"


def _format_count(count: ExactCount) -> str:
    return f"{int(count):,}" if count == int(count) and abs(count) < 10**15 else repr(float(count))


def check_class_counts(model: Any, recount: Recount) -> Check:
    """Compare the rows of each class."""
    rows = model.counts.sum(axis=0) if isinstance(model, ThresholdModel) else model.counts.rows
    counts = dict(zip(model.classes, map(_exact_count, rows.tolist()), strict=True))
    return check_counts("rows of each class", counts, recount.classes, "", rows.dtype == np.float64)


def check_naive_bayes(model: BayesModel, recount: Recount) -> Iterator[Check]:
    """Compare the sufficient statistics of every distribution of a naive Bayes model."""
    for distribution, recounted in zip(model.distributions, recount.parts, strict=True):
        tables = list(distribution.sufficient_statistics())
        is_unnamed = any(statistic == KNOWN and name == "" for statistic, _, name in recounted)
        counts = dict(cell for table in tables for cell in _model_counts(table, model.classes, is_unnamed))
        # Only fractional weights or counts may round: whole counts and sums of numbers are exact.
        rounded = any(table.dtype == np.float64 for _, _, table in tables)
        title = distribution.part.title
        yield check_counts(f"{title} ({distribution.part.kind.name})", counts, recounted, title, rounded)


def check_joint_table(model: JointModel, recount: Recount) -> Iterator[Check]:
    """Compare every cell of a joint table."""
    counts = model.counts.parts[0]
    names = [
        tuple(None if code < 0 else levels[code] for levels, code in zip(counts.levels, row, strict=True))
        for row in counts.codes.tolist()
    ]
    cells = dict(_table_counts(COUNT, model.classes, names, counts.table))
    rounded = counts.table.dtype == np.float64
    yield check_counts("cells of the table", cells, recount.joint_counts(), "", rounded)


def check_threshold(model: ThresholdModel, recount: Recount) -> Iterator[Check]:
    """Compare the rows on each side of the threshold, and the threshold with the best one."""
    counts = dict(_table_counts(COUNT, model.classes, THRESHOLD_SIDES, model.counts.T))
    recounted: dict[CountKey, ExactCount] = {}
    for (statistic, label, (value,)), n in recount.joint_counts().items():
        side = 2 if value is None else int(value > model.cut)
        key = (statistic, label, THRESHOLD_SIDES[side])
        recounted[key] = recounted.get(key, 0) + n
    rounded = model.counts.dtype == np.float64
    yield check_counts(f"sides of {model.column}", counts, recounted, "", rounded)
    by_value: dict[float, dict[Any, ExactCount]] = {}
    for (_, label, (value,)), n in recount.joint_counts().items():
        if value is not None:
            by_value.setdefault(float(value), {})[label] = n
    low, high = _best_interval(by_value, rounded)
    yield check_facts(
        f"cut of {model.column}",
        {"low": model.low, "high": model.high, "cut": model.cut},
        {"low": low, "high": high, "cut": _midpoint(low, high)},
    )


def _best_interval(by_value: Mapping[float, Mapping[Any, ExactCount]], rounded: bool) -> tuple[float, float]:
    """Return the neighbouring values between which a cut makes the fewest errors.

    Of equal ones it is the widest, then the lowest interval. Fractional weights are equal up to rounding.
    """
    values = sorted(by_value)
    if len(values) < 2:
        return (values[0] if values else -math.inf), math.inf
    left: dict[Any, ExactCount] = {}
    right: dict[Any, ExactCount] = {}
    for counts in by_value.values():
        for label, n in counts.items():
            right[label] = right.get(label, 0) + n
    total = sum(right.values())
    n_errors = []
    for value in values[:-1]:
        for label, n in by_value[value].items():
            left[label], right[label] = left.get(label, 0) + n, right[label] - n
        n_errors.append(total - max(left.values()) - max(right.values()))
    most = min(n_errors) + (ROUNDING_TOLERANCE * total if rounded else 0)
    gaps = [gap for gap, n in zip(pairwise(values), n_errors, strict=True) if n <= most]
    return max(gaps, key=lambda gap: gap[1] / 2 - gap[0] / 2)


def _midpoint(low: float, high: float) -> float:
    """Return the middle of an interval, or its lower end if there is no middle."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return low if math.isfinite(low) else 0.0
    middle = low / 2 + high / 2
    return middle if low < middle < high else low


def check_facts(name: str, stated: Mapping[str, Any], recomputed: Mapping[str, Any]) -> Check:
    """Compare named facts, which must be equal."""
    differing = [
        Mismatch(fact, str(value), str(recomputed[fact]))
        for fact, value in stated.items()
        if value != recomputed[fact]
    ]
    return Check(name, len(stated), tuple(differing))


def _model_counts(
    statistics: StatisticTable, classes: list[Any], is_unnamed: bool
) -> Iterator[tuple[CountKey, ExactCount]]:
    """Yield a statistic's counts; `is_unnamed` says that the recount has one "known" count per class."""
    statistic, names, table = statistics
    if statistic in (TEXTS, ALL_TEXTS):
        classes = [ALL_CLASSES]
    if statistic == KNOWN and is_unnamed and table.shape[1] == 1:
        names = [""]
    yield from _table_counts(statistic, classes, names, np.broadcast_to(table, (len(classes), len(names))))


def _table_counts(
    statistic: str, classes: list[Any], names: Sequence[Any], table: Any
) -> Iterator[tuple[CountKey, ExactCount]]:
    """Yield the non-zero counts of a table [class, name] by their keys."""
    for label, row in zip(classes, table, strict=True):
        counted = np.flatnonzero(row)
        for j, n in zip(counted.tolist(), row[counted].tolist(), strict=True):
            yield (statistic, label, names[j]), _exact_count(n)


def _exact_count(count: float) -> ExactCount:
    return count if isinstance(count, int) else Fraction(count)
