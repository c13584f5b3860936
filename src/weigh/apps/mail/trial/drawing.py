"""Pictures of a trial: facts for `weigh.pictures`, which draws them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.apps.mail.trial import figures
from weigh.text import cut

if TYPE_CHECKING:
    from weigh.apps.mail.trial.trial import Trial

NAME = 24


def picture(trial: Trial, what: str) -> Any:
    """Draw one of `PICTURES`."""
    if what not in PICTURES:
        raise errors.parameter("plot", "what", f"one of {errors.listing(PICTURES)}", what)
    return PICTURES[what](trial)


def _learning(trial: Trial) -> Any:
    rows = [
        row
        for each in trial.results
        for point in each.curve
        for row in (
            {"series": cut(each.name, NAME), "x": point.seen, "y": point.roca},
            {"series": cut(each.name, NAME), "x": point.seen, "y": point.window_roca, "fitted": True},
        )
    ]
    title = "How well the filters rank mails as they learn (dashed: the latest mails alone)"
    return _curves(rows, "mails seen", "1−ROCA %", title)


def _errors(trial: Trial) -> Any:
    rows = [
        {"series": f"{cut(each.name, NAME)}, {kind}", "x": point.seen, "y": getattr(point, name)}
        for each in trial.results
        for name, kind in (("window_hm", "ham lost"), ("window_sm", "spam let through"))
        for point in each.curve
    ]
    return _curves(rows, "mails seen", "% of the latest mails", "Mistakes as the filters learn")


def _roc(trial: Trial) -> Any:
    # A loss of no ham has no place on a logarithmic axis; it is drawn at that of half a mail.
    least = 50.0 / max(trial.hams, 1)
    rows = [
        {"series": _with_area(trial, each.name), "x": max(point.hm, least), "y": point.sm}
        for each in trial.results
        for point in each.roc
    ]
    return _curves(rows, "ham lost, %", "spam let through, %", "What each threshold would cost", log=True)


def _with_area(trial: Trial, name: str) -> str:
    return f"{cut(name, NAME)}, 1−ROCA {trial.result(name).measure(figures.ROCA).value:.3f} %"


def _curves(rows: list[dict[str, Any]], x: str, y: str, title: str, log: bool = False) -> Any:
    from weigh.pictures import curves

    drawn = [row for row in rows if math.isfinite(row["y"])]
    if not drawn:
        raise errors.Unsupported(
            "With ham alone or spam alone there is no such curve. Try the filter on mails of both kinds."
        )
    names = ", ".join(dict.fromkeys(str(row["series"]) for row in drawn))
    return curves(drawn, x=x, y=y, title=title, log=log, told=f"{title}: {names}.")


def _figures(trial: Trial) -> Any:
    from weigh.pictures import intervals

    rows = [
        {
            "name": name,
            "series": cut(each.name, NAME),
            "value": found.value,
            "low": found.low,
            "high": found.high,
        }
        for measure, name in ((figures.HM, "hm"), (figures.LAM, "lam"), (figures.ROCA, "1−ROCA"))
        for each in trial.results
        if not math.isnan((found := each.measure(measure)).value)
    ]
    return intervals(rows, x="%", title="The figures of the filters with their intervals")


PICTURES: dict[str, Callable[[Any], Any]] = {
    "learning": _learning,
    "errors": _errors,
    "roc": _roc,
    "figures": _figures,
}
