"""The picture of a calibration map: what it makes of every probability, or of every score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.model.calibration import Calibration, Isotonic

POINTS = 201
FAR = 6.0  # log-odds at the ends of a picture over scores
MOST = 5  # curves, beside the diagonal


def drawn(found: Calibration, classes: Sequence[Any], probable: bool) -> Any:
    """Draw a map: probabilities before and after, or of a model without any, scores and probabilities.

    A curve is that of one class, the others equally likely among themselves.
    """
    from weigh.pictures import curves

    shown = _shown(found, len(classes))
    title = f"Calibration by {found}"
    if probable:
        odds = np.linspace(-8.0, 8.0, POINTS)
        before = 1.0 / (1.0 + np.exp(-odds))
        table = list(_rows(found, classes, shown, odds, before))
        table += [{"series": "as it was", "x": end, "y": end, "fitted": True} for end in (0.0, 1.0)]
        return curves(table, x="probability before", y="probability after", title=title)
    leads = _leads(found, shown)
    table = list(_rows(found, classes, shown, leads, leads))
    return curves(table, x="lead of the class's score", y="probability", title=title)


def _shown(found: Calibration, classes: int) -> list[int]:
    """Return the classes whose curves are drawn: of two the second, of many the first ones."""
    if classes <= 2 or found.keeps_verdicts:
        return [min(classes, 2) - 1]
    return list(range(min(classes, MOST)))


def _leads(found: Calibration, shown: Sequence[int]) -> Floats:
    """Return the scores over which a curve goes from next to nothing to nearly one."""
    if isinstance(found, Isotonic):
        knots = [x for curve in found.curves for x in curve.x] or [0.0]
        room = 0.05 * (max(knots) - min(knots)) or 1.0
        return np.linspace(min(knots) - room, max(knots) + room, POINTS)
    return np.linspace(-FAR, FAR, POINTS) / found.slope


def _rows(
    found: Calibration, classes: Sequence[Any], shown: Sequence[int], odds: Floats, x: Floats
) -> Iterator[dict[str, Any]]:
    everyone = len(classes) > 2 and len(shown) == 1
    for c in shown:
        scores = np.zeros((len(odds), len(classes)))
        # So many equal others have this much together.
        scores[:, c] = odds + np.log(max(1, len(classes) - 1))
        y = np.exp(found.apply(scores)[:, c])
        name = "every class" if everyone else str(classes[c])
        for at, after in zip(x.tolist(), y.tolist(), strict=True):
            yield {"series": name, "x": at, "y": after}
