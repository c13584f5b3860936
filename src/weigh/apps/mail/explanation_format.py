"""The sections and the plot of an explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.apps.mail.verdict import Explanation, FeatureContribution
from weigh.result import Section, Table
from weigh.text import (
    format_count,
    format_percent,
    format_quantity,
    format_signed,
    truncate,
    use_minus_sign,
)

MAX_NAME_WIDTH = 52
MAX_REASONS = 10  # listed for each label
_UNITS_PER_NAT = 1_000  # log-odds are rounded to thousandths


def explanation_sections(explanation: Explanation) -> list[Section]:
    """Return the verdict, and the table in which its reasons are summed."""
    lines = [line for label in ("spam", "ham") for line in _label_lines(explanation, label)]
    lines += [*_total_lines(explanation), *_view_lines(explanation)]
    rows = [["", "where", "log-odds"], *(line.cells for line in lines)]
    table = Table(rows, left=2, bars=[line.bar for line in lines], caption="Reasons")
    return [Section("verdict", _header_sentences(explanation)), Section("reasons", [table])]


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
    """A line of the sum: its name, view and contribution in thousandths of a nat; None for a heading."""

    name: str
    view: str = ""
    thousandths: int | None = None
    is_reason: bool = False
    is_indented: bool = False

    @property
    def cells(self) -> list[str]:
        indent = "  " if self.is_indented else ""
        number = "" if self.thousandths is None else f"{self.thousandths / _UNITS_PER_NAT:+.3f}"
        return [indent + truncate(self.name, MAX_NAME_WIDTH), self.view, use_minus_sign(number)]

    @property
    def bar(self) -> int | None:
        """The length of the bar; only reasons have one, because totals would dwarf them."""
        return self.thousandths if self.is_reason else None


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


def _label_lines(explanation: Explanation, label: str) -> list[_SumLine]:
    """Return a heading and the reasons for a label, strongest first, which sum to its total."""
    sign, total = (1 if label == "spam" else -1), getattr(_round_sums(explanation), label)
    reasons = [reason for reason in explanation.reasons if sign * reason.contribution > 0]
    shown = [_reason_line(reason) for reason in reasons[:MAX_REASONS]]
    n_others = len(reasons) - len(shown)
    if n_others:
        # The last line absorbs the rounding errors, so that the printed lines sum to the printed total.
        remainder = total - sum(line.thousandths or 0 for line in shown)
        shown.append(_SumLine(f"and {format_count(n_others)} more", "", remainder, True, True))
    return [_SumLine(f"for {label}"), *shown] if shown else []


def _reason_line(reason: FeatureContribution) -> _SumLine:
    return _SumLine(reason.name, reason.view, _to_thousandths(reason.contribution), True, True)


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
    return [
        _SumLine("from the headers", "", headers, is_indented=True),
        _SumLine("from the body", "", body, is_indented=True),
    ]


def _to_thousandths(nats: float) -> int:
    return round(_UNITS_PER_NAT * nats)
