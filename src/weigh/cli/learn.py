"""`weigh learn`: learn more rows, exactly as if they had been in the training data."""

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
        weigh learn mails.weigh new.csv
        weigh learn mails.weigh monday.csv tuesday.csv -o week.weigh
        zcat log.csv.gz | weigh learn log.weigh - --format csv
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
    """Add rows to a model, exactly as if they had been in its training data.

    Naive Bayes and joint models follow from counts, which the new rows are added to; classes and categories
    that are new are added too. The kinds of the columns stay as they are. Without -o, MODEL is replaced.
    """
    from weigh.cli.model_update import changed_rows, label_of, load_count_model, save_update
    from weigh.cli.progress import show_row_progress
    from weigh.text import escape_control_characters

    target = model if output is None else output
    check_output_is_not_input(target, *data)
    before = load_count_model(model, "learn more rows")
    opened = open_source_for_model(before, data, label_of(before, label), **written)
    with show_row_progress(opened) as source:
        after = before.learn(source)
    title = f"Learned {changed_rows(before, after)} of {escape_control_characters(', '.join(data))}."
    save_update(title, before, after, target, {"data": list(data)}, as_json)
