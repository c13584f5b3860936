"""Rows whose labels the model contradicts: candidates for a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.report.answers import Answers, Picked
from weigh.report.wording import share
from weigh.text import counted, cut, signed

NAME = 120
SURE = 0.99  # from here on a contradiction is worth a look
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
    """The rows most at odds with the model; `of_training` tells which rows were looked at."""

    of_training: bool
    sentence: str
    advice: str
    rows: tuple[Doubtful, ...]


def audit_of_rows(model: Any, answers: Answers, most: int) -> AuditFacts | None:
    """Tell the rows that the model contradicts most surely; None without probabilities."""
    if answers.sure is None:
        return None
    many = int(np.sum((answers.sure >= SURE) & (answers.predicted != answers.true)))
    picked = [each for each in answers.worst if each.said is not None and each.said >= SURE][:most]
    told = (
        f"{counted(many, 'row')} contradict a verdict of which the model was {share(SURE)} sure or more: "
        f"either it is over-sure there, or the label is wrong."
        if many
        else f"No row contradicts a verdict of which the model was {share(SURE)} sure or more."
    )
    return AuditFacts(False, told, "", tuple(_doubtful(model, each) for each in picked))


def _doubtful(model: Any, picked: Picked) -> Doubtful:
    reasons = ""
    if hasattr(model, "explain"):
        strong = model.explain(picked.rows)[0].strongest(REASONS)
        reasons = ", ".join(f"{cut(row.title, 40)} ({signed(row.nats, 1)})" for row in strong)
    names = cut(picked.true, NAME), cut(picked.predicted, NAME)
    return Doubtful(picked.row, *names, share(picked.said or 0.0), reasons)
