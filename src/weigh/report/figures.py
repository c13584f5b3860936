"""The pictures of a report, from its facts through the one drawing path."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weigh import pictures
from weigh.pictures.facts import distinct
from weigh.report.facts import Facts
from weigh.report.svg import inline
from weigh.text import cut

SHORT = 44
FEW = 5  # classes whose cells are drawn larger
ROOM = 270  # pixels that they fill together
BY_CHANCE = "by chance"
SQUARE = {"width": 320, "height": 280}


@dataclass(frozen=True)
class Figure:
    """A picture twice, for wide and for narrow pages, with what a screen reader says of it."""

    told: str
    wide: str
    narrow: str


def figures(facts: Facts, say: Callable[[str], None]) -> dict[str, Figure]:
    """Draw all pictures that the facts allow, by name."""
    found = {}
    for name, told, chart in _charts(facts):
        say(f"Drawing {name}")
        wide, narrow = (inline(chart, f"{name}-{at}", told, at == "narrow") for at in ("wide", "narrow"))
        found[name] = Figure(told, wide, narrow)
    return found


def _charts(facts: Facts) -> Iterator[tuple[str, str, Any]]:
    """Yield name, description and chart of every picture."""
    if facts.quality.confusion and facts.quality.is_whole:
        yield "confusion", "Confusion table: true classes down, predicted classes across.", _confusion(facts)
    if facts.strongest is not None:
        yield from _strongest(facts)
    if facts.curves is not None:
        yield from _ranking(facts)
    if facts.learning is not None:
        yield "learning", f"Learning curve. {facts.learning.sentence}", _learning(facts)
    if facts.calibration is not None:
        yield "calibration", f"Reliability. {facts.calibration.sentence}", _calibration(facts)
    if facts.numbers is not None:
        yield from _numbers(facts)


def _confusion(facts: Facts) -> Any:
    rows = [
        {"row": cut(c.true, SHORT), "column": cut(c.predicted, SHORT), "value": c.rows, "shade": c.share}
        for c in facts.quality.confusion
    ]
    chart = pictures.cells(rows, x="predicted", y="true")
    many = len({row["column"] for row in rows})
    if many > FEW:
        return chart
    # A table of few classes has room for larger cells.
    return chart.properties(width={"step": ROOM // many}, height={"step": ROOM // many // 2})


def _strongest(facts: Facts) -> Iterator[tuple[str, str, Any]]:
    assert facts.strongest is not None
    for at, side in enumerate(facts.strongest.sides):
        # An infinite strength, of a value that no other class has, has no bar.
        rows: list[dict[str, Any]] = [
            {"name": cut(each.name, SHORT), "value": each.amount}
            for each in side.features
            if isinstance(each.amount, float)
        ]
        if rows:
            told = f"What {side.title}, the strongest first: {', '.join(row['name'] for row in rows[:3])} …"
            distinct(rows, "name")
            drawn = pictures.bars(rows, x=facts.strongest.unit, longest=side.longest or math.inf)
            yield f"strongest-{at}", told, drawn


def _ranking(facts: Facts) -> Iterator[tuple[str, str, Any]]:
    assert facts.curves is not None
    for name, x, y, area in (
        ("roc", "share of other rows given the class", "recall", 0),
        ("precision_recall", "recall", "precision", 1),
    ):
        rows = [
            {"series": f"{cut(c.label, SHORT)} ({c.told[area]})", "x": point.x, "y": point.y}
            for c in facts.curves.classes
            for point in getattr(c, name)
        ]
        rows += [
            {"series": BY_CHANCE, "x": end, "y": height, "fitted": True}
            for end, height in _by_chance(facts, name)
        ]
        told = f"{y} over {x}: " + "; ".join(f"{c.label}, area {c.told[area]}" for c in facts.curves.classes)
        yield name, told, pictures.curves(rows, x=x, y=y).properties(**SQUARE)


def _by_chance(facts: Facts, name: str) -> list[tuple[float, float]]:
    """The ends of the line of guessing: the diagonal, or as precision the share of the only class drawn."""
    assert facts.curves is not None
    if name == "roc":
        return [(0.0, 0.0), (1.0, 1.0)]
    first, *others = facts.curves.classes
    return [] if others else [(0.0, first.share), (1.0, first.share)]


def _learning(facts: Facts) -> Any:
    assert facts.learning is not None
    rows = [
        {"series": p.series, "x": p.rows, "y": p.loss, "low": p.low, "high": p.high}
        for p in facts.learning.points
    ]
    return pictures.curves(rows, x="rows learned", y=facts.learning.loss, log=True)


def _calibration(facts: Facts) -> Any:
    assert facts.calibration is not None
    rows = [{"series": "", **vars(each)} for each in facts.calibration.bins]
    return pictures.reliability(rows)


def _numbers(facts: Facts) -> Iterator[tuple[str, str, Any]]:
    assert facts.numbers is not None
    dots = [{"x": r.true, "y": r.predicted, "text": f"row {r.row:,}"} for r in facts.numbers.residuals]
    told = f"Predicted over true numbers of {len(dots):,} rows; on the diagonal they agree."
    yield "residuals", told, pictures.scatter(dots, x="true", y="predicted", diagonal=True)
    rows = [
        {"name": cut(w.name, SHORT), "value": w.weight, "low": w.low, "high": w.high}
        for w in facts.numbers.weights
        if w.name != "bias"
    ]
    if rows:
        distinct(rows, "name")
        drawn = pictures.intervals(rows, x="weight", mark=0.0)
        yield "weights", "Weights of the features with their intervals; zero is marked.", drawn
