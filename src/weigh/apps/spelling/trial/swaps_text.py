"""Errors put in and found, as text of at most 80 columns, as HTML and as rows to draw."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from weigh.apps.spelling.trial.compare_text import NAME, WIDER, WIDTH, fitted, fraction
from weigh.text import aligned, counted, cut, html_note, html_table, short

if TYPE_CHECKING:
    from weigh.apps.spelling.trial.swaps import Counts, Swaps
    from weigh.judge.measures.measure import Measure

_BROKEN = "More alarms than promised: this text is not like the text that was learned."
HEAD = ["", "in text", "swapped", "put right", "recall", "false", "precision"]


def text(found: Swaps) -> str:
    """The whole trial as text."""
    parts = [
        textwrap.fill(headline(found), WIDTH),
        "\n".join(textwrap.fill(each, WIDTH, subsequent_indent="  ") for each in _figures(found)),
        fitted(*(aligned(_table(found, width)) for width in (WIDER, NAME))),
        "\n".join(textwrap.fill(note, WIDTH) for note in _notes(found)),
    ]
    return "\n\n".join(parts)


def markup(found: Swaps) -> str:
    """The trial as an HTML table with its sentences."""
    notes = "".join(map(html_note, [*_figures(found), *_notes(found)]))
    return f"<div>{html_table(headline(found), _table(found, WIDER))}{notes}</div>"


def headline(found: Swaps) -> str:
    """What was done to how much text, in one sentence."""
    return (
        f"{counted(found.all.swapped, 'word')} swapped inside their sets, one in {found.one_in:,}, in "
        f"{counted(found.words, 'word')} of {counted(found.texts, 'text')} (seed {found.seed})"
    )


def _figures(found: Swaps) -> list[str]:
    every = found.all
    wrong = every.misnamed + every.false
    lines = [
        f"precision  {_spanned(found.precision)}: {every.right:,} of "
        f"{counted(every.suggestions, 'suggestion')} put an error right, {wrong:,} did not",
        f"recall     {_spanned(found.recall)}: {every.right:,} of "
        f"{counted(every.swapped, 'error')} put right",
        f"alarms     {_rated(found.alarms)} per 10,000 words of the texts as they were "
        f"({found.clean_alarms:,} in all); promised: "
        f"{short(max(found.promise.rate, found.promise.promised))} by suggesting above P = "
        f"{found.promise.threshold:.4f}",
    ]
    return lines if found.is_kept else [*lines, _BROKEN]


def _table(found: Swaps, width: int) -> list[list[str]]:
    rows = [_row(cut("/".join(words), width), counts) for words, counts in found.sets if counts.occurrences]
    return [HEAD, *rows, _row("all sets", found.all)]


def _row(name: str, counts: Counts) -> list[str]:
    return [
        name,
        f"{counts.occurrences:,}",
        f"{counts.swapped:,}",
        f"{counts.right:,}",
        fraction(counts.recall.value),
        f"{counts.misnamed + counts.false:,}",
        fraction(counts.precision.value),
    ]


def _notes(found: Swaps) -> list[str]:
    notes = [
        "false: suggestions at words that were not swapped, or of a third word. Intervals are exact, of 95 %."
    ]
    if left := ["/".join(words) for words, counts in found.sets if not counts.occurrences]:
        notes.append(f"Not in these texts: {', '.join(left)}.")
    return notes


def _spanned(measure: Measure) -> str:
    if math.isnan(measure.value):
        return "unknown"
    return f"{measure.value:.3f} ({measure.low:.3f} to {measure.high:.3f})"


def _rated(measure: Measure) -> str:
    return f"{measure.value:.2f} ({measure.low:.2f} to {measure.high:.2f})"


def drawn(found: Swaps) -> list[dict[str, Any]]:
    """A dot for every set of which something was swapped, those of which most was first: they tell most."""
    told = [("/".join(words), counts) for words, counts in found.sets if counts.swapped]
    return [
        {"name": name, "value": counts.recall.value, "low": counts.recall.low, "high": counts.recall.high}
        for name, counts in sorted(told, key=lambda one: -one[1].swapped)
    ]
