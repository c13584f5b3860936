"""The strongest effects of a model with curves: their shapes in words, and the panels to draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weigh.explain.column_effects import Effects, effects
from weigh.text import format_float, format_signed, truncate

if TYPE_CHECKING:
    from weigh.explain.effect_panels import Panel

MAX_EFFECTS = 10
MAX_NAME_LENGTH = 120


@dataclass(frozen=True, eq=False)
class MarkedRow:
    """A row that the report explains: its number, and the row as a batch of one."""

    row: int
    rows: Any


@dataclass(frozen=True)
class ReportEffect:
    """One effect: its name, shape in words, importance, least and greatest height, and number of cells.

    `told` are the importance and the two heights as text.
    """

    name: str
    kind: str
    shape: str
    importance: float
    lowest: float
    highest: float
    n_cells: int
    told: tuple[str, str]
    _panel: Panel

    @property
    def panel(self) -> Panel:
        """What to draw."""
        return self._panel


@dataclass(frozen=True)
class EffectFacts:
    """The strongest effects on the `target`, the number of all, and the numbers of the marked rows."""

    target: str
    sentence: str
    effects: tuple[ReportEffect, ...]
    n_effects: int
    marked: tuple[int, ...]


def effect_facts(model: Any, data: Any, marked: Sequence[MarkedRow]) -> EffectFacts:
    """Return the strongest effects; importance and histograms are those of the rows of the report."""
    found = effects(model, data)
    panels = found.panels(
        [each.rows for each in marked], [f"row {each.row:,}" for each in marked], MAX_EFFECTS
    )
    chosen = tuple(
        ReportEffect(
            truncate(fact.name, MAX_NAME_LENGTH),
            fact.kind,
            truncate(fact.shape, MAX_NAME_LENGTH),
            fact.importance,
            fact.lowest,
            fact.highest,
            fact.n_cells,
            (format_float(fact.importance), f"{format_signed(fact.lowest)} to {format_signed(fact.highest)}"),
            panel,
        )
        for fact, panel in zip(found.effects, panels, strict=False)
    )
    sentence = " ".join(_sentences(found, len(chosen), bool(marked)))
    return EffectFacts(found.target, sentence, chosen, found.n_effects, tuple(each.row for each in marked))


def _sentences(found: Effects, n_shown: int, has_marks: bool) -> Iterator[str]:
    """Yield what the charts show, and how to read them."""
    n_effects = found.n_effects
    which = (
        f"the {n_shown} strongest of {n_effects:,} effects" if n_shown < n_effects else "the strongest first"
    )
    average = ", on average over the classes" if found.classes else ""
    yield f"What each column adds to {truncate(found.target, MAX_NAME_LENGTH)}: {which}."
    yield f"Importance is the standard deviation of the contribution over the rows of this report{average}."
    yield "Grey bars show how many rows have a value, and bands are 95 % intervals."
    if has_marks:
        yield "Red marks are the rows that are explained above."
