"""The sections and charts of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.advice import Setting
from weigh.result import Section, Table
from weigh.text import format_float, format_p_value, truncate
from weigh.trials.candidates import LOSSES
from weigh.trials.learners import format_settings_note

if TYPE_CHECKING:
    from weigh.trials.comparison import Comparison, PairComparison

MAX_PAIRS = 21


def comparison_sections(result: Comparison) -> list[Section]:
    """Return scores, pairs, notes and crossings."""
    pairs = [Section("pairs", [_pair_table(result)])] if result.pairs else []
    return [
        Section("scores", [_score_table(result)]),
        *pairs,
        Section("notes", _notes(result)),
        Section("crossings", [str(each) for each in result.crossings]),
    ]


def _score_table(result: Comparison) -> Table:
    rows = [["learner", "loss", "low", "high", "fit µs", "predict µs", "bytes"]]
    for each in sorted(result.scores, key=lambda each: (each.is_baseline, each.loss.value)):
        numbers = (each.loss.value, each.loss.low, each.loss.high)
        times = (
            ("", "")
            if each.is_baseline
            else (_format_microseconds(each.cost.fit), _format_microseconds(each.cost.predict))
        )
        size = "" if each.cost.size is None else f"{each.cost.size:,}"
        rows.append([each.learner, *map(_format_number, numbers), *times, size])
    return Table(rows, indent="  ", widths=(22,), shorten=_shorten_name)


def _pair_table(result: Comparison) -> Table:
    rows = [["first", "second", "diff.", "p", "1st wins", "equal", "2nd wins"]]
    for each in result.pairs:
        tests = _format_signed(each.difference), format_p_value(each.adjusted)
        probabilities = map(_format_probability, (each.first_better, each.equal, each.second_better))
        rows.append([each.first, each.second, *tests, *probabilities])
    widths = (16, 16)
    return Table(
        rows, left=2, indent="  ", caption="Pairs", widths=widths, shorten=_shorten_name, most=MAX_PAIRS
    )


def _notes(result: Comparison) -> list[str]:
    level = f"{100 * result.level:g} %"
    notes = [_verdict(result)] if result.pairs else []
    if result.pairs:
        adjusted = ", Holm-adjusted" if len(result.pairs) > 1 else ""
        notes.append(
            f"diff.: first minus second. p: corrected resampled t-test{adjusted}. 1st wins, equal, 2nd wins: "
            f"probability that the first is better, that they differ by less than "
            f"{format_float(result.rope)}, that the second is better."
        )
    notes += _learner_notes(result)
    exact = (
        f", at least as wide as Clopper–Pearson for {result.n:,} rows" if result.loss == "zero_one" else ""
    )
    notes.append(
        f"{level} confidence intervals{exact}. µs per row: median of three splits run one at a time."
    )
    return notes


def _learner_notes(result: Comparison) -> list[str]:
    """Return notes on non-default settings and infinite losses."""
    notes = format_settings_note({each.learner: each.settings for each in result.scores})
    if any(math.isinf(each.loss.value) for each in result.scores):
        notes.append(
            "inf: the true class of a row had probability zero, for example because it was not in the "
            "training rows."
        )
    return notes


def _verdict(result: Comparison) -> str:
    """Return a sentence on the best learner and those not significantly worse."""
    best = result.best
    rivals = [each for each in result.pairs if best in (each.first, each.second)]
    level = f"{100 * result.level:g} %"
    if not rivals:
        return f"{truncate(best, 30)} has the smallest loss."
    close = [truncate(_opponent(each, best), 30) for each in rivals if not each.adjusted < 1 - result.level]
    if not close:
        others = "all others" if len(rivals) > 1 else truncate(_opponent(rivals[0], best), 30)
        return f"{truncate(best, 30)} is significantly better than {others} ({level} level)."
    names = f"{', '.join(close[:-1])} and {close[-1]}" if len(close) > 1 else close[0]
    verb = "are" if len(close) > 1 else "is"
    return (
        f"{truncate(best, 30)} has the smallest loss; {names} {verb} not significantly worse ({level} level)."
    )


def _opponent(pair: PairComparison, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def _shorten_name(name: str, width: int) -> str:
    """Truncate a name but keep the number of a repeated learner, as in "LogisticRegr… (2)"."""
    stem, bracket, number = name.rpartition(" (")
    if len(name) <= width or not bracket or len(number) > 4:
        return truncate(name, width)
    return f"{truncate(stem, width - len(number) - 2)} ({number}"


def _format_number(number: float) -> str:
    if math.isnan(number):
        return "-"
    return f"{number:.4f}" if number == 0 or 0.0001 <= abs(number) < 100 else format_float(number)


def _format_signed(number: float) -> str:
    if math.isnan(number):
        return "-"
    size = _format_number(abs(number))
    return size if number == 0 else ("+" if number > 0 else "−") + size


def _format_probability(p: float) -> str:
    return "-" if math.isnan(p) else f"{100 * p:.0f} %"


def _format_microseconds(seconds: float) -> str:
    number = 1e6 * seconds
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}" if number < 10 else f"{number:.0f}"


def plot_comparison(result: Comparison, what: str) -> Any:
    """Return the chart that `what` names."""
    if what not in PLOTS:
        raise errors.parameter_error("plot", "what", f"one of {errors.quote_names(PLOTS)}", what)
    return PLOTS[what](result)


def _plot_scores(result: Comparison) -> Any:
    from weigh.pictures import interval_chart

    rows = [
        each.loss.chart_row(name=each.learner)
        for each in sorted(result.scores, key=lambda each: each.loss.value)
    ]
    return interval_chart(
        _finite_rows(rows), x=f"{LOSSES[result.loss].title}, held out{_infinite_note(rows)}"
    )


def _plot_differences(result: Comparison) -> Any:
    from weigh.pictures import interval_chart

    if not result.pairs:
        raise errors.Unsupported("With one learner there are no differences to plot. Compare at least two.")
    rows = [
        {
            "name": f"{each.first} − {each.second}",
            "value": each.difference,
            "low": each.low,
            "high": each.high,
        }
        for each in result.pairs
    ]
    return interval_chart(
        _finite_rows(rows), x=f"difference in {LOSSES[result.loss].title}{_infinite_note(rows)}", mark=0.0
    )


def _finite_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with a finite value; raises if there are none."""
    finite = [row for row in rows if math.isfinite(row["value"])]
    if not finite:
        raise errors.Unsupported("All losses are infinite, so there is nothing to plot. Use another loss.")
    return finite


def _infinite_note(rows: list[dict[str, Any]]) -> str:
    """Return a note that names the rows with infinite values, or an empty string."""
    names = [row["name"] for row in rows if not math.isfinite(row["value"])]
    return f" (infinite, not shown: {', '.join(names)})" if names else ""


def _plot_times(result: Comparison) -> Any:
    from weigh.pictures import bar_chart

    rows = [
        {"group": title, "name": each.learner, "value": 1e6 * getattr(each.cost, name)}
        for name, title in (("fit", "training"), ("predict", "prediction"))
        for each in result.scores
        if not each.is_baseline
    ]
    return bar_chart(rows, x="µs per row")


def _plot_curve(result: Comparison) -> Any:
    if result.curve is None:
        raise errors.Unsupported(
            "This comparison has no learning curve.", hint=("Compare with ", Setting("curve", True), ".")
        )
    return result.curve.plot()


PLOTS = {"scores": _plot_scores, "differences": _plot_differences, "times": _plot_times, "curve": _plot_curve}
