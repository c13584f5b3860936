"""`weigh forget`: remove rows, exactly as if they had never been in the training data."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
)

SECTIONS = {
    "Examples": """
        weigh forget mails.weigh withdrawn.csv
        weigh forget mails.weigh january.csv -o recent.weigh
        weigh forget mails.weigh customer-7.csv --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", metavar="NEW", help="The file of the new model. [default: MODEL]")
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@data_file_options
@json_option
def command(
    model: str, data: tuple[str, ...], output: str | None, label: str | None, as_json: bool, **written: Any
) -> None:
    """Remove rows from a model, exactly as if they had never been in its training data.

    Naive Bayes and joint models follow from counts, which the rows are subtracted from. Rows that the model
    has not learned are refused, as far as the counts can show that, and the model stays as it is. Without -o,
    MODEL is replaced.
    """
    from weigh.cli.model_update import changed_rows, label_of, load_count_model, save_update
    from weigh.cli.progress import show_row_progress
    from weigh.text import escape_control_characters

    target = model if output is None else output
    check_output_is_not_input(target, *data)
    before = load_count_model(model, "forget rows")
    opened = open_source_for_model(before, data, label_of(before, label), **written)
    with show_row_progress(opened) as source:
        after = before.forget(source)
    title = f"Forgot {changed_rows(before, after)} of {escape_control_characters(', '.join(data))}."
    save_update(title, before, after, target, {"data": list(data)}, as_json)
