"""Trace every step of a perceptron in exact rational arithmetic."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from weigh import errors, pictures
from weigh.atomic_files import atomic_write, error_reason
from weigh.explain.exact_perceptron import (
    MAX_TRACE_STEPS,
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
from weigh.explain.logistic_trace import LogisticTrace, trace_logistic
from weigh.explain.trace_design import design_with_positive, read_trace_design
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
from weigh.features.kinds import Kind
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.width import check_separate_columns
from weigh.learn.class_weights import zero_weight_classes
from weigh.learn.design_matrix import DesignMatrix, build_design_matrix
from weigh.learn.preprocessing import Standardisation
from weigh.parameters import check_integer
from weigh.parameters.learners import PERCEPTRON
from weigh.result import Lines, Result, Section
from weigh.source.missing import to_markers
from weigh.text import truncate

MAX_PRINTED_STEPS = 60  # default limit for printing


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Result):
    """The steps of a perceptron over labelled rows, exact: a decimal such as 0.1 means one tenth.

    `names` are the features in order. For two classes, a positive score predicts the second. The weights
    refer to the coordinates of the training, in which numbers may be standardised: (x − centre) / scale.
    `n_hidden` is how many further steps the training may have, if the trace ends before.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    rows: tuple[ExactVector, ...]
    codes: tuple[int, ...]
    step_sizes: tuple[Fraction, ...]
    parameters: PerceptronParameters
    history: PerceptronHistory
    schema: Schema | None = None
    standardisations: Mapping[str, Standardisation] = field(default_factory=dict)
    n_hidden: int = 0

    @property
    def steps(self) -> tuple[PerceptronStep, ...]:
        """All steps, in order."""
        return self.history.steps

    @property
    def mistakes(self) -> int:
        """The number of mistakes; in one-vs-rest training, of rows that any plane misclassifies."""
        return sum(not step.correct for step in self.steps)

    @property
    def updates(self) -> int:
        """The number of updates, after mistakes and within the margin."""
        if self.history.is_one_vs_rest:
            return sum(abs(error) for step in self.steps for error in step.errors)
        return sum(step.is_update for step in self.steps)

    @property
    def converged(self) -> bool:
        """Whether the last pass had no update."""
        return self.history.converged

    @property
    def passes(self) -> int:
        """The number of passes, including the last one without updates."""
        return self.steps[-1].iteration

    @cached_property
    def uses_decimals(self) -> bool:
        """Whether to write decimals: rows and step sizes have short decimals and are not all integers."""
        values = (value for row in self.rows for value in row.values())
        denominators = {number.denominator for number in (*self.step_sizes, *values)}
        return denominators != {1} and all(10**MAX_NUMBER_WIDTH % d == 0 for d in denominators)

    def weights(self, keep: str | None = None) -> Any:
        """Return (w by feature, b) as the learner keeps them: "last", "averaged" or "lazy".

        For more than two classes, a mapping from each class to such a pair.
        """
        keep = self._resolve_keep(keep)
        if keep == "voted":
            raise errors.Unsupported(
                "A voted perceptron has no single weight vector: all its planes vote. They are in `voted`; "
                "weights('averaged') is their mean."
            )
        planes = [self._dense_plane(plane) for plane in self.history.planes(keep)]
        return planes[0] if len(self.classes) == 2 else dict(zip(self.classes, planes, strict=True))

    @cached_property
    def accumulator(self) -> tuple[tuple[int, PerceptronPlane], ...]:
        """The factor `step` and the accumulator a of the averaged perceptron at each step, for two classes.

        `step` counts down from the number nT of all steps, and an update adds step / nT times what it adds to
        w, so that a is the average of the planes after the last step.
        """
        total = sum(count for count, _ in self.history.hypotheses)
        found, a = [], PerceptronPlane({}, Fraction(0))
        for at, step in enumerate(self.steps):
            if step.is_update:
                size = Fraction(total - at, total) * step.error * self.step_sizes[step.row]
                a = a.add_multiple(size, self.rows[step.row], self.parameters.bias)
            found.append((total - at, a))
        return tuple(found)

    @property
    def voted(self) -> list[tuple[int, Any, Any]]:
        """The voting planes as (c, w by feature, b), where c is the number of steps the plane survived.

        For more than two classes w and b are mappings from each class.
        """
        result: list[tuple[int, Any, Any]] = []
        for count, planes in self.history.hypotheses:
            dense = [self._dense_plane(plane) for plane in planes]
            if len(dense) == 1:
                result.append((count, dense[0].weights, dense[0].bias))
            else:
                by_class = dict(zip(self.classes, dense, strict=True))
                weights = {label: plane.weights for label, plane in by_class.items()}
                result.append((count, weights, {label: plane.bias for label, plane in by_class.items()}))
        return result

    def score(self, row: Any, keep: str | None = None) -> Any:
        """Return the exact score of a row: w·x + b, or the votes for the second class minus those against.

        A row is a mapping from columns to values, a mapping from features to numbers (others add nothing),
        or one number per feature, all in the units of the table.
        For more than two classes, the result is a mapping from each class to its score.
        """
        scores = self._scores(self._exact_row(row), self._resolve_keep(keep))
        return scores[0] if len(self.classes) == 2 else dict(zip(self.classes, scores, strict=True))

    def predict(self, row: Any, keep: str | None = None) -> Any:
        """Return the predicted class of a row: for two classes by the sign, else by the highest score."""
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
                    f"{errors.quote_names(self.names)}. Give one number per feature, or a mapping from "
                    f"columns."
                )
            row = dict(zip(self.names, values, strict=True))
        if not self._name_set.issuperset(row) and self.schema is not None and self.schema.named:
            return self._encode_row(row, self.schema)
        for name in row:
            if name not in self._name_set:
                raise errors.unknown_column_error(str(name), self.names, "The trace")
        numbers = {name: self._standardise(name, value) for name, value in row.items()}
        return {name: exact_fraction(value) for name, value in numbers.items() if value}

    def _standardise(self, name: str, value: Any) -> Any:
        by = self.standardisations.get(name)
        return value if by is None or value is None else (float(value) - by.centre) / by.scale

    def _encode_row(self, row: Mapping[str, Any], schema: Schema) -> ExactVector:
        """Encode a row of columns as features; unseen levels and words contribute nothing."""
        for name in row:
            if name not in schema.names and name != schema.label:
                raise errors.unknown_column_error(str(name), schema.names, "The table of the trace")
        table = {name: [row.get(name)] for name in schema.names}
        design = build_design_matrix(
            table, [0], without_vocabulary_limits(schema), standardisations=self.standardisations
        )
        return exact_vectors(design, design.names)[0]

    @cached_property
    def _name_set(self) -> frozenset[str]:
        return frozenset(self.names)

    def _dense_plane(self, plane: PerceptronPlane) -> PerceptronPlane:
        return PerceptronPlane(
            {name: plane.weights.get(name, Fraction(0)) for name in self.names}, plane.bias
        )

    def _resolve_keep(self, keep: str | None) -> str:
        return self.parameters.keep if keep is None else str(PERCEPTRON.check_value("keep", keep))

    def table(
        self,
        format: str = "text",
        passes: int | Sequence[int] | None = None,
        most: int | None = None,
        average: bool = False,
    ) -> str:
        """Return the steps as a table per pass, as "text", "html" or "latex" (which needs amsmath).

        With at most two features, rows and labels are shown where they fit.

        Parameters
        ----------
        passes : the number of passes from the first, or a list of pass numbers, starting at 1
        most : the maximum number of steps
        average : whether to show the `accumulator` of the averaged perceptron instead of w and b
        """
        writer = TRACE_WRITERS.get(format)
        if writer is None:
            raise errors.parameter_error("table", "format", "'text', 'html' or 'latex'", format)
        if most is not None:
            check_integer("table", "most", most, 1)
        if average and len(self.classes) > 2:
            raise errors.Unsupported("The accumulator is shown for two classes; averages are in `weights()`.")
        return writer(self, select_passes(self.passes, passes), most, average)

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as JSON-compatible data; non-integers are strings such as "7/10"."""
        return trace_to_dict(self)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a self-contained HTML page, and write it to `path` if given.

        It contains the table and, for two features and two classes, an animation of the separating line,
        which needs the extra `report`: pip install '.[report]' in a checkout.
        """
        page = trace_html_page(self)
        if path is not None:
            try:
                with atomic_write(path, creates_folders=True) as file:
                    file.write(page.encode("utf-8", "replace"))
            except OSError as cause:
                raise errors.FileError(
                    f"{os.fspath(path)} cannot be written: {error_reason(cause)}. Check its folder."
                ) from cause
        return page

    def plot(self, at: int = 1) -> Any:
        """Plot the separating line of two features and two classes; the slider starts at step `at`."""
        if not is_two_dimensional(self):
            raise errors.Unsupported(
                f"plot needs two features and two classes, got {len(self.names):,} features and "
                f"{len(self.classes):,} classes. Its steps are in `table()`."
            )
        return plot_plane_steps(self, check_integer("plot", "at", at, 1))

    def sections(self) -> list[Section]:
        """Return the first steps as text; HTML marks the updates among them."""
        return [Section("steps", [Lines(self.table(most=MAX_PRINTED_STEPS))])]

    def __repr__(self) -> str:
        return f"<Trace: {trace_summary(self)}>"

    def _repr_html_(self) -> str:
        return self.table("html", most=MAX_PRINTED_STEPS)


