"""The sections and the chart data of learning curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.learning_curve_laws import law_chart_rows
from weigh.result import Lines, Section, Table
from weigh.text import format_float
from weigh.trials.crossing import Crossing
from weigh.trials.learners import format_settings_note

if TYPE_CHECKING:
    from weigh.trials.learning_curves import FittedLearningCurve, LearningCurve, LearningCurvePoint

TABLE_HEADER = ["rows", "training loss", "validation loss", "interval", "fit"]
MAX_TRAINING_CURVES = 2  # training losses are plotted for at most this many learners


def learning_curve_sections(result: LearningCurve) -> list[Section]:
    """Return losses, power law and diagnosis of each learner, and crossings."""
    sections = [
        Section("curve", [_point_table(each.points), Lines(_format_law(each)), each.diagnosis], each.name)
        for each in result.curves
    ]
    crossings = [f"{each}" for each in result.crossings]
    settings = format_settings_note({each.name: each.settings for each in result.curves})
    return [*sections, Section("crossings", crossings), Section("settings", settings)]


def _format_law(curve: FittedLearningCurve) -> str:
    return f"no power law: {curve.no_law}" if curve.law is None else str(curve.law)


def _point_table(points: Sequence[LearningCurvePoint]) -> Table:
    rows = [
        [
            f"{point.rows:,}",
            format_float(point.train.value),
            format_float(point.validation.value),
            _format_span(point.validation),
            _format_seconds(point.seconds),
        ]
        for point in points
    ]
    return Table([TABLE_HEADER, *rows], left=0, indent="  ")


def _format_span(measure: Measure) -> str:
    return "" if math.isnan(measure.low) else f"{format_float(measure.low)} to {format_float(measure.high)}"


def _format_seconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def plot_rows(curves: Sequence[FittedLearningCurve]) -> list[dict[str, Any]]:
    """Return the data of a chart: training and validation losses with intervals, and the fitted laws."""
    rows: list[dict[str, Any]] = []
    for curve in curves:
        prefix = f"{curve.name}, " if len(curves) > 1 else ""
        validation = f"{prefix}validation"
        finite = [point for point in curve.points if math.isfinite(point.validation.value)]
        rows.extend(point.validation.chart_row("y", series=validation, x=point.rows) for point in finite)
        if len(curves) <= MAX_TRAINING_CURVES:
            rows.extend(
                {"series": f"{prefix}training", "x": point.rows, "y": point.train.value} for point in finite
            )
        if curve.law is not None:
            rows.extend(law_chart_rows(validation, curve.law, curve.law.first, 10 * curve.law.last))
    return rows


def crossing_marks(crossings: Iterable[Crossing]) -> list[tuple[float, str]]:
    """Return the positions and texts of vertical lines at significant crossings."""
    return [
        (each.rows, f"{each.large} overtakes {each.small}")
        for each in crossings
        if each.kind in ("measured", "extrapolated")
    ]
