"""An evaluation as text of at most 80 columns, and as a small HTML table."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.losses import UNSEEN

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
        _aligned(_measure_rows(evaluation)),
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
        f"<div>{_html_table(_headline(evaluation), _measure_rows(evaluation))}"
        f"{_html_table(title, rows)}{notes}</div>"
    )


def _headline(evaluation: Evaluation) -> str:
    n, many = evaluation.n, len(evaluation.classes)
    weighted = "" if evaluation.weight == n else f", total weight {_amount(evaluation.weight)}"
    return f"Evaluation on {_counted(n, 'row')}{weighted}, {_counted(many, 'class', 'classes')}"


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
            f"{_counted(evaluation.impossible, 'row')} gave the true class probability zero: "
            "the log loss is infinite."
        )
    if evaluation.unseen:
        rows = sum(rows for _, rows in evaluation.unseen)
        strange = [label for label, _ in evaluation.unseen]
        notes.append(
            f"{_counted(rows, 'row')} with labels that the model has never seen, counted as "
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
        head = ["true \\ predicted", *(_cut(name, 12) for name in names)]
        table = evaluation.confusion.table().tolist()
        rows = [[_cut(name, 20), *map(_amount, row)] for name, row in zip(names, table, strict=True)]
        if evaluation.unseen:
            rows.append(["(never seen)", *map(_amount, evaluation.confusion.unseen().tolist())])
        drawn = _aligned([head, *rows])
        if max(map(len, drawn.splitlines())) <= WIDTH:
            return drawn
    mistakes = evaluation.confusion.mistakes(MOST)
    if not mistakes:
        return "No mistakes."
    rows = [
        [_cut("(never seen)" if t == UNSEEN else names[t], 28), _cut(names[p], 28), _amount(w)]
        for t, p, w in mistakes
    ]
    title = f"The {len(rows)} most frequent mistakes:\n" if len(rows) > 1 else ""
    return title + _aligned([["true", "predicted", "rows"], *rows], left=2)


def _classes(evaluation: Evaluation) -> str:
    title, rows = _class_rows(evaluation)
    rest = max(len(line) for line in _aligned([row[1:] for row in rows], left=0).splitlines())
    drawn = _aligned([[_cut(row[0], WIDTH - rest - 2), *row[1:]] for row in rows])
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
        rows.append([_name(row.label), *written, _amount(row.support)])
    return title, rows


def _aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _html_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"


def _name(value: Any) -> str:
    written = str(value)
    return written if written and written.isprintable() else repr(value)


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def _share(number: float) -> str:
    if math.isnan(number):
        return "-"
    return f"{number:.2e}" if 0.0 < abs(number) < 0.001 else f"{number:.4f}"


def _sum(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:,.2f}"


def _amount(weight: float) -> str:
    return f"{weight:,.0f}" if weight == round(weight) else f"{weight:,.2f}"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or one + 's'}"
