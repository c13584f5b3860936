"""Trace every gradient step of an online logistic regression, from the definition.

A step adds ε (y − g(w·x + b)) x to w and ε (y − g) to b, where y is 1 for the second class and g is the
logistic function. The penalty of a prior, divided evenly among the n rows, shrinks w before by 1 − ε l2 / n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from weigh import errors
from weigh.advice import Setting
from weigh.explain.exact_perceptron import MAX_TRACE_STEPS
from weigh.explain.trace_design import design_with_positive, read_trace_design
from weigh.explain.trace_format import select_passes
from weigh.learn.design_matrix import DesignMatrix
from weigh.learn.online_training import pass_order
from weigh.learn.sgd import ONLINE_PARAMETERS, OnlineLogisticTask
from weigh.parameters import check_integer
from weigh.result import LINE_WIDTH, Facts, Section, Table, TabularResult
from weigh.source.memory.table import rows as rows_of
from weigh.source.missing import to_markers
from weigh.text import (
    escape_control_characters,
    escape_latex,
    format_quantity,
    html_paragraph,
    text_table,
    truncate,
)

MAX_PRINTED_STEPS = 60
MAX_TABLE_STEPS = 1_000  # steps in the table of a page
MAX_WHOLE_VECTORS = 8  # features; the weights of more are listed in `steps` only
Vector = dict[str, float]


@dataclass(frozen=True)
class GradientStep(Facts):
    """One step: score, probability and residual y − g before it, and the weights and the bias after it.

    `gradient` is (y − g) x, the derivative of the log-likelihood of the row. Zero weights are omitted.
    """

    iteration: int
    row: int
    label: Any
    x: Vector
    score: float
    probability: float
    residual: float
    gradient: Vector
    weights: Vector
    bias: float


@dataclass(frozen=True, eq=False, repr=False)
class LogisticTrace(TabularResult):
    """The result of `trace` for an online logistic regression with plain steps.

    `losses` are the objectives of the passes: the log loss of each row just before its step, plus the
    penalty after the pass. Weights refer to the coordinates of the training, in which numbers may be
    standardised. `n_hidden` is how many further steps the training may have, if the trace ends before.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    rate: float
    steps: tuple[GradientStep, ...]
    losses: tuple[float, ...]
    is_shuffled: bool
    n_hidden: int = 0
    _frames = ("steps",)

    @property
    def passes(self) -> int:
        """The number of passes."""
        return self.steps[-1].iteration

    def weights(self) -> tuple[Vector, float]:
        """Return (w by feature, b) after the last step."""
        last = self.steps[-1]
        return {name: last.weights.get(name, 0.0) for name in self.names}, last.bias

    def table(
        self, format: str = "text", passes: int | Sequence[int] | None = None, most: int | None = None
    ) -> str:
        """Return the steps as a table per pass, as "text", "html" or "latex".

        Parameters
        ----------
        passes : the number of passes from the first, or a list of pass numbers, starting at 1
        most : the maximum number of steps
        """
        if format not in ("text", "html", "latex"):
            raise errors.parameter_error("table", "format", "'text', 'html' or 'latex'", format)
        wanted = set(select_passes(self.passes, passes))
        steps = [step for step in self.steps if step.iteration in wanted]
        shown = steps if most is None else steps[: check_integer("table", "most", most, 1)]
        writers: dict[str, Callable[[str], str]] = {
            "text": escape_control_characters,
            "html": html_paragraph,
            "latex": escape_latex,
        }
        write = writers[format]
        parts = [write(line) for line in self._opening()]
        for number, group in groupby(shown, key=lambda step: step.iteration):
            parts.append(_format_pass(self._cells(list(group)), f"Iteration {number}:", format))
        n_more = len(steps) - len(shown) + self.n_hidden
        up_to = "up to " if self.n_hidden else ""
        more = [write(f"… and {up_to}{format_quantity(n_more, 'more step')}")] if n_more else []
        return "\n\n".join([*parts, *more])

    def _opening(self) -> tuple[str, ...]:
        listed = ", ".join(truncate(name, 40) for name in self.names[:MAX_WHOLE_VECTORS])
        more = (
            f", … {len(self.names) - MAX_WHOLE_VECTORS} more" if len(self.names) > MAX_WHOLE_VECTORS else ""
        )
        return (
            f"Logistic regression, steps of {self.rate:g}: y is 1 for {truncate(self.classes[1], 30)}, "
            f"0 for {truncate(self.classes[0], 30)}.",
            f"x = ({listed}{more})",
            "Initialize: w = 0 and b = 0",
        )

    def _cells(self, steps: Sequence[GradientStep]) -> list[list[str]]:
        """Return a table with as many of the vectors w' and x as fit the line width."""
        for vectors in (("x", "w'"), ("w'",)) if len(self.names) <= MAX_WHOLE_VECTORS else ():
            cells = self._cells_with(steps, vectors)
            if all(len(line) <= LINE_WIDTH for line in text_table(cells, left=0).splitlines()):
                return cells
        return self._cells_with(steps, ())

    def _cells_with(self, steps: Sequence[GradientStep], vectors: tuple[str, ...]) -> list[list[str]]:
        header = ["row", "y", "w·x+b", "g", "y−g", *vectors, "b"]
        rows = []
        for step in steps:
            whole = {"x": _vector(step.x, self.names, "g"), "w'": _vector(step.weights, self.names, ".3f")}
            numbers = (f"{step.score:.4f}", f"{step.probability:.4f}", f"{step.residual:+.4f}")
            y = str(int(step.label == self.classes[1]))
            rows.append([str(step.row), y, *numbers, *(whole[name] for name in vectors), f"{step.bias:.4f}"])
        return [header, *rows]

    @property
    def headline(self) -> str:
        """The number of steps and passes."""
        steps = format_quantity(len(self.steps), "gradient step")
        return f"{steps} in {format_quantity(self.passes, 'pass', 'passes')}"

    def sections(self) -> list[Section]:
        """Return the first steps as tables, one per pass."""
        parts: list[Section] = []
        for number, group in groupby(self.steps[:MAX_PRINTED_STEPS], key=lambda step: step.iteration):
            parts.append(
                Section("steps", [Table(self._cells(list(group)), indent="  ")], f"Iteration {number}")
            )
        return parts

    def plot(self) -> Any:
        """Plot the score w·x + b of each step on the sigmoid, coloured by the label."""
        from weigh.pictures import line_chart

        reach = max(4.0, *(abs(step.score) for step in self.steps))
        scores = [reach * (k / 100 - 1) for k in range(201)]
        curve = [{"series": "g(w·x+b)", "x": x, "y": sigmoid(x)} for x in scores]
        points = [
            {"series": truncate(step.label, 30), "x": step.score, "y": step.probability}
            for step in self.steps
        ]
        up = f"P({truncate(self.classes[1], 30)})"
        return line_chart(curve, "w·x+b before the step", up, self.headline, points=points)

    def to_html(self) -> str:
        """Return a self-contained HTML page with the picture and the table."""
        from weigh.pictures import charts_page

        title = f"Logistic regression: {truncate(self.classes[0], 30)} or {truncate(self.classes[1], 30)}"
        return charts_page([self.plot()], title, self.table("html", most=MAX_TABLE_STEPS))

    def __repr__(self) -> str:
        return f"<LogisticTrace: {self.headline}>"


