"""An audit as text of at most 80 columns, as HTML, and as a picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.measures.printing import CUT_OFF
from weigh.text import aligned, counted, cut, html_note, html_table, percent, probable, short, signed

if TYPE_CHECKING:
    from weigh.judge.auditing.audit import Audit
    from weigh.judge.auditing.suspects import Suspect

WIDTH = 80
NAME = 22
MOST_PAIRS = 10
TITLES = {"accuracy": "accuracy", "log_loss": "log loss"}


def text(audit: Audit) -> str:
    """The whole audit as text."""
    parts = [textwrap.fill(headline(audit), WIDTH), aligned(_figures(audit)), *_notes(audit)]
    if audit.pairs:
        parts.append(aligned(_pair_rows(audit), left=2) + _more_pairs(audit))
    if audit.rows:
        parts.append("\n".join([_listing(audit), *(line for row in audit.rows for line in _lines(row))]))
    return "\n\n".join(parts)


def headline(audit: Audit) -> str:
    """Who judged how many rows, in one sentence."""
    rows = counted(audit.n, "row")
    if audit.left_out:
        return f"Audit of {rows}, each judged by the model that never saw it."
    known = {
        True: "it has learned these rows, and so doubts their labels too little",
        False: "it has not learned all of these rows",
        None: "if it has learned these rows, it doubts their labels too little",
    }
    advice = " Then give seen=True (--seen)." if audit.can_forget and audit.has_seen is None else ""
    return f"Audit of {rows}, as the model predicts them; {known[audit.has_seen]}.{advice}"


def _figures(audit: Audit) -> list[list[str]]:
    level = f"{100 * audit.level:.4g} %"
    rows = [
        [TITLES[each.name], f"{each.value:.4f}", f"({level}: {each.low:.4f} to {each.high:.4f})"]
        for each in audit.measures
    ]
    share = audit.at_odds / max(1, audit.n - audit.unjudged)
    rows.append(["labels at odds", f"{audit.at_odds:,}", f"({percent(share)})"])
    if audit.wrong is not None:
        share = audit.wrong / max(1, audit.n - audit.unjudged)
        rows.append(["labels that look wrong", f"{audit.wrong:,}", f"({percent(share)})"])
    return rows


def _notes(audit: Audit) -> Iterator[str]:
    if audit.wrong is not None:
        yield textwrap.fill(
            "The label of a row looks wrong if the model is as sure of another class, B, as it is on "
            "average of rows labelled B. The model may be the one that errs: look at the rows.",
            WIDTH,
        )
    rough = [TITLES[each.name] for each in audit.measures if each.name == "log_loss" and each.is_cut_off]
    if rough:
        yield CUT_OFF.format(*rough)
    if audit.unjudged:
        told = counted(audit.unjudged, "row is", "rows are")
        yield textwrap.fill(
            f"{told} not judged: no other row has the label, or nothing is known of it without the row.",
            WIDTH,
        )


def _pair_rows(audit: Audit) -> list[list[str]]:
    has_wrong = audit.wrong is not None
    rows = [["label", "model says", "at odds", *(["look wrong"] if has_wrong else [])]]
    for pair in audit.pairs[:MOST_PAIRS]:
        figures = [f"{pair.rows:,}", *([f"{pair.wrong:,}"] if has_wrong else [])]
        rows.append([cut(pair.label, NAME), cut(pair.said, NAME), *figures])
    return rows


def _more_pairs(audit: Audit) -> str:
    more = len(audit.pairs) - MOST_PAIRS
    return f"\nand {counted(more, 'more pair')} of classes" if more > 0 else ""


def _listing(audit: Audit) -> str:
    most = "The row" if len(audit.rows) == 1 else f"The {len(audit.rows):,} rows"
    return f"{most} most at odds (the first row of the data is 0)"


def _doubt(row: Suspect) -> str:
    """What a row's label is worth."""
    if row.probability is None:
        return f"leads by {_weight(row.lead)}"
    return f"label {probable(row.probability, math.isfinite(row.lead))} probable"


def _weight(size: float) -> str:
    return short(size) if math.isfinite(size) else "∞"


def _lines(row: Suspect) -> Iterator[str]:
    told = f"row {row.row:,}: {cut(row.label, NAME)}, model says {cut(row.said, NAME)} ({_doubt(row)})"
    yield f"  {cut(told, WIDTH - 2)}"
    for reason in row.reasons:
        size = signed(reason.nats) if abs(reason.nats) < 1e4 else f"+{_weight(reason.nats)}"
        yield f"    {size:>9}  {cut(reason.title, WIDTH - 6 - max(9, len(size)))}"


def markup(audit: Audit) -> str:
    """The audit as HTML tables with its sentences."""
    rows = [["row", "label", "model says", "probability of the label", "reasons"]]
    for each in audit.rows:
        reasons = "; ".join(f"{cut(r.title, 40)} {signed(r.nats)}" for r in each.reasons)
        share = "" if each.probability is None else probable(each.probability, math.isfinite(each.lead))
        rows.append([f"{each.row:,}", cut(each.label, NAME), cut(each.said, NAME), share, reasons])
    tables = [html_table(headline(audit), [["", "", ""], *_figures(audit)])]
    if audit.pairs:
        tables.append(html_table("Labels at odds", _pair_rows(audit), 2))
    if audit.rows:
        tables.append(html_table(_listing(audit), rows, 5))
    return f"<div>{''.join(tables)}{''.join(map(html_note, _notes(audit)))}</div>"


def drawn(audit: Audit) -> Any:
    """Draw how far the rows most at odds are from their labels."""
    from weigh.pictures import bars
    from weigh.pictures.ends import bounded

    if not audit.rows:
        raise errors.Unsupported("No row is at odds with its label, so there is nothing to draw.")
    has_losses = all(row.loss is not None for row in audit.rows)
    sizes = bounded([row.lead if row.loss is None else row.loss for row in audit.rows])
    table = [
        {
            "name": f"row {row.row:,}",
            "value": size,
            "group": f"{cut(row.label, NAME)} → {cut(row.said, NAME)}",
        }
        for row, size in zip(audit.rows, sizes, strict=True)
    ]
    table.sort(key=lambda each: [str(each["group"])])
    x = "log loss of the label (nats)" if has_losses else "lead over the label"
    return bars(table, x=x, title="Rows most at odds with the model")
