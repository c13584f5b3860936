"""`weigh audit`: find labels that are probably wrong."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    model_argument,
    open_source_for_model,
    raw_option,
)
from weigh.cli.output.text import print_json, print_text

if TYPE_CHECKING:
    from weigh.cli.output.tables import TableWriter
    from weigh.judge.label_audit import Audit

COLUMNS = ("row", "label", "probability", "said")
SECTIONS = {
    "Examples": """
        weigh audit spam.weigh train.csv
        weigh audit spam.weigh train.csv --most 5 --json
        weigh audit spam.weigh train.csv -o doubts.csv
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@click.option("--label", metavar="COLUMN", help="The column of labels. [default: the model's]")
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="How many rows to list.")
@click.option(
    "--seen/--unseen",
    "seen",
    default=None,
    help="Whether the model was trained on these rows. [default: if they are provably all of its rows]",
)
@click.option("-o", "--output", metavar="FILE", help="Write the label and verdict of every row.")
@raw_option
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    label: str | None,
    most: int,
    seen: bool | None,
    output: str | None,
    raw: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """List the rows whose labels a model finds least probable, and the evidence against them.

    A naive Bayes model judges each of its training rows by exact leave-one-out, which also estimates its
    accuracy on new rows; for a part of the training file give --seen. Other models judge rows as they predict
    them. -o writes all rows: number, label, probability of the label, and predicted class.
    """
    from weigh import errors
    from weigh.cli.output.progress import show_row_progress
    from weigh.cli.output.tables import OutputColumn, open_table, table_format
    from weigh.judge.label_audit import audit_with_callback
    from weigh.model.file.loading import load

    check_output_is_not_input(output, model, *data)
    format = table_format(output, as_json=False)
    loaded = load(model)
    name = label or loaded.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    opened = open_source_for_model(loaded, data, name, **written)
    target = open_table(output, format, list(map(OutputColumn, COLUMNS)), raw) if output else nullcontext()
    with show_row_progress(opened) as source, target as writer:
        sink = _make_row_writer(writer) if writer else None
        result = audit_with_callback(loaded, source, None, None, most, seen, 0.95, sink)
    if output != "-" and as_json:
        print_json(result.to_dict())
    elif output != "-":
        print_text(_format_audit(result))


def _format_audit(result: Audit) -> str:
    """Return an audit as text, with its advice as options."""
    from weigh.cli.notation import write_option
    from weigh.judge.label_audit_format import audit_headline
    from weigh.result import Section

    headline = Section("headline", [], audit_headline(result, write_option))
    return "\n\n".join(section.to_text() for section in [headline, *result.sections()])


def _make_row_writer(writer: TableWriter) -> Any:
    """Return a function that writes the rows of a batch."""

    def write(batch: Any, said: list[Any], shares: Any) -> None:
        numbers = [None] * len(said) if shares is None else shares.tolist()
        # A row that cannot be judged has neither a probability nor a verdict.
        probabilities = [None if share != share else share for share in numbers]
        writer.write([batch.numbers.tolist(), list(batch.labels), probabilities, said])

    return write
