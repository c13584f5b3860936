"""The sections and the charts of a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.explain.decision_regions import LinearScore, RegionRow, Regions
from weigh.explain.grid_axis import cell_centres
from weigh.features.blocks import Floats
from weigh.judge.margins.separation import SeparatingPlane
from weigh.learn.design_matrix import DesignMatrix
from weigh.result import Section, Table
from weigh.text import format_float, format_quantity, format_signed, truncate

if TYPE_CHECKING:
    from weigh.judge.margins.margin import Margin
    from weigh.judge.margins.separation import InseparabilityProof

MAX_LISTED_ITEMS = 10
MAX_FRACTION_WIDTH = 24  # longer fractions are less readable than decimals
GRID_CELLS = 60
STANDARDISED_SENTENCE = "Numbers are standardised, as a perceptron learns them."
MAX_PLOTTED_ITEMS = 20


def margin_sections(margin: Margin) -> list[Section]:
    """Return the margins and their planes, or the proof that there are none, and the radius."""
    if margin.proof is not None:
        tables = [_proof_table(margin, margin.proof)]
    else:
        tables = [_margin_table(margin), _weight_table(margin)]
    return [*(Section("margin", [table]) for table in tables), Section("radius", [_radius_sentence(margin)])]


def margin_headline(margin: Margin) -> str:
    """Return the size of the table and whether its classes are separable."""
    verdict = {True: "separable", False: "not separable", None: "undecided"}[margin.separable]
    first, second = (truncate(repr(label), 20) for label in margin.classes)
    size = f"{format_quantity(margin.n_rows, 'row')}, {format_quantity(margin.n_features, 'feature')}"
    return f"Margin of {size}, {first} (−) against {second} (+): {verdict}."


def _radius_sentence(margin: Margin) -> str:
    augmented, plain = format_float(margin.radius), format_float(margin.radius_plain)
    radius = f"Radius {augmented} with the constant 1, {plain} without."
    if margin.standardised:
        radius += f" {STANDARDISED_SENTENCE}"
    if margin.proof is not None:
        accuracy = (
            "exactly" if margin.proof.exact else f"up to a rounding error of {margin.proof.residual:.1e}"
        )
        return (
            f"With these weights both classes have the same mean, {accuracy}, so no plane separates them. "
            f"{radius}"
        )
    if margin.separable is None:
        return f"The classes touch within floating-point precision. {radius}"
    return radius


def _margin_table(margin: Margin) -> Table:
    rows = [["margin", "at least", "at most", "squared", "support"]]
    for name in ("distance", "augmented"):
        plane = getattr(margin, name)
        exact = getattr(margin.exact, name) if margin.exact else None
        square = str(exact.square) if exact else ""
        rows.append(
            [
                name,
                f"{plane.lower:.10g}",
                f"{plane.upper:.10g}",
                square if square and len(square) <= MAX_FRACTION_WIDTH else f"{plane.upper**2:.6g}",
                format_quantity(len(plane.support), "row"),
            ]
        )
    return Table(rows, indent="  ", caption="Margins")


def _weight_table(margin: Margin) -> Table:
    planes = [plane for plane in (margin.distance, margin.augmented) if plane is not None]
    sizes = {name: max(abs(p.w.get(name, 0.0)) for p in planes) for plane in planes for name in plane.w}
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    rows = [["weight", "distance", "augmented"]]
    rows += [
        [name, *(format_signed(p.w.get(name, 0.0), 4) for p in planes)] for name in names[:MAX_LISTED_ITEMS]
    ]
    if len(names) > MAX_LISTED_ITEMS:
        rows.append([f"… and {len(names) - MAX_LISTED_ITEMS:,} more", "", ""])
    rows.append(["bias", *(format_signed(plane.b, 4) for plane in planes)])
    return Table(rows, indent="  ", caption="Maximum-margin planes", widths=(44,))


def _proof_table(margin: Margin, proof: InseparabilityProof) -> Table:
    rows = [["class", "row", "weight"]]
    for label, weights in zip(margin.classes, (proof.first, proof.second), strict=True):
        name = truncate(repr(label), 40)
        rows += [[name, f"{row:,}", _format_weight(weight)] for row, weight in _largest_row_weights(weights)]
        if len(weights) > MAX_LISTED_ITEMS:
            rows.append([name, f"… {len(weights) - MAX_LISTED_ITEMS:,} more", ""])
    return Table(rows, indent="  ", caption="A common point of both convex hulls")


def _largest_row_weights(weights: Mapping[int, Fraction | float]) -> list[tuple[int, Fraction | float]]:
    return sorted(sorted(weights.items(), key=lambda pair: -pair[1])[:MAX_LISTED_ITEMS])


def _format_weight(weight: Fraction | float) -> str:
    text = str(weight)
    is_short = isinstance(weight, Fraction) and len(text) <= MAX_FRACTION_WIDTH
    return text if is_short else f"{float(weight):.6g}"


def plot_margin_plane(margin: Margin, rows: DesignMatrix, plane: SeparatingPlane) -> Any:
    """Plot the plane among rows of two features, otherwise the rows nearest to it."""
    table = rows.to_dense()
    w = np.array([plane.w.get(name, 0.0) for name in rows.names])
    labels = [rows.classes[code] for code in rows.codes.tolist()]
    if rows.width == 2:
        return _margin_regions(
            margin, rows.names, table, labels, LinearScore((w[0], w[1]), plane.b), plane.lower
        ).plot()
    signs = np.where([label == margin.classes[1] for label in labels], 1.0, -1.0)
    return _plot_nearest_rows(table @ w + plane.b, signs, labels)


def _margin_regions(
    margin: Margin, names: Sequence[str], table: Floats, labels: list[Any], line: LinearScore, width: float
) -> Regions:
    x, y = (cell_centres(column, GRID_CELLS) for column in table.T)
    scores = np.array([[line.score(a, b) for a in x.tolist()] for b in y.tolist()])
    region_rows = tuple(
        RegionRow(a, b, label, margin.classes[int(line.score(a, b) >= 0)])
        for (a, b), label in zip(table.tolist(), labels, strict=True)
    )
    confidence = 0.5 + 0.5 * np.abs(scores) / np.abs(scores).max()
    codes = (scores >= 0).astype(np.int64)
    return Regions(names[0], names[1], margin.classes, x, y, codes, confidence, {}, region_rows, line, width)


def _plot_nearest_rows(scores: Floats, signs: Floats, labels: list[Any]) -> Any:
    from weigh.pictures import bar_chart

    distances = signs * scores
    rows = [
        {"name": f"row {row}: {labels[row]}", "value": float(distances[row])}
        for row in np.argsort(distances, kind="stable")[:MAX_PLOTTED_ITEMS].tolist()
    ]
    return bar_chart(rows, "distance from the maximum-margin plane", f"The {len(rows)} nearest rows")


def plot_margin_weights(margin: Margin) -> Any:
    """Plot the weights of the maximum-margin planes, or of the rows that prove inseparability."""
    from weigh.pictures import bar_chart

    if margin.proof is not None:
        classes = zip(margin.classes, (margin.proof.first, margin.proof.second), strict=True)
        rows = [
            {"group": str(label), "name": f"row {row}", "value": float(weight)}
            for label, weights in classes
            for row, weight in sorted(weights.items(), key=lambda pair: -pair[1])[:MAX_PLOTTED_ITEMS]
        ]
        title = "Both classes have this weighted mean, so no plane separates them"
        return bar_chart(rows, "weight of the row", title)
    planes = {"distance": margin.distance, "augmented": margin.augmented}
    rows = [
        {"group": f"{name} margin {plane.lower:.4g}", "name": feature, "value": weight}
        for name, plane in planes.items()
        if plane is not None
        for feature, weight in _largest_plane_weights(plane)
    ]
    return bar_chart(rows, "weight", "Maximum-margin planes")


def _largest_plane_weights(plane: SeparatingPlane) -> list[tuple[str, float]]:
    weights = sorted(plane.w.items(), key=lambda pair: -abs(pair[1]))
    return [*weights[: MAX_PLOTTED_ITEMS - 1], ("bias", plane.b)]
