"""A comparison as pictures: scores, differences, times, or the learning curves."""

from __future__ import annotations

import math
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
        {"name": each.learner, "value": each.loss.value, "low": each.loss.low, "high": each.loss.high}
        for each in ranked
    ]
    return intervals(_drawable(rows), x=f"{LOSSES[found.loss].words}, held out{_beyond(rows)}")


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
    return intervals(_drawable(rows), x=f"difference in {LOSSES[found.loss].words}{_beyond(rows)}", mark=0.0)


def _drawable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that have a place on an axis."""
    drawn = [row for row in rows if math.isfinite(row["value"])]
    if not drawn:
        raise errors.Unsupported("All losses are infinite, so there is nothing to draw. Take another loss.")
    return drawn


def _beyond(rows: list[dict[str, Any]]) -> str:
    """Name the rows that have none."""
    names = [row["name"] for row in rows if not math.isfinite(row["value"])]
    return f" (not drawn, for infinite: {', '.join(names)})" if names else ""


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
