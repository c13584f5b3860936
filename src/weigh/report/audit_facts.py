"""Rows whose labels the model contradicts: candidates for a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.judge import Audit, audit
from weigh.judge.suspects import Suspect
from weigh.report.wording import share
from weigh.text import counted, cut, signed

NAME = 120
REASONS = 3


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

    `of_training` tells which rows were looked at, `left_out` whether each was judged by the model without it.
    """

    of_training: bool
    left_out: bool
    sentence: str
    advice: str
    rows: tuple[Doubtful, ...]


def audit_facts(model: Any, data: Any, y: Any, label: str | None, most: int, of_training: bool) -> AuditFacts:
    """Look for wrong labels among the rows a model was trained on, or among others."""
    found = audit(model, data, y, label=label, most=most, seen=None if of_training else False)
    rows = tuple(_doubtful(each) for each in found.rows)
    return AuditFacts(of_training, found.left_out, _sentence(found), _advice(found, of_training), rows)


def _sentence(found: Audit) -> str:
    judged = "Each row was judged by the model as if it had never seen it. " if found.left_out else ""
    told = f"{judged}{counted(found.at_odds, 'row')} of {found.n:,} contradict what the model says"
    if not found.at_odds:
        return f"{judged}No label contradicts what the model says."
    if found.wrong is None:
        return f"{told}."
    return f"{told}; of these, {counted(found.wrong, 'label')} look wrong rather than hard."


def _advice(found: Audit, of_training: bool) -> str:
    if not of_training or not found.wrong:
        return ""
    many = counted(found.wrong, "label")
    return f"Look at the labels of training rows that it doubts most: {many} may be wrong."


def _doubtful(found: Suspect) -> Doubtful:
    reasons = ", ".join(f"{cut(row.title, 40)} ({signed(row.nats, 1)})" for row in found.reasons[:REASONS])
    sure = f"by {found.lead:.4g}" if found.said_probability is None else share(found.said_probability)
    return Doubtful(found.row, cut(found.label, NAME), cut(found.said, NAME), sure, reasons)