def sigmoid(z: float) -> float:
    """Return 1 / (1 + e^−z) without overflow."""
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def trace_logistic(
    params: Mapping[str, Any], X: Any, y: Any, positive: Any = None, most: int | None = None
) -> LogisticTrace:
    """Trace an online logistic regression of two classes with the given parameters."""
    _check_plain_steps(params)
    source = rows_of(X, y, missing=to_markers(params.get("missing", ()), "LogisticRegression"))
    columns = params.get("columns", "auto")
    given = {name: params[name] for name in ONLINE_PARAMETERS.names if name in params and name != "columns"}
    task = OnlineLogisticTask.for_source(source, columns, **given)
    design = design_with_positive(read_trace_design(source, task.schema), positive)
    if len(design.classes) != 2:
        raise errors.Unsupported(
            f"A trace of a logistic regression has two classes, got "
            f"{len(design.classes):,}. Trace the rows of two."
        )
    if design.weights is not None or task.class_weight is not None:
        raise errors.Unsupported(
            "A trace of a logistic regression does not support weights of rows or classes."
        )
    n_steps = design.n_rows * task.max_iter
    limit = n_steps if most is None else min(n_steps, most)
    if limit > MAX_TRACE_STEPS:
        raise errors.Unsupported(
            f"A trace of {design.n_rows:,} rows × {task.max_iter:,} passes has up to {n_steps:,} steps; "
            f"the limit is {MAX_TRACE_STEPS:,}.",
            hint=("Use fewer rows, ", Setting("max_iter", 1), "."),
        )
    steps, losses = _run(task, design, limit)
    n_hidden = 0 if _has_ended(task, losses) else n_steps - len(steps)
    names, classes = tuple(design.names), tuple(design.classes)
    assert task.settings.rate is not None
    return LogisticTrace(names, classes, task.settings.rate, steps, losses, task.shuffle, n_hidden)


