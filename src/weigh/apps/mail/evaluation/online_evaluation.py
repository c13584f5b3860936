"""Online evaluation of mail filters side by side, and its result as text and HTML."""

from __future__ import annotations

import math
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
from weigh.result import Section, Table, TabularResult
from weigh.text import (
    format_float,
    format_p_value,
    format_probability,
    format_quantity,
    truncate,
    truncate_start,
    use_minus_sign,
)

if TYPE_CHECKING:
    from weigh.apps.mail.evaluation.filter_result import FilterMistake
    from weigh.judge.metrics.confidence_intervals import Measure

MAX_NAME_WIDTH = 11
MIN_HAM_FOR_LOSS = 1000  # so that one ham is a loss of 0.1 %
TITLES = {
    HM: "hm %",
    SM: "sm %",
    LAM: "lam %",
    ROCA: "1−ROCA %",
    SM_AT_HM: "sm % at hm",
}
DIGITS = {ROCA: 3}


@dataclass(frozen=True, eq=False, repr=False)
class MailEvaluation(TabularResult):
    """The result of `evaluate_filters`; prints as text of at most 80 columns.

    `hams` and `spams` count the mails judged, `warm` those learned before without being judged, and `undated`
    those without a date, which are placed by their neighbours in the order of time. `results` are in the
    order of the filters; `pairs` are all pairs of them.
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
    _json = (
        "hams",
        "spams",
        "warm",
        "order",
        "undated",
        "seed",
        "feedback",
        "level",
        ("filters", "results"),
        "pairs",
    )
    _frames = ("filters", "pairs")

    @property
    def best(self) -> FilterResult:
        """The filter with the smallest 1-ROCA %, or, if there is only one label, with the fewest errors."""
        return min(self.results, key=_rank_key)

    def result(self, name: str) -> FilterResult:
        """Return the result of the filter of that name."""
        results = {result.name: result for result in self.results}
        problem = f"No filter {name!r} was evaluated; there are"
        return errors.find_named(results, name, problem, errors.Unsupported)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain values for JSON."""
        return super().to_dict() | {"best": self.best.name}

    @property
    def headline(self) -> str:
        """The filters, mails, order and feedback."""
        n_mails = format_quantity(self.hams + self.spams, "mail")
        mails = f"{n_mails} ({self.hams:,} ham, {self.spams:,} spam)"
        warm = f" after {format_quantity(self.warm, 'mail')} learned unjudged" if self.warm else ""
        orders = {"time": "in order of time", "given": "in the order given"}
        order = orders.get(self.order, f"shuffled by seed {self.seed}")
        filters = format_quantity(len(self.results), "filter")
        return f"{filters} on {mails}{warm}, {order}, {self.feedback}"

    def sections(self) -> list[Section]:
        """Return measures, error counts, pairs, the worst mistakes of the best filter, and notes."""
        return evaluation_sections(self)

    def __repr__(self) -> str:
        return self.headline

    def plot(self, what: str = "learning") -> Any:
        """Plot 1-ROCA %, hm % or sm % over the mails ("learning", "ham", "spam"), "roc" or "figures"."""
        from weigh.apps.mail.evaluation.plots import plot_evaluation

        return plot_evaluation(self, what)


