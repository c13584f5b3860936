"""An explanation as text of at most 80 columns, as HTML, and as a picture."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.apps.mail.verdict import Explanation, FeatureContribution
from weigh.text import (
    format_count,
    format_percent,
    format_quantity,
    format_signed,
    html_paragraph,
    html_table,
    text_table,
    truncate,
    use_minus_sign,
)

WIDTH = 80
MAX_NAME_WIDTH = 52
MAX_REASONS = 10  # reasons told of each side
_UNITS_PER_NAT = 1_000  # thousandths are told


@dataclass(frozen=True)
class _SumLine:
    """A line of the sum: what it is, where it stands, and thousandths of log-odds."""

    name: str
    view: str = ""
    thousandths: int = 0

    @property
    def cells(self) -> list[str]:
        return [
            truncate(self.name, MAX_NAME_WIDTH),
            self.view,
            use_minus_sign(f"{self.thousandths / _UNITS_PER_NAT:+.3f}"),
        ]


def _indent_rows(lines: Sequence[_SumLine]) -> list[list[str]]:
    return [[f"  {name}", *others] for name, *others in (line.cells for line in lines)]


def format_explanation(explanation: Explanation) -> str:
    """The whole explanation as text."""
    table = [["", "where", "log-odds"]]
    for title, lines in _lines_by_label(explanation):
        table += [[title, "", ""], *_indent_rows(lines)]
    table += [*(line.cells for line in _total_lines(explanation)), *_indent_rows(_view_lines(explanation))]
    parts = [textwrap.fill(sentence, WIDTH) for sentence in _header_sentences(explanation)]
    return "\n".join([*parts, "", text_table(table, 2)])


def explanation_html(explanation: Explanation) -> str:
    """The explanation as HTML tables."""
    head, *others = _header_sentences(explanation)
    tables = [html_paragraph(head), *map(html_paragraph, others)]
    for title, lines in _lines_by_label(explanation):
        rows = [["feature", "where", "log-odds"], *(line.cells for line in lines)]
        tables.append(html_table(title, rows, 2, [line.thousandths for line in lines]))
    sums = [*_total_lines(explanation), *_view_lines(explanation)]
    rows = [["", "log-odds"], *([line.cells[0], line.cells[2]] for line in sums)]
    return f"<div>{''.join(tables)}{html_table('Sum', rows)}</div>"


def _header_sentences(explanation: Explanation) -> list[str]:
    unsure, spam = explanation.costs.cutoffs
    between = f"unsure from {format_percent(unsure)}, " if unsure < spam else ""
    known = f"{format_count(len(explanation.reasons))} of {format_quantity(explanation.features, 'feature')}"
    learned = f"{format_quantity(explanation.hams, 'ham')} and {format_quantity(explanation.spams, 'spam')}"
    sentences = [
        f"{explanation.verdict} ({between}spam from {format_percent(spam)})",
        f"{explanation.learner}, {learned} learned; {known} known",
    ]
    if not (explanation.hams and explanation.spams):
        lacking = "spam" if explanation.hams else "ham"
        sentences.append(f"No {lacking} has been learned yet; a verdict means something once both have been.")
    return sentences


def _lines_by_label(explanation: Explanation) -> list[tuple[str, list[_SumLine]]]:
    """What speaks for spam and what for ham, the strongest first; each side's lines add up to its sum."""
    whole = _round_sums(explanation)
    sides = []
    for title, total, sign in (("for spam", whole.spam, 1), ("for ham", whole.ham, -1)):
        reasons = [reason for reason in explanation.reasons if sign * reason.contribution > 0]
        if reasons:
            sides.append((title, _reason_lines(reasons, total)))
    return sides


def _reason_lines(reasons: Sequence[FeatureContribution], total: int) -> list[_SumLine]:
    lines = [
        _SumLine(each.name, each.view, _to_thousandths(each.contribution)) for each in reasons[:MAX_REASONS]
    ]
    rest = len(reasons) - len(lines)
    if rest:
        # The rest takes up what rounding has cost, so that the reader's sum is the printed one.
        lines.append(
            _SumLine(f"and {format_count(rest)} more", "", total - sum(line.thousandths for line in lines))
        )
    return lines


@dataclass(frozen=True)
class _RoundedSums:
    """The sums in thousandths: all that speaks for spam, all that speaks for ham, and the biases."""

    spam: int
    ham: int
    bias: int

    @property
    def total(self) -> int:
        return self.spam + self.ham + self.bias


def _round_sums(explanation: Explanation) -> _RoundedSums:
    nats = [reason.contribution for reason in explanation.reasons]
    return _RoundedSums(
        spam=_round_sum([each for each in nats if each > 0]),
        ham=_round_sum([each for each in nats if each < 0]),
        bias=_to_thousandths(sum(explanation.biases.values())),
    )


def _round_sum(nats: Sequence[float]) -> int:
    """A sum in thousandths: where every part is told, of the parts as they are told."""
    return sum(map(_to_thousandths, nats)) if len(nats) <= MAX_REASONS else _to_thousandths(sum(nats))


def _total_lines(explanation: Explanation) -> list[_SumLine]:
    whole = _round_sums(explanation)
    biases = [_SumLine("biases", "", whole.bias)] if explanation.biases else []
    return [
        _SumLine("all for spam", "", whole.spam),
        _SumLine("all for ham", "", whole.ham),
        *biases,
        _SumLine("log-odds of spam", "", whole.total),
    ]


def _view_lines(explanation: Explanation) -> list[_SumLine]:
    headers = _to_thousandths(explanation.view_total("headers"))
    body = _round_sums(explanation).total - headers
    return [_SumLine("of these the headers", "", headers), _SumLine("of these the body", "", body)]


def _to_thousandths(nats: float) -> int:
    return round(_UNITS_PER_NAT * nats)


def plot_explanation(explanation: Explanation, most: int) -> Any:
    """Draw the strongest reasons; what the others add would dwarf them, and is told above them."""
    from weigh.pictures import bar_chart

    shown = explanation.strongest(most)
    names = Counter(each.name for each in shown)
    table = [
        {
            "name": truncate(
                each.name if names[each.name] == 1 else f"{each.name} ({each.view})", MAX_NAME_WIDTH
            ),
            "value": each.contribution,
        }
        for each in shown
    ]
    rest = len(explanation.reasons) - len(shown)
    left = explanation.verdict.score - sum(each.contribution for each in shown)
    others = [f"{format_count(rest)} others"] * bool(rest) + ["biases"] * bool(explanation.biases)
    title = str(explanation.verdict)
    if others:
        title += f"; {' and '.join(others)} add {format_signed(left)}"
    return bar_chart(
        table or [{"name": "nothing known", "value": 0.0}], x="added to the log-odds of spam", title=title
    )
