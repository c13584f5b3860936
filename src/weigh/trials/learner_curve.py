"""Learning curves in words, as markup, and as rows to draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.text import (
    format_float,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    truncate,
)
from weigh.trials.candidates import LOSSES
from weigh.trials.crossing import Crossing
from weigh.trials.diagnosis import Diagnosis
from weigh.trials.learners import format_settings_note
from weigh.trials.power_law import PowerLaw, RequiredRows

if TYPE_CHECKING:
    from weigh.trials.learning_curves import LearningCurve

TABLE_HEADER = ["rows", "training loss", "validation loss", "interval", "fit"]
LAW_PLOT_POINTS = 40
MAX_TRAINING_CURVES = 2  # learners whose training losses are drawn too


def format_learning_curve(found: LearningCurve) -> str:
    """Print tables of sizes, laws, diagnoses and crossings."""
    parts = [_title(found), *(_format_curve(each) for each in found.curves)]
    if found.crossings:
        parts.append("\n".join(_wrap_line(str(each)) for each in found.crossings))
    parts += map(_wrap_line, format_settings_note({each.name: each.settings for each in found.curves}))
    return "\n\n".join(parts)


def learning_curve_html(found: LearningCurve) -> str:
    """Sizes, law and diagnosis of every learner, and the crossings, as HTML."""
    parts = [
        html_table(f"{each.name}: {_title(found)}", _point_table(each.points))
        + html_paragraph(_format_law(each))
        + each.diagnosis._repr_html_()
        for each in found.curves
    ]
    return f"<div>{''.join([*parts, *(html_paragraph(str(each)) for each in found.crossings)])}</div>"


def _title(found: LearningCurve) -> str:
    held = f"{found.folds} folds" + (f" × {found.repeats}" if found.repeats > 1 else "")
    return f"{LOSSES[found.loss].title} of {format_quantity(found.n, 'row')}, {held}"


def _format_curve(curve: FittedLearningCurve) -> str:
    told = str(curve.diagnosis).split("\n")
    lines = [
        text_table(_point_table(curve.points), left=0, indent="  "),
        _format_law(curve),
        *map(_wrap_line, told),
    ]
    return "\n".join([truncate(curve.name, 70), *lines])


def _format_law(curve: FittedLearningCurve) -> str:
    return f"no law: {curve.no_law}" if curve.law is None else str(curve.law)


def _wrap_line(line: str) -> str:
    """A line within 80 columns, what follows indented under a dash."""
    if len(line) <= 79:
        return line
    return "\n".join(textwrap.wrap(line, 79, subsequent_indent="  "))


def _point_table(points: Sequence[LearningCurvePoint]) -> list[list[str]]:
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
    return [TABLE_HEADER, *rows]


def _format_span(measure: Measure) -> str:
    return "" if math.isnan(measure.low) else f"{format_float(measure.low)} to {format_float(measure.high)}"


def _format_seconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def plot_rows(curves: Sequence[FittedLearningCurve]) -> list[dict[str, Any]]:
    """Rows of a picture: training and validation losses with their bands, and the laws."""
    rows: list[dict[str, Any]] = []
    for each in curves:
        before = f"{each.name}, " if len(curves) > 1 else ""
        finite = [point for point in each.points if math.isfinite(point.validation.value)]
        rows.extend(_band_row(f"{before}validation", point.rows, point.validation) for point in finite)
        if len(curves) <= MAX_TRAINING_CURVES:
            rows.extend(
                {"series": f"{before}training", "x": point.rows, "y": point.train.value} for point in finite
            )
        if each.law is not None:
            steps = np.geomspace(each.law.first, 10 * each.law.last, LAW_PLOT_POINTS)
            values = each.law.values(steps)
            series = f"{before}validation"
            rows.extend(
                {"series": series, "x": float(x), "y": float(y), "fitted": True}
                for x, y in zip(steps, values, strict=True)
            )
    return rows


def _band_row(series: str, rows: int, measure: Measure) -> dict[str, Any]:
    limits = {} if math.isnan(measure.low) else {"low": measure.low, "high": measure.high}
    return {"series": series, "x": rows, "y": measure.value, **limits}


def crossing_marks(crossings: Iterable[Crossing]) -> list[tuple[float, str]]:
    """Where to draw upright lines, and their words."""
    return [
        (each.rows, f"{each.large} overtakes {each.small}")
        for each in crossings
        if each.kind in ("measured", "extrapolated")
    ]


@dataclass(frozen=True)
class LearningCurvePoint:
    """The losses of a learner after so many rows, and the seconds that a fit took in the middle."""

    rows: int
    train: Measure
    validation: Measure
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {
            "rows": self.rows,
            "train": self.train.to_dict(),
            "validation": self.validation.to_dict(),
            "seconds": to_json_value(self.seconds),
        }


@dataclass(frozen=True, eq=False)
class FittedLearningCurve:
    """One learner: its losses at every size, the law of its validation loss, and what holds it back.

    `law` is None where no power law fits, and `no_law` says why. `settings` are those of the learner that
    differ from the defaults, in words.
    """

    name: str
    points: tuple[LearningCurvePoint, ...]
    law: PowerLaw | None
    no_law: str | None
    diagnosis: Diagnosis
    settings: str = ""

    def at(self, n: float) -> Measure:
        """Return the validation loss expected after n rows, by the law."""
        return self._require_law().at(n)

    def size_for(self, loss: float) -> RequiredRows:
        """Return how many rows bring the validation loss down to `loss`, by the law."""
        return self._require_law().size_for(loss)

    def _require_law(self) -> PowerLaw:
        if self.law is None:
            raise errors.Unsupported(
                f"No power law fits the curve of {self.name}: {self.no_law}. Measure more sizes, or more "
                f"folds and repeats."
            )
        return self.law

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "learner": self.name,
            "settings": self.settings,
            "points": [point.to_dict() for point in self.points],
            "law": None if self.law is None else self.law.to_dict(),
            "no_law": self.no_law,
            "diagnosis": self.diagnosis.to_dict(),
        }
