"""An evaluation as text of at most 80 columns, and as a small HTML table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.measures import confusion_text
from weigh.text import aligned, amount, counted, cut, html_note, html_table, minus

if TYPE_CHECKING:
    from weigh.judge.measures.class_row import ClassRow
    from weigh.judge.measures.evaluation import Evaluation
    from weigh.judge.measures.measure import Measure

WIDTH = 80
MOST = 10
FEW = 30
LOSSES = ("squared", "brier", "log_loss")
CUT_OFF = "A few rows have most of the {}: the interval, cut off at 0, is rough."

TITLES = {
    "accuracy": "accuracy",
    "zero_one": "zero-one loss",
    "balanced_accuracy": "balanced accuracy",
    "macro_precision": "mean precision of classes",
    "macro_recall": "mean recall of classes",
    "macro_f1": "mean F1 of classes",
    "squared": "squared loss",
    "brier": "Brier score",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
    "conditional_log_likelihood": "conditional log-likelihood",
    "joint_log_likelihood": "joint log-likelihood",
}

# What is told in the line of another measure if both are the same, and how.
TWINS = {"macro_recall": "balanced_accuracy", "brier": "squared"}
ALIKE = {"brier": "(Brier score)"}


def text(evaluation: Evaluation) -> str:
    """The whole evaluation as text."""
    parts = [
        _headline(evaluation),
        aligned(_measure_rows(evaluation)),
        *_ranking(evaluation),
        "\n".join(textwrap.fill(note, WIDTH) for note in _notes(evaluation)),
        confusion_text.text(evaluation.confusion, _names(evaluation)),
        _classes(evaluation),
    ]
    return "\n\n".join(parts)


def markup(evaluation: Evaluation) -> str:
    """The measures, the areas, the confusion and the worst classes as plain HTML tables."""
    parts = [
        html_table(_headline(evaluation), _measure_rows(evaluation)),
        html_table("Ranking", _ranking_rows(evaluation)) if _is_ranked(evaluation) else "",
        *map(html_note, _notes(evaluation)),
        confusion_text.markup(evaluation.confusion, _names(evaluation)),
        html_table(*_class_rows(evaluation)),
    ]
    return f"<div>{''.join(parts)}</div>"


def _headline(evaluation: Evaluation) -> str:
    n, many = evaluation.n, len(evaluation.classes)
    weighted = "" if evaluation.weight == n else f", total weight {amount(evaluation.weight)}"
    return f"Evaluation on {counted(n, 'row')}{weighted}, {counted(many, 'class', 'classes')}"


def _measure_rows(evaluation: Evaluation) -> list[list[str]]:
    rows = [["measure", "value", "low", "high"]]
    for measure in _told_once(evaluation):
        write = _sum if measure.name.endswith("likelihood") else _share
        numbers = [write(number) for number in (measure.value, measure.low, measure.high)]
        rows.append([_title(evaluation, measure), *numbers])
    return rows


def _told_once(evaluation: Evaluation) -> Iterator[Measure]:
    """Yield the measures of the table, without those whose number another one tells already."""
    values = {measure.name: measure.value for measure in evaluation.measures}
    for measure in evaluation.measures:
        twin = TWINS.get(measure.name)
        if measure.name in TITLES and not (twin and _is_near(measure.value, values[twin])):
            yield measure


def _title(evaluation: Evaluation, measure: Measure) -> str:
    values = {each.name: each.value for each in evaluation.measures}
    for name, twin in TWINS.items():
        if twin == measure.name and name in ALIKE and _is_near(measure.value, values.get(name, math.nan)):
            return f"{TITLES[measure.name]} {ALIKE[name]}"
    return TITLES[measure.name]


def _is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _is_ranked(evaluation: Evaluation) -> bool:
    return any(not math.isnan(row.roc_area.value) for row in evaluation.per_class)


def _ranking(evaluation: Evaluation) -> Iterator[str]:
    """Yield the areas, if there are some."""
    if _is_ranked(evaluation):
        yield _fitted(_ranking_rows(evaluation))


def _ranking_rows(evaluation: Evaluation) -> list[list[str]]:
    """Return the areas of the second of two classes, or their mean and those of the worst classes."""
    rows = [["ranking", "ROC area", "low", "high", "PR area", "low", "high", "by chance"]]
    shown = [row for row in evaluation.per_class if not math.isnan(row.roc_area.value)]
    if len(evaluation.classes) == 2:
        shown = shown[-1:]
    else:
        overall = (evaluation.measure("roc_area"), evaluation.measure("pr_area"))
        rows.append([f"mean of {counted(len(shown), 'class', 'classes')}", *_areas(*overall), ""])
        shown = sorted(shown, key=lambda row: row.roc_area.value)[:MOST] if len(shown) > MOST else shown
    for row in shown:
        chance = f"{row.support / evaluation.weight:.4f}"
        rows.append([_name(row.label), *_areas(row.roc_area, row.pr_area), chance])
    return rows


def _areas(*measures: Measure) -> list[str]:
    return [f"{number:.4f}" for each in measures for number in (each.value, each.low, each.high)]


def _fitted(rows: list[list[str]]) -> str:
    """A table whose first column is cut so that lines are not too long."""
    rest = max(len(line) for line in aligned([row[1:] for row in rows], left=0).splitlines())
    return aligned([[cut(row[0], WIDTH - rest - 2), *row[1:]] for row in rows])


def _notes(evaluation: Evaluation) -> list[str]:
    means = any(measure.name == "log_loss" for measure in evaluation.measures)
    ways = ["exact (Clopper-Pearson) for shares"]
    of_student = ["mean losses"] if means else []
    of_student += ["the logits of areas"] if _is_ranked(evaluation) else []
    ways += [f"Student's for {' and '.join(of_student)}"] if of_student else []
    notes = [f"Intervals of {100 * evaluation.level:g}%: {', '.join(ways)}.", *evaluation.omitted]
    effective = evaluation.weight**2 / float(evaluation.confusion.squares.sum())
    notes += _rough(evaluation, effective) if means else []
    if round(effective, 1) != evaluation.n:
        notes.append(f"Unequal weights: intervals count {effective:,.1f} effective rows.")
    if evaluation.impossible:
        notes.append(
            f"{counted(evaluation.impossible, 'row')} gave the true class probability zero: "
            "the log loss is infinite."
        )
    if evaluation.unseen:
        rows = sum(rows for _, rows in evaluation.unseen)
        strange = [label for label, _ in evaluation.unseen]
        notes.append(
            f"{counted(rows, 'row')} with labels that the model has never seen, counted as "
            f"errors with probability zero: {errors.listing(strange)}.{_alike(evaluation)}"
        )
    return notes


def _rough(evaluation: Evaluation, rows: float) -> Iterator[str]:
    """Yield a warning where means of losses are far from following a bell curve."""
    cut_off = [each for each in _told_once(evaluation) if each.name in LOSSES and each.is_cut_off]
    if rows < FEW:
        yield "Intervals of mean losses of so few rows are rough."
    elif cut_off:
        yield CUT_OFF.format(" and ".join(_title(evaluation, each) for each in cut_off))


def _alike(evaluation: Evaluation) -> str:
    names = {str(value): value for value in evaluation.classes}
    for label, _ in evaluation.unseen:
        if str(label) in names:
            twin = names[str(label)]
            return f" {label!r} is not the class {twin!r}: their types differ."
    return ""


def _classes(evaluation: Evaluation) -> str:
    title, rows = _class_rows(evaluation)
    drawn = _fitted(rows)
    return f"{title}:\n{drawn}" if len(evaluation.classes) > MOST else drawn


def _class_rows(evaluation: Evaluation) -> tuple[str, list[list[str]]]:
    shown: Sequence[ClassRow] = evaluation.per_class
    title = "Classes"
    if len(shown) > MOST:
        # Absent classes, whose F1 is nan, tell nothing and come last.
        shown = sorted(shown, key=lambda row: math.inf if math.isnan(row.f1) else row.f1)[:MOST]
        title = f"The {MOST} classes of lowest F1"
    rows = [["class", "precision", "low", "high", "recall", "low", "high", "F1", "support"]]
    for row in shown:
        p, r = row.precision, row.recall
        numbers = (p.value, p.low, p.high, r.value, r.low, r.high, row.f1)
        written = ["-" if math.isnan(number) else f"{number:.3f}" for number in numbers]
        rows.append([_name(row.label), *written, amount(row.support)])
    return title, rows


def _names(evaluation: Evaluation) -> list[str]:
    return [_name(value) for value in evaluation.classes]


def _name(value: Any) -> str:
    written = str(value)
    return written if written and written.isprintable() else repr(value)


def _share(number: float) -> str:
    if math.isnan(number):
        return "-"
    return minus(f"{number:.2e}" if 0.0 < abs(number) < 0.001 else f"{number:.4f}")


def _sum(number: float) -> str:
    return "-" if math.isnan(number) else minus(f"{number:,.2f}")