def _plane_votes(scores: list[Fraction], is_one_vs_rest: bool) -> list[int]:
    """Return the votes of one hypothesis: ±1 per plane or, in joint training, 1 for the best class."""
    if len(scores) == 1 or is_one_vs_rest:
        return [1 if score >= 0 else -1 for score in scores]
    return [int(c == best_class(scores)) for c in range(len(scores))]


def trace(
    learner: Any, X: Any, y: Any = None, *, positive: Any = None, most: int | None = None
) -> Trace | LogisticTrace:
    """Trace the training of a perceptron in exact fractions, or the steps of a logistic regression.

    For a logistic regression with `method="online"` and a number as `rate`, the gradient steps are traced in
    floats.

    The steps are computed from the definition with the parameters of the learner, which need not be fitted
    and is not changed.

    Parameters
    ----------
    learner : a `weigh.Perceptron`, or a `weigh.LogisticRegression` with plain online steps
    X : rows of any storage, as for `fit`
    y : one label per row, or the name of the label column
    positive : the class that a positive score predicts, of two; None is the second in canonical order, as in
        `fit`
    most : the number of steps after which the trace ends, so that rows of any number can be traced
    """
    if most is not None:
        check_integer("trace", "most", most, 1)
    if is_logistic(learner):
        return trace_logistic(read_parameters(learner), X, y, positive, most)
    parameters = PerceptronParameters.from_learner(learner)
    design = read_trace_design(
        X,
        parameters.columns,
        y,
        scale=parameters.scale,
        missing=to_markers(parameters.missing, "Perceptron"),
        ignored_classes=zero_weight_classes(parameters.class_weight),
    )
    design = design_with_positive(design, positive)
    check_trace_rows(design, parameters, most)
    names, classes, codes = tuple(design.names), tuple(design.classes), design.codes.tolist()
    rows = exact_vectors(design, names)
    weights = None if design.weights is None else design.weights.tolist()
    sizes = parameters.step_sizes(codes, classes, weights)
    history = run_perceptron(rows, codes, sizes, classes, parameters, most)
    steps = tuple(rows), tuple(codes), tuple(sizes), parameters, history
    is_cut = len(history.steps) == most and not history.converged
    n_hidden = len(rows) * parameters.max_passes - len(history.steps) if is_cut else 0
    return Trace(names, classes, *steps, design.schema, design.standardisations, n_hidden)


