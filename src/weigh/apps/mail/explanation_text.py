"""An explanation as text of at most 80 columns, as HTML, and as a picture."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.apps.mail.explanation import Explanation, Reason
from weigh.text import aligned, amount, counted, cut, html_note, html_table, minus, percent, signed

WIDTH = 80
NAME = 52
MOST = 10  # reasons told of each side
_PLACES = 1_000  # thousandths are told


@dataclass(frozen=True)
class _Line:
    """A line of the sum: what it is, where it stands, and thousandths of log-odds."""

    name: str
    where: str = ""
    part: int = 0

    @property
    def cells(self) -> list[str]:
        return [cut(self.name, NAME), self.where, minus(f"{self.part / _PLACES:+.3f}")]


def _indented(lines: Sequence[_Line]) -> list[list[str]]:
    return [[f"  {name}", *others] for name, *others in (line.cells for line in lines)]


def text(explanation: Explanation) -> str:
    """The whole explanation as text."""
    table = [["", "where", "log-odds"]]
    for title, lines in _sides(explanation):
        table += [[title, "", ""], *_indented(lines)]
    table += [*(line.cells for line in _sums(explanation)), *_indented(_views(explanation))]
    parts = [textwrap.fill(sentence, WIDTH) for sentence in _sentences(explanation)]
    return "\n".join([*parts, "", aligned(table, 2)])


def markup(explanation: Explanation) -> str:
    """The explanation as HTML tables."""
    head, *others = _sentences(explanation)
    tables = [html_note(head), *map(html_note, others)]
    for title, lines in _sides(explanation):
        rows = [["feature", "where", "log-odds"], *(line.cells for line in lines)]
        tables.append(html_table(title, rows, 2, [line.part for line in lines]))
    sums = [*_sums(explanation), *_views(explanation)]
    rows = [["", "log-odds"], *([line.cells[0], line.cells[2]] for line in sums)]
    return f"<div>{''.join(tables)}{html_table('Sum', rows)}</div>"


def _sentences(explanation: Explanation) -> list[str]:
    unsure, spam = explanation.costs.cutoffs
    between = f"unsure from {percent(unsure)}, " if unsure < spam else ""
    known = f"{amount(len(explanation.reasons))} of {counted(explanation.features, 'feature')}"
    learned = f"{counted(explanation.hams, 'ham')} and {counted(explanation.spams, 'spam')}"
    sentences = [
        f"{explanation.verdict} ({between}spam from {percent(spam)})",
        f"{explanation.learner}, {learned} learned; {known} known",
    ]
    if not (explanation.hams and explanation.spams):
        lacking = "spam" if explanation.hams else "ham"
        sentences.append(f"No {lacking} has been learned yet; a verdict means something once both have been.")
    return sentences


def _sides(explanation: Explanation) -> list[tuple[str, list[_Line]]]:
    """What speaks for spam and what for ham, the strongest first; each side's lines add up to its sum."""
    whole = _whole(explanation)
    sides = []
    for title, total, sign in (("for spam", whole.spam, 1), ("for ham", whole.ham, -1)):
        reasons = [reason for reason in explanation.reasons if sign * reason.contribution > 0]
        if reasons:
            sides.append((title, _lines(reasons, total)))
    return sides


def _lines(reasons: Sequence[Reason], total: int) -> list[_Line]:
    lines = [_Line(each.name, each.view, _thousandths(each.contribution)) for each in reasons[:MOST]]
    rest = len(reasons) - len(lines)
    if rest:
        # The rest takes up what rounding has cost, so that the reader's sum is the printed one.
        lines.append(_Line(f"and {amount(rest)} more", "", total - sum(line.part for line in lines)))
    return lines


@dataclass(frozen=True)
class _Whole:
    """The sums in thousandths: all that speaks for spam, all that speaks for ham, and the biases."""

    spam: int
    ham: int
    bias: int

    @property
    def total(self) -> int:
        return self.spam + self.ham + self.bias


def _whole(explanation: Explanation) -> _Whole:
    nats = [reason.contribution for reason in explanation.reasons]
    return _Whole(
        spam=_told_sum([each for each in nats if each > 0]),
        ham=_told_sum([each for each in nats if each < 0]),
        bias=_thousandths(sum(explanation.biases.values())),
    )


def _told_sum(nats: Sequence[float]) -> int:
    """A sum in thousandths: where every part is told, of the parts as they are told."""
    return sum(map(_thousandths, nats)) if len(nats) <= MOST else _thousandths(sum(nats))


def _sums(explanation: Explanation) -> list[_Line]:
    whole = _whole(explanation)
    biases = [_Line("biases", "", whole.bias)] if explanation.biases else []
    return [
        _Line("all for spam", "", whole.spam),
        _Line("all for ham", "", whole.ham),
        *biases,
        _Line("log-odds of spam", "", whole.total),
    ]


def _views(explanation: Explanation) -> list[_Line]:
    headers = _thousandths(explanation.of_view("headers"))
    body = _whole(explanation).total - headers
    return [_Line("of these the headers", "", headers), _Line("of these the body", "", body)]


def _thousandths(nats: float) -> int:
    return round(_PLACES * nats)


def drawn(explanation: Explanation, most: int) -> Any:
    """Draw the strongest reasons; what the others add would dwarf them, and is told above them."""
    from weigh.pictures import bars

    shown = explanation.strongest(most)
    names = Counter(each.name for each in shown)
    table = [
        {
            "name": cut(each.name if names[each.name] == 1 else f"{each.name} ({each.view})", NAME),
            "value": each.contribution,
        }
        for each in shown
    ]
    rest = len(explanation.reasons) - len(shown)
    left = explanation.verdict.score - sum(each.contribution for each in shown)
    others = [f"{amount(rest)} others"] * bool(rest) + ["biases"] * bool(explanation.biases)
    title = str(explanation.verdict)
    if others:
        title += f"; {' and '.join(others)} add {signed(left)}"
    return bars(
        table or [{"name": "nothing known", "value": 0.0}], x="added to the log-odds of spam", title=title
    )
