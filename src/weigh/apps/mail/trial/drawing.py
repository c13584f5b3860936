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
ALLOWED = 100.0 * figures.HAM_LOST


def picture(trial: Trial, what: str) -> Any:
    """Draw one of `PICTURES`."""
    if what not in PICTURES:
        raise errors.parameter("plot", "what", f"one of {errors.listing(PICTURES)}", what)
    return PICTURES[what](trial)


def _over_mails(figure: str, y: str, title: str) -> Callable[[Trial], Any]:
    """Return a picture of one figure over the mails seen: of all so far, and thinner of the latest."""

    def draw(trial: Trial) -> Any:
        rows = [
            {"series": cut(each.name, NAME), "x": point.seen, "y": getattr(point, name), "fitted": is_window}
            for each in trial.results
            for name, is_window in ((figure, False), (f"window_{figure}", True))
            for point in each.curve
        ]
        return _curves(rows, "mails seen", y, f"{title}; thin: the latest mails alone")

    return draw


def _roc(trial: Trial) -> Any:
    # A loss of no ham has no place on a logarithmic axis; it is drawn at that of half a mail.
    least = 50.0 / max(trial.hams, 1)
    rows = [
        {"series": _with_area(trial, each.name), "x": max(point.hm, least), "y": point.sm}
        for each in trial.results
        for point in each.roc
    ]
    title, marks = "What each threshold would cost", [(ALLOWED, "0.1 %")] if least <= ALLOWED else []
    return _curves(rows, "ham lost, %", "spam let through, %", title, log=True, marks=marks)


def _with_area(trial: Trial, name: str) -> str:
    return f"{cut(name, NAME)}, 1−ROCA {trial.result(name).measure(figures.ROCA).value:.3f} %"


def _curves(rows: list[dict[str, Any]], x: str, y: str, title: str, **more: Any) -> Any:
    from weigh.pictures import curves

    drawn = [row for row in rows if math.isfinite(row["y"])]
    if not drawn:
        raise errors.Unsupported(
            "There are no mails of the kinds that this picture shows. Try the filter on ham and on spam."
        )
    names = ", ".join(dict.fromkeys(str(row["series"]) for row in drawn))
    return curves(drawn, x=x, y=y, title=title, **more, told=f"{title}: {names}.")


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
    "learning": _over_mails("roca", "1−ROCA %", "Ham ranked above spam"),
    "ham": _over_mails("hm", "hm %", "Ham called spam"),
    "spam": _over_mails("sm", "sm %", "Spam let through"),
    "roc": _roc,
    "figures": _figures,
}
