"""Bias and variance as text of at most 80 columns, and as HTML tables."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from weigh.text import aligned, counted, cut, escaped, html_table, short
from weigh.trials.learners import settings_note
from weigh.trials.trial import LOSSES

if TYPE_CHECKING:
    from weigh.trials.parts.bias_variance import BiasVariance
    from weigh.trials.parts.decomposition import Decomposition

WIDTH = 80
KOHAVI_WOLPERT = "kohavi-wolpert"
AUTHORS = {KOHAVI_WOLPERT: " (Kohavi & Wolpert)", "domingos": " (Domingos)"}
SQUARES = {"bias": "bias²"}
NAMES = {
    "squares": SQUARES,
    KOHAVI_WOLPERT: SQUARES,
    "domingos": {"variance_unbiased": "variance that hurts", "variance_biased": "variance that helps"},
}


def text(found: BiasVariance) -> str:
    """The whole result as text."""
    if len(found.learners) == 1:
        table = aligned(_parts(found), indent="  ")
    else:
        table = aligned(_learners(found, 22), indent="  ")
    notes = "\n".join(textwrap.fill(note, WIDTH) for note in _notes(found))
    return f"{_headline(found)}\n\n{table}\n\n{notes}"


def markup(found: BiasVariance) -> str:
    """The table in HTML, and what it rests on."""
    rows = _parts(found) if len(found.learners) == 1 else _learners(found, 60)
    notes = "".join(f"<p>{escaped(note)}</p>" for note in _notes(found))
    return f"<div>{html_table(_headline(found), rows)}{notes}</div>"


def words(found: BiasVariance) -> str:
    """What was taken apart."""
    return LOSSES[found.loss].words + AUTHORS.get(found.form, "")


def _headline(found: BiasVariance) -> str:
    who = (
        cut(next(iter(found.learners)), 30)
        if len(found.learners) == 1
        else counted(len(found.learners), "learner")
    )
    return f"Bias and variance of {who}: {words(found)}"


def _parts(found: BiasVariance) -> list[list[str]]:
    (each,) = found.learners.values()
    corrected = each.corrected() or {}
    rows = [["part", "mean", "± sets", "± rows", *(["corrected"] if corrected else [])]]
    for part in ("loss", *each.parts):
        errors = (each.error_of_rounds(part), each.error_of_rows(part))
        more = [_number(corrected.get(part, math.nan))] if corrected else []
        rows.append([_name(found, part), _number(each.mean(part)), *map(_number, errors), *more])
    return rows


def _learners(found: BiasVariance, width: int) -> list[list[str]]:
    # More than two parts leave no room for a ± at each.
    is_wide = len(found.parts) > 2
    rows = [["learner", "loss", *(_name(found, part) for part in found.parts)]]
    for name, each in found.learners.items():
        cells = [_cell(each, part, is_wide) for part in ("loss", *each.parts)]
        rows.append([cut(name, width - 8 if is_wide else width), *cells])
    return rows


def _cell(each: Decomposition, part: str, is_short: bool) -> str:
    mean = _number(each.mean(part))
    return mean if is_short else f"{mean} ± {_small(each.error_of_rounds(part))}"


def _notes(found: BiasVariance) -> list[str]:
    sets = f"{found.rounds:,} training sets: {found.sets}. Judged on {counted(len(found.test), 'other row')}."
    notes = [f"{sets} The parts add up to the loss."]
    how = "bootstrap" if found.form == "domingos" else "jackknife"
    meant = f"± sets: standard error from the number of training sets ({how})"
    if len(found.learners) == 1:
        notes.append(f"{meant}; ± rows: from the judged rows.{_corrected(found)}")
    elif len(found.parts) == 2:
        notes.append(f"{meant.replace('± sets', '±')}.")
    if "noise" not in found.parts:
        notes.append("Noise of the labels is part of the bias: one label per row cannot tell them apart.")
    return [*notes, *settings_note(found.settings)]


def _corrected(found: BiasVariance) -> str:
    if found.form == "domingos":
        return ""
    return " Corrected: what endless sets would give, without the share of a finite number."


def _name(found: BiasVariance, part: str) -> str:
    return NAMES[found.form].get(part, part)


def _number(number: float) -> str:
    if math.isnan(number):
        return ""
    size = abs(number)
    return f"{number:.4f}" if size == 0 or 0.0001 <= size < 10 else short(number)


def _small(number: float) -> str:
    return f"{number:.1g}" if number < 0.01 or number >= 1 else f"{number:.2f}"
