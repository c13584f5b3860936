"""Decision regions of a classifier over the plane of two of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.class_curves import CURVE_CELLS, ClassCurves, class_curves
from weigh.explain.classifier_adapters import ClassifierAdapter, adapt_classifier
from weigh.explain.grid_axis import grid_axis
from weigh.features.blocks import Floats, Longs
from weigh.parameters import check_integer
from weigh.result import Lines, Section, Table, TabularResult
from weigh.text import format_float, format_percent, format_quantity, truncate

MAX_PLOTTED_ROWS = 1_000  # rows drawn as points
MAX_LISTED_COLUMNS = 8  # fixed columns listed individually
PLANE_CELLS = 60  # grid points along each axis


@dataclass(frozen=True)
class RegionRow:
    """A row on the plane: its coordinates, its label and its predicted class."""

    x: float
    y: float
    label: Any
    verdict: Any

    @property
    def wrong(self) -> bool:
        """Whether the row has a label that differs from the verdict."""
        return self.label is not None and self.label != self.verdict


@dataclass(frozen=True, eq=False, repr=False)
class Regions(TabularResult):
    """The result of `regions`: predicted classes over a grid of two columns.

    `verdicts[j, i]` is the code of the class at (x[i], y[j]) and `shares[j, i]` its probability; without
    probabilities, its margin scaled to ½ to 1. `held` are the fixed values of all other columns. `spots`
    are the rows, each with its own verdict. `boundary` is the score w·(x, y) + b if it is linear, else
    None; `margin` is then the smallest score of a row for its class, if all rows are classified correctly.
    """

    across: str
    up: str
    classes: tuple[Any, ...]
    x: Floats
    y: Floats
    verdicts: Longs
    shares: Floats
    held: Mapping[str, Any]
    spots: tuple[RegionRow, ...]
    boundary: LinearScore | None
    margin: float | None
    _frames = ("spots",)

    @property
    def errors(self) -> int:
        """The number of misclassified rows."""
        return sum(spot.wrong for spot in self.spots)

    def plot(self) -> Any:
        """Plot the regions, the rows (misclassified ones ringed), the boundary and the margins."""
        from weigh.pictures import decision_regions

        cells = [
            {"x": x, "y": y, "label": self.classes[code], "share": share}
            for y, codes, shares in zip(self.y.tolist(), self.verdicts, self.shares, strict=True)
            for x, code, share in zip(self.x.tolist(), codes.tolist(), shares.tolist(), strict=True)
        ]
        step = -(-len(self.spots) // MAX_PLOTTED_ROWS) or 1
        points = [
            {
                "x": spot.x,
                "y": spot.y,
                "label": spot.verdict if spot.label is None else spot.label,
                "wrong": spot.wrong,
            }
            for spot in self.spots[::step]
        ]
        return decision_regions(cells, points, self._boundary_lines(), self.across, self.up, self.headline)

    def _boundary_lines(self) -> list[dict[str, Any]]:
        if self.boundary is None:
            return []
        ends = (float(self.x[0]), float(self.x[-1])), (float(self.y[0]), float(self.y[-1]))
        levels = {"boundary": 0.0}
        if self.margin is not None:
            levels |= {
                f"margin of {self.classes[1]}": self.margin,
                f"margin of {self.classes[0]}": -self.margin,
            }
        return [
            {"series": name, "x": x, "y": y}
            for name, score in levels.items()
            for x, y in self.boundary.line(score, *ends)
        ]

    @property
    def headline(self) -> str:
        """The number of misclassified rows and of fixed columns."""
        wrong = f": {self.errors:,} of {format_quantity(len(self.spots), 'row')} wrong"
        held = f", {format_quantity(len(self.held), 'other column')} held" if self.held else ""
        return f"Decision regions{wrong if self.spots else ''}{held}"

    def sections(self) -> list[Section]:
        """Return the area and the rows of each class, and the ranges and values of the columns."""
        area = np.bincount(self.verdicts.ravel(), minlength=len(self.classes)) / self.verdicts.size
        predicted = Counter(spot.verdict for spot in self.spots)
        wrong = Counter(spot.verdict for spot in self.spots if spot.wrong)
        rows = (
            [str(label), format_percent(share), f"{predicted[label]:,}", f"{wrong[label]:,}"]
            for label, share in zip(self.classes, area.tolist(), strict=True)
        )
        table = Table([["class", "of the area", "rows there", "wrong"], *rows], indent="  ", widths=(40,))
        notes = Lines("\n".join(f"  {note}" for note in self._notes()))
        return [Section("classes", [table]), Section("columns", [notes])]

    def _notes(self) -> list[str]:
        notes = [
            f"{truncate(name, 40)} from {format_float(float(at[0]))} to {format_float(float(at[-1]))}"
            for name, at in ((self.across, self.x), (self.up, self.y))
        ]
        for name, value in list(self.held.items())[:MAX_LISTED_COLUMNS]:
            notes.append(
                f"{truncate(name, 40)} held at {'missing' if value is None else truncate(value, 24)}"
            )
        if len(self.held) > MAX_LISTED_COLUMNS:
            notes.append(f"… and {len(self.held) - MAX_LISTED_COLUMNS:,} more columns held")
        return notes

    def __repr__(self) -> str:
        return f"<Regions over {self.across!r} and {self.up!r}: {self.x.size} by {self.y.size} cells>"


def regions(
    model: Any,
    rows: Any,
    label: Any = None,
    *,
    across: str | None = None,
    up: str | None = None,
    hold: Mapping[str, Any] | None = None,
    cells: int | None = None,
) -> Regions | ClassCurves:
    """Evaluate a classifier on a grid over two numeric columns, around the given rows.

    A classifier with a single numeric column gets the curves of `class_curves` instead.

    All other columns are fixed: at the values in `hold` or, by default, numbers at the median of the rows,
    categories at their most frequent value and texts as missing. A linear decision boundary is detected. If
    the classifier has only two columns and classifies all rows correctly, the boundary has margins through
    the nearest rows.

    Parameters
    ----------
    model : a classifier or fitted estimator of this library, or a fitted scikit-learn classifier with rows
        as a pandas table or an array
    rows : rows of any storage; their range determines the part of the plane
    label : one label per row, or the name of the label column; None uses the model's, if the rows have it
    across, up : the columns of the x and y axes; None uses the first two numeric ones
    hold : mapping from other columns to their fixed values
    cells : the number of grid points along each axis; None uses 60, or 240 for curves
    """
    n_cells = check_integer("regions", "cells", PLANE_CELLS if cells is None else cells, 2)
    classifier = adapt_classifier(model, rows, label)
    numeric = classifier.numeric_columns
    if up is None and len(numeric) == 1 and across in (None, *numeric):
        return class_curves(model, rows, label, across=across, hold=hold, cells=cells or CURVE_CELLS)
    pair = classifier.choose_columns(across, up)
    if not isinstance(hold, Mapping | None):
        raise errors.parameter_error("regions", "hold", "a mapping from columns to values", hold)
    fixed = classifier.fixed_values(pair, hold or {})
    numbers = [classifier.numeric_column(name) for name in pair]
    x, y = (grid_axis("regions", name, column, n_cells) for name, column in zip(pair, numbers, strict=True))
    grid_x, grid_y = np.meshgrid(x, y)
    predictions = classifier.predict_plane(pair, fixed, grid_x.ravel(), grid_y.ravel())
    line = None
    if len(classifier.classes) == 2 and predictions.decision_values is not None:
        line = fit_linear_score(grid_x.ravel(), grid_y.ravel(), predictions.decision_values)
    spots = _locate_rows(classifier, *numbers)
    margin = _smallest_row_score(classifier, line, spots) if line is not None and not fixed else None
    return Regions(
        *pair,
        tuple(classifier.classes),
        x,
        y,
        predictions.codes.reshape(grid_x.shape),
        predictions.confidences.reshape(grid_x.shape),
        fixed,
        spots,
        line,
        margin,
    )


def _locate_rows(classifier: ClassifierAdapter, x: Floats, y: Floats) -> tuple[RegionRow, ...]:
    is_finite = np.isfinite(x) & np.isfinite(y)
    columns = (x.tolist(), y.tolist(), classifier.labels, classifier.predict_rows(), is_finite.tolist())
    return tuple(RegionRow(*values) for *values, is_visible in zip(*columns, strict=True) if is_visible)


def _smallest_row_score(
    classifier: ClassifierAdapter, line: LinearScore, spots: tuple[RegionRow, ...]
) -> float | None:
    """Return the smallest score of a row for its class; None if a row is misclassified or unlabelled."""
    signs = {classifier.classes[0]: -1.0, classifier.classes[1]: 1.0}
    scores = [signs.get(spot.label, np.nan) * line.score(spot.x, spot.y) for spot in spots]
    return min(scores) if scores and min(scores) > 0 else None


LINEARITY_TOLERANCE = 1e-9  # maximum rounding error, relative to the largest score

AxisRange = tuple[float, float]


@dataclass(frozen=True)
class LinearScore:
    """The score w·(x, y) + b; positive scores favour the second class."""

    w: tuple[float, float]
    b: float

    def score(self, x: float, y: float) -> float:
        """Return the score of a point."""
        return self.w[0] * x + self.w[1] * y + self.b

    def line(self, score: float, across: AxisRange, up: AxisRange) -> list[tuple[float, float]]:
        """Return the ends of the line of constant score inside a box; empty if it lies outside."""
        (wx, wy), c = self.w, self.b - score
        ends = [(x, -(wx * x + c) / wy) for x in across] if wy else []
        ends += [(-(wy * y + c) / wx, y) for y in up] if wx else []
        inside = [(x, y) for x, y in ends if _is_within_range(x, across) and _is_within_range(y, up)]
        return [min(inside), max(inside)] if len(set(inside)) > 1 else []


def fit_linear_score(x: Floats, y: Floats, scores: Floats) -> LinearScore | None:
    """Fit a linear function to the scores by least squares; None if it does not reproduce them."""
    if not np.isfinite(scores).all():
        return None
    centre, scale = (x.mean(), y.mean()), (np.ptp(x) or 1.0, np.ptp(y) or 1.0)
    table = np.column_stack([(x - centre[0]) / scale[0], (y - centre[1]) / scale[1], np.ones(len(x))])
    coef, *_ = np.linalg.lstsq(table, scores, rcond=None)
    largest = float(np.abs(scores).max())
    if not largest or not np.abs(table @ coef - scores).max() <= LINEARITY_TOLERANCE * largest:
        return None
    w = float(coef[0] / scale[0]), float(coef[1] / scale[1])
    return LinearScore(w, float(coef[2]) - w[0] * float(centre[0]) - w[1] * float(centre[1]))


def _is_within_range(value: float, span: AxisRange) -> bool:
    slack = 1e-12 * (span[1] - span[0])
    return span[0] - slack <= value <= span[1] + slack
