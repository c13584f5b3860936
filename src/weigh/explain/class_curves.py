"""Class curves of a classifier over one number: densities or probabilities, and where the verdict changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.classifier_adapters import ClassifierAdapter, adapt_classifier
from weigh.explain.grid_axis import grid_axis
from weigh.features.blocks import Floats, Longs
from weigh.model.decision import log_softmax
from weigh.parameters import check_integer
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_float, format_quantity, truncate

MAX_PLOTTED_ROWS = 200  # rows drawn as points
CURVE_CELLS = 240  # grid points
MAX_BISECTIONS = 200  # halvings of an interval of floats
QUANTITIES = {
    "density": "P(class) · p(x | class)",
    "likelihood": "p(x | class)",
    "probability": "P(class | x)",
    "score": "score of the class",
}


@dataclass(frozen=True)
class Boundary(Facts):
    """A number at which the verdict changes from the class `below` to the class `above`.

    `rule` is "MAP", the decision of the classifier, or "ML", that with equal class priors.
    """

    rule: str
    x: float
    below: Any
    above: Any


@dataclass(frozen=True)
class CurveRow(Facts):
    """A row: its number, its label and its predicted class."""

    x: float
    label: Any
    verdict: Any


@dataclass(frozen=True, eq=False, repr=False)
class ClassCurves(TabularResult):
    """The result of `regions` over one column: a curve per class, and the boundaries between the classes.

    `scores[i, c]` is the score of class c at x[i], and `log_prior` the log prior of the classes for a
    generative classifier, whose scores are log P(class) + log p(x | class), else None.
    `has_probabilities` says whether P(class | x) follows from the scores. `held` are the fixed values of all
    other columns.
    """

    across: str
    classes: tuple[Any, ...]
    x: Floats
    scores: Floats
    log_prior: Floats | None
    has_probabilities: bool
    held: Mapping[str, Any]
    boundaries: tuple[Boundary, ...]
    spots: tuple[CurveRow, ...]
    _frames = ("boundaries",)

    @property
    def errors(self) -> int:
        """The number of misclassified rows."""
        return sum(spot.label is not None and spot.label != spot.verdict for spot in self.spots)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The curves that the classifier has: "density", "likelihood", "probability" or "score"."""
        generative = () if self.log_prior is None else ("density", "likelihood")
        return (*generative, "probability" if self.has_probabilities else "score")

    def heights(self, which: str | None = None) -> Floats:
        """Return the curves [x, classes] of one of the `quantities`, by default the first."""
        which = self.quantities[0] if which is None else which
        if which not in self.quantities:
            raise errors.parameter_error(
                "heights", "which", f"one of {errors.quote_names(self.quantities)}", which
            )
        if which == "probability":
            return np.exp(log_softmax(self.scores))
        if which == "score":
            return self.scores
        prior = self.log_prior if which == "likelihood" and self.log_prior is not None else 0.0
        return np.asarray(np.exp(self.scores - prior))

    def plot(self, which: str | None = None) -> Any:
        """Plot one of the `quantities` per class, with the boundaries and the rows."""
        from weigh.pictures import line_chart

        which = self.quantities[0] if which is None else which
        heights = self.heights(which)
        names = [truncate(label, 30) for label in self.classes]
        shown = [1] if len(names) == 2 and which == "probability" else range(len(names))
        rows = [
            {"series": names[c], "x": x, "y": y}
            for c in shown
            for x, y in zip(self.x.tolist(), heights[:, c].tolist(), strict=True)
        ]
        rules = {each.rule for each in self.boundaries}
        marks = [(each.x, each.rule if len(rules) > 1 else "boundary") for each in self.boundaries]
        quantity = QUANTITIES[which].replace("class", names[shown[0]] if len(shown) == 1 else "class")
        return line_chart(
            rows, self.across, quantity, self.headline, marks=marks, points=self._points(heights, names)
        )

    def _points(self, heights: Floats, names: list[str]) -> list[dict[str, Any]]:
        """Return the labelled rows below the curves, each class on its own line."""
        low, high = min(float(heights.min()), 0.0), float(heights.max())
        name_by_label = dict(zip(self.classes, names, strict=True))
        step = -(-len(self.spots) // MAX_PLOTTED_ROWS) or 1
        line = {name: low - (k + 1) * (high - low) / 25 for k, name in enumerate(names)}
        labelled = [(spot.x, name_by_label.get(spot.label)) for spot in self.spots[::step]]
        return [{"series": name, "x": x, "y": line[name]} for x, name in labelled if name is not None]

    @property
    def headline(self) -> str:
        """The number of misclassified rows and of fixed columns."""
        has_labels = any(spot.label is not None for spot in self.spots)
        wrong = f": {self.errors:,} of {format_quantity(len(self.spots), 'row')} wrong" if has_labels else ""
        held = f", {format_quantity(len(self.held), 'other column')} held" if self.held else ""
        return f"Classes over {truncate(self.across, 40)}{wrong}{held}"

    def sections(self) -> list[Section]:
        """Return the boundaries, and the fixed columns."""
        span = f"{format_float(float(self.x[0]))} to {format_float(float(self.x[-1]))}"
        if not self.boundaries:
            return [Section("boundaries", [f"  One class everywhere from {span}."])]
        header = ["rule", truncate(self.across, 24), "below", "above"]
        rows = [
            [each.rule, format_float(each.x), str(each.below), str(each.above)] for each in self.boundaries
        ]
        return [Section("boundaries", [Table([header, *rows], indent="  ", widths=(24,))])]

    def __repr__(self) -> str:
        boundaries = format_quantity(len(self.boundaries), "boundary", "boundaries")
        return f"<ClassCurves over {self.across!r}: {boundaries}>"


def class_curves(
    model: Any,
    rows: Any,
    label: Any = None,
    *,
    across: str | None = None,
    hold: Mapping[str, Any] | None = None,
    cells: int = CURVE_CELLS,
) -> ClassCurves:
    """Evaluate a classifier along one numeric column, around the given rows.

    For naive Bayes the curves are P(class) · p(x | class), and a boundary of maximum likelihood is found
    beside that of the classifier (maximum a posteriori); other classifiers have probabilities or scores.
    Boundaries are found by bisection down to neighbouring floats, between grid points with different
    verdicts. Other columns are fixed as in `regions`.

    Parameters
    ----------
    model, rows, label, hold : as for `regions`
    across : the column; None uses the first numeric one
    cells : the number of grid points
    """
    check_integer("class_curves", "cells", cells, 2)
    classifier = adapt_classifier(model, rows, label)
    name = classifier.choose_column(across)
    if not isinstance(hold, Mapping | None):
        raise errors.parameter_error("class_curves", "hold", "a mapping from columns to values", hold)
    fixed = classifier.fixed_values((name, name), hold or {})
    numbers = classifier.numeric_column(name)
    x = grid_axis("class_curves", name, numbers, cells)

    def score(points: Floats) -> Floats:
        return classifier.class_scores(classifier.fill_columns({name: points}, fixed, len(points)))

    scores, log_prior = score(x), classifier.log_prior
    rules = {"MAP": 0.0} if log_prior is None else {"MAP": 0.0, "ML": log_prior}
    boundaries: list[Boundary] = []
    for rule, prior in rules.items():
        boundaries += _find_boundaries(rule, x, partial(_subtract, score, prior), classifier)
    spots = zip(numbers.tolist(), classifier.labels, classifier.predict_rows(), strict=True)
    rows_at = tuple(CurveRow(*spot) for spot in spots if np.isfinite(spot[0]))
    classes, has_probabilities = tuple(classifier.classes), classifier.has_probabilities
    return ClassCurves(
        name, classes, x, scores, log_prior, has_probabilities, fixed, tuple(boundaries), rows_at
    )


def _subtract(score: Callable[[Floats], Floats], prior: Any, x: Floats) -> Floats:
    return np.asarray(score(x) - prior)


def _find_boundaries(
    rule: str, x: Floats, score: Callable[[Floats], Floats], classifier: ClassifierAdapter
) -> list[Boundary]:
    """Return the numbers at which the best class changes, each between two grid points."""
    codes: Longs = classifier.best(score(x))
    changes = np.flatnonzero(codes[1:] != codes[:-1])
    low, high, below = x[changes].copy(), x[changes + 1].copy(), codes[changes]
    for _ in range(MAX_BISECTIONS):
        middle = low / 2 + high / 2
        if not len(changes) or ((middle == low) | (middle == high)).all():
            break
        stays = classifier.best(score(middle)) == below
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    above = classifier.best(score(high)) if len(changes) else below
    pairs = zip(low.tolist(), below.tolist(), above.tolist(), strict=True)
    return [Boundary(rule, at, classifier.classes[a], classifier.classes[b]) for at, a, b in pairs]