def _check_plain_steps(params: Mapping[str, Any]) -> None:
    if params.get("method", "exact") != "online" or params.get("rate", "safe") == "safe":
        raise errors.Unsupported(
            "A trace of a logistic regression follows plain gradient steps of one size.",
            hint=("Give ", Setting("method", "online"), " and ", Setting("rate", 1.0), "."),
        )


def _run(
    task: OnlineLogisticTask, design: DesignMatrix, limit: int
) -> tuple[tuple[GradientStep, ...], tuple[float, ...]]:
    """Make passes as the learner does, at most `limit` steps."""
    rows = [
        {design.names[j]: float(v) for j, v in zip(*entries, strict=True)} for entries in _entries(design)
    ]
    rate, l2, n = float(task.settings.rate or 0.0), task.settings.l2, design.n_rows
    w, b = dict.fromkeys(design.names, 0.0), 0.0
    steps: list[GradientStep] = []
    losses: list[float] = []
    for number in range(task.max_iter):
        loss = 0.0
        order = pass_order(n, task.seed, number).tolist() if task.shuffle else range(n)
        for row in order:
            if len(steps) == limit:
                return tuple(steps), tuple(losses)
            x, target = rows[row], int(design.codes[row])
            score = sum(w[name] * value for name, value in x.items()) + b
            g = sigmoid(score)
            loss += math.log1p(math.exp(-abs(score))) + max(0.0, score) - target * score
            gradient = {name: (target - g) * value for name, value in x.items()}
            w = {
                name: weight * (1 - rate * l2 / n) + rate * gradient.get(name, 0.0)
                for name, weight in w.items()
            }
            b += rate * (target - g) * task.settings.bias
            label = design.classes[target]
            steps.append(GradientStep(number + 1, row, label, x, score, g, target - g, gradient, dict(w), b))
        losses.append(loss + 0.5 * l2 * math.fsum(weight**2 for weight in w.values()))
        if _has_ended(task, losses):
            break
    return tuple(steps), tuple(losses)


def _has_ended(task: OnlineLogisticTask, losses: Sequence[float]) -> bool:
    """Whether the last pass lowered the objective too little for another one."""
    return task.tol is not None and len(losses) > 1 and losses[-2] - losses[-1] <= task.tol * losses[-2]


def _entries(design: DesignMatrix) -> Iterator[tuple[list[int], list[float]]]:
    X = design.X
    indices, values, ends = X.indices.tolist(), X.entry_values().tolist(), X.indptr.tolist()
    for first, last in pairwise(ends):
        yield indices[first:last], values[first:last]


def _vector(numbers: Vector, names: Sequence[str], format: str) -> str:
    return f"({','.join(f'{numbers.get(name, 0.0) + 0.0:{format}}' for name in names)})"


def _format_pass(cells: list[list[str]], title: str, format: str) -> str:
    table = Table(cells, left=0)
    if format == "html":
        return f"<p>{title}</p>{table.to_html()}"
    if format == "text":
        return f"{title}\n{table.to_text()}"
    lines = [
        " & ".join(escape_latex(cell).replace("−", "$-$").replace("·", r"$\cdot$") for cell in row)
        for row in cells
    ]
    body = " \\\\\n".join([lines[0] + r" \\ \hline" + "\n" + lines[1], *lines[2:]])
    return f"{title}\n\n\\begin{{tabular}}{{{'r' * len(cells[0])}}}\n{body} \\\\\n\\end{{tabular}}"
