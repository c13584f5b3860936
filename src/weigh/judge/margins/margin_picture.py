"""A margin as a picture: the widest plane among its rows, or what is known without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.explain.regions import Regions, Spot, centres
from weigh.explain.straight import Straight
from weigh.features.blocks import Floats
from weigh.judge.margins.plane import Plane
from weigh.learn.design import Design

if TYPE_CHECKING:
    from weigh.judge.margins.margin import Margin

CELLS = 60
SHOWN = 20


def of_plane(margin: Margin, rows: Design, plane: Plane) -> Any:
    """Draw rows with the widest plane: of two features the plane itself, else the rows nearest to it."""
    table = np.zeros((rows.n_rows, rows.width))
    table[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.values
    w = np.array([plane.w.get(name, 0.0) for name in rows.names])
    labels = [rows.classes[code] for code in rows.codes.tolist()]
    if rows.width == 2:
        return _regions(
            margin, rows.names, table, labels, Straight((w[0], w[1]), plane.b), plane.lower
        ).plot()
    signs = np.where([label == margin.classes[1] for label in labels], 1.0, -1.0)
    return _nearest(table @ w + plane.b, signs, labels)


def _regions(
    margin: Margin, names: Sequence[str], table: Floats, labels: list[Any], line: Straight, reach: float
) -> Regions:
    x, y = (centres(column, CELLS) for column in table.T)
    scores = np.array([[line.score(a, b) for a in x.tolist()] for b in y.tolist()])
    spots = tuple(
        Spot(a, b, label, margin.classes[int(line.score(a, b) >= 0)])
        for (a, b), label in zip(table.tolist(), labels, strict=True)
    )
    sure = 0.5 + 0.5 * np.abs(scores) / np.abs(scores).max()
    verdicts = (scores >= 0).astype(np.int64)
    return Regions(names[0], names[1], margin.classes, x, y, verdicts, sure, {}, spots, line, reach)


def _nearest(scores: Floats, signs: Floats, labels: list[Any]) -> Any:
    from weigh.pictures import bars

    own = signs * scores
    rows = [
        {"name": f"row {at}: {labels[at]}", "value": float(own[at])}
        for at in np.argsort(own, kind="stable")[:SHOWN].tolist()
    ]
    return bars(rows, "distance from the widest plane", f"The {len(rows)} rows that are nearest to it")


def of_weights(margin: Margin) -> Any:
    """Draw the weights of the widest planes; where none separates, of the rows that prove it."""
    from weigh.pictures import bars

    if margin.proof is not None:
        sides = zip(margin.classes, (margin.proof.first, margin.proof.second), strict=True)
        rows = [
            {"group": str(label), "name": f"row {row}", "value": float(weight)}
            for label, side in sides
            for row, weight in sorted(side.items(), key=lambda pair: -pair[1])[:SHOWN]
        ]
        return bars(rows, "weight of the row", "Both classes have this mean, so no plane parts them")
    planes = {"distance": margin.distance, "augmented": margin.augmented}
    rows = [
        {"group": f"{name} margin {plane.lower:.4g}", "name": feature, "value": weight}
        for name, plane in planes.items()
        if plane is not None
        for feature, weight in _heaviest(plane)
    ]
    return bars(rows, "weight", "The widest planes")


def _heaviest(plane: Plane) -> list[tuple[str, float]]:
    return [*sorted(plane.w.items(), key=lambda pair: -abs(pair[1]))[: SHOWN - 1], ("bias", plane.b)]
