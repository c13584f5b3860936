"""Format a trace as one table per pass: text of at most 80 columns, HTML, LaTeX or JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.model.evidence.exact_products import format_rational
from weigh.priors.exact import fraction_to_json
from weigh.result import LINE_WIDTH
from weigh.text import (
    escape_control_characters,
    escape_html,
    escape_latex,
    format_quantity,
    html_paragraph,
    text_table,
    to_json_value,
    truncate,
)

if TYPE_CHECKING:
    from weigh.explain.exact_perceptron import PerceptronPlane, PerceptronStep
    from weigh.explain.perceptron_trace import Trace

MAX_NAMED_FEATURES = 6  # features listed where whole vectors are too long
LABEL_WIDTH = 10
MAX_CLASS_VECTOR_WIDTH = 16  # characters of a vector with one entry per class
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True)
class TraceCells:
    """Formats the cells of a trace, with whole vectors or with entries by feature name."""

    trace: Trace
    is_by_name: bool
    shows_rows: bool = False
    average: bool = False

    @property
    def header(self) -> list[str]:
        """The column headers."""
        rate = "" if self.trace.parameters.exact_rate == 1 else "rate × "
        rate += "" if set(self.trace.step_sizes) == {self.trace.parameters.exact_rate} else "weight × "
        front = ["row"] if self.trace.parameters.shuffle else []
        front += ["x", "label"] if self.shows_rows else []
        if self.average:
            return [*front, "w·x+b", "error", "step", f"{rate}error × x", "a", "b of a"]
        if self._has_one_plane:
            front += ["w·x+b", "sign(·)", "correct?", "error"]
            return (
                [*front, "b", "change of w"] if self.is_by_name else [*front, f"{rate}error × x", "w'", "b"]
            )
        sign = "sign(·)" if self.trace.history.is_one_vs_rest else "argmax(·)"
        return [*front, "w·x+b", sign, "correct?", "error", f"{rate}x"]

    @property
    def _has_one_plane(self) -> bool:
        return len(self.trace.classes) == 2

    def step_cells(self, step: PerceptronStep) -> list[str]:
        """Return the cells of a step."""
        front = [str(step.row)] if self.trace.parameters.shuffle else []
        if self.shows_rows:
            front += [self._format_numbers(self.trace.rows[step.row]), truncate(step.label, LABEL_WIDTH)]
        if self.average:
            return [*front, *self._average_cells(step)]
        correct = "yes" if step.correct else "no"
        if not self._has_one_plane:
            sign = (
                self._format_signs(step)
                if self.trace.history.is_one_vs_rest
                else truncate(step.prediction, LABEL_WIDTH)
            )
            return [
                *front,
                self._format_scores(step),
                sign,
                correct,
                self._format_errors(step),
                self._format_scaled_row(step),
            ]
        note = " (margin)" if step.correct and step.is_update else ""
        front += [self._format_number(step.score), str(step.sign), correct, f"{step.error}{note}"]
        bias = self._format_number(step.bias)
        if self.is_by_name:
            return [*front, bias, self._format_weight_changes(step)]
        return [*front, self._format_numbers(step.update), self._format_numbers(step.weights), bias]

    @cached_property
    def _accumulator(self) -> dict[int, tuple[int, PerceptronPlane]]:
        pairs = zip(self.trace.steps, self.trace.accumulator, strict=True)
        return {id(step): entry for step, entry in pairs}

    def _average_cells(self, step: PerceptronStep) -> list[str]:
        """Return the cells of a step with the accumulator of the average."""
        remaining, plane = self._accumulator[id(step)]
        update, weights = self._format_numbers(step.update), self._format_numbers(plane.weights)
        numbers = self._format_number(step.score), str(step.error), str(remaining)
        return [*numbers, update, weights, self._format_number(plane.bias)]

    def _format_scores(self, step: PerceptronStep) -> str:
        """Return all scores or, for many classes, the highest and, if it differs, that of the true class."""
        text = self._format_vector(step.scores)
        if len(text) <= MAX_CLASS_VECTOR_WIDTH:
            return text
        true_score = step.scores[self.trace.classes.index(step.label)]
        top = self._format_number(max(step.scores))
        return top if true_score == max(step.scores) else f"{top}, true {self._format_number(true_score)}"

    def _format_signs(self, step: PerceptronStep) -> str:
        """Return all signs or, for many classes, the names of those with sign 1."""
        text = _format_integers(step.signs)
        return text if len(text) <= MAX_CLASS_VECTOR_WIDTH else self._class_names(step.signs, 1) or "none"

    def _format_errors(self, step: PerceptronStep) -> str:
        """Return the errors, as a vector or as +class and -class."""
        if not step.is_update:
            return "0"
        text = _format_integers(step.errors)
        if not self.trace.history.is_one_vs_rest or len(text) > MAX_CLASS_VECTOR_WIDTH:
            names = (f"+{self._class_names(step.errors, 1)}", f"-{self._class_names(step.errors, -1)}")
            text = " ".join(name for name in names if len(name) > 1)
        return f"{text} (margin)" if step.correct else text

    def _class_names(self, entries: Sequence[int], entry: int) -> str:
        pairs = zip(self.trace.classes, entries, strict=True)
        return truncate(",".join(str(label) for label, value in pairs if value == entry), LABEL_WIDTH)

    def _format_scaled_row(self, step: PerceptronStep) -> str:
        """Return the step size times the row, which an error of 1 adds and −1 subtracts."""
        for error, update in zip(step.errors, step.updates, strict=True):
            if error:
                return self._format_numbers({name: error * number for name, number in update.items()})
        return ""

    def _format_weight_changes(self, step: PerceptronStep) -> str:
        after = {name: step.weights.get(name, Fraction(0)) for name in step.update}
        return self._join_by_name(
            {
                name: f"{self._format_number(after[name] - added)} → {self._format_number(after[name])}"
                for name, added in step.update.items()
            }
        )

    def closing_lines(self, step: PerceptronStep) -> Iterator[str]:
        """Yield the planes after a pass, if the table does not show them."""
        if not self._has_one_plane:
            for label, plane in zip(self.trace.classes, step.planes, strict=True):
                yield f"{truncate(label, 30)}: {self._format_plane(plane)}"

    def opening_lines(self) -> Iterator[str]:
        """Yield the number of rows, the classes, the features and the initial weights."""
        trace = self.trace
        size = f"Perceptron over {format_quantity(len(trace.rows), 'row')}"
        if len(trace.classes) == 2:
            yield f"{size}: {trace.classes[1]} is 1, {trace.classes[0]} is 0."
        else:
            names = ", ".join(map(str, trace.classes))
            yield f"{size} of {format_quantity(len(trace.classes), 'class', 'classes')}: {names}."
        if self.is_by_name:
            yield f"{format_quantity(len(trace.names), 'feature')}; all weights and b start at 0."
        else:
            yield f"x = ({', '.join(truncate(name, 40) for name in trace.names)})"
            yield f"Initialize: w = {self._format_numbers({})} and b = 0"
        if trace.standardisations:
            yield self._format_standardisations()

    def _format_standardisations(self) -> str:
        fitted = self.trace.standardisations
        formulas = [
            f"({truncate(name, 24)} {'+' if by.centre < 0 else '−'} {abs(by.centre):.6g}) / {by.scale:.6g}"
            for name, by in islice(fitted.items(), MAX_NAMED_FEATURES)
        ]
        n_more = len(fitted) - len(formulas)
        more = f" and {n_more:,} more" if n_more else ""
        return f"Numbers are standardised: {', '.join(formulas)}{more}."

    def result_lines(self) -> Iterator[str]:
        """Yield the final weights that the learner keeps."""
        trace, keep = self.trace, self.trace.parameters.keep
        if keep == "voted":
            hypotheses = format_quantity(len(trace.history.hypotheses), "hypothesis votes", "hypotheses vote")
            yield f"Voted: {hypotheses}, each weighted by the number of steps it survived."
        elif len(trace.classes) == 2:
            yield f"{keep.capitalize()}: {self._format_plane(trace.weights())}"
        else:
            for label, plane in trace.weights().items():
                yield f"{keep.capitalize()}, {truncate(label, 30)}: {self._format_plane(plane)}"

    def _format_plane(self, plane: PerceptronPlane) -> str:
        if not self.is_by_name:
            return f"w = {self._format_numbers(plane.weights)} and b = {self._format_number(plane.bias)}"
        largest = sorted(plane.weights.items(), key=lambda pair: -abs(pair[1]))
        weights = self._join_by_name(
            {name: self._format_number(weight) for name, weight in largest if weight}
        )
        return f"b = {self._format_number(plane.bias)}; {weights or 'all weights 0'}"

    def _format_numbers(self, numbers: Mapping[str, Fraction]) -> str:
        if self.is_by_name:
            return self._join_by_name({name: self._format_number(number) for name, number in numbers.items()})
        return self._format_vector(numbers.get(name, Fraction(0)) for name in self.trace.names)

    def _join_by_name(self, texts: Mapping[str, str]) -> str:
        entries = [f"{truncate(name, 24)} {text}" for name, text in list(texts.items())[:MAX_NAMED_FEATURES]]
        entries += [f"… {len(texts) - MAX_NAMED_FEATURES} more"] if len(texts) > MAX_NAMED_FEATURES else []
        # Lines may break only between features.
        return ", ".join(entry.replace(" ", NO_BREAK_SPACE) for entry in entries)

    def _format_number(self, number: Fraction) -> str:
        return format_fraction(number, self.trace.uses_decimals)

    def _format_vector(self, numbers: Iterable[Fraction]) -> str:
        return format_exact_vector(numbers, self.trace.uses_decimals)


def _format_integers(numbers: Sequence[int]) -> str:
    return f"({','.join(map(str, numbers))})"


MIN_NAMES_WIDTH = 26  # a narrower last column goes below its row
CONTINUATION_INDENT = 6


@dataclass(frozen=True)
class PassTable:
    """The table of one pass, with the number of omitted steps."""

    title: str
    header: list[str]
    rows: list[list[str]]
    is_update: list[bool]
    n_hidden: int = 0
    closing_lines: tuple[str, ...] = ()

    @property
    def hidden_steps_note(self) -> str:
        """The note about omitted steps."""
        return f"… and {format_quantity(self.n_hidden, 'more step')}"


def select_passes(n_passes: int, passes: int | Sequence[int] | None) -> list[int]:
    """Return the numbers of the selected passes of a trace."""
    if passes is None:
        return list(range(1, n_passes + 1))
    wanted = list(range(1, min(passes, n_passes) + 1)) if isinstance(passes, int) else list(passes)
    if not wanted or not all(isinstance(number, int) and 1 <= number <= n_passes for number in wanted):
        requirement = f"a number of passes, or a list of numbers from 1 to {n_passes}"
        raise errors.parameter_error("table", "passes", requirement, passes)
    return wanted


def trace_summary(trace: Trace) -> str:
    """Return mistakes, updates and convergence in one line."""
    text = format_quantity(trace.mistakes, "mistake")
    if trace.n_hidden:
        steps = format_quantity(len(trace.steps), "step")
        return f"{text} in the first {steps}, of at most {len(trace.steps) + trace.n_hidden:,}"
    within = sum(step.correct and step.is_update for step in trace.steps)
    if within:
        text += f" and {format_quantity(within, 'update')} within the margin"
    if trace.converged:
        return f"{text}; converged: nothing changes in iteration {trace.passes:,}"
    return f"{text} in {format_quantity(trace.passes, 'iteration')}; not converged"


def _pass_tables(trace: Trace, cells: TraceCells, passes: list[int], most: int | None) -> list[PassTable]:
    """Return one table per pass; the last one counts the steps beyond `most`."""
    wanted = set(passes)
    steps = [step for step in trace.steps if step.iteration in wanted]
    shown = steps if most is None else steps[: max(most, 1)]
    blocks = []
    for number, group in groupby(shown, key=lambda step: step.iteration):
        blocks.append(_pass_table(f"Iteration {number}:", list(group), cells))
    hidden = len(steps) - len(shown)
    if hidden:
        blocks[-1] = replace(blocks[-1], n_hidden=hidden, closing_lines=())
    return blocks


def _pass_table(title: str, steps: Sequence[PerceptronStep], cells: TraceCells) -> PassTable:
    rows = [cells.step_cells(step) for step in steps]
    return PassTable(
        title,
        cells.header,
        rows,
        [step.is_update for step in steps],
        0,
        tuple(cells.closing_lines(steps[-1])),
    )


def _choose_layout(
    trace: Trace, passes: list[int], most: int | None, average: bool = False
) -> tuple[TraceCells, list[PassTable]]:
    """Return the tables with whole vectors if they fit the line width, else with entries by name.

    Rows and labels are shown too if there are at most two features and they fit. Tables of the `average`
    always have whole vectors.
    """
    for shows_rows in (True, False) if len(trace.names) <= 2 else (False,):
        whole = TraceCells(trace, is_by_name=False, shows_rows=shows_rows, average=average)
        if len(trace.names) > LINE_WIDTH // 4 and not average:
            break
        blocks = _pass_tables(trace, whole, passes, most)
        lines = [line for block in blocks for line in _align_table(block).splitlines()]
        if all(len(line) <= LINE_WIDTH for line in lines) or (average and not shows_rows):
            return whole, blocks
    named = TraceCells(trace, is_by_name=True)
    return named, _pass_tables(trace, named, passes, most)


def _align_table(block: PassTable) -> str:
    return text_table([block.header, *block.rows], left=0)


def trace_text(trace: Trace, passes: list[int], most: int | None = None, average: bool = False) -> str:
    """Return the trace as text."""
    cells, blocks = _choose_layout(trace, passes, most, average)
    parts = ["\n".join(_wrap_line(line) for line in cells.opening_lines())]
    for block in blocks:
        lines = [
            block.title,
            *_table_lines(block, cells),
            *([block.hidden_steps_note] if block.n_hidden else []),
        ]
        parts.append("\n".join([*lines, *map(_wrap_line, block.closing_lines)]))
    parts.append("\n".join(_wrap_line(line) for line in [f"{trace_summary(trace)}.", *cells.result_lines()]))
    return "\n\n".join(parts).replace(NO_BREAK_SPACE, " ")


def _table_lines(block: PassTable, cells: TraceCells) -> list[str]:
    """Lay a table out; a last column of names is flush left and goes on below where the line ends."""
    table = [block.header, *block.rows]
    if not cells.is_by_name:
        return _align_table(block).splitlines()
    front = text_table([row[:-1] for row in table], left=0).splitlines()
    indent = max(map(len, front)) + 2
    below = indent > LINE_WIDTH - MIN_NAMES_WIDTH
    lines = []
    for cell, row in zip(front, table, strict=True):
        wrapped = textwrap.wrap(
            row[-1], LINE_WIDTH - (CONTINUATION_INDENT if below else indent), break_on_hyphens=False
        )
        if below:
            lines += [cell, *(" " * CONTINUATION_INDENT + line for line in wrapped)]
        else:
            lines.append(f"{cell.ljust(indent)}{''.join(wrapped[:1])}".rstrip())
            lines += [" " * indent + line for line in wrapped[1:]]
    return [line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 1] + "…" for line in lines]


def _wrap_line(line: str) -> str:
    return textwrap.fill(
        escape_control_characters(line), LINE_WIDTH, subsequent_indent="  ", break_on_hyphens=False
    )


def trace_html(trace: Trace, passes: list[int], most: int | None = None, average: bool = False) -> str:
    """Return the trace as HTML; rows with an update have the class "update"."""
    cells, blocks = _choose_layout(trace, passes, most, average)
    parts = [html_paragraph(line) for line in cells.opening_lines()]
    for block in blocks:
        head = "".join(f"<th>{escape_html(cell)}</th>" for cell in block.header)
        rows = []
        for row, is_update in zip(block.rows, block.is_update, strict=True):
            filled = "".join(f"<td>{escape_html(cell)}</td>" for cell in row)
            rows.append(
                f'<tr class="update" style="background:#d6336c1f">{filled}</tr>'
                if is_update
                else f"<tr>{filled}</tr>"
            )
        parts.append(
            f"<table><caption>{escape_html(block.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
        parts += [
            html_paragraph(line)
            for line in ([block.hidden_steps_note] if block.n_hidden else block.closing_lines)
        ]
    parts += [html_paragraph(line) for line in [f"{trace_summary(trace)}.", *cells.result_lines()]]
    return f'<div class="trace">{"".join(parts)}</div>'


def trace_latex(trace: Trace, passes: list[int], most: int | None = None, average: bool = False) -> str:
    """Return the trace as LaTeX, with one tabular per pass."""
    cells, blocks = _choose_layout(trace, passes, most, average)
    parts = [_latex_line(line) for line in cells.opening_lines()]
    for block in blocks:
        names = " & ".join(map(_latex_header, block.header))
        lines = [" & ".join(_latex_cell(cell) for cell in row) for row in block.rows]
        columns = "r" * (len(block.header) - 1) + ("l" if cells.is_by_name else "r")
        body = " \\\\\n".join([rf"{names} \\ \hline" + "\n" + lines[0], *lines[1:]])
        parts.append(
            f"{escape_latex(block.title)}\n\n\\begin{{tabular}}{{{columns}}}\n{body} \\\\\n\\end{{tabular}}"
        )
        parts += [
            _latex_line(line)
            for line in ([block.hidden_steps_note] if block.n_hidden else block.closing_lines)
        ]
    parts += [_latex_line(line) for line in [f"{trace_summary(trace)}.", *cells.result_lines()]]
    return "\n\n".join(parts)


_LATEX_HEADERS = {
    "w·x+b": r"$w \cdot x + b$",
    "sign(·)": r"$\operatorname{sign}(\cdot)$",
    "argmax(·)": r"$\operatorname{argmax}(\cdot)$",
    "x": "$x$",
    "w'": "$w'$",
    "b": "$b$",
}
_LATEX_SIGNS = {
    "→": r"$\to$",
    "…": r"\dots{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    NO_BREAK_SPACE: "~",
}


def _latex_header(title: str) -> str:
    return r" $\times$ ".join(_LATEX_HEADERS.get(part, part) for part in title.split(" × "))


def _latex_cell(cell: str) -> str:
    is_number = cell and set(cell) <= set("0123456789-+./,()e")
    return f"${cell}$" if is_number else _latex_line(cell)


def _latex_line(line: str) -> str:
    return "".join(_LATEX_SIGNS.get(sign, sign) for sign in escape_latex(line))


TraceWriter = Callable[["Trace", list[int], int | None, bool], str]
TRACE_WRITERS: dict[str, TraceWriter] = {"text": trace_text, "html": trace_html, "latex": trace_latex}

MAX_NUMBER_WIDTH = 12  # characters of an exact number; longer ones are rounded


def format_fraction(number: Fraction, decimal: bool = False) -> str:
    """Format a number as an integer, a fraction or a decimal; round it if it is too long."""
    text = format_rational(number) if decimal else str(number)
    # The # flag keeps the decimal point, so that a rounded number does not look like an integer.
    return text if len(text) <= MAX_NUMBER_WIDTH else f"{float(number):#.6g}"


def format_exact_vector(numbers: Iterable[Fraction], decimal: bool = False) -> str:
    """Format a vector such as (0,-1,1/2)."""
    return f"({','.join(format_fraction(number, decimal) for number in numbers)})"


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """Return the trace as JSON-compatible data."""
    kept = {} if trace.parameters.keep == "voted" else {"weights": _weights_to_dict(trace.weights())}
    return {
        "features": list(trace.names),
        "classes": [to_json_value(label) for label in trace.classes],
        "keep": trace.parameters.keep,
        "passes": trace.passes,
        "mistakes": trace.mistakes,
        "updates": trace.updates,
        "converged": trace.converged,
        **kept,
        "steps": [_step_to_dict(step) for step in trace.steps],
    }


def _step_to_dict(step: PerceptronStep) -> dict[str, Any]:
    return {
        "iteration": step.iteration,
        "row": step.row,
        "label": to_json_value(step.label),
        "scores": [fraction_to_json(score) for score in step.scores],
        "signs": list(step.signs),
        "prediction": to_json_value(step.prediction),
        "correct": step.correct,
        "errors": list(step.errors),
        "updates": [_numbers_to_json(update) for update in step.updates],
        "weights": [_numbers_to_json(plane.weights) for plane in step.planes],
        "biases": [fraction_to_json(plane.bias) for plane in step.planes],
    }


def _weights_to_dict(kept: Any) -> Any:
    if isinstance(kept, dict):
        return {str(label): _weights_to_dict(plane) for label, plane in kept.items()}
    return {"w": _numbers_to_json(kept.weights), "b": fraction_to_json(kept.bias)}


def _numbers_to_json(numbers: Mapping[str, Fraction]) -> dict[str, int | str]:
    return {name: fraction_to_json(number) for name, number in numbers.items()}
