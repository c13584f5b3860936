"""A trace as a table per pass: in text of at most 80 columns, in HTML, in LaTeX."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from weigh import errors
from weigh.explain.trace_cells import TIED, Cells
from weigh.text import aligned, counted, escaped, latex

if TYPE_CHECKING:
    from weigh.explain.trace import Trace
    from weigh.explain.trace_steps import Step

WIDTH = 80
LEAST = 26  # signs that a last column of names needs; with fewer it goes below its row
INDENT = 6


@dataclass(frozen=True)
class Block:
    """One pass: a title, a head, a row per step, and how many steps are left out."""

    title: str
    head: list[str]
    rows: list[list[str]]
    wrong: list[bool]
    hidden: int = 0
    closing: tuple[str, ...] = ()

    @property
    def more(self) -> str:
        """How many steps are left out, in words."""
        return f"… and {counted(self.hidden, 'more step')}"


def chosen(trace: Trace, passes: int | Sequence[int] | None) -> list[int]:
    """Return the numbers of the passes to write."""
    if passes is None:
        return list(range(1, trace.passes + 1))
    wanted = list(range(1, min(passes, trace.passes) + 1)) if isinstance(passes, int) else list(passes)
    if not wanted or not all(1 <= number <= trace.passes for number in wanted):
        must = f"a number of passes, or a list of numbers from 1 to {trace.passes}"
        raise errors.parameter("table", "passes", must, passes)
    return wanted


def summary(trace: Trace) -> str:
    """Return in one sentence how the run ended."""
    made = counted(trace.mistakes, "mistake")
    within = sum(step.correct and step.updated for step in trace.steps)
    if within:
        made += f" and {counted(within, 'update')} within the margin"
    if trace.converged:
        return f"{made}; converged: nothing changes in iteration {trace.passes:,}"
    return f"{made} in {counted(trace.passes, 'iteration')}; not converged"


def _blocks(trace: Trace, cells: Cells, passes: list[int], most: int | None) -> list[Block]:
    """Return the passes; the steps beyond `most` are counted in the last one that has any."""
    wanted = set(passes)
    steps = [step for step in trace.steps if step.iteration in wanted]
    shown = steps if most is None else steps[: max(most, 1)]
    blocks = []
    for number, group in groupby(shown, key=lambda step: step.iteration):
        blocks.append(_block(f"Iteration {number}:", list(group), cells))
    hidden = len(steps) - len(shown)
    if hidden:
        blocks[-1] = replace(blocks[-1], hidden=hidden, closing=())
    return blocks


def _block(title: str, steps: Sequence[Step], cells: Cells) -> Block:
    rows = [cells.row(step) for step in steps]
    return Block(
        title, cells.head, rows, [step.updated for step in steps], 0, tuple(cells.closing(steps[-1]))
    )


def _fitting(trace: Trace, passes: list[int], most: int | None) -> tuple[Cells, list[Block]]:
    """Return the passes with whole vectors if they fit a line, else with what changes by name."""
    whole = Cells(trace, named=False)
    if len(trace.names) <= WIDTH // 4:
        blocks = _blocks(trace, whole, passes, most)
        if all(len(line) <= WIDTH for block in blocks for line in _drawn(block).splitlines()):
            return whole, blocks
    named = Cells(trace, named=True)
    return named, _blocks(trace, named, passes, most)


def _drawn(block: Block) -> str:
    return aligned([block.head, *block.rows], left=0)


def text(trace: Trace, passes: list[int], most: int | None = None) -> str:
    """Return the trace as text."""
    cells, blocks = _fitting(trace, passes, most)
    parts = ["\n".join(_wrapped(line) for line in cells.opening())]
    for block in blocks:
        lines = [block.title, *_lines(block, cells), *([block.more] if block.hidden else [])]
        parts.append("\n".join([*lines, *map(_wrapped, block.closing)]))
    parts.append("\n".join(_wrapped(line) for line in [f"{summary(trace)}.", *cells.kept()]))
    return "\n\n".join(parts).replace(TIED, " ")


def _lines(block: Block, cells: Cells) -> list[str]:
    """Lay a table out; a last column of names is flush left and goes on below where the line ends."""
    table = [block.head, *block.rows]
    if not cells.named:
        return _drawn(block).splitlines()
    front = aligned([row[:-1] for row in table], left=0).splitlines()
    indent = max(map(len, front)) + 2
    below = indent > WIDTH - LEAST
    lines = []
    for cell, row in zip(front, table, strict=True):
        told = textwrap.wrap(row[-1], WIDTH - (INDENT if below else indent), break_on_hyphens=False)
        if below:
            lines += [cell, *(" " * INDENT + more for more in told)]
        else:
            lines.append(f"{cell.ljust(indent)}{''.join(told[:1])}".rstrip())
            lines += [" " * indent + more for more in told[1:]]
    return [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in lines]


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def markup(trace: Trace, passes: list[int], most: int | None = None) -> str:
    """Return the trace as HTML; rows at which the weights changed have the class "update"."""
    cells, blocks = _fitting(trace, passes, most)
    parts = [_paragraph(line) for line in cells.opening()]
    for block in blocks:
        head = "".join(f"<th>{escaped(cell)}</th>" for cell in block.head)
        rows = []
        for cells_of_row, wrong in zip(block.rows, block.wrong, strict=True):
            filled = "".join(f"<td>{escaped(cell)}</td>" for cell in cells_of_row)
            rows.append(
                f'<tr class="update" style="background:#d6336c1f">{filled}</tr>'
                if wrong
                else f"<tr>{filled}</tr>"
            )
        parts.append(
            f"<table><caption>{escaped(block.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
        parts += [_paragraph(line) for line in ([block.more] if block.hidden else block.closing)]
    parts += [_paragraph(line) for line in [f"{summary(trace)}.", *cells.kept()]]
    return f'<div class="trace">{"".join(parts)}</div>'


def _paragraph(line: str) -> str:
    return f"<p>{escaped(line)}</p>"


def tabular(trace: Trace, passes: list[int], most: int | None = None) -> str:
    """Return the trace as LaTeX: a tabular per pass."""
    cells, blocks = _fitting(trace, passes, most)
    parts = [_latex_line(line) for line in cells.opening()]
    for block in blocks:
        names = " & ".join(map(_latex_head, block.head))
        lines = [" & ".join(_latex_cell(cell) for cell in row) for row in block.rows]
        columns = "r" * (len(block.head) - 1) + ("l" if cells.named else "r")
        body = " \\\\\n".join([rf"{names} \\ \hline" + "\n" + lines[0], *lines[1:]])
        parts.append(
            f"{latex(block.title)}\n\n\\begin{{tabular}}{{{columns}}}\n{body} \\\\\n\\end{{tabular}}"
        )
        parts += [_latex_line(line) for line in ([block.more] if block.hidden else block.closing)]
    parts += [_latex_line(line) for line in [f"{summary(trace)}.", *cells.kept()]]
    return "\n\n".join(parts)


_HEADS = {
    "w·x+b": r"$w \cdot x + b$",
    "sign(·)": r"$\operatorname{sign}(\cdot)$",
    "argmax(·)": r"$\operatorname{argmax}(\cdot)$",
    "x": "$x$",
    "w'": "$w'$",
    "b": "$b$",
}
_LATEX_SIGNS = {"→": r"$\to$", "…": r"\dots{}", "×": r"$\times$", "·": r"$\cdot$", "−": "$-$", TIED: "~"}


def _latex_head(title: str) -> str:
    return r" $\times$ ".join(_HEADS.get(part, part) for part in title.split(" × "))


def _latex_cell(cell: str) -> str:
    is_number = cell and set(cell) <= set("0123456789-+./,()e")
    return f"${cell}$" if is_number else _latex_line(cell)


def _latex_line(line: str) -> str:
    return "".join(_LATEX_SIGNS.get(sign, sign) for sign in latex(line))


Writer = Callable[["Trace", list[int], int | None], str]
WRITERS: dict[str, Writer] = {"text": text, "html": markup, "latex": tabular}
