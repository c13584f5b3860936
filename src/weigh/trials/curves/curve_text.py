"""Learning curves in words, as markup, and as rows to draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.judge.measures.measure import Measure
from weigh.text import aligned, counted, cut, html_note, html_table, short
from weigh.trials.curves.crossing import Crossing
from weigh.trials.curves.curve import Curve, Point
from weigh.trials.learners import settings_note
from weigh.trials.trial import LOSSES

if TYPE_CHECKING:
    from weigh.trials.curves.learning_curve import LearningCurve

HEAD = ["rows", "training loss", "validation loss", "interval", "fit"]
LAW_STEPS = 40
MOST_TRAINED = 2  # learners whose training losses are drawn too


def text(found: LearningCurve) -> str:
    """Print tables of sizes, laws, diagnoses and crossings."""
    parts = [_title(found), *(_one(each) for each in found.curves)]
    if found.crossings:
        parts.append("\n".join(_wrapped(str(each)) for each in found.crossings))
    parts += map(_wrapped, settings_note({each.name: each.settings for each in found.curves}))
    return "\n\n".join(parts)


def markup(found: LearningCurve) -> str:
    """Sizes, law and diagnosis of every learner, and the crossings, as HTML."""
    parts = [
        html_table(f"{each.name}: {_title(found)}", _rows(each.points))
        + html_note(_law(each))
        + each.diagnosis._repr_html_()
        for each in found.curves
    ]
    return f"<div>{''.join([*parts, *(html_note(str(each)) for each in found.crossings)])}</div>"


def _title(found: LearningCurve) -> str:
    held = f"{found.folds} folds" + (f" × {found.repeats}" if found.repeats > 1 else "")
    return f"{LOSSES[found.loss].words} of {counted(found.n, 'row')}, {held}"


def _one(curve: Curve) -> str:
    told = str(curve.diagnosis).split("\n")
    lines = [aligned(_rows(curve.points), left=0, indent="  "), _law(curve), *map(_wrapped, told)]
    return "\n".join([cut(curve.name, 70), *lines])


def _law(curve: Curve) -> str:
    return f"no law: {curve.no_law}" if curve.law is None else str(curve.law)


def _wrapped(line: str) -> str:
    """A line within 80 columns, what follows indented under a dash."""
    if len(line) <= 79:
        return line
    return "\n".join(textwrap.wrap(line, 79, subsequent_indent="  "))


def _rows(points: Sequence[Point]) -> list[list[str]]:
    rows = [
        [
            f"{point.rows:,}",
            short(point.train.value),
            short(point.validation.value),
            _span(point.validation),
            _time(point.seconds),
        ]
        for point in points
    ]
    return [HEAD, *rows]


def _span(measure: Measure) -> str:
    return "" if math.isnan(measure.low) else f"{short(measure.low)} to {short(measure.high)}"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def drawn(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Rows of a picture: training and validation losses with their bands, and the laws."""
    rows: list[dict[str, Any]] = []
    for each in curves:
        before = f"{each.name}, " if len(curves) > 1 else ""
        finite = [point for point in each.points if math.isfinite(point.validation.value)]
        rows.extend(_banded(f"{before}validation", point.rows, point.validation) for point in finite)
        if len(curves) <= MOST_TRAINED:
            rows.extend(
                {"series": f"{before}training", "x": point.rows, "y": point.train.value} for point in finite
            )
        if each.law is not None:
            steps = np.geomspace(each.law.first, 10 * each.law.last, LAW_STEPS)
            values = each.law.values(steps)
            series = f"{before}validation"
            rows.extend(
                {"series": series, "x": float(x), "y": float(y), "fitted": True}
                for x, y in zip(steps, values, strict=True)
            )
    return rows


def _banded(series: str, rows: int, measure: Measure) -> dict[str, Any]:
    limits = {} if math.isnan(measure.low) else {"low": measure.low, "high": measure.high}
    return {"series": series, "x": rows, "y": measure.value, **limits}


def marks(crossings: Iterable[Crossing]) -> list[tuple[float, str]]:
    """Where to draw upright lines, and their words."""
    return [
        (each.rows, f"{each.large} overtakes {each.small}")
        for each in crossings
        if each.kind in ("measured", "extrapolated")
    ]
