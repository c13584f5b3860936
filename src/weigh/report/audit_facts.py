"""Rows whose labels the model contradicts: candidates for a second look."""

from __future__ import annotations

from dataclasses import dataclass

from weigh.report.answers import Answers
from weigh.report.wording import share
from weigh.text import counted, cut

NAME = 120
SURE = 0.99  # from here on a contradiction is worth a look


@dataclass(frozen=True)
class Doubtful:
    """A row whose label is doubtful: what it is labelled, what the model says, how sure it is."""

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


def audit_of(answers: Answers) -> AuditFacts:
    """Tell the rows that the model contradicts most surely."""
    doubtful = [each for each in answers.worst if each.said is not None and each.said >= SURE]
    rows = tuple(
        Doubtful(each.row, cut(each.true, NAME), cut(each.predicted, NAME), share(each.said or 0.0), "")
        for each in doubtful
    )
    sentence = (
        f"{counted(len(rows), 'row')} among the worst mistakes contradict a verdict that was more than "
        f"{share(SURE)} sure: either the model is over-sure there, or the label is wrong."
        if rows
        else "No row contradicts a verdict that was very sure."
    )
    advice = ""
    return AuditFacts(False, sentence, advice, rows)
