"""Rows whose labels the model contradicts: candidates for a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.judge import Audit, audit
from weigh.judge.auditing.suspects import Suspect
from weigh.model.counted import Counted
from weigh.report.wording import share
from weigh.text import counted, cut, signed

NAME = 120
REASONS = 3
FEW = 0.05  # share of labels up to which it is believed that they are wrong
UNSKILLED = "The model is not surely better than guessing, so it has no ground to doubt any label."


@dataclass(frozen=True)
class Doubtful:
    """A row whose label is doubtful: what it is labelled, what the model says, how sure it is, and why."""

    row: int
    label: str
    verdict: str
    sure: str
    reasons: str


@dataclass(frozen=True)
class AuditFacts:
    """The rows most at odds with the model.

    `of_training` tells whether they were given as training rows, `whose` what they are, `left_out` whether
    each was judged by the model without it.
    """

    of_training: bool
    whose: str
    left_out: bool
    sentence: str
    advice: str
    rows: tuple[Doubtful, ...]


def audit_facts(
    model: Any,
    data: Any,
    y: Any,
    label: str | None,
    most: int,
    n: int,
    of_training: bool,
    is_skilled: bool,
    trusted: bool,
) -> AuditFacts:
    """Look for wrong labels among the rows a model was trained on, or among n others.

    Which labels are wrong rather than hard is told only of a `trusted` model, one that is good and means its
    probabilities, and only where they are few; others doubt where they do not know. A model that is not
    `is_skilled`, no better than guessing, has no ground to doubt any label, so none are listed.
    """
    is_known = of_training or _is_learned(model, data, label if y is None else y, n)
    found = audit(model, data, y, label=label, most=most, seen=None if is_known else False)
    rows = tuple(_doubtful(each) for each in found.rows) if is_skilled else ()
    tells = trusted and found.wrong is not None and found.wrong <= FEW * found.n
    told = _sentence(found, tells) if is_skilled else UNSKILLED
    sentence = f"{_judged(found, of_training)}{told}"
    advice = _advice(found, of_training, tells)
    return AuditFacts(of_training, _whose(found, of_training), found.left_out, sentence, advice, rows)


def _whose(found: Audit, of_training: bool) -> str:
    if not of_training:
        return "rows of this report"
    return "training rows" if found.left_out else "rows given as training rows"


def _judged(found: Audit, of_training: bool) -> str:
    if found.left_out:
        return "The model has learned these rows; each was judged as if it had not. "
    if of_training and found.has_seen is False:
        return "The rows given as training rows are not those that the model has learned. "
    return ""


def _is_learned(model: Any, data: Any, y: Any, n: int) -> bool:
    """Whether these are the very rows that were counted: as many, and taking them away leaves nothing."""
    ours = getattr(model, "model_", model)
    ours = getattr(ours, "uncalibrated", ours)
    if not isinstance(ours, Counted) or not ours.has_rows:
        return False
    return n == float(ours.counts.rows.sum()) and ours.has_learned(data, y) is True


def _sentence(found: Audit, tells: bool) -> str:
    if not found.at_odds:
        return "No label contradicts what the model says."
    say = "contradicts" if found.at_odds == 1 else "contradict"
    told = f"{counted(found.at_odds, 'row')} of {found.n:,} {say} what the model says"
    if found.wrong is not None and found.wrong > FEW * found.n:
        many = share(found.wrong / found.n)
        return (
            f"{told}, and {many} of all rows strongly: so many speak of a model that misfits rather than of "
            f"wrong labels."
        )
    if not tells:
        return f"{told}: the model or the label is wrong there."
    look = "looks" if found.wrong == 1 else "look"
    return f"{told}; of these, {counted(found.wrong or 0, 'label')} {look} wrong rather than hard."


def _advice(found: Audit, of_training: bool, tells: bool) -> str:
    if found.left_out and not of_training:
        return "It has learned these very rows, so the figures flatter it: judge it on rows it has not seen."
    if not of_training or not tells or not found.wrong:
        return ""
    many = counted(found.wrong, "label")
    return f"Look at the labels of the {_whose(found, of_training)} that it doubts most: {many} may be wrong."


def _doubtful(found: Suspect) -> Doubtful:
    reasons = ", ".join(f"{cut(row.title, 40)} ({signed(row.nats, 1)})" for row in found.reasons[:REASONS])
    sure = f"by {found.lead:.4g} points" if found.said_probability is None else share(found.said_probability)
    return Doubtful(found.row, cut(found.label, NAME), cut(found.said, NAME), sure, reasons)
