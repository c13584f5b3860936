"""Traces: every step of a perceptron, in exact fractions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from weigh import errors, pictures
from weigh.atomic_files import atomic_write, error_reason
from weigh.explain.exact_perceptron import (
    ExactVector,
    PerceptronHistory,
    PerceptronParameters,
    PerceptronPlane,
    PerceptronStep,
    best_class,
    exact_fraction,
    predict_code,
    run_perceptron,
)
from weigh.explain.trace_format import (
    MAX_NUMBER_WIDTH,
    TRACE_WRITERS,
    format_exact_vector,
    format_fraction,
    select_passes,
    trace_html,
    trace_summary,
    trace_to_dict,
)
from weigh.features import BagOfWordsKind, Kind, Schema
from weigh.features.validation import check_integer
from weigh.learn import DesignMatrix, build_design_matrix
from weigh.model.perceptron import check_hypothesis
from weigh.source.missing import to_markers
from weigh.text import truncate

MAX_PRINTED_STEPS = 60  # steps that are printed unless more are asked for


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The steps of a perceptron over labelled rows, exact: a decimal such as 0.1 means one tenth.

    `names` are the features in order, `classes` the classes; a positive score speaks for the second
    of two.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    rows: tuple[ExactVector, ...]
    codes: tuple[int, ...]
    step_sizes: tuple[Fraction, ...]
    parameters: PerceptronParameters
    history: PerceptronHistory
    schema: Schema | None = None

    @property
    def steps(self) -> tuple[PerceptronStep, ...]:
        """Every row met, in order."""
        return self.history.steps

    @property
    def mistakes(self) -> int:
        """How many rows were mistaken; with one plane per class against the rest, by any of them."""
        return sum(not step.correct for step in self.steps)

    @property
    def updates(self) -> int:
        """How often a plane moved: at mistakes, and within the margin."""
        if self.history.is_one_vs_rest:
            return sum(abs(error) for step in self.steps for error in step.errors)
        return sum(step.is_update for step in self.steps)

    @property
    def converged(self) -> bool:
        """Whether the last pass was clean, without an update."""
        return self.history.converged

    @property
    def passes(self) -> int:
        """How many passes were made, the clean one included."""
        return self.steps[-1].iteration

    @cached_property
    def uses_decimals(self) -> bool:
        """Whether numbers are written as decimals: where rows or the rate have them, not other fractions."""
        values = (value for row in self.rows for value in row.values())
        below = {number.denominator for number in (*self.step_sizes, *values)}
        return below != {1} and all(10**MAX_NUMBER_WIDTH % each == 0 for each in below)

    def weights(self, keep: str | None = None) -> Any:
        """Return (w by feature, b) as the learner keeps them: "last", "averaged" or "lazy".

        For more than two classes, a mapping from each class to such a pair.
        """
        keep = self._resolve_keep(keep)
        if keep == "voted":
            raise errors.Unsupported(
                "A voted perceptron has no single weights: all its planes vote. They are in `voted`; "
                "weights('averaged') is their mean."
            )
        planes = [self._dense_plane(plane) for plane in self.history.planes(keep)]
        return planes[0] if len(self.classes) == 2 else dict(zip(self.classes, planes, strict=True))

    @property
    def voted(self) -> list[tuple[int, Any, Any]]:
        """The planes that vote: (c, w by feature, b), where c is how many steps the plane lasted.

        For more than two classes w and b are mappings from each class.
        """
        found: list[tuple[int, Any, Any]] = []
        for count, planes in self.history.hypotheses:
            full = [self._dense_plane(plane) for plane in planes]
            if len(full) == 1:
                found.append((count, full[0].weights, full[0].bias))
            else:
                named = dict(zip(self.classes, full, strict=True))
                weights = {label: plane.weights for label, plane in named.items()}
                found.append((count, weights, {label: plane.bias for label, plane in named.items()}))
        return found

    def score(self, row: Any, keep: str | None = None) -> Any:
        """Return the exact score of a row: w·x + b, or the votes for the second class minus those against.

        A row is a mapping from columns to values, a mapping from features to numbers, where others
        are 0, or one number per feature.
        For more than two classes, the result is a mapping from each class to its score.
        """
        scores = self._scores(self._exact_row(row), self._resolve_keep(keep))
        return scores[0] if len(self.classes) == 2 else dict(zip(self.classes, scores, strict=True))

    def predict(self, row: Any, keep: str | None = None) -> Any:
        """Return the class of a row: the second of two from 0 on, else the best of many."""
        scores = self._scores(self._exact_row(row), self._resolve_keep(keep))
        return self.classes[predict_code(scores)]

    def _scores(self, x: ExactVector, keep: str) -> list[Fraction]:
        if keep != "voted":
            return [plane.score(x) for plane in self.history.planes(keep)]
        votes = [Fraction(0)] * len(self.steps[0].planes)
        for count, planes in self.history.hypotheses:
            for c, vote in enumerate(
                _plane_votes([plane.score(x) for plane in planes], self.history.is_one_vs_rest)
            ):
                votes[c] += count * vote
        return votes

    def _exact_row(self, row: Any) -> ExactVector:
        if not isinstance(row, Mapping):
            values = np.asarray(row, dtype=object).ravel().tolist()
            if len(values) != len(self.names):
                raise errors.DataError(
                    f"The row has {len(values):,} numbers, the trace {len(self.names):,} features: "
                    f"{errors.quote_names(self.names)}. Give one number per feature, or a mapping from columns."
                )
            row = dict(zip(self.names, values, strict=True))
        if not self._name_set.issuperset(row) and self.schema is not None and self.schema.named:
            return self._encode_row(row, self.schema)
        for name in row:
            if name not in self._name_set:
                raise errors.unknown_column_error(str(name), self.names, "The trace")
        return {name: exact_fraction(value) for name, value in row.items() if value}

    def _encode_row(self, row: Mapping[str, Any], schema: Schema) -> ExactVector:
        """Return the features of a row of columns; levels and words that were never met add nothing."""
        for name in row:
            if name not in schema.names and name != schema.label:
                raise errors.unknown_column_error(str(name), schema.names, "The table of the trace")
        found = build_design_matrix(
            {name: [row.get(name)] for name in schema.names}, [0], without_vocabulary_limits(schema)
        )
        return exact_vectors(found, found.names)[0]

    @cached_property
    def _name_set(self) -> frozenset[str]:
        return frozenset(self.names)

    def _dense_plane(self, plane: PerceptronPlane) -> PerceptronPlane:
        return PerceptronPlane(
            {name: plane.weights.get(name, Fraction(0)) for name in self.names}, plane.bias
        )

    def _resolve_keep(self, keep: str | None) -> str:
        return self.parameters.keep if keep is None else check_hypothesis(keep)

    def table(
        self, format: str = "text", passes: int | Sequence[int] | None = None, most: int | None = None
    ) -> str:
        """Return the steps as a table per pass, as "text", "html" or "latex" (which needs amsmath).

        Parameters
        ----------
        passes : the first passes, by their number, or a list of passes, of which the first is 1
        most : how many steps to write at most
        """
        writer = TRACE_WRITERS.get(format)
        if writer is None:
            raise errors.parameter_error("table", "format", "'text', 'html' or 'latex'", format)
        if most is not None:
            check_integer("table", "most", most, 1)
        return writer(self, select_passes(self, passes), most)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; a number that is not whole is the text of its fraction, "7/10"."""
        return trace_to_dict(self)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a page that needs no network, and write it to a file if `path` is given.

        It holds the table and, for two features and two classes, a picture of the plane that turns
        step by step, which needs the extra `report`: pip install '.[report]' in a checkout.
        """
        page = trace_html_page(self)
        if path is not None:
            try:
                with atomic_write(path) as file:
                    file.write(page.encode("utf-8", "replace"))
            except OSError as cause:
                raise errors.FileError(
                    f"{os.fspath(path)} cannot be written: {error_reason(cause)}. Check its folder."
                ) from cause
        return page

    def plot(self, at: int = 1) -> Any:
        """Return the picture of the plane that turns, of two features and classes, at one of its steps."""
        if not is_two_dimensional(self):
            raise errors.Unsupported(
                f"The plane is drawn for two features and two classes, got {len(self.names):,} features and "
                f"{len(self.classes):,} classes. Its steps are in `table()`."
            )
        return plot_plane_steps(self, check_integer("plot", "at", at, 1))

    def __str__(self) -> str:
        return self.table(most=MAX_PRINTED_STEPS)

    def __repr__(self) -> str:
        return f"<Trace: {trace_summary(self)}>"

    def _repr_html_(self) -> str:
        return self.table("html", most=MAX_PRINTED_STEPS)


def _plane_votes(scores: list[Fraction], separate: bool) -> list[int]:
    """Return what one hypothesis says: 1 or −1 by each plane alone, or 1 for the best class of all."""
    if len(scores) == 1 or separate:
        return [1 if score >= 0 else -1 for score in scores]
    return [int(c == best_class(scores)) for c in range(len(scores))]


def trace(learner: Any, X: Any, y: Any = None) -> Trace:
    """Follow a perceptron over labelled rows, step by step, in exact fractions.

    The steps are worked out anew from the definition, with the parameters of the learner; it need
    not be fitted, and is left as it is.

    Parameters
    ----------
    learner : a `weigh.Perceptron`
    X : rows of any storage, as for `fit`
    y : one label per row, or the name of the label column
    """
    rules = PerceptronParameters.from_learner(learner)
    if isinstance(X, DesignMatrix) and y is None:
        found = X
    else:
        found = build_design_matrix(X, y, rules.columns, missing=to_markers(rules.missing, "Perceptron"))
    rules.check_kinds(found.schema)
    check_trace_rows(found, rules)
    names, classes, codes = tuple(found.names), tuple(found.classes), found.codes.tolist()
    rows = exact_vectors(found, names)
    weights = None if found.weights is None else found.weights.tolist()
    sizes = rules.step_sizes(codes, classes, weights)
    run = run_perceptron(rows, codes, sizes, classes, rules)
    return Trace(names, classes, tuple(rows), tuple(codes), tuple(sizes), rules, run, found.schema)


MAX_TRACE_STEPS = 50_000


def check_trace_rows(found: DesignMatrix, rules: PerceptronParameters) -> None:
    """Refuse what has no trace, before any work is done."""
    if not found.n_rows:
        raise errors.DataError("There are no rows to learn from.")
    if len(found.classes) < 2:
        raise errors.LabelError(
            f"A perceptron separates classes, and all {found.n_rows:,} rows are of one class, "
            f"{found.classes[0]!r}. Give rows of another class too."
        )
    steps = found.n_rows * rules.max_iter
    if steps > MAX_TRACE_STEPS:
        fitting = MAX_TRACE_STEPS // found.n_rows
        advice = f"max_iter={fitting} or fewer rows" if fitting else "fewer rows"
        raise errors.Unsupported(
            f"A trace of {found.n_rows:,} rows × {rules.max_iter:,} passes may take {steps:,} exact steps; "
            f"{MAX_TRACE_STEPS:,} are the most. Take {advice}."
        )
    if found.weights is not None:
        raise errors.Unsupported(
            "A trace counts every row once, and these rows have weights. Leave them out."
        )
    if len(set(found.names)) < len(found.names):
        twice = next(name for name in found.names if list(found.names).count(name) > 1)
        raise errors.ColumnError(f"Two features are named {twice!r}; a trace tells them by their names.")
    if not np.isfinite(found.values).all():
        place = int(np.flatnonzero(~np.isfinite(found.values))[0])
        row = int(np.searchsorted(found.indptr, place, side="right")) - 1
        name = found.names[int(found.indices[place])]
        raise errors.DataError(
            f"Row {row:,} has {float(found.values[place])} for {name!r}; a perceptron adds finite numbers "
            f"only. Leave the row out or mend it."
        )


def without_vocabulary_limits(schema: Schema) -> Schema:
    """Return the schema that finds all words of a row, of which those of the trace are weighed."""
    kinds = [_without_limits(kind) for kind in schema.kinds]
    if any(isinstance(kind, BagOfWordsKind) and kind.buckets for kind in kinds):
        raise errors.Unsupported(
            "A trace tells buckets by the words that were seen in them, so that other rows cannot be put "
            "into them. Take Text() without buckets, or give the row as numbers, one per feature."
        )
    return replace(schema, kinds=kinds)


def _without_limits(kind: Kind) -> Kind:
    return replace(kind, min_count=1, max_words=None) if isinstance(kind, BagOfWordsKind) else kind


def exact_vectors(found: DesignMatrix, names: Sequence[str]) -> list[ExactVector]:
    """Return the rows as exact numbers by the names of their features."""
    indices, values, ends = found.indices.tolist(), found.values.tolist(), found.indptr.tolist()
    return [
        {
            names[at]: exact_fraction(value)
            for at, value in zip(indices[a:b], values[a:b], strict=True)
            if value
        }
        for a, b in pairwise(ends)
    ]


MAX_PLOTTED_STEPS = 150  # steps that a picture holds
MAX_TABLE_STEPS = 1_000  # steps that the table of a page holds


def trace_html_page(trace: Trace) -> str:
    """Return the page."""
    body = trace_html(trace, select_passes(trace, None), MAX_TABLE_STEPS)
    if len(trace.classes) > 2:
        return pictures.charts_page([], f"Perceptron of {len(trace.classes):,} classes", body)
    title = f"Perceptron: {truncate(trace.classes[0], 30)} or {truncate(trace.classes[1], 30)}"
    if not is_two_dimensional(trace):
        return pictures.charts_page([], title, body)
    shown = len(_plotted_steps(trace))
    if shown < len(trace.steps):
        told = f"The picture shows {shown:,} steps that move the plane, of {len(trace.steps):,} in all."
        body = f"<p>{told}</p>{body}"
    return pictures.charts_page([plot_plane_steps(trace)], title, body)


def is_two_dimensional(trace: Trace) -> bool:
    """Whether there is a picture: of two features and two classes."""
    return len(trace.names) == 2 and len(trace.classes) == 2


def _plotted_steps(trace: Trace) -> tuple[PerceptronStep, ...]:
    """Return the steps of the picture: all, or, of a long run, the first that move the plane."""
    if len(trace.steps) <= MAX_PLOTTED_STEPS:
        return trace.steps
    return tuple(step for step in trace.steps if step.is_update)[:MAX_PLOTTED_STEPS] or trace.steps[:1]


def plot_plane_steps(trace: Trace, at: int = 1) -> Any:
    """Return the picture of the plane that turns, at one of its steps."""
    labels = (truncate(trace.classes[0], 30), truncate(trace.classes[1], 30))
    first, second = trace.names
    points = [
        pictures.LabelledPoint(float(row.get(first, 0)), float(row.get(second, 0)), labels[code])
        for row, code in zip(trace.rows, trace.codes, strict=True)
    ]
    turns = [_plane_step(trace, step) for step in _plotted_steps(trace)]
    return pictures.animate_plane(points, turns, labels, (truncate(first, 40), truncate(second, 40)), at)


def _plane_step(trace: Trace, step: PerceptronStep) -> pictures.PlaneStep:
    w = [step.weights.get(name, 0 * step.bias) for name in trace.names]
    verdict = "right" if step.correct else "a mistake"
    margin = ", within the margin" if step.correct and step.is_update else ""
    score = format_fraction(step.score, trace.uses_decimals)
    return pictures.PlaneStep(
        step.row,
        (float(w[0]), float(w[1])),
        float(step.bias),
        not step.correct,
        f"Iteration {step.iteration}, row {step.row}: w·x+b = {score}, so {truncate(step.prediction, 20)}: "
        f"{verdict}{margin}",
        f"error {step.error}; w = {format_exact_vector(w, trace.uses_decimals)}, b = {format_fraction(step.bias, trace.uses_decimals)}",
    )
