"""The sections of a bias–variance decomposition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weigh.result import Section, Table
from weigh.text import format_float, format_quantity
from weigh.trials.candidates import LOSSES
from weigh.trials.decomposition import Decomposition
from weigh.trials.learners import format_settings_note

if TYPE_CHECKING:
    from weigh.trials.bias_variance import BiasVariance

KOHAVI_WOLPERT = "kohavi-wolpert"
AUTHORS = {KOHAVI_WOLPERT: " (Kohavi & Wolpert)", "domingos": " (Domingos)"}
SQUARED_PART_TITLES = {"bias": "bias²"}
PART_TITLES = {
    "squares": SQUARED_PART_TITLES,
    KOHAVI_WOLPERT: SQUARED_PART_TITLES,
    "domingos": {"variance_unbiased": "unbiased variance", "variance_biased": "biased variance"},
}


def bias_variance_sections(result: BiasVariance) -> list[Section]:
    """Return the parts of the loss and the notes."""
    table = _part_table(result) if len(result.learners) == 1 else _learner_table(result)
    return [Section("parts", [table]), Section("notes", _notes(result))]


def loss_title(result: BiasVariance) -> str:
    """Return the title of the loss, with the authors of its decomposition."""
    return LOSSES[result.loss].title + AUTHORS.get(result.form, "")


def _part_table(result: BiasVariance) -> Table:
    (decomposition,) = result.learners.values()
    corrected = decomposition.corrected() or {}
    rows = [["part", "mean", "± sets", "± rows", *(["corrected"] if corrected else [])]]
    for part in ("loss", *decomposition.parts):
        numbers = [decomposition.mean(part), decomposition.error_of_rounds(part)]
        numbers.append(decomposition.error_of_rows(part))
        if corrected:
            numbers.append(corrected.get(part, math.nan))
        rows.append([part_title(result, part), *map(_format_number, numbers)])
    return Table(rows, indent="  ")


def _learner_table(result: BiasVariance) -> Table:
    # With more than two parts there is no room for standard errors.
    is_wide = len(result.parts) > 2
    rows = [["learner", "loss", *(part_title(result, part) for part in result.parts)]]
    for name, decomposition in result.learners.items():
        cells = [_format_cell(decomposition, part, is_wide) for part in ("loss", *decomposition.parts)]
        rows.append([name, *cells])
    return Table(rows, indent="  ", widths=(14 if is_wide else 22,))


def _format_cell(decomposition: Decomposition, part: str, is_short: bool) -> str:
    mean = _format_number(decomposition.mean(part))
    return mean if is_short else f"{mean} ± {_format_error(decomposition.error_of_rounds(part))}"


def _notes(result: BiasVariance) -> list[str]:
    test = format_quantity(len(result.test), "other row")
    notes = [
        f"{result.rounds:,} training sets: {result.sets}. Tested on {test}. The parts add up to the loss."
    ]
    method = "bootstrap" if result.form == "domingos" else "jackknife"
    source = f"standard error due to the number of training sets ({method})"
    if len(result.learners) == 1:
        notes.append(f"± sets: {source}; ± rows: due to the number of test rows.{_correction_note(result)}")
    elif len(result.parts) == 2:
        notes.append(f"±: {source}.")
    if "noise" not in result.parts:
        notes.append("The bias includes label noise: with one label per row they cannot be separated.")
    return [*notes, *format_settings_note(result.settings)]


def _correction_note(result: BiasVariance) -> str:
    return "" if result.form == "domingos" else " Corrected: estimate for infinitely many training sets."


def part_title(result: BiasVariance, part: str) -> str:
    """Return the title of a part."""
    return PART_TITLES[result.form].get(part, part)


def _format_number(number: float) -> str:
    if math.isnan(number):
        return ""
    size = abs(number)
    return f"{number:.4f}" if size == 0 or 0.0001 <= size < 10 else format_float(number)


def _format_error(number: float) -> str:
    return f"{number:.1g}" if number < 0.01 or number >= 1 else f"{number:.2f}"
