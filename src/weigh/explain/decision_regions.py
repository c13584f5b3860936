"""Regions of decision: what a classifier says over the plane of two of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.classifier_adapters import ClassifierAdapter, adapt_classifier
from weigh.features.blocks import Floats, Longs
from weigh.features.validation import MAX_MAGNITUDE, check_integer
from weigh.text import (
    format_float,
    format_percent,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    truncate,
)

MAX_PLOTTED_ROWS = 1_000  # rows that are drawn as points
MAX_LISTED_COLUMNS = 8  # held columns that are told one by one
AXIS_PADDING = 0.08  # of the span of the rows, on every side


@dataclass(frozen=True)
class RegionRow:
    """A row on the plane: where it is, its label, and what the classifier says of it."""

    x: float
    y: float
    label: Any
    verdict: Any

    @property
    def wrong(self) -> bool:
        """Whether the verdict is not the label, where that is known."""
        return self.label is not None and self.label != self.verdict


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """The result of `regions`: verdicts over a grid of two columns.

    `verdicts[j, i]` is the number of the class at `y[j]` and `x[i]`, `shares` its probability (where there is
    none, how far it leads, as a share of the farthest, from ½ to 1). `held` are the values of all other
    columns. `spots` are the rows, each with its own verdict. `boundary` is known where it is a
    straight line: score = w·(x, y) + b, and `margin` the score that the nearest row has, if all are right.
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

    @property
    def errors(self) -> int:
        """How many rows get a verdict that is not their label."""
        return sum(spot.wrong for spot in self.spots)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        line = self.boundary
        return {
            "across": self.across,
            "up": self.up,
            "classes": [to_json_value(label) for label in self.classes],
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            "verdicts": self.verdicts.tolist(),
            "shares": self.shares.tolist(),
            "held": {name: to_json_value(value) for name, value in self.held.items()},
            "spots": [
                {name: to_json_value(value) for name, value in vars(spot).items()} for spot in self.spots
            ],
            "boundary": None if line is None else {"w": list(line.w), "b": line.b},
            "margin": self.margin,
        }

    def plot(self) -> Any:
        """Return a picture of the regions, the rows as points (wrong ones ringed), boundary and margins."""
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
        return decision_regions(cells, points, self._boundary_lines(), self.across, self.up, self._title)

    def _boundary_lines(self) -> list[dict[str, Any]]:
        if self.boundary is None:
            return []
        ends = (float(self.x[0]), float(self.x[-1])), (float(self.y[0]), float(self.y[-1]))
        wanted = {"boundary": 0.0}
        if self.margin is not None:
            wanted |= {
                f"margin of {self.classes[1]}": self.margin,
                f"margin of {self.classes[0]}": -self.margin,
            }
        return [
            {"series": name, "x": x, "y": y}
            for name, score in wanted.items()
            for x, y in self.boundary.line(score, *ends)
        ]

    @property
    def _title(self) -> str:
        wrong = f": {self.errors:,} of {format_quantity(len(self.spots), 'row')} wrong"
        held = f", {format_quantity(len(self.held), 'other column')} held" if self.held else ""
        return f"Regions of decision{wrong if self.spots else ''}{held}"

    def _rows(self) -> list[list[str]]:
        area = np.bincount(self.verdicts.ravel(), minlength=len(self.classes)) / self.verdicts.size
        said = Counter(spot.verdict for spot in self.spots)
        wrong = Counter(spot.verdict for spot in self.spots if spot.wrong)
        found = (
            [truncate(label, 40), format_percent(share), f"{said[label]:,}", f"{wrong[label]:,}"]
            for label, share in zip(self.classes, area.tolist(), strict=True)
        )
        return [["class", "of the area", "rows there", "wrong"], *found]

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

    def __str__(self) -> str:
        told = "\n".join(f"  {note}" for note in self._notes())
        return f"{self._title}\n\n{text_table(self._rows(), indent='  ')}\n\n{told}"

    def __repr__(self) -> str:
        return f"<Regions over {self.across!r} and {self.up!r}: {self.x.size} by {self.y.size} cells>"

    def _repr_html_(self) -> str:
        notes = "".join(map(html_paragraph, self._notes()))
        return f"<div>{html_table(self._title, self._rows())}{notes}</div>"


