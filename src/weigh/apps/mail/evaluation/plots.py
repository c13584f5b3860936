"""Pictures of a trial: facts for `weigh.pictures`, which draws them."""

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


def plot_evaluation(trial: MailEvaluation, what: str) -> Any:
    """Draw one of `PICTURES`."""
    if what not in PLOTS:
        raise errors.parameter_error("plot", "what", f"one of {errors.quote_names(PLOTS)}", what)
    return PLOTS[what](trial)


def _learning_plot(figure: str, y: str, title: str) -> Callable[[MailEvaluation], Any]:
    """Return a picture of one figure over the mails seen: of all so far, and thinner of the latest."""

    def draw(trial: MailEvaluation) -> Any:
        rows = [
            {
                "series": truncate(each.name, MAX_NAME_WIDTH),
                "x": point.seen,
                "y": getattr(point, name),
                "fitted": is_window,
            }
            for each in trial.results
            for name, is_window in ((figure, False), (f"window_{figure}", True))
            for point in each.curve
        ]
        return _plot_curves(rows, "mails seen", y, f"{title}; thin: the latest mails alone")

    return draw


def _plot_roc(trial: MailEvaluation) -> Any:
    # A loss of no ham has no place on a logarithmic axis; it is drawn at that of half a mail.
    least = 50.0 / max(trial.hams, 1)
    rows = [
        {"series": _series_name(trial, each.name), "x": max(point.hm, least), "y": point.sm}
        for each in trial.results
        for point in each.roc
    ]
    title, marks = (
        "What each threshold would cost",
        [(MAX_HAM_LOSS_PERCENT, "0.1 %")] if least <= MAX_HAM_LOSS_PERCENT else [],
    )
    return _plot_curves(rows, "ham lost, %", "spam let through, %", title, log=True, marks=marks)


def _series_name(trial: MailEvaluation, name: str) -> str:
    return f"{truncate(name, MAX_NAME_WIDTH)}, 1−ROCA {trial.result(name).measure(ROCA).value:.3f} %"


def _plot_curves(rows: list[dict[str, Any]], x: str, y: str, title: str, **more: Any) -> Any:
    from weigh.pictures import line_chart

    drawn = [row for row in rows if math.isfinite(row["y"])]
    if not drawn:
        raise errors.Unsupported(
            "There are no mails of the kinds that this picture shows. Try the filter on ham and on spam."
        )
    names = ", ".join(dict.fromkeys(str(row["series"]) for row in drawn))
    return line_chart(drawn, x=x, y=y, title=title, **more, told=f"{title}: {names}.")


def _plot_measures(trial: MailEvaluation) -> Any:
    from weigh.pictures import interval_chart

    rows = [
        {
            "name": name,
            "series": truncate(each.name, MAX_NAME_WIDTH),
            "value": found.value,
            "low": found.low,
            "high": found.high,
        }
        for measure, name in ((HM, "hm"), (LAM, "lam"), (ROCA, "1−ROCA"))
        for each in trial.results
        if not math.isnan((found := each.measure(measure)).value)
    ]
    return interval_chart(rows, x="%", title="The figures of the filters with their intervals")


PLOTS: dict[str, Callable[[Any], Any]] = {
    "learning": _learning_plot("roca", "1−ROCA %", "Ham ranked above spam"),
    "ham": _learning_plot("hm", "hm %", "Ham called spam"),
    "spam": _learning_plot("sm", "sm %", "Spam let through"),
    "roc": _plot_roc,
    "figures": _plot_measures,
}
