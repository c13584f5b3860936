"""The pictures of a report, from its facts through the one drawing path."""

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
FEW_CLASSES = 5  # classes whose cells are drawn larger
CONFUSION_SIZE = 270  # pixels that they fill together
CHANCE_SERIES = "by chance"
CURVE_SIZE = {"width": 320, "height": 280}


@dataclass(frozen=True)
class Figure:
    """A picture twice, for wide and for narrow pages, with what a screen reader says of it."""

    told: str
    wide: str
    narrow: str


def draw_figures(facts: ReportFacts, say: Callable[[str], None]) -> dict[str, Figure]:
    """Draw all pictures that the facts allow, by name."""
    found = {}
    for name, told, chart in _charts(facts):
        say(f"Drawing {name}")
        wide, narrow = (inline_svg(chart, f"{name}-{at}", told, at == "narrow") for at in ("wide", "narrow"))
        found[name] = Figure(told, wide, narrow)
    return found


def _charts(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    """Yield name, description and chart of every picture."""
    if facts.quality.confusion and facts.quality.is_whole:
        yield (
            "confusion",
            "Confusion table: true classes down, predicted classes across.",
            _plot_confusion(facts),
        )
    if facts.strongest is not None:
        yield from _plot_strongest(facts)
    if facts.curves is not None:
        yield from _plot_ranking_curves(facts)
    if facts.learning is not None:
        yield "learning", f"Learning curve. {facts.learning.sentence}", _plot_learning_curve(facts)
    if facts.calibration is not None:
        yield "calibration", f"Reliability. {facts.calibration.sentence}", _plot_calibration(facts)
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
    many = len({row["column"] for row in rows})
    if many > FEW_CLASSES:
        return chart
    # A table of few classes has room for larger cells.
    return chart.properties(
        width={"step": CONFUSION_SIZE // many}, height={"step": CONFUSION_SIZE // many // 2}
    )


def _plot_strongest(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.strongest is not None
    for at, side in enumerate(facts.strongest.sides):
        # An infinite strength, of a value that no other class has, has no bar.
        rows: list[dict[str, Any]] = [
            {"name": truncate(each.name, MAX_LABEL_LENGTH), "value": each.amount}
            for each in side.features
            if isinstance(each.amount, float)
        ]
        if rows:
            told = f"What {side.title}, the strongest first: {', '.join(row['name'] for row in rows[:3])} …"
            make_names_unique(rows, "name")
            drawn = pictures.bar_chart(rows, x=facts.strongest.unit, longest=side.longest or math.inf)
            yield f"strongest-{at}", told, drawn


def _plot_ranking_curves(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.curves is not None
    for name, x, y, area in (
        ("roc", "share of other rows given the class", "recall", 0),
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
        told = f"{y} over {x}: " + "; ".join(f"{c.label}, area {c.told[area]}" for c in facts.curves.classes)
        yield name, told, pictures.line_chart(rows, x=x, y=y).properties(**CURVE_SIZE)


def _chance_line(facts: ReportFacts, name: str) -> list[tuple[float, float]]:
    """The ends of the line of guessing: the diagonal, or as precision the share of the only class drawn."""
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
    return pictures.line_chart(rows, x="rows learned", y=facts.learning.loss, log=True)


def _plot_calibration(facts: ReportFacts) -> Any:
    assert facts.calibration is not None
    rows = [{"series": "", **vars(each)} for each in facts.calibration.bins]
    return pictures.reliability_diagram(rows)


def _plot_regression(facts: ReportFacts) -> Iterator[tuple[str, str, Any]]:
    assert facts.numbers is not None
    dots = [{"x": r.true, "y": r.predicted, "text": f"row {r.row:,}"} for r in facts.numbers.residuals]
    told = f"Predicted over true numbers of {len(dots):,} rows; on the diagonal they agree."
    yield "residuals", told, pictures.scatter_plot(dots, x="true", y="predicted", diagonal=True)
    rows = [
        {"name": truncate(w.name, MAX_LABEL_LENGTH), "value": w.weight, "low": w.low, "high": w.high}
        for w in facts.numbers.weights
        if w.name != "bias"
    ]
    if rows:
        make_names_unique(rows, "name")
        drawn = pictures.interval_chart(rows, x="weight", mark=0.0)
        yield "weights", "Weights of the features with their intervals; zero is marked.", drawn