def regions(
    model: Any,
    rows: Any,
    label: Any = None,
    *,
    across: str | None = None,
    up: str | None = None,
    hold: Mapping[str, Any] | None = None,
    cells: int = 60,
) -> Regions:
    """Ask a classifier about every place of the plane of two columns of numbers, around some rows.

    Where it has more columns, those are held: numbers at the rows' median, categories at their most
    frequent value, texts missing, or at what `hold` says. A boundary that is a straight line is found as
    such; of a classifier of two columns that is right on all rows it has margins, lines through the rows that
    are nearest to it.

    Parameters
    ----------
    model : a classifier of this library or an estimator that holds one; or a fitted classifier of
        scikit-learn, with rows as it takes them, a pandas table or an array
    rows : rows of any storage, which say what part of the plane is shown
    label : one label per row, or the label column's name; None takes the model's, if the rows have it
    across, up : the columns; None takes the first two of numbers
    hold : mapping from other columns to the values they are held at
    cells : how many places are asked along each column
    """
    check_integer("regions", "cells", cells, 2)
    subject = adapt_classifier(model, rows, label)
    pair = subject.choose_columns(across, up)
    if not isinstance(hold, Mapping | None):
        raise errors.parameter_error("regions", "hold", "a mapping from columns to values", hold)
    held = subject.fixed_values(pair, hold or {})
    numbers = [subject.numeric_column(name) for name in pair]
    (x, y) = (_grid_axis(name, each, cells) for name, each in zip(pair, numbers, strict=True))
    grid_x, grid_y = np.meshgrid(x, y)
    answer = subject.predict_plane(pair, held, grid_x.ravel(), grid_y.ravel())
    line = None
    if len(subject.classes) == 2 and answer.decision_values is not None:
        line = fit_linear_score(grid_x.ravel(), grid_y.ravel(), answer.decision_values)
    spots = _locate_rows(subject, *numbers)
    margin = _smallest_row_score(subject, line, spots) if line is not None and not held else None
    shape = (cells, cells)
    return Regions(
        *pair,
        tuple(subject.classes),
        x,
        y,
        answer.codes.reshape(shape),
        answer.confidences.reshape(shape),
        held,
        spots,
        line,
        margin,
    )


def _grid_axis(name: str, numbers: Floats, cells: int) -> Floats:
    known = numbers[np.isfinite(numbers)]
    largest = float(np.abs(known).max()) if len(known) else np.inf
    if largest > MAX_MAGNITUDE:
        told = f"numbers as large as {largest:g}" if len(known) else "no number that is known"
        raise errors.ColumnError(
            f"regions goes along numbers of at most {MAX_MAGNITUDE:g}, and column {name!r} holds {told}. Give other "
            f"rows, or another column as across= or up=."
        )
    return cell_centres(known, cells)


def cell_centres(numbers: Floats, cells: int) -> Floats:
    """The middles of equal cells that cover the numbers and a little more."""
    known = numbers[np.isfinite(numbers)]
    low, high = float(known.min()), float(known.max())
    pad = AXIS_PADDING * (high - low) or max(1.0, abs(low)) / 2
    edges = np.linspace(low - pad, high + pad, cells + 1)
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def _locate_rows(subject: ClassifierAdapter, x: Floats, y: Floats) -> tuple[RegionRow, ...]:
    known = np.isfinite(x) & np.isfinite(y)
    found = zip(x.tolist(), y.tolist(), subject.labels, subject.predict_rows(), known.tolist(), strict=True)
    return tuple(RegionRow(*each) for *each, drawn in found if drawn)


def _smallest_row_score(
    subject: ClassifierAdapter, line: LinearScore, spots: tuple[RegionRow, ...]
) -> float | None:
    """The least score of a row for its own class; None if a row is wrong or has no label."""
    signs = {subject.classes[0]: -1.0, subject.classes[1]: 1.0}
    own = [signs.get(spot.label, np.nan) * line.score(spot.x, spot.y) for spot in spots]
    return min(own) if own and min(own) > 0 else None


LINEARITY_TOLERANCE = 1e-9  # what rounding may leave, as a share of the largest score

AxisRange = tuple[float, float]


@dataclass(frozen=True)
class LinearScore:
    """score = w·(x, y) + b; a positive score speaks for the second class."""

    w: tuple[float, float]
    b: float

    def score(self, x: float, y: float) -> float:
        """Return the score of a place."""
        return self.w[0] * x + self.w[1] * y + self.b

    def line(self, score: float, across: AxisRange, up: AxisRange) -> list[tuple[float, float]]:
        """Return the two ends of the line of one score within a box; nothing where it is outside."""
        (wx, wy), c = self.w, self.b - score
        ends = [(x, -(wx * x + c) / wy) for x in across] if wy else []
        ends += [(-(wy * y + c) / wx, y) for y in up] if wx else []
        inside = [(x, y) for x, y in ends if _is_within_range(x, across) and _is_within_range(y, up)]
        return [min(inside), max(inside)] if len(set(inside)) > 1 else []


def fit_linear_score(x: Floats, y: Floats, scores: Floats) -> LinearScore | None:
    """Return the straight function that places have as their scores; None if it is another one."""
    if not np.isfinite(scores).all():
        return None
    middle, unit = (x.mean(), y.mean()), (np.ptp(x) or 1.0, np.ptp(y) or 1.0)
    table = np.column_stack([(x - middle[0]) / unit[0], (y - middle[1]) / unit[1], np.ones(len(x))])
    found, *_ = np.linalg.lstsq(table, scores, rcond=None)
    largest = float(np.abs(scores).max())
    if not largest or not np.abs(table @ found - scores).max() <= LINEARITY_TOLERANCE * largest:
        return None
    w = float(found[0] / unit[0]), float(found[1] / unit[1])
    return LinearScore(w, float(found[2]) - w[0] * float(middle[0]) - w[1] * float(middle[1]))


def _is_within_range(value: float, span: AxisRange) -> bool:
    slack = 1e-12 * (span[1] - span[0])
    return span[0] - slack <= value <= span[1] + slack
