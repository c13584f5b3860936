"""`weigh explain`: explain a prediction, or show the strongest features of a model."""

from __future__ import annotations

import json
from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    class_by_name,
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
    print_result,
)
from weigh.cli.output.text import print_json, print_text

SECTIONS = {
    "Examples": """
        weigh explain spam.weigh
        weigh explain spam.weigh mails.csv --row 0
        weigh explain spam.weigh mails.csv --row 0 --worked
        weigh explain spam.weigh mails.csv --row 0 --flip
        weigh explain price.weigh homes.csv --row 0
        weigh explain spam.weigh --values '{"CS373": 1, "investment": 1}' --latex
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@click.argument("data", nargs=-1, metavar="[DATA...]")
@click.option("--row", type=click.IntRange(0), metavar="N", help="The row to explain; the first is 0.")
@click.option("--values", metavar="JSON", help="A row as JSON; absent columns are missing.")
@click.option("--worked", is_flag=True, help="Compute the posterior in exact fractions.")
@click.option("--latex", is_flag=True, help="The same as LaTeX.")
@click.option(
    "--flip", "flips", is_flag=True, help="The smallest removal of features that changes the verdict."
)
@click.option("--to", metavar="CLASS", help="With --flip: the class to change to.")
@click.option("--class", "label", metavar="CLASS", help="Without a row: features of this class only.")
@click.option("--most", type=click.IntRange(1), help="How many features to list. [default: 10 of each class]")
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    row: int | None,
    values: str | None,
    worked: bool,
    latex: bool,
    flips: bool,
    to: str | None,
    label: str | None,
    most: int | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Explain one row's verdict, or, without a row, the strongest features of the model.

    Contributions are in nats (natural logarithms), for a perceptron in units of its score. They sum to the
    log-odds, or the lead, of the verdict against the runner-up; for a linear regression they sum to the
    predicted number. --flip lists the smallest set of features without which the row would get another
    verdict, and single values that would change it.
    """
    from weigh.model.file.loading import load

    loaded = load(model)
    if row is None and values is None:
        if data or worked or latex or flips:
            raise click.UsageError("Name a row: --row N of DATA, or --values JSON.")
        from weigh.explain.strongest_features import strongest

        known = getattr(loaded, "classes", None)
        wanted = label if label is None or known is None else class_by_name(label, known, "--class")
        print_result(strongest(loaded, wanted, most or 10), as_json)
        return
    if to is not None and not flips:
        raise click.UsageError("--to is an option of --flip; give --flip too.")
    rows = (
        _row_from_json(loaded, values) if values is not None else _row_from_file(loaded, data, row, written)
    )
    if flips:
        from weigh.explain.counterfactual import flip

        wanted = None if to is None else class_by_name(to, getattr(loaded, "classes", []), "--to")
        print_result(flip(loaded, rows, wanted), as_json)
        return
    evidence = loaded.explain(rows)[0]
    if worked or latex:
        text = evidence.worked("latex" if latex else "text")
        if as_json:
            print_json({"worked": text}, indent=None)
        else:
            print_text(text)
    else:
        print_result(evidence if most is None else evidence.shortened(most), as_json)


def _row_from_json(model: Any, values: str) -> dict[str, Any]:
    """Parse one row; absent columns are missing."""
    from weigh import errors

    try:
        row = json.loads(values)
    except ValueError as cause:
        raise click.BadParameter(f"not JSON: {cause}", param_hint="'--values'") from None
    if not isinstance(row, dict):
        raise click.BadParameter('must be one row: {"column": value, ...}', param_hint="'--values'")
    known = model.schema.names
    for name in row:
        # In a row that was typed, an unknown column is a slip.
        if model.schema.named and name not in known and name != model.label:
            raise errors.unknown_column_error(name, known, "The model")
    return dict.fromkeys(known) | row


def _row_from_file(model: Any, data: tuple[str, ...], row: int | None, written: dict[str, Any]) -> Any:
    """Return one row of a file as a chunk."""
    from weigh import errors

    if not data or row is None:
        raise click.UsageError("--row needs DATA, the file that has the row.")
    n_rows = 0
    for chunk in model.chunks(open_source_for_model(model, data, **written)):
        n_rows = chunk.first_row + chunk.n_rows
        if row < n_rows:
            return chunk.slice(row - chunk.first_row, row - chunk.first_row + 1)
    place = ", ".join(data)
    raise errors.DataError(f"{place} has {n_rows:,} rows, so there is no row {row:,} (the first is 0).")
