"""A trial as text of at most 80 columns, and as HTML tables."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.apps.mail.evaluation.filter_result import FilterResult, summarise_run
from weigh.apps.mail.evaluation.filter_run import run_filter
from weigh.apps.mail.evaluation.mail_stream import (
    LABELS,
    Feedback,
    FilterUnderTest,
    Mail,
    count_missing_dates,
    order_mails,
)
from weigh.apps.mail.evaluation.trec_measures import (
    ACCURACY,
    HM,
    LAM,
    ROCA,
    SM,
    SM_AT_HM,
    UNSURE,
    FilterPair,
    compare_pair,
)
from weigh.text import (
    format_float,
    format_probability,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    truncate,
    truncate_start,
    use_minus_sign,
)

if TYPE_CHECKING:
    from weigh.apps.mail.evaluation.filter_result import FilterMistake
    from weigh.judge.metrics.confidence_intervals import Measure

WIDTH = 80
MAX_NAME_WIDTH = 11
TITLES = {
    HM: "hm %",
    SM: "sm %",
    LAM: "lam %",
    ROCA: "1−ROCA %",
    SM_AT_HM: "sm % at hm",
}
DIGITS = {ROCA: 3}


def format_evaluation(trial: MailEvaluation) -> str:
    """The whole trial as text."""
    parts = [
        textwrap.fill(format_headline(trial), WIDTH),
        text_table(_measure_rows(trial, MAX_NAME_WIDTH), indent="  "),
        text_table(_error_count_rows(trial, MAX_NAME_WIDTH), indent="  "),
    ]
    if trial.pairs:
        parts.append(text_table(_pair_rows(trial, MAX_NAME_WIDTH), left=2, indent="  "))
    if trial.best.mistakes:
        parts.append(
            "\n".join(
                [_mistakes_title(trial), text_table(_mistake_rows(trial.best, 44), left=3, indent="  ")]
            )
        )
    return "\n\n".join([*parts, "\n".join(textwrap.fill(note, WIDTH) for note in _notes(trial))])


def evaluation_html(trial: MailEvaluation) -> str:
    """The trial as HTML tables with its sentences."""
    tables = [
        html_table(format_headline(trial), _measure_rows(trial, 40)),
        html_table("", _error_count_rows(trial, 40)),
    ]
    if trial.pairs:
        tables.append(html_table("Pairs", _pair_rows(trial, 40), 2))
    if trial.best.mistakes:
        tables.append(html_table(_mistakes_title(trial), _mistake_rows(trial.best, 200), 3))
    return f"<div>{''.join([*tables, *map(html_paragraph, _notes(trial))])}</div>"


def format_headline(trial: MailEvaluation) -> str:
    """What was tried, on what and how, in one sentence."""
    order = {"time": "in the order of time", "given": "in the order given"}
    mails = f"{format_quantity(trial.hams + trial.spams, 'mail')} ({trial.hams:,} ham, {trial.spams:,} spam)"
    warm = f" after {format_quantity(trial.warm, 'mail')} learned unjudged" if trial.warm else ""
    come = order.get(trial.order, f"shuffled by seed {trial.seed}")
    return f"{format_quantity(len(trial.results), 'filter')} on {mails}{warm}, {come}, {trial.feedback}"


def _measure_rows(trial: MailEvaluation, width: int) -> list[list[str]]:
    """Return a line of figures and a line of their intervals for each filter."""
    rows = [["filter", *TITLES.values()]]
    for each in trial.results:
        measures = [each.measure(name) for name in TITLES]
        rows.append([truncate(each.name, width), *map(_format_value, measures)])
        rows.append(["", *map(_format_interval, measures)])
    return rows


def _error_count_rows(trial: MailEvaluation, width: int) -> list[list[str]]:
    rows = [["filter", "ham lost", "spam let by", "unsure %", "right %", "judge ms", "learn ms"]]
    for each in trial.results:
        shares = [f"{each.measure(name).value:.2f}" for name in (UNSURE, ACCURACY)]
        times = [_format_milliseconds(each.judge_seconds), _format_milliseconds(each.learn_seconds)]
        rows.append(
            [truncate(each.name, width), f"{each.ham_errors:,}", f"{each.spam_errors:,}", *shares, *times]
        )
    return rows


def _pair_rows(trial: MailEvaluation, width: int) -> list[list[str]]:
    """Return the best filter against each other, as it stands first."""
    rows = [["best", "other", "wrong alone", "p", "1−ROCA % less", "p"]]
    for pair in trial.pairs:
        if trial.best.name in (pair.first, pair.second):
            rows.append(_pair_row(pair, trial.best.name, width))
    return rows


def _pair_row(pair: FilterPair, best: str, width: int) -> list[str]:
    is_first = pair.first == best
    other = pair.second if is_first else pair.first
    alone = (pair.first_alone, pair.second_alone) if is_first else (pair.second_alone, pair.first_alone)
    less = -pair.difference if is_first else pair.difference
    ends = (-pair.high, -pair.low) if is_first else (pair.low, pair.high)
    between = (
        "unknown"
        if math.isnan(ends[0])
        else f"{_format_difference(ends[0])} to {_format_difference(ends[1])}"
    )
    apart = "-" if math.isnan(less) else f"{_format_difference(less)} ({between})"
    counts = f"{alone[0]:,} and {alone[1]:,}"
    return [
        truncate(best, width),
        truncate(other, width),
        counts,
        _format_p_value(pair.error_p),
        apart,
        _format_p_value(pair.area_p),
    ]


def _mistake_rows(result: FilterResult, width: int) -> list[list[str]]:
    has_shares = all(each.probability is not None for each in result.mistakes)
    rows = [["mail", "is", "called", "P(spam)" if has_shares else "score", "turn"]]
    return rows + [
        [
            truncate_start(each.place, width),
            each.label,
            each.verdict,
            _format_confidence(each),
            f"{each.turn:,}",
        ]
        for each in result.mistakes
    ]


def _mistakes_title(trial: MailEvaluation) -> str:
    return f"The worst mistakes of {truncate(trial.best.name, 40)}:"


def _notes(trial: MailEvaluation) -> list[str]:
    notes = [
        "hm: ham called spam. sm: spam not called spam, for what is unsure is delivered. lam: their logistic "
        "average. 1−ROCA: how often a ham scores above a spam. sm at hm: spam let by where at most 0.1 % of "
        f"the ham is lost. Below each its {100 * trial.level:g} % interval."
    ]
    if trial.undated:
        said = "did not say when it" if trial.undated == 1 else "did not say when they"
        notes.append(
            f"{format_quantity(trial.undated, 'mail')} {said} came, and had a turn right after the mail of the same "
            "kind given before."
        )
    if trial.pairs:
        goal = "fewest errors" if math.isnan(trial.best.measure(ROCA).value) else "smallest 1−ROCA"
        notes.append(
            f"best: the filter with the {goal}. wrong alone: mails that only the best, and only the other, "
            "misjudged (McNemar's exact p). 1−ROCA less: by how much the best is below the other "
            "(DeLong's p)."
        )
    if trial.best.mistakes:
        notes.append("turn: which mail of the trial it was; of the first ones a filter knows little.")
    if trial.hams < MIN_HAM_FOR_LOSS:
        notes.append(
            f"With {format_quantity(trial.hams, 'ham', 'ham')} a loss of 0.1 % cannot be seen: sm at hm allows none."
        )
    return notes


MIN_HAM_FOR_LOSS = 1000  # ham of which one is a loss of 0.1 %


def _format_value(measure: Measure) -> str:
    return "-" if math.isnan(measure.value) else f"{measure.value:.{DIGITS.get(measure.name, 2)}f}"


def _format_interval(measure: Measure) -> str:
    if math.isnan(measure.low):
        return ""
    # Beyond 10 % two decimals tell nothing that the interval does not hide.
    digits = DIGITS.get(measure.name, 2) if measure.high < 10 else 1
    return f"{measure.low:.{digits}f}–{measure.high:.{digits}f}"


def _format_confidence(mistake: FilterMistake) -> str:
    return (
        format_float(mistake.score)
        if mistake.probability is None
        else format_probability(mistake.probability)
    )


def _format_milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def _format_difference(number: float) -> str:
    digits = 3 if abs(number) < 10 else 1
    # Zero has no sign, nor has what is rounded to it.
    return use_minus_sign(f"{round(number, digits) + 0.0:.{digits}f}")


def _format_p_value(p: float) -> str:
    if math.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "< .001"


OWNER = "hold_trial"


@dataclass(frozen=True, eq=False, repr=False)
class MailEvaluation:
    """The result of `hold_trial`; prints as text of at most 80 columns.

    `hams` and `spams` count the mails judged, `warm` those learned before without being judged, `undated`
    those that do not say when they came and have a place in the order of time by their neighbours. `results`
    are in the order of the contestants, `pairs` are all pairs of them.
    """

    hams: int
    spams: int
    warm: int
    order: str
    seed: int
    feedback: Feedback
    level: float
    results: tuple[FilterResult, ...]
    pairs: tuple[FilterPair, ...]
    undated: int = 0

    @property
    def best(self) -> FilterResult:
        """The filter with the smallest 1-ROCA %, or, with one kind of mail alone, the fewest errors."""
        return min(self.results, key=_rank_key)

    def result(self, name: str) -> FilterResult:
        """The result of the filter of that name."""
        for each in self.results:
            if each.name == name:
                return each
        known = [each.name for each in self.results]
        raise errors.Unsupported(f"No filter {name!r} was tried; there are {errors.quote_names(known)}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "hams": self.hams,
            "spams": self.spams,
            "warm": self.warm,
            "order": self.order,
            "undated": self.undated,
            "seed": self.seed,
            "feedback": self.feedback.to_dict(),
            "level": self.level,
            "best": self.best.name,
            "filters": [each.to_dict() for each in self.results],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def __str__(self) -> str:
        return format_evaluation(self)

    def __repr__(self) -> str:
        return format_headline(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def plot(self, what: str = "learning") -> Any:
        """Draw 1-ROCA %, hm % or sm % over mails ("learning", "ham", "spam"), "roc" or "figures"."""
        from weigh.apps.mail.evaluation.plots import plot_evaluation

        return plot_evaluation(self, what)


def evaluate_filters(
    contestants: Sequence[FilterUnderTest],
    mails: Sequence[Mail],
    *,
    order: str = "time",
    seed: int = 0,
    feedback: Feedback | None = None,
    warm: float = 0,
    level: float = 0.95,
    most: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> MailEvaluation:
    """Try filters on labelled mails as they would have come, and return their figures side by side.

    Parameters
    ----------
    contestants : filters that have learned nothing yet, of different names
    mails : labelled mails; each is asked for by its place, so that it can be read only then
    order : "time", "shuffled" by the seed, or "given"
    feedback : which labels are given and how late; by default all of them, at once
    warm : the first mails are learned and not judged: a number of them, or a share if it is below 1
    level : confidence level of the intervals
    most : how many mistakes of either kind to keep of each filter
    progress : called with the steps done and all steps, one for each mail and filter
    """
    _check_arguments(contestants, mails, level)
    places = order_mails(mails, order, seed)
    first = _count_warmup(warm, len(places))
    rule = feedback or Feedback()
    count = _ProgressCounter(len(places) * len(contestants), progress)
    courses = [run_filter(each, mails, places, first, rule, count.step) for each in contestants]
    spams = int(courses[0].is_spam.sum())
    return MailEvaluation(
        len(courses[0].is_spam) - spams,
        spams,
        first,
        order,
        seed,
        rule,
        float(level),
        tuple(summarise_run(course, level, most) for course in courses),
        tuple(compare_pair(*pair, level) for pair in combinations(courses, 2)),
        count_missing_dates(mails, order),
    )


class _ProgressCounter:
    """How far a trial has come."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _rank_key(result: FilterResult) -> tuple[float, int]:
    area = result.measure(ROCA).value
    return (math.inf if math.isnan(area) else area, result.ham_errors + result.spam_errors)


def _check_arguments(contestants: Sequence[FilterUnderTest], mails: Sequence[Mail], level: float) -> None:
    names = [each.name for each in contestants]
    if not names or len(set(names)) < len(names):
        raise errors.parameter_error(OWNER, "contestants", "one filter or more, of different names", names)
    if not 0.0 < level < 1.0:
        raise errors.parameter_error(OWNER, "level", "a number between 0 and 1", level)
    if not len(mails):
        raise errors.DataError("There are no mails to try a filter on; give at least one.")
    for mail in mails:
        if mail.label not in LABELS:
            raise errors.LabelError(
                f"{truncate(mail.place, 60)} has the label {errors.one_line_repr(mail.label)}; "
                f"a mail is one of {errors.quote_names(LABELS)}."
            )


def _count_warmup(warm: float, n: int) -> int:
    first = math.floor(n * warm) if 0.0 <= warm < 1.0 else warm
    if not (0 <= first < n and first == int(first)):
        must = f"a share below 1, or a whole number below that of the mails, {n:,}"
        raise errors.parameter_error(OWNER, "warm", must, warm)
    return int(first)
