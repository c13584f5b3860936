"""`weigh report`: write an HTML report about a model."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    model_argument,
    open_source_for_model,
    print_result,
)

DEFAULT_MISTAKES = 10
SECTIONS = {
    "Examples": """
        weigh report income.weigh test.csv -o income.html
        weigh report income.weigh test.csv --train train.csv -o income.html
        weigh report price.weigh homes.csv --title 'Prices of homes' --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The page, or - for standard output. [default: report.html]",
)
@click.option(
    "--train", multiple=True, metavar="FILE", help="The training rows: adds audit and learning curve."
)
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@click.option("--title", metavar="TEXT", help="Title of the report.")
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(1, 50),
    default=DEFAULT_MISTAKES,
    show_default=True,
    help="How many mistakes, and features per class (at most 15), to list.",
)
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    output: str | None,
    train: tuple[str, ...],
    label: str | None,
    title: str | None,
    most: int,
    as_json: bool,
    **written: Any,
) -> None:
    """Report what a model is, how well it does on new rows, where it errs and what to do next.

    The page is one file that needs no network and can be mailed, printed and read on a phone. --json prints
    the facts instead, and writes the page only if -o is given.
    """
    from weigh.cli.output.text import format_location, print_text, show_stages
    from weigh.model.file.loading import load
    from weigh.report.builder import report_on
    from weigh.report.report import check_report_packages
    from weigh.report.reproducibility import DEFAULT_PAGE, ReportOptions

    target = DEFAULT_PAGE if output is None else output
    if target == "-" and as_json:
        raise click.UsageError("--json and -o - both write to standard output. Leave one of them out.")
    if output or not as_json:
        check_report_packages()
    check_output_is_not_input(target, model, *data, *train)
    loaded = load(model)
    name = label or loaded.label
    with show_stages() as show_stage:
        rows = open_source_for_model(loaded, data, name, **written)
        training_rows = open_source_for_model(loaded, train, name, **written) if train else None
        options = ReportOptions(
            _command_line_options(written), label, title, None if most == DEFAULT_MISTAKES else most, target
        )
        report = report_on(
            loaded,
            rows,
            train=training_rows,
            title=title,
            most=most,
            file=model,
            options=options,
            say=show_stage,
        )
        page = report.html if output or not as_json else ""
    if target == "-":
        sys.stdout.buffer.write(page.encode("utf-8", "replace"))
        return
    if page:
        report.save(target)
    print_result(report, as_json)
    if not as_json:
        print_text(f"\n{format_location('The report', target)}")


def _command_line_options(options: dict[str, Any]) -> tuple[str, ...]:
    """Return the file format options as written on the command line."""
    context = click.get_current_context()
    given = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    return tuple(
        word
        for name, value in given.items()
        for word in (
            [f"--{'no-' * (value is False)}{name.replace('_', '-')}"]
            if isinstance(value, bool)
            else [f"--{name.replace('_', '-')}", value]
        )
    )