def is_logistic(learner: Any) -> bool:
    """Whether a learner, or its parameters, are those of a logistic regression."""
    return {"method", "prior", "rate"} <= read_parameters(learner).keys()


def read_parameters(learner: Any) -> Mapping[str, Any]:
    """Return the parameters of a learner; none of a class."""
    if isinstance(learner, Mapping):
        return learner
    get_params = getattr(learner, "get_params", None)
    return get_params() if callable(get_params) and not isinstance(learner, type) else {}


def check_trace_rows(design: DesignMatrix, parameters: PerceptronParameters, most: int | None = None) -> None:
    """Raise an error for rows that cannot be traced, before any work is done."""
    if not design.n_rows:
        raise errors.DataError("There are no rows to learn from.")
    if len(design.classes) < 2:
        raise errors.LabelError(
            f"A perceptron separates classes, and all {design.n_rows:,} rows are of one class, "
            f"{design.classes[0]!r}. Give rows of another class too."
        )
    steps = design.n_rows * parameters.max_passes
    if min(steps, most or steps) > MAX_TRACE_STEPS and parameters.max_iter is not None:
        max_passes = MAX_TRACE_STEPS // design.n_rows
        advice = f"max_iter={max_passes} or fewer rows" if max_passes else "fewer rows"
        raise errors.Unsupported(
            f"A trace of {design.n_rows:,} rows × {parameters.max_iter:,} passes may take {steps:,} exact "
            f"steps; the limit is {MAX_TRACE_STEPS:,}. Use {advice}."
        )
    check_separate_columns(len(design.X.indices), design.width, "Trace fewer columns.")
    if design.weights is not None:
        raise errors.Unsupported("A trace does not support row weights. Remove them.")
    if len(set(design.names)) < len(design.names):
        duplicate = next(name for name in design.names if list(design.names).count(name) > 1)
        raise errors.ColumnError(f"Two features are named {duplicate!r}; a trace needs unique names.")
    values = design.X.entry_values()
    if not np.isfinite(values).all():
        entry = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(design.X.indptr, entry, side="right")) - 1
        name = design.names[int(design.X.indices[entry])]
        raise errors.DataError(
            f"Row {row:,} has {float(values[entry])} for {name!r}; a perceptron needs finite "
            f"numbers. Remove or correct the row."
        )


