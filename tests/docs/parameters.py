"""Write docs/parameters.md from the tables of weigh.parameters: python -m tests.docs.parameters."""

from __future__ import annotations

import re
from pathlib import Path

from weigh.cli.parameter_help import describe_values
from weigh.parameters import Parameter, ParameterTable
from weigh.parameters.kinds import KINDS
from weigh.parameters.learners import LEARNERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parameters.md"
INTRODUCTION = """# Parameters

Every parameter of every learner and of every kind of column, with its default and the values that are
allowed. In Python they are keyword arguments, as in `weigh.Perceptron(keep="last")`. On the command line they
are set with the option in the last column, as in `--set keep=last`. They are read there, never executed.

Some parameters apply to one `method` only. Where the default depends on the method, it is None in Python.

`make parameters` writes this page from the tables that check the values."""
KINDS_INTRODUCTION = """## Kinds of columns

In Python a kind is an object, as in `columns={"age": weigh.Number(bins=16)}`; on the command line
`--kind age=number:bins=16`. `Flag`, `Count`, `Value` and `Skip` have no parameters.
[Tables](tables.md) describes the kinds."""


def format_page() -> str:
    """Return the page in Markdown."""
    learners = [_section(table) for table in LEARNERS.values()]
    kinds = [_section(table) for table in KINDS.values()]
    return "\n\n".join([INTRODUCTION, *learners, KINDS_INTRODUCTION, *kinds]) + "\n"


def _section(table: ParameterTable) -> str:
    is_learner = table.name in LEARNERS
    heading, option = ("##", "--learner") if is_learner else ("###", "--kind")
    rows = [_row(each, is_learner) for each in table]
    header = ["Parameter", "Default", "Allowed values", "Meaning", "Command line"]
    lines = [header, ["---"] * len(header), *rows]
    title = f"{heading} {table.owner}\n\n`{option} {table.name}` on the command line.\n"
    return "\n".join([title, *(f"| {' | '.join(line)} |" for line in lines)])


def _row(parameter: Parameter, is_learner: bool) -> list[str]:
    allowed = parameter.allowed
    option = f"`{parameter.option}`" if parameter.option else "Python only"
    if parameter.option == "--set":
        option = f"`{'--set ' * is_learner}{parameter.name}=` {describe_values(parameter)}"
    method = f"With method={parameter.method!r}: " if parameter.method else ""
    meaning = f"{method}{parameter.meaning}. {parameter.details}".strip()
    cells = [
        f"`{parameter.name}`",
        f"`{parameter.default!r}`",
        allowed.wording + ("; also a mapping from columns" if allowed.by_column else ""),
        meaning[0].upper() + meaning[1:].replace("``", "`"),
        option,
    ]
    return [re.sub(r"[|*]", r"\\\g<0>", cell) for cell in cells]


if __name__ == "__main__":
    PAGE.write_text(format_page(), "utf-8")
