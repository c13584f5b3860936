"""Plots of an evaluation: data for the charts of `weigh.pictures`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.apps.mail.evaluation.trec_measures import HM, LAM, MAX_HAM_LOSS, ROCA
from weigh.text import truncate

if TYPE_CHECKING:
    from weigh.apps.mail.evaluation.online_evaluation import MailEvaluation

MAX_NAME_WIDTH = 24
MAX_HAM_LOSS_PERCENT = 100.0 * MAX_HAM_LOSS


def plot_evaluation(evaluation: MailEvaluation, what: str) -> Any:
    """Draw one of `PLOTS`."""
    if what not in PLOTS:
        raise errors.parameter_error("plot", "what", f"one of {errors.quote_names(PLOTS)}", what)
    return PLOTS[what](evaluation)


def _learning_plot(measure: str, y: str, title: str) -> Callable[[MailEvaluation], Any]:
    """Return a plot of a measure against the mails seen: cumulative, and thin over the sliding window."""

    def draw(evaluation: MailEvaluation) -> Any:
        rows = [
            {
                "series": truncate(result.name, MAX_NAME_WIDTH),
                "x": point.seen,
                "y": getattr(point, name),
                "fitted": is_window,
            }
            for result in evaluation.results
            for name, is_window in ((measure, False), (f"window_{measure}", True))
            for point in result.curve
        ]
        return _plot_curves(rows, "mails seen", y, f"{title}; thin: only the latest mails")

    return draw


def _plot_roc(evaluation: MailEvaluation) -> Any:
    # A logarithmic axis has no zero; a loss of no ham is drawn at half a mail.
    min_hm = 50.0 / max(evaluation.hams, 1)
    rows = [
        {"series": _series_name(evaluation, result.name), "x": max(point.hm, min_hm), "y": point.sm}
        for result in evaluation.results
        for point in result.roc
    ]
    marks = [(MAX_HAM_LOSS_PERCENT, "0.1 %")] if min_hm <= MAX_HAM_LOSS_PERCENT else []
    title = "Ham and spam misclassified at each threshold"
    return _plot_curves(rows, "ham lost, %", "spam missed, %", title, log=True, marks=marks)


def _series_name(evaluation: MailEvaluation, name: str) -> str:
    roca = evaluation.result(name).measure(ROCA).value
    return f"{truncate(name, MAX_NAME_WIDTH)}, 1−ROCA {roca:.3f} %"


def _plot_curves(rows: list[dict[str, Any]], x: str, y: str, title: str, **options: Any) -> Any:
    from weigh.pictures import line_chart

    finite = [row for row in rows if math.isfinite(row["y"])]
    if not finite:
        raise errors.Unsupported(
            "There are no mails with the labels that this plot needs. Evaluate the filter on ham and on spam."
        )
    names = ", ".join(dict.fromkeys(str(row["series"]) for row in finite))
    return line_chart(finite, x=x, y=y, title=title, **options, description=f"{title}: {names}.")


def _plot_measures(evaluation: MailEvaluation) -> Any:
    from weigh.pictures import interval_chart

    rows = [
        measure.chart_row(name=label, series=truncate(result.name, MAX_NAME_WIDTH))
        for name, label in ((HM, "hm"), (LAM, "lam"), (ROCA, "1−ROCA"))
        for result in evaluation.results
        if not math.isnan((measure := result.measure(name)).value)
    ]
    return interval_chart(rows, x="%", title="Measures of the filters with confidence intervals")


PLOTS: dict[str, Callable[[Any], Any]] = {
    "learning": _learning_plot("roca", "1−ROCA %", "Ham ranked above spam"),
    "ham": _learning_plot("hm", "hm %", "Ham classified as spam"),
    "spam": _learning_plot("sm", "sm %", "Spam missed"),
    "roc": _plot_roc,
    "figures": _plot_measures,
}
