"""A comparison as pictures: scores, differences, times, or the learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.trials.trial import LOSSES

if TYPE_CHECKING:
    from weigh.trials.comparing.compare import Comparison


def picture(found: Comparison, what: str) -> Any:
    """Draw one side of a comparison."""
    if what not in PICTURES:
        raise errors.parameter("plot", "what", f"one of {errors.listing(PICTURES)}", what)
    return PICTURES[what](found)


def _scores(found: Comparison) -> Any:
    from weigh.pictures import intervals

    ranked = sorted(found.scores, key=lambda each: each.loss.value)
    rows = [
        {
            "name": each.learner,
            "value": each.loss.value,
            "low": each.loss.low,
            "high": each.loss.high,
        }
        for each in ranked
    ]
    return intervals(rows, x=f"{LOSSES[found.loss].words}, held out")


def _differences(found: Comparison) -> Any:
    from weigh.pictures import intervals

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
    return intervals(rows, x=f"difference in {LOSSES[found.loss].words}", mark=0.0)


def _times(found: Comparison) -> Any:
    from weigh.pictures import bars

    rows = [
        {"group": title, "name": each.learner, "value": 1e6 * getattr(each.cost, name)}
        for name, title in (("fit", "training"), ("predict", "prediction"))
        for each in found.scores
        if not each.is_baseline
    ]
    return bars(rows, x="µs per row")


def _curve(found: Comparison) -> Any:
    if found.curve is None:
        raise errors.Unsupported("This comparison has no learning curve. Compare with curve=True.")
    return found.curve.plot()


PICTURES = {"scores": _scores, "differences": _differences, "times": _times, "curve": _curve}
