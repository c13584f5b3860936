"""`weigh demo`: a tour of the library in a terminal."""

from __future__ import annotations

import os
import textwrap
import warnings
from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.notation import to_command_line
from weigh.cli.output.text import print_text
from weigh.csv_writer import CsvWriter

MAILS = {
    "CS373": [0, 0, 0, 0, 1],
    "investment": [1, 0, 1, 1, 0],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
NEW_MAIL = {"CS373": 1, "investment": 1, "familiarity": "high"}
TEST_ROW_INTERVAL = 4  # every fourth row is a test row
MAX_FEATURES = 6


SECTIONS = {
    "Examples": """
        weigh demo
        weigh demo --output /tmp
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.option("--output", default="", metavar="FOLDER", help="Where the files go. [default: here]")
def command(output: str) -> None:
    """Give a one-minute tour: a tiny table worked out by hand, then a real one.

    Writes breast-cancer.weigh, breast-cancer-train.csv and breast-cancer-test.csv for the commands that it
    suggests at the end.
    """
    _show_worked_example()
    _show_real_table(output)


def _show_worked_example() -> None:
    from weigh.engines import run
    from weigh.learn.naive_bayes import BayesTask
    from weigh.source.memory.table import rows
    from weigh.text import text_table

    _print_heading("1. Five mails, worked out by hand")
    lines = [[*map(str, values)] for values in zip(*MAILS.values(), strict=True)]
    print_text(text_table([list(MAILS), *lines], left=4, indent="  "))
    source = rows(MAILS, "spam")
    model = run(BayesTask.for_source(source), source)
    evidence = model.explain(NEW_MAIL)[0]
    _print_paragraph(
        "A new mail mentions CS373 and investment, from a sender of high familiarity. Naive Bayes with "
        "Laplace's +1 multiplies, class by class:"
    )
    print_text(textwrap.indent(evidence.worked(), "  "))
    _print_paragraph(
        "The same in logarithms, where products become sums. Every prediction of every model comes with this:"
    )
    print_text(textwrap.indent(str(evidence), "  "))


def _show_real_table(folder: str) -> None:
    from weigh.judge.metrics.evaluation import evaluate
    from weigh.source.files.open_files import open as open_file

    _print_heading("2. A real table: 569 tumours, 30 measurements each")
    train, test = _write_tables(folder)
    target = os.path.join(folder, "breast-cancer.weigh")
    model, notes = _fit_model(train)
    model.save(target)
    print_text(f"Trained on {int(model.counts.rows.sum()):,} rows of {train};")
    print_text(f"tested on the others, in {test}:\n")
    print_text(str(evaluate(model, open_file(test, "diagnosis"))))
    for note in notes:
        _print_paragraph(f"Note: {note}")
    _print_paragraph("Why did the first test row get its verdict? The evidence for and against it:")
    first = model.explain(open_file(test, "diagnosis").prefix(1))[0]
    print_text(textwrap.indent(str(first.shortened(MAX_FEATURES)), "  "))
    _show_next_steps(target, train, test)


def _fit_model(train: str) -> tuple[Any, list[str]]:
    from weigh.engines import run
    from weigh.learn.naive_bayes import BayesTask
    from weigh.source.files.open_files import open as open_file

    source = open_file(train, "diagnosis")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = run(BayesTask.for_source(source), source)
    return model, [to_command_line(each.message) for each in caught]


def _write_tables(folder: str) -> tuple[str, str]:
    from sklearn.datasets import load_breast_cancer

    from weigh.cli.options import open_output

    table = load_breast_cancer()
    names = [*map(str, table.feature_names), "diagnosis"]
    lines = [
        [*values, table.target_names[code]]
        for values, code in zip(table.data.tolist(), table.target, strict=True)
    ]
    paths = [os.path.join(folder, f"breast-cancer-{part}.csv") for part in ("train", "test")]
    for path, is_test in zip(paths, (False, True), strict=True):
        with open_output(path) as file:
            writer = CsvWriter(file, raw=True)
            writer.write_row(names)
            for at, line in enumerate(lines):
                if (at % TEST_ROW_INTERVAL == 0) is is_test:
                    writer.write_row(line)
    return paths[0], paths[1]


def _show_next_steps(model: str, train: str, test: str) -> None:
    _print_heading(f"3. The model is in {model}. Try next")
    for line in (
        f"weigh explain {model} {test} --row 1",
        f"weigh explain {model} --most 5",
        f"weigh predict {model} {test} --check",
        f"weigh verify {model} {train}",
        f"weigh fit {train} --label diagnosis --kind 'mean area=skip'",
    ):
        print_text(f"  {line}")
    _print_paragraph("Then your own table: weigh fit TABLE.csv --label COLUMN")


def _print_heading(title: str) -> None:
    print_text(f"\n{title}\n{'─' * min(len(title), 79)}\n")


def _print_paragraph(text: str) -> None:
    print_text("\n" + textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False) + "\n")
