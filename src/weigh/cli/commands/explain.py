"""`weigh explain`: explain a prediction, or show the strongest features of a model."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    class_by_name,
    data_file_options,
    json_option,
    model_argument,
    print_result,
)
from weigh.cli.output.text import print_json, print_text
from weigh.cli.single_row import row_from_file, row_from_json

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
    rows = row_from_json(loaded, values) if values is not None else row_from_file(loaded, data, row, written)
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
