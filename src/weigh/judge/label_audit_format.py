"""The sections and the chart of an audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.advice import Setting
from weigh.judge.metrics.evaluation_format import TRUNCATED_INTERVAL_NOTE
from weigh.judge.redundancy_format import REDUNDANCY_TITLE, format_redundancy
from weigh.result import LINE_WIDTH, Lines, Section, Table
from weigh.text import (
    format_float,
    format_percent,
    format_probability,
    format_quantity,
    format_signed,
    truncate,
)

if TYPE_CHECKING:
    from weigh.judge.label_audit import Audit, SuspectRow

NAME_WIDTH = 22
MAX_LISTED_PAIRS = 10
AUDIT_TITLES = {"accuracy": "accuracy", "log_loss": "log loss"}


def audit_sections(audit: Audit) -> Iterator[Section]:
    """Yield the measures, the notes, the confused classes and the rows most at odds."""
    yield Section("measures", [Table(_measure_rows(audit), has_header=False)])
    yield from (Section("notes", [note]) for note in _notes(audit))
    if audit.redundancy is not None:
        yield Section("redundancy", format_redundancy(audit.redundancy), REDUNDANCY_TITLE)
    if audit.pairs:
        yield Section("pairs", [_pair_table(audit)])
    if audit.rows:
        text = "\n".join(line for row in audit.rows for line in _suspect_lines(row))
        lines = Lines(text, _suspect_table(audit))
        rows = "The row" if len(audit.rows) == 1 else f"The {len(audit.rows):,} rows"
        yield Section("rows", [lines], f"{rows} most at odds (the first row of the data is 0)")


def audit_headline(audit: Audit, notation: Callable[[Setting], str] = str) -> str:
    """Return in one sentence how many rows were judged, and how, with advice in a notation."""
    rows = format_quantity(audit.n, "row")
    if audit.left_out:
        return f"Audit of {rows}, each judged by the model that never saw it."
    bias = {
        True: "it has learned these rows, and so doubts their labels too little",
        False: "it has not learned all of these rows",
        None: "if it has learned these rows, it doubts their labels too little",
    }
    is_unknown = audit.can_forget and audit.has_seen is None
    advice = f" Then give {notation(Setting('seen', True))}." if is_unknown else ""
    return f"Audit of {rows}, as the model predicts them; {bias[audit.has_seen]}.{advice}"


def _measure_rows(audit: Audit) -> list[list[str]]:
    level = f"{100 * audit.level:.4g} %"
    rows = [
        [AUDIT_TITLES[m.name], f"{m.value:.4f}", f"({level}: {m.low:.4f} to {m.high:.4f})"]
        for m in audit.measures
    ]
    share = audit.at_odds / max(1, audit.n - audit.unjudged)
    rows.append(["labels at odds", f"{audit.at_odds:,}", f"({format_percent(share)})"])
    if audit.wrong is not None:
        share = audit.wrong / max(1, audit.n - audit.unjudged)
        about = f"about {audit.wrong:,}" if audit.wrong else "0"
        rows.append(["labels that look wrong", about, f"({format_percent(share)})"])
    return rows


def _notes(audit: Audit) -> Iterator[str]:
    if audit.wrong is not None:
        yield (
            "How many look wrong is estimated from the labels that even the surest predictions "
            "contradict. It may be a little above zero although all labels are right, where classes overlap, "
            "and is too low where many are wrong, mostly in small tables. Look at the rows."
        )
    if any(measure.name == "log_loss" and measure.is_truncated_at_zero for measure in audit.measures):
        yield TRUNCATED_INTERVAL_NOTE.format(AUDIT_TITLES["log_loss"])
    if audit.unjudged:
        rows = format_quantity(audit.unjudged, "row is", "rows are")
        yield f"{rows} not judged: without the row, the model does not know its label or its values."


def _pair_table(audit: Audit) -> Table:
    has_wrong = audit.wrong is not None
    rows = [["label", "model says", "at odds", *(["look wrong"] if has_wrong else [])]]
    for pair in audit.pairs:
        counts = [f"{pair.rows:,}", *([f"{pair.wrong:,}"] if has_wrong else [])]
        rows.append([str(pair.label), str(pair.said), *counts])
    widths = (NAME_WIDTH, NAME_WIDTH)
    return Table(rows, left=2, caption="Labels at odds", widths=widths, most=MAX_LISTED_PAIRS)


def _suspect_table(audit: Audit) -> Table:
    rows = [["row", "label", "model says", "probability of the label", "reasons"]]
    for row in audit.rows:
        reasons = "; ".join(f"{truncate(r.title, 40)} {_format_nats(r.nats)}" for r in row.reasons)
        rows.append([f"{row.row:,}", str(row.label), str(row.said), _format_label_probability(row), reasons])
    return Table(rows, left=5, widths=3 * (NAME_WIDTH,))


def _format_label_probability(row: SuspectRow) -> str:
    return "" if row.probability is None else format_probability(row.probability, math.isfinite(row.lead))


def _format_doubt(row: SuspectRow) -> str:
    """Return the probability of a row's label, or the lead of the predicted class."""
    if row.probability is None:
        return f"leads by {_format_size(row.lead)}"
    return f"label {_format_label_probability(row)} probable"


def _format_nats(nats: float) -> str:
    return format_signed(nats) if abs(nats) < 1e4 else f"+{_format_size(nats)}"


def _format_size(size: float) -> str:
    return format_float(size) if math.isfinite(size) else "∞"


def _suspect_lines(row: SuspectRow) -> Iterator[str]:
    label, predicted = truncate(row.label, NAME_WIDTH), truncate(row.said, NAME_WIDTH)
    line = f"row {row.row:,}: {label}, model says {predicted} ({_format_doubt(row)})"
    yield f"  {truncate(line, LINE_WIDTH - 2)}"
    for reason in row.reasons:
        size = _format_nats(reason.nats)
        yield f"    {size:>9}  {truncate(reason.title, LINE_WIDTH - 6 - max(9, len(size)))}"


def plot_audit(audit: Audit) -> Any:
    """Plot the log loss, or the lead over the label, of the rows that disagree most."""
    from weigh.pictures import bar_chart
    from weigh.pictures.chart_data import clip_infinite

    if not audit.rows:
        raise errors.Unsupported("No row is at odds with its label, so there is nothing to draw.")
    has_losses = all(row.loss is not None for row in audit.rows)
    sizes = clip_infinite([row.lead if row.loss is None else row.loss for row in audit.rows])
    table = [
        {
            "name": f"row {row.row:,}",
            "value": size,
            "group": f"{truncate(row.label, NAME_WIDTH)} → {truncate(row.said, NAME_WIDTH)}",
        }
        for row, size in zip(audit.rows, sizes, strict=True)
    ]
    table.sort(key=lambda row: [str(row["group"])])
    x = "log loss of the label (nats)" if has_losses else "lead over the label"
    return bar_chart(table, x=x, title="Rows most at odds with the model")
