"""The charts of a report, drawn from its facts by `weigh.pictures`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weigh import pictures
from weigh.pictures.chart_data import make_names_unique
from weigh.report.facts import ReportFacts
from weigh.report.svg import inline_svg
from weigh.text import truncate

MAX_LABEL_LENGTH = 44
FEW_CLASSES = 5  # up to this number of classes, the confusion matrix is enlarged
CONFUSION_SIZE = 270  # pixels of an enlarged confusion matrix
CHANCE_SERIES = "by chance"
CURVE_SIZE = {"width": 320, "height": 280}


@dataclass(frozen=True)
class Figure:
    """A chart as SVG for wide and for narrow pages, with its text for screen readers."""

    description: str
    wide: str
    narrow: str


def draw_figures(facts: ReportFacts, say: Callable[[str], None]) -> dict[str, Figure]:
    """Return all charts that the facts allow, by name."""
    figures = {}
    for name, description, chart in _charts(facts):
        say(f"Drawing {name}")
        wide, narrow = (
            inline_svg(chart, f"{name}-{size}", description, size == "narrow") for size in ("wide", "narrow")
        )
        figures[name] = Figure(description, wide, narrow)
    return figures


def _charts(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, description and specification of every chart."""
    if facts.quality.confusion and facts.quality.is_whole:
        yield (
            "confusion",
            "Confusion matrix: rows are true classes, columns are predicted classes.",
            _plot_confusion(facts),
        )
    if facts.effects is not None:
        for i, effect in enumerate(facts.effects.effects):
            yield (
                f"effect-{i}",
                f"Effect of {effect.name}: {effect.shape}.",
                pictures.effect_chart(effect.panel),
            )
    if facts.strongest is not None:
        yield from _plot_strongest(facts)
    if facts.curves is not None:
        yield from _plot_ranking_curves(facts)
    if facts.learning is not None:
        yield "learning", f"Learning curve. {facts.learning.sentence}", _plot_learning_curve(facts)
    if facts.calibration is not None:
        yield "calibration", f"Reliability diagram. {facts.calibration.sentence}", _plot_calibration(facts)
    if facts.numbers is not None:
        yield from _plot_regression(facts)


def _plot_confusion(facts: ReportFacts) -> Any:
    rows = [
        {
            "row": truncate(c.true, MAX_LABEL_LENGTH),
            "column": truncate(c.predicted, MAX_LABEL_LENGTH),
            "value": c.rows,
            "shade": c.share,
        }
        for c in facts.quality.confusion
    ]
    chart = pictures.heatmap(rows, x="predicted", y="true")
    n_classes = len({row["column"] for row in rows})
    if n_classes > FEW_CLASSES:
        return chart
    step = CONFUSION_SIZE // n_classes
    return chart.properties(width={"step": step}, height={"step": step // 2})


def _plot_strongest(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.strongest is not None
    for i, side in enumerate(facts.strongest.sides):
        # A value that occurs in one class only can have infinite strength, which has no bar.
        rows: list[dict[str, Any]] = [
            {"name": truncate(each.name, MAX_LABEL_LENGTH), "value": each.amount}
            for each in side.features
            if isinstance(each.amount, float)
        ]
        if rows:
            names = ", ".join(row["name"] for row in rows[:3])
            make_names_unique(rows, "name")
            chart = pictures.bar_chart(rows, x=facts.strongest.unit, longest=side.longest or math.inf)
            yield f"strongest-{i}", f"What {side.title}, the strongest first: {names} …", chart


def _plot_ranking_curves(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.curves is not None
    for name, x, y, area in (
        ("roc", "false positive rate", "recall", 0),
        ("precision_recall", "recall", "precision", 1),
    ):
        rows = [
            {"series": f"{truncate(c.label, MAX_LABEL_LENGTH)} ({c.told[area]})", "x": point.x, "y": point.y}
            for c in facts.curves.classes
            for point in getattr(c, name)
        ]
        rows += [
            {"series": CHANCE_SERIES, "x": end, "y": height, "fitted": True}
            for end, height in _chance_line(facts, name)
        ]
        areas = "; ".join(f"{c.label}, area {c.told[area]}" for c in facts.curves.classes)
        yield name, f"{y} against {x}: {areas}", pictures.line_chart(rows, x=x, y=y).properties(**CURVE_SIZE)


def _chance_line(facts: ReportFacts, name: str) -> list[tuple[float, float]]:
    """Return the ends of the chance line: the diagonal, or the precision of chance for a single class."""
    assert facts.curves is not None
    if name == "roc":
        return [(0.0, 0.0), (1.0, 1.0)]
    first, *others = facts.curves.classes
    return [] if others else [(0.0, first.share), (1.0, first.share)]


def _plot_learning_curve(facts: ReportFacts) -> Any:
    assert facts.learning is not None
    rows = [
        {"series": p.series, "x": p.rows, "y": p.loss, "low": p.low, "high": p.high}
        for p in facts.learning.points
    ]
    return pictures.line_chart(rows, x="training rows", y=facts.learning.loss, log=True)


def _plot_calibration(facts: ReportFacts) -> Any:
    assert facts.calibration is not None
    rows = [{**vars(each), "series": ""} for each in facts.calibration.bins]
    return pictures.reliability_diagram(rows)


def _plot_regression(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.numbers is not None
    points = [{"x": r.true, "y": r.predicted, "text": f"row {r.row:,}"} for r in facts.numbers.residuals]
    description = f"Predicted against true values of {len(points):,} rows; they are equal on the diagonal."
    yield "residuals", description, pictures.scatter_plot(points, x="true", y="predicted", diagonal=True)
    rows = [
        {"name": truncate(w.name, MAX_LABEL_LENGTH), "value": w.weight, "low": w.low, "high": w.high}
        for w in facts.numbers.weights
        if w.name != "bias"
    ]
    if rows:
        make_names_unique(rows, "name")
        chart = pictures.interval_chart(rows, x="weight", mark=0.0)
        yield "weights", "Weights of the features with their intervals; zero is marked.", chart
