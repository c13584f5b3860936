"""A comparison as text of at most 80 columns, and as HTML tables."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from weigh.text import aligned, counted, cut, html_note, html_table, short
from weigh.trials.learners import settings_note
from weigh.trials.trial import LOSSES

if TYPE_CHECKING:
    from weigh.trials.comparing.compare import Comparison
    from weigh.trials.comparing.pairs import Pair

WIDTH = 80
MOST_PAIRS = 21


def text(found: Comparison) -> str:
    """The whole comparison as text."""
    parts = [_headline(found), aligned(_scores(found, 22), indent="  ")]
    if found.pairs:
        parts.append(aligned(_pairs(found, 16), left=2, indent="  "))
    parts.append("\n".join(textwrap.fill(note, WIDTH) for note in _notes(found)))
    if found.curve is not None:
        parts.append("\n".join(textwrap.fill(str(each), WIDTH) for each in found.crossings))
    return "\n\n".join(part for part in parts if part)


def markup(found: Comparison) -> str:
    """Scores and pairs as HTML tables; traits are shown where they are asked for."""
    tables = [html_table(_headline(found), _scores(found, 60))]
    if found.pairs:
        tables.append(html_table("Pairs", _pairs(found, 60), 2))
    notes = [*_notes(found), *map(str, found.crossings)]
    return f"<div>{''.join([*tables, *map(html_note, notes)])}</div>"


def _headline(found: Comparison) -> str:
    who = counted(sum(not each.is_baseline for each in found.scores), "learner")
    splits = f"{found.repeats} × {found.folds} folds"
    return f"{who} on {counted(found.n, 'row')}, {splits}: {LOSSES[found.loss].words}"


def _scores(found: Comparison, width: int) -> list[list[str]]:
    rows = [["learner", "loss", "low", "high", "fit µs", "predict µs", "bytes"]]
    for each in sorted(found.scores, key=lambda each: (each.is_baseline, each.loss.value)):
        numbers = (each.loss.value, each.loss.low, each.loss.high)
        times = ("", "") if each.is_baseline else (_micros(each.cost.fit), _micros(each.cost.predict))
        size = "" if each.cost.size is None else f"{each.cost.size:,}"
        rows.append([_named(each.learner, width), *map(_number, numbers), *times, size])
    return rows


def _pairs(found: Comparison, width: int) -> list[list[str]]:
    rows = [["first", "second", "diff.", "p", "1st wins", "equal", "2nd wins"]]
    for each in found.pairs[:MOST_PAIRS]:
        shares = (each.first_better, each.equal, each.second_better)
        told = [_signed(each.difference), _p_value(each.adjusted), *map(_share, shares)]
        rows.append([_named(each.first, width), _named(each.second, width), *told])
    hidden = len(found.pairs) - MOST_PAIRS
    return [*rows, [f"… and {hidden:,} more", *[""] * 6]] if hidden > 0 else rows


def _notes(found: Comparison) -> list[str]:
    level = f"{100 * found.level:g} %"
    notes = [_verdict(found)] if found.pairs else []
    if found.pairs:
        adjusted = ", adjusted by Holm" if len(found.pairs) > 1 else ""
        notes.append(
            f"diff.: first less second. p: corrected resampled t-test{adjusted}. 1st wins, equal, 2nd wins: "
            f"how probable it is that the first is better, that they differ by less than "
            f"{short(found.rope)}, that the second is better."
        )
    notes += _of_learners(found)
    exact = f", no narrower than the exact one of a share of {found.n:,}" if found.loss == "zero_one" else ""
    notes.append(
        f"Intervals of {level} for rows like these{exact}. µs per row: median of three splits that ran one "
        f"at a time."
    )
    return notes


def _of_learners(found: Comparison) -> list[str]:
    """Say what is not the default of a learner, and why losses are infinite."""
    notes = settings_note({each.learner: each.settings for each in found.scores})
    if any(math.isinf(each.loss.value) for each in found.scores):
        notes.append(
            "inf: a row's own class had the probability zero, as a class has that was not among the rows "
            "learned from."
        )
    return notes


def _verdict(found: Comparison) -> str:
    """Say which learner is best, and which others may be as good."""
    best = found.best
    rivals = [each for each in found.pairs if best in (each.first, each.second)]
    level = f"{100 * found.level:g} %"
    if not rivals:
        return f"{cut(best, 30)} has the smallest loss."
    alike = [cut(_other(each, best), 30) for each in rivals if not each.adjusted < 1 - found.level]
    if not alike:
        others = "every other" if len(rivals) > 1 else cut(_other(rivals[0], best), 30)
        return f"{cut(best, 30)} is better than {others} at the level of {level}."
    named = f"{', '.join(alike[:-1])} and {alike[-1]}" if len(alike) > 1 else alike[0]
    verb = "are" if len(alike) > 1 else "is"
    return f"{cut(best, 30)} has the smallest loss; {named} {verb} not told apart from it at {level}."


def _other(pair: Pair, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def _named(name: str, width: int) -> str:
    """Cut a name, and keep the number that tells learners of one class apart."""
    stem, bracket, number = name.rpartition(" (")
    if len(name) <= width or not bracket or len(number) > 4:
        return cut(name, width)
    return f"{cut(stem, width - len(number) - 2)} ({number}"


def _number(number: float) -> str:
    if math.isnan(number):
        return "-"
    return f"{number:.4f}" if number == 0 or 0.0001 <= abs(number) < 100 else short(number)


def _signed(number: float) -> str:
    if math.isnan(number):
        return "-"
    written = _number(abs(number))
    return written if number == 0 else ("+" if number > 0 else "−") + written


def _p_value(p: float) -> str:
    if math.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "< .001"


def _share(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def _micros(seconds: float) -> str:
    number = 1e6 * seconds
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}" if number < 10 else f"{number:.0f}"
