"""Where the model errs: the rows it was most wrong about, with their values and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.explain import flip
from weigh.report.answers import Answers, Picked
from weigh.report.facts import Fact
from weigh.report.row_values import values_of
from weigh.report.wording import FROM_ZERO, share
from weigh.text import counted, cut, signed

NAME = 120
REASONS = 8  # contributions told of a row
FLIPPED = 4  # features named whose removal changes a verdict


@dataclass(frozen=True)
class Reason:
    """What one feature, of a column or word, adds in favour of the verdict, or takes from it."""

    column: str
    feature: str
    amount: float
    told: str

    @property
    def side(self) -> str:
        """Whether it speaks for the verdict or against it."""
        return "for" if self.amount > 0 else "against" if self.amount < 0 else ""


@dataclass(frozen=True)
class Mistake:
    """A row that was predicted wrongly."""

    row: int
    true: str
    predicted: str
    sure: str
    values: tuple[Fact, ...]
    reasons: tuple[Reason, ...]
    total: str
    unit: str
    flip: str


@dataclass(frozen=True)
class MistakeFacts:
    """The worst mistakes, worst first."""

    wrong: int
    n: int
    sentence: str
    rows: tuple[Mistake, ...]


def mistake_facts(model: Any, answers: Answers) -> MistakeFacts:
    """Tell the worst rows of the answers, explained where the model can explain."""
    ours = getattr(model, "model_", model)
    weighs = answers.weights > 0
    wrong = int(((answers.predicted != answers.true) & weighs).sum())
    rows = tuple(_mistake(ours, picked) for picked in answers.worst)
    n = int(weighs.sum())
    return MistakeFacts(wrong, n, _sentence(wrong, n, rows), rows)


def _sentence(wrong: int, n: int, rows: tuple[Mistake, ...]) -> str:
    if not wrong:
        return f"All {n:,} rows were predicted rightly." if n != 1 else "The one row was predicted rightly."
    told = f"{counted(wrong, 'row')} of {n:,} {'was' if wrong == 1 else 'were'} predicted wrongly"
    if len(rows) == wrong == 1:
        return f"{told}: here it is."
    if len(rows) == wrong:
        return f"{told}: here are all of them, the worst first. {FROM_ZERO}"
    return f"{told}. Below are the {len(rows)} it was most wrong about, the worst first. {FROM_ZERO}"


def _mistake(model: Any, picked: Picked) -> Mistake:
    evidence = model.explain(picked.rows)[0] if hasattr(model, "explain") else None
    reasons: tuple[Reason, ...] = ()
    total = unit = ""
    if evidence is not None:
        found = evidence.shortened(REASONS)
        reasons = tuple(
            Reason(row.feature, cut(row.title, NAME), row.nats, signed(row.nats)) for row in found.table
        )
        total, unit = signed(evidence.total), evidence.unit
    return Mistake(
        picked.row,
        cut(picked.true, NAME),
        cut(picked.predicted, NAME),
        _sure(picked),
        values_of(picked.rows),
        reasons,
        total,
        unit,
        _flip(model, picked),
    )


def _flip(model: Any, picked: Picked) -> str:
    """Without what the verdict would be another, in a sentence; nothing where the model cannot tell."""
    try:
        found = flip(model, picked.rows, changes=False)
    except errors.WeighError:
        return ""
    if not found.flips:
        return "Whatever is taken away, the verdict stays."
    names = [cut(row.title, NAME) for row in found.removed]
    told = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if len(names) > FLIPPED:
        told = f"{', '.join(names[:FLIPPED])} and {len(names) - FLIPPED} more"
    return f"Without {told} it would say {cut(found.becomes, NAME)}."


def _sure(picked: Picked) -> str:
    if picked.said is None or picked.given is None:
        return ""
    return f"{share(picked.said)} sure; the true class got {share(picked.given)}"