def without_vocabulary_limits(schema: Schema) -> Schema:
    """Return the schema without vocabulary limits, so that it encodes all words of a single row."""
    kinds = [_without_limits(kind) for kind in schema.kinds]
    if any(isinstance(kind, BagOfWordsKind) and kind.buckets for kind in kinds):
        raise errors.Unsupported(
            "A trace names hash buckets after the words seen in them, so it cannot encode other rows. Use "
            "Text() without buckets, or give the row as numbers, one per feature."
        )
    return replace(schema, kinds=kinds)


def _without_limits(kind: Kind) -> Kind:
    return replace(kind, min_count=1, max_words=None) if isinstance(kind, BagOfWordsKind) else kind


def exact_vectors(design: DesignMatrix, names: Sequence[str]) -> list[ExactVector]:
    """Return the rows as mappings from feature to exact non-zero value."""
    X = design.X
    indices, values, ends = X.indices.tolist(), X.entry_values().tolist(), X.indptr.tolist()
    return [
        {
            names[at]: exact_fraction(value)
            for at, value in zip(indices[a:b], values[a:b], strict=True)
            if value
        }
        for a, b in pairwise(ends)
    ]


MAX_PLOTTED_STEPS = 150  # steps in the animation
MAX_TABLE_STEPS = 1_000  # steps in the table of a page


def trace_html_page(trace: Trace) -> str:
    """Return the HTML page of a trace."""
    body = trace_html(trace, select_passes(trace.passes, None), MAX_TABLE_STEPS)
    if len(trace.classes) > 2:
        return pictures.charts_page([], f"Perceptron of {len(trace.classes):,} classes", body)
    title = f"Perceptron: {truncate(trace.classes[0], 30)} or {truncate(trace.classes[1], 30)}"
    if not is_two_dimensional(trace):
        return pictures.charts_page([], title, body)
    shown = len(_plotted_steps(trace))
    if shown < len(trace.steps):
        body = f"<p>The picture shows {shown:,} updates, of {len(trace.steps):,} steps in all.</p>{body}"
    return pictures.charts_page([plot_plane_steps(trace)], title, body)


def is_two_dimensional(trace: Trace) -> bool:
    """Whether the trace has two features and two classes, and so can be plotted."""
    return len(trace.names) == 2 and len(trace.classes) == 2


def _plotted_steps(trace: Trace) -> tuple[PerceptronStep, ...]:
    """Return the steps to animate: all of them or, in a long trace, the first updates."""
    if len(trace.steps) <= MAX_PLOTTED_STEPS:
        return trace.steps
    return tuple(step for step in trace.steps if step.is_update)[:MAX_PLOTTED_STEPS] or trace.steps[:1]


def plot_plane_steps(trace: Trace, at: int = 1) -> Any:
    """Return the animated plot of the separating line, starting at a step."""
    labels = (truncate(trace.classes[0], 30), truncate(trace.classes[1], 30))
    first, second = trace.names
    points = [
        pictures.LabelledPoint(float(row.get(first, 0)), float(row.get(second, 0)), labels[code])
        for row, code in zip(trace.rows, trace.codes, strict=True)
    ]
    steps = [_plane_step(trace, step) for step in _plotted_steps(trace)]
    return pictures.animate_plane(points, steps, labels, (truncate(first, 40), truncate(second, 40)), at)


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
        f"error {step.error}; w = {format_exact_vector(w, trace.uses_decimals)}, "
        f"b = {format_fraction(step.bias, trace.uses_decimals)}",
    )
