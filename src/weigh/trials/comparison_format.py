"""A comparison as text of at most 80 columns, and as HTML tables."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.text import format_float, format_quantity, html_paragraph, html_table, text_table, truncate
from weigh.trials.candidates import LOSSES
from weigh.trials.learners import format_settings_note

if TYPE_CHECKING:
    from weigh.trials.comparison import Comparison, PairComparison

LINE_WIDTH = 80
MAX_PAIRS = 21


def format_comparison(found: Comparison) -> str:
    """The whole comparison as text."""
    parts = [_headline(found), text_table(_score_table(found, 22), indent="  ")]
    if found.pairs:
        parts.append(text_table(_pair_table(found, 16), left=2, indent="  "))
    parts.append("\n".join(textwrap.fill(note, LINE_WIDTH) for note in _notes(found)))
    if found.curve is not None:
        parts.append("\n".join(textwrap.fill(str(each), LINE_WIDTH) for each in found.crossings))
    return "\n\n".join(part for part in parts if part)


def comparison_html(found: Comparison) -> str:
    """Scores and pairs as HTML tables; traits are shown where they are asked for."""
    tables = [html_table(_headline(found), _score_table(found, 60))]
    if found.pairs:
        tables.append(html_table("Pairs", _pair_table(found, 60), 2))
    notes = [*_notes(found), *map(str, found.crossings)]
    return f"<div>{''.join([*tables, *map(html_paragraph, notes)])}</div>"


def _headline(found: Comparison) -> str:
    who = format_quantity(sum(not each.is_baseline for each in found.scores), "learner")
    splits = f"{found.repeats} × {found.folds} folds"
    return f"{who} on {format_quantity(found.n, 'row')}, {splits}: {LOSSES[found.loss].title}"


def _score_table(found: Comparison, width: int) -> list[list[str]]:
    rows = [["learner", "loss", "low", "high", "fit µs", "predict µs", "bytes"]]
    for each in sorted(found.scores, key=lambda each: (each.is_baseline, each.loss.value)):
        numbers = (each.loss.value, each.loss.low, each.loss.high)
        times = (
            ("", "")
            if each.is_baseline
            else (_format_microseconds(each.cost.fit), _format_microseconds(each.cost.predict))
        )
        size = "" if each.cost.size is None else f"{each.cost.size:,}"
        rows.append([_shorten_name(each.learner, width), *map(_format_number, numbers), *times, size])
    return rows


def _pair_table(found: Comparison, width: int) -> list[list[str]]:
    rows = [["first", "second", "diff.", "p", "1st wins", "equal", "2nd wins"]]
    for each in found.pairs[:MAX_PAIRS]:
        shares = (each.first_better, each.equal, each.second_better)
        told = [
            _format_signed(each.difference),
            _format_p_value(each.adjusted),
            *map(_format_probability, shares),
        ]
        rows.append([_shorten_name(each.first, width), _shorten_name(each.second, width), *told])
    hidden = len(found.pairs) - MAX_PAIRS
    return [*rows, [f"… and {hidden:,} more", *[""] * 6]] if hidden > 0 else rows


def _notes(found: Comparison) -> list[str]:
    level = f"{100 * found.level:g} %"
    notes = [_verdict(found)] if found.pairs else []
    if found.pairs:
        adjusted = ", adjusted by Holm" if len(found.pairs) > 1 else ""
        notes.append(
            f"diff.: first less second. p: corrected resampled t-test{adjusted}. 1st wins, equal, 2nd wins: "
            f"how probable it is that the first is better, that they differ by less than "
            f"{format_float(found.rope)}, that the second is better."
        )
    notes += _learner_notes(found)
    exact = f", no narrower than the exact one of a share of {found.n:,}" if found.loss == "zero_one" else ""
    notes.append(
        f"Intervals of {level} for rows like these{exact}. µs per row: median of three splits that ran one "
        f"at a time."
    )
    return notes


def _learner_notes(found: Comparison) -> list[str]:
    """Say what is not the default of a learner, and why losses are infinite."""
    notes = format_settings_note({each.learner: each.settings for each in found.scores})
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
        return f"{truncate(best, 30)} has the smallest loss."
    alike = [truncate(_opponent(each, best), 30) for each in rivals if not each.adjusted < 1 - found.level]
    if not alike:
        others = "every other" if len(rivals) > 1 else truncate(_opponent(rivals[0], best), 30)
        return f"{truncate(best, 30)} is better than {others} at the level of {level}."
    named = f"{', '.join(alike[:-1])} and {alike[-1]}" if len(alike) > 1 else alike[0]
    verb = "are" if len(alike) > 1 else "is"
    return f"{truncate(best, 30)} has the smallest loss; {named} {verb} not told apart from it at {level}."


def _opponent(pair: PairComparison, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def _shorten_name(name: str, width: int) -> str:
    """Cut a name, and keep the number that tells learners of one class apart."""
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
    written = _format_number(abs(number))
    return written if number == 0 else ("+" if number > 0 else "−") + written


def _format_p_value(p: float) -> str:
    if math.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "< .001"


def _format_probability(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def _format_microseconds(seconds: float) -> str:
    number = 1e6 * seconds
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}" if number < 10 else f"{number:.0f}"


def plot_comparison(found: Comparison, what: str) -> Any:
    """Draw one side of a comparison."""
    if what not in PLOTS:
        raise errors.parameter_error("plot", "what", f"one of {errors.quote_names(PLOTS)}", what)
    return PLOTS[what](found)


def _plot_scores(found: Comparison) -> Any:
    from weigh.pictures import interval_chart

    ranked = sorted(found.scores, key=lambda each: each.loss.value)
    rows = [
        {"name": each.learner, "value": each.loss.value, "low": each.loss.low, "high": each.loss.high}
        for each in ranked
    ]
    return interval_chart(_finite_rows(rows), x=f"{LOSSES[found.loss].title}, held out{_infinite_note(rows)}")


def _plot_differences(found: Comparison) -> Any:
    from weigh.pictures import interval_chart

    if not found.pairs:
        raise errors.Unsupported("One learner has no differences to draw. Compare two at least.")
    rows = [
        {
            "name": f"{each.first} − {each.second}",
            "value": each.difference,
            "low": each.low,
            "high": each.high,
        }
        for each in found.pairs
    ]
    return interval_chart(
        _finite_rows(rows), x=f"difference in {LOSSES[found.loss].title}{_infinite_note(rows)}", mark=0.0
    )


def _finite_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that have a place on an axis."""
    drawn = [row for row in rows if math.isfinite(row["value"])]
    if not drawn:
        raise errors.Unsupported("All losses are infinite, so there is nothing to draw. Take another loss.")
    return drawn


def _infinite_note(rows: list[dict[str, Any]]) -> str:
    """Name the rows that have none."""
    names = [row["name"] for row in rows if not math.isfinite(row["value"])]
    return f" (not drawn, for infinite: {', '.join(names)})" if names else ""


def _plot_times(found: Comparison) -> Any:
    from weigh.pictures import bar_chart

    rows = [
        {"group": title, "name": each.learner, "value": 1e6 * getattr(each.cost, name)}
        for name, title in (("fit", "training"), ("predict", "prediction"))
        for each in found.scores
        if not each.is_baseline
    ]
    return bar_chart(rows, x="µs per row")


def _plot_curve(found: Comparison) -> Any:
    if found.curve is None:
        raise errors.Unsupported("This comparison has no learning curve. Compare with curve=True.")
    return found.curve.plot()


PLOTS = {"scores": _plot_scores, "differences": _plot_differences, "times": _plot_times, "curve": _plot_curve}
