"""A trial as text of at most 80 columns, and as HTML tables."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from weigh.apps.mail.trial import figures
from weigh.text import aligned, counted, cut, html_note, html_table, minus, probable, short, tail

if TYPE_CHECKING:
    from weigh.apps.mail.trial.mistakes import Mistake
    from weigh.apps.mail.trial.pairs import FilterPair
    from weigh.apps.mail.trial.result import FilterResult
    from weigh.apps.mail.trial.trial import Trial
    from weigh.judge.measures.measure import Measure

WIDTH = 80
NAME = 11
TITLES = {
    figures.HM: "hm %",
    figures.SM: "sm %",
    figures.LAM: "lam %",
    figures.ROCA: "1−ROCA %",
    figures.SM_AT_HM: "sm % at hm",
}
DIGITS = {figures.ROCA: 3}


def text(trial: Trial) -> str:
    """The whole trial as text."""
    parts = [
        textwrap.fill(headline(trial), WIDTH),
        aligned(_measured(trial, NAME), indent="  "),
        aligned(_counted(trial, NAME), indent="  "),
    ]
    if trial.pairs:
        parts.append(aligned(_pairs(trial, NAME), left=2, indent="  "))
    if trial.best.mistakes:
        parts.append("\n".join([_listing(trial), aligned(_mistakes(trial.best, 44), left=3, indent="  ")]))
    return "\n\n".join([*parts, "\n".join(textwrap.fill(note, WIDTH) for note in _notes(trial))])


def markup(trial: Trial) -> str:
    """The trial as HTML tables with its sentences."""
    tables = [html_table(headline(trial), _measured(trial, 40)), html_table("", _counted(trial, 40))]
    if trial.pairs:
        tables.append(html_table("Pairs", _pairs(trial, 40), 2))
    if trial.best.mistakes:
        tables.append(html_table(_listing(trial), _mistakes(trial.best, 200), 3))
    return f"<div>{''.join([*tables, *map(html_note, _notes(trial))])}</div>"


def headline(trial: Trial) -> str:
    """What was tried, on what and how, in one sentence."""
    order = {"time": "in the order of time", "given": "in the order given"}
    mails = f"{counted(trial.hams + trial.spams, 'mail')} ({trial.hams:,} ham, {trial.spams:,} spam)"
    warm = f" after {counted(trial.warm, 'mail')} learned unjudged" if trial.warm else ""
    come = order.get(trial.order, f"shuffled by seed {trial.seed}")
    return f"{counted(len(trial.results), 'filter')} on {mails}{warm}, {come}, {trial.feedback}"


def _measured(trial: Trial, width: int) -> list[list[str]]:
    """Return a line of figures and a line of their intervals for each filter."""
    rows = [["filter", *TITLES.values()]]
    for each in trial.results:
        measures = [each.measure(name) for name in TITLES]
        rows.append([cut(each.name, width), *map(_value, measures)])
        rows.append(["", *map(_interval, measures)])
    return rows


def _counted(trial: Trial, width: int) -> list[list[str]]:
    rows = [["filter", "ham lost", "spam let by", "unsure %", "right %", "judge ms", "learn ms"]]
    for each in trial.results:
        shares = [f"{each.measure(name).value:.2f}" for name in (figures.UNSURE, figures.ACCURACY)]
        times = [_milliseconds(each.judge_seconds), _milliseconds(each.learn_seconds)]
        rows.append([cut(each.name, width), f"{each.ham_errors:,}", f"{each.spam_errors:,}", *shares, *times])
    return rows


def _pairs(trial: Trial, width: int) -> list[list[str]]:
    """Return the best filter against each other, as it stands first."""
    rows = [["best", "other", "wrong alone", "p", "1−ROCA % less", "p"]]
    for pair in trial.pairs:
        if trial.best.name in (pair.first, pair.second):
            rows.append(_pair(pair, trial.best.name, width))
    return rows


def _pair(pair: FilterPair, best: str, width: int) -> list[str]:
    is_first = pair.first == best
    other = pair.second if is_first else pair.first
    alone = (pair.first_alone, pair.second_alone) if is_first else (pair.second_alone, pair.first_alone)
    less = -pair.difference if is_first else pair.difference
    ends = (-pair.high, -pair.low) if is_first else (pair.low, pair.high)
    between = "unknown" if math.isnan(ends[0]) else f"{_apart(ends[0])} to {_apart(ends[1])}"
    apart = "-" if math.isnan(less) else f"{_apart(less)} ({between})"
    counts = f"{alone[0]:,} and {alone[1]:,}"
    return [cut(best, width), cut(other, width), counts, _p(pair.error_p), apart, _p(pair.area_p)]


def _mistakes(result: FilterResult, width: int) -> list[list[str]]:
    has_shares = all(each.probability is not None for each in result.mistakes)
    rows = [["mail", "is", "called", "P(spam)" if has_shares else "score", "turn"]]
    return rows + [
        [tail(each.place, width), each.label, each.verdict, _sureness(each), f"{each.turn:,}"]
        for each in result.mistakes
    ]


def _listing(trial: Trial) -> str:
    return f"The worst mistakes of {cut(trial.best.name, 40)}:"


def _notes(trial: Trial) -> list[str]:
    notes = [
        "hm: ham called spam. sm: spam not called spam, for what is unsure is delivered. lam: their logistic "
        "average. 1−ROCA: how often a ham scores above a spam. sm at hm: spam let by where at most 0.1 % of "
        f"the ham is lost. Below each its {100 * trial.level:g} % interval."
    ]
    if trial.undated:
        said = "did not say when it" if trial.undated == 1 else "did not say when they"
        notes.append(
            f"{counted(trial.undated, 'mail')} {said} came, and had a turn right after the mail of the same "
            "kind given before."
        )
    if trial.pairs:
        goal = "fewest errors" if math.isnan(trial.best.measure(figures.ROCA).value) else "smallest 1−ROCA"
        notes.append(
            f"best: the filter with the {goal}. wrong alone: mails that only the best, and only the other, "
            "misjudged (McNemar's exact p). 1−ROCA less: by how much the best is below the other "
            "(DeLong's p)."
        )
    if trial.best.mistakes:
        notes.append("turn: which mail of the trial it was; of the first ones a filter knows little.")
    if trial.hams < MANY:
        notes.append(
            f"With {counted(trial.hams, 'ham', 'ham')} a loss of 0.1 % cannot be seen: sm at hm allows none."
        )
    return notes


MANY = 1000  # ham of which one is a loss of 0.1 %


def _value(measure: Measure) -> str:
    return "-" if math.isnan(measure.value) else f"{measure.value:.{DIGITS.get(measure.name, 2)}f}"


def _interval(measure: Measure) -> str:
    if math.isnan(measure.low):
        return ""
    # Beyond 10 % two decimals tell nothing that the interval does not hide.
    digits = DIGITS.get(measure.name, 2) if measure.high < 10 else 1
    return f"{measure.low:.{digits}f}–{measure.high:.{digits}f}"


def _sureness(mistake: Mistake) -> str:
    return short(mistake.score) if mistake.probability is None else probable(mistake.probability)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def _apart(number: float) -> str:
    digits = 3 if abs(number) < 10 else 1
    # Zero has no sign, nor has what is rounded to it.
    return minus(f"{round(number, digits) + 0.0:.{digits}f}")


def _p(p: float) -> str:
    if math.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "< .001"
