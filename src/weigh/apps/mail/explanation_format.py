"""An explanation as text of at most 80 columns, as HTML and as a plot."""

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
MAX_REASONS = 10  # listed for each label
_UNITS_PER_NAT = 1_000  # log-odds are rounded to thousandths


def format_explanation(explanation: Explanation) -> str:
    """Format an explanation as text."""
    table = [["", "where", "log-odds"]]
    for title, lines in _lines_by_label(explanation):
        table += [[title, "", ""], *_indent_rows(lines)]
    table += [*(line.cells for line in _total_lines(explanation)), *_indent_rows(_view_lines(explanation))]
    header = [textwrap.fill(sentence, WIDTH) for sentence in _header_sentences(explanation)]
    return "\n".join([*header, "", text_table(table, 2)])


def explanation_html(explanation: Explanation) -> str:
    """Format an explanation as HTML tables."""
    blocks = [html_paragraph(sentence) for sentence in _header_sentences(explanation)]
    for title, lines in _lines_by_label(explanation):
        rows = [["feature", "where", "log-odds"], *(line.cells for line in lines)]
        blocks.append(html_table(title, rows, 2, [line.thousandths for line in lines]))
    totals = [*_total_lines(explanation), *_view_lines(explanation)]
    rows = [["", "log-odds"], *([line.cells[0], line.cells[2]] for line in totals)]
    return f"<div>{''.join(blocks)}{html_table('Sum', rows)}</div>"


def plot_explanation(explanation: Explanation, most: int) -> Any:
    """Plot the strongest reasons; the title gives the sum of the others, whose bar would dwarf them."""
    from weigh.pictures import bar_chart

    shown = explanation.strongest(most)
    name_counts = Counter(reason.name for reason in shown)
    table = [
        {
            "name": truncate(
                reason.name if name_counts[reason.name] == 1 else f"{reason.name} ({reason.view})",
                MAX_NAME_WIDTH,
            ),
            "value": reason.contribution,
        }
        for reason in shown
    ]
    n_others = len(explanation.reasons) - len(shown)
    remainder = explanation.verdict.score - sum(reason.contribution for reason in shown)
    others = [f"{format_count(n_others)} others"] * bool(n_others) + ["biases"] * bool(explanation.biases)
    title = str(explanation.verdict)
    if others:
        title += f"; {' and '.join(others)} add {format_signed(remainder)}"
    return bar_chart(
        table or [{"name": "no known feature", "value": 0.0}],
        x="contribution to the log-odds of spam",
        title=title,
    )


@dataclass(frozen=True)
class _SumLine:
    """A line of the sum: its name, view and contribution in thousandths of a nat."""

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


def _header_sentences(explanation: Explanation) -> list[str]:
    unsure, spam = explanation.costs.cutoffs
    unsure_range = f"unsure from {format_percent(unsure)}, " if unsure < spam else ""
    known = f"{format_count(len(explanation.reasons))} of {format_quantity(explanation.features, 'feature')}"
    learned = f"{format_quantity(explanation.hams, 'ham')} and {format_quantity(explanation.spams, 'spam')}"
    sentences = [
        f"{explanation.verdict} ({unsure_range}spam from {format_percent(spam)})",
        f"{explanation.learner}, {learned} learned; {known} known",
    ]
    if not (explanation.hams and explanation.spams):
        missing = "spam" if explanation.hams else "ham"
        sentences.append(
            f"No {missing} has been learned yet; verdicts are meaningful once both ham and spam have been."
        )
    return sentences


def _lines_by_label(explanation: Explanation) -> list[tuple[str, list[_SumLine]]]:
    """Return the reasons for spam and for ham, strongest first; the lines of each sum to its total."""
    sums = _round_sums(explanation)
    groups = []
    for title, total, sign in (("for spam", sums.spam, 1), ("for ham", sums.ham, -1)):
        reasons = [reason for reason in explanation.reasons if sign * reason.contribution > 0]
        if reasons:
            groups.append((title, _reason_lines(reasons, total)))
    return groups


def _reason_lines(reasons: Sequence[FeatureContribution], total: int) -> list[_SumLine]:
    lines = [
        _SumLine(reason.name, reason.view, _to_thousandths(reason.contribution))
        for reason in reasons[:MAX_REASONS]
    ]
    n_others = len(reasons) - len(lines)
    if n_others:
        # The last line absorbs the rounding errors, so that the printed lines sum to the printed total.
        remainder = total - sum(line.thousandths for line in lines)
        lines.append(_SumLine(f"and {format_count(n_others)} more", "", remainder))
    return lines


@dataclass(frozen=True)
class _RoundedSums:
    """The positive contributions, the negative contributions and the biases, in thousandths of a nat."""

    spam: int
    ham: int
    bias: int

    @property
    def total(self) -> int:
        return self.spam + self.ham + self.bias


def _round_sums(explanation: Explanation) -> _RoundedSums:
    nats = [reason.contribution for reason in explanation.reasons]
    return _RoundedSums(
        spam=_round_sum([value for value in nats if value > 0]),
        ham=_round_sum([value for value in nats if value < 0]),
        bias=_to_thousandths(sum(explanation.biases.values())),
    )


def _round_sum(nats: Sequence[float]) -> int:
    """Return a sum in thousandths: of the rounded terms if all are listed, otherwise of the exact terms."""
    return sum(map(_to_thousandths, nats)) if len(nats) <= MAX_REASONS else _to_thousandths(sum(nats))


def _total_lines(explanation: Explanation) -> list[_SumLine]:
    sums = _round_sums(explanation)
    biases = [_SumLine("biases", "", sums.bias)] if explanation.biases else []
    return [
        _SumLine("total for spam", "", sums.spam),
        _SumLine("total for ham", "", sums.ham),
        *biases,
        _SumLine("log-odds of spam", "", sums.total),
    ]


def _view_lines(explanation: Explanation) -> list[_SumLine]:
    headers = _to_thousandths(explanation.view_total("headers"))
    body = _round_sums(explanation).total - headers
    return [_SumLine("from the headers", "", headers), _SumLine("from the body", "", body)]


def _to_thousandths(nats: float) -> int:
    return round(_UNITS_PER_NAT * nats)
