"""An evaluation as text of at most 80 columns, and as a small HTML table."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.losses import UNSEEN
from weigh.text import aligned, amount, counted, cut, html_table

if TYPE_CHECKING:
    from weigh.judge.evaluation import ClassRow, Evaluation

WIDTH = 80
MOST = 10

TITLES = {
    "accuracy": "accuracy",
    "zero_one": "zero-one loss",
    "squared": "squared loss",
    "log_loss": "log loss",
    "conditional_log_likelihood": "conditional log-likelihood",
    "joint_log_likelihood": "joint log-likelihood",
}


def text(evaluation: Evaluation) -> str:
    """The whole evaluation as text."""
    parts = [
        _headline(evaluation),
        aligned(_measure_rows(evaluation)),
        "\n".join(textwrap.fill(note, WIDTH) for note in _notes(evaluation)),
        _confusion(evaluation),
        _classes(evaluation),
    ]
    return "\n\n".join(parts)


def markup(evaluation: Evaluation) -> str:
    """The measures and the worst classes as two plain HTML tables."""
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in _notes(evaluation))
    title, rows = _class_rows(evaluation)
    return (
        f"<div>{html_table(_headline(evaluation), _measure_rows(evaluation))}"
        f"{html_table(title, rows)}{notes}</div>"
    )


def _headline(evaluation: Evaluation) -> str:
    n, many = evaluation.n, len(evaluation.classes)
    weighted = "" if evaluation.weight == n else f", total weight {amount(evaluation.weight)}"
    return f"Evaluation on {counted(n, 'row')}{weighted}, {counted(many, 'class', 'classes')}"


def _measure_rows(evaluation: Evaluation) -> list[list[str]]:
    rows = [["measure", "value", "low", "high"]]
    for measure in evaluation.measures:
        write = _sum if measure.name.endswith("likelihood") else _share
        numbers = [write(number) for number in (measure.value, measure.low, measure.high)]
        rows.append([TITLES[measure.name], *numbers])
    return rows


def _notes(evaluation: Evaluation) -> list[str]:
    means = any(measure.name == "log_loss" for measure in evaluation.measures)
    exact = f"Intervals of {100 * evaluation.level:g}%: exact (Clopper-Pearson) for shares"
    notes = [f"{exact}, normal for mean losses." if means else f"{exact}."]
    if not means:
        notes.append("The classifier gives no probabilities, so no other loss.")
    effective = evaluation.weight**2 / float(evaluation.confusion.squares.sum())
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


def _alike(evaluation: Evaluation) -> str:
    names = {str(value): value for value in evaluation.classes}
    for label, _ in evaluation.unseen:
        if str(label) in names:
            twin = names[str(label)]
            return f" {label!r} is not the class {twin!r}: their types differ."
    return ""


def _confusion(evaluation: Evaluation) -> str:
    names = [_name(value) for value in evaluation.classes]
    if len(names) <= MOST:
        head = ["true \\ predicted", *(cut(name, 12) for name in names)]
        table = evaluation.confusion.table().tolist()
        rows = [[cut(name, 20), *map(amount, row)] for name, row in zip(names, table, strict=True)]
        if evaluation.unseen:
            rows.append(["(never seen)", *map(amount, evaluation.confusion.unseen().tolist())])
        drawn = aligned([head, *rows])
        if max(map(len, drawn.splitlines())) <= WIDTH:
            return drawn
    mistakes = evaluation.confusion.mistakes(MOST)
    if not mistakes:
        return "No mistakes."
    rows = [
        [cut("(never seen)" if t == UNSEEN else names[t], 28), cut(names[p], 28), amount(w)]
        for t, p, w in mistakes
    ]
    title = f"The {len(rows)} most frequent mistakes:\n" if len(rows) > 1 else ""
    return title + aligned([["true", "predicted", "rows"], *rows], left=2)


def _classes(evaluation: Evaluation) -> str:
    title, rows = _class_rows(evaluation)
    rest = max(len(line) for line in aligned([row[1:] for row in rows], left=0).splitlines())
    drawn = aligned([[cut(row[0], WIDTH - rest - 2), *row[1:]] for row in rows])
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


def _name(value: Any) -> str:
    written = str(value)
    return written if written and written.isprintable() else repr(value)


def _share(number: float) -> str:
    if math.isnan(number):
        return "-"
    return f"{number:.2e}" if 0.0 < abs(number) < 0.001 else f"{number:.4f}"


def _sum(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:,.2f}"