def evaluate_filters(
    filters: Sequence[FilterUnderTest],
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
    """Let filters judge labelled mails one by one, as if they arrived now, and compare their measures.

    Parameters
    ----------
    filters : untrained filters with distinct names
    mails : labelled mails; a lazy sequence may read each one on access
    order : "time", "shuffled" by the seed, or "given"
    feedback : which labels are given, and when; by default all, immediately
    warm : the first mails, which are learned but not judged: their number, or their share if below 1
    level : confidence level of the intervals
    most : number of mistakes of each label to keep for each filter
    progress : called with the steps done and the total number of steps, one for each mail and filter
    """
    _check_arguments(filters, mails, level)
    indices = order_mails(mails, order, seed)
    n_warmup = _count_warmup(warm, len(indices))
    rule = feedback or Feedback()
    counter = _ProgressCounter(len(indices) * len(filters), progress)
    runs = [run_filter(filter_, mails, indices, n_warmup, rule, counter.step) for filter_ in filters]
    n_spams = int(runs[0].is_spam.sum())
    return MailEvaluation(
        len(runs[0].is_spam) - n_spams,
        n_spams,
        n_warmup,
        order,
        seed,
        rule,
        float(level),
        tuple(summarise_run(run, level, most) for run in runs),
        tuple(compare_pair(*pair, level) for pair in combinations(runs, 2)),
        count_missing_dates(mails, order),
    )


class _ProgressCounter:
    """Counts the steps of an evaluation."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _rank_key(result: FilterResult) -> tuple[float, int]:
    area = result.measure(ROCA).value
    return (math.inf if math.isnan(area) else area, result.ham_errors + result.spam_errors)


def _check_arguments(filters: Sequence[FilterUnderTest], mails: Sequence[Mail], level: float) -> None:
    names = [filter_.name for filter_ in filters]
    if not names or len(set(names)) < len(names):
        expected = "one or more filters with distinct names"
        raise errors.parameter_error("evaluate_filters", "filters", expected, names)
    if not 0.0 < level < 1.0:
        raise errors.parameter_error("evaluate_filters", "level", "a number between 0 and 1", level)
    if not len(mails):
        raise errors.DataError("There are no mails to evaluate a filter on. Give at least one.")
    for mail in mails:
        if mail.label not in LABELS:
            raise errors.LabelError(
                f"{truncate(mail.place, 60)} has the label {errors.one_line_repr(mail.label)}; "
                f"it must be one of {errors.quote_names(LABELS)}."
            )


def _count_warmup(warm: float, n: int) -> int:
    count = math.floor(n * warm) if 0.0 <= warm < 1.0 else warm
    if not (0 <= count < n and count == int(count)):
        expected = f"a share below 1, or a whole number below the number of mails, {n:,}"
        raise errors.parameter_error("evaluate_filters", "warm", expected, warm)
    return int(count)


def evaluation_sections(evaluation: MailEvaluation) -> list[Section]:
    """Return measures, error counts, pairs, the worst mistakes of the best filter, and notes."""
    widths = (MAX_NAME_WIDTH,)
    sections = [
        Section("measures", [Table(_measure_rows(evaluation), indent="  ", widths=widths)]),
        Section("errors", [Table(_error_count_rows(evaluation), indent="  ", widths=widths)]),
    ]
    if evaluation.pairs:
        table = Table(_pair_rows(evaluation), left=2, indent="  ", widths=2 * widths, caption="Pairs")
        sections.append(Section("pairs", [table]))
    if evaluation.best.mistakes:
        title = f"The worst mistakes of {truncate(evaluation.best.name, 40)}:"
        rows = _mistake_rows(evaluation.best)
        table = Table(rows, left=3, indent="  ", widths=(42,), html_width=200, shorten=truncate_start)
        sections.append(Section("mistakes", [table], title))
    return [*sections, Section("notes", _notes(evaluation))]


def _measure_rows(evaluation: MailEvaluation) -> list[list[str]]:
    """Return a row of measures and a row of intervals for each filter."""
    rows = [["filter", *TITLES.values()]]
    for result in evaluation.results:
        measures = [result.measure(name) for name in TITLES]
        rows.append([result.name, *map(_format_value, measures)])
        rows.append(["", *map(_format_interval, measures)])
    return rows


def _error_count_rows(evaluation: MailEvaluation) -> list[list[str]]:
    rows = [["filter", "ham lost", "spam missed", "unsure %", "accuracy %", "judge ms", "learn ms"]]
    for result in evaluation.results:
        rates = [f"{result.measure(measure).value:.2f}" for measure in (UNSURE, ACCURACY)]
        times = [_format_milliseconds(result.judge_seconds), _format_milliseconds(result.learn_seconds)]
        rows.append([result.name, f"{result.ham_errors:,}", f"{result.spam_errors:,}", *rates, *times])
    return rows


def _pair_rows(evaluation: MailEvaluation) -> list[list[str]]:
    """Return comparisons of the best filter with each other filter."""
    rows = [["best", "other", "wrong alone", "p", "1−ROCA % lower by", "p"]]
    for pair in evaluation.pairs:
        if evaluation.best.name in (pair.first, pair.second):
            rows.append(_pair_row(pair, evaluation.best.name))
    return rows


def _pair_row(pair: FilterPair, best: str) -> list[str]:
    if pair.first == best:
        other, alone = pair.second, (pair.first_alone, pair.second_alone)
        advantage, low, high = -pair.difference, -pair.high, -pair.low
    else:
        other, alone = pair.first, (pair.second_alone, pair.first_alone)
        advantage, low, high = pair.difference, pair.low, pair.high
    limits = "unknown" if math.isnan(low) else f"{_format_difference(low)} to {_format_difference(high)}"
    return [
        best,
        other,
        f"{alone[0]:,} and {alone[1]:,}",
        format_p_value(pair.error_p),
        "-" if math.isnan(advantage) else f"{_format_difference(advantage)} ({limits})",
        format_p_value(pair.area_p),
    ]


def _mistake_rows(result: FilterResult) -> list[list[str]]:
    has_probabilities = all(mistake.probability is not None for mistake in result.mistakes)
    rows = [["mail", "label", "verdict", "P(spam)" if has_probabilities else "score", "turn"]]
    return rows + [
        [
            mistake.place,
            mistake.label,
            mistake.verdict,
            _format_confidence(mistake),
            f"{mistake.turn:,}",
        ]
        for mistake in result.mistakes
    ]


def _notes(evaluation: MailEvaluation) -> list[str]:
    notes = [
        "hm: ham called spam. sm: spam not called spam (unsure mail is delivered). lam: their logistic "
        "average. 1−ROCA: how often a ham scores above a spam. sm at hm: spam missed if at most 0.1 % of the "
        f"ham is lost. Below each measure its {100 * evaluation.level:g} % interval."
    ]
    if evaluation.undated:
        have, follow = ("has", "it follows") if evaluation.undated == 1 else ("have", "each follows")
        notes.append(
            f"{format_quantity(evaluation.undated, 'mail')} {have} no date; {follow} the preceding mail "
            "with the same label."
        )
    if evaluation.pairs:
        goal = "fewest errors" if math.isnan(evaluation.best.measure(ROCA).value) else "smallest 1−ROCA"
        notes.append(
            f"best: the filter with the {goal}. wrong alone: mails that only the best, and only the other, "
            "misclassified (McNemar's exact p). 1−ROCA % lower by: the advantage of the best (DeLong's p)."
        )
    if evaluation.best.mistakes:
        notes.append("turn: position of the mail in the evaluation; at first a filter has learned little.")
    if evaluation.hams < MIN_HAM_FOR_LOSS:
        hams = format_quantity(evaluation.hams, "ham", "ham")
        notes.append(f"With only {hams}, 0.1 % is less than one mail: sm at hm allows no loss.")
    return notes


def _format_value(measure: Measure) -> str:
    return "-" if math.isnan(measure.value) else f"{measure.value:.{DIGITS.get(measure.name, 2)}f}"


def _format_interval(measure: Measure) -> str:
    if math.isnan(measure.low):
        return ""
    # Above 10 % the interval is so wide that further decimals are meaningless.
    digits = DIGITS.get(measure.name, 2) if measure.high < 10 else 1
    return f"{measure.low:.{digits}f}–{measure.high:.{digits}f}"


def _format_confidence(mistake: FilterMistake) -> str:
    if mistake.probability is None:
        return format_float(mistake.score)
    return format_probability(mistake.probability)


def _format_milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def _format_difference(number: float) -> str:
    digits = 3 if abs(number) < 10 else 1
    # Adding 0.0 turns a rounded −0.0 into 0.0.
    return use_minus_sign(f"{round(number, digits) + 0.0:.{digits}f}")
