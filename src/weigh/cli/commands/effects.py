"""`weigh effects`: what each column adds to the outputs of a linear model."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    class_by_name,
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
    print_result,
    save_plot,
)
from weigh.cli.single_row import row_from_file

DEFAULT_DRAWN = 10
SECTIONS = {
    "Examples": """
        weigh effects income.weigh
        weigh effects income.weigh test.csv --top 5
        weigh effects income.weigh -o effects.html
        weigh effects income.weigh test.csv --row 0 -o effects.svg
        weigh effects income.weigh --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@click.argument("data", nargs=-1, metavar="[DATA...]")
@click.option("--row", type=click.IntRange(0), metavar="N", help="The row to mark in the picture.")
@click.option(
    "--top", type=click.IntRange(1), metavar="N", help="How many effects. [default: all; drawn: 10]"
)
@click.option("--class", "label", metavar="CLASS", help="Of more than two classes, the only one to draw.")
@click.option("-o", "--plot", metavar="FILE", help="Draw the effects on one page, as .svg, .png or .html.")
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    row: int | None,
    top: int | None,
    label: str | None,
    plot: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Show what each column of a linear model adds to its outputs, strongest first.

    An effect is a curve, the levels of a category, a straight line or a pair of columns. Its importance is
    the standard deviation of its contribution over the rows of DATA, or over the training rows. The page
    draws every effect with its 95 % interval and the number of rows.
    """
    from weigh.explain.column_effects import effects
    from weigh.model.file.loading import load

    if plot is None and (row is not None or label is not None):
        raise click.UsageError("--row and --class are for the picture. Name its file with -o.")
    check_plot_path(plot)
    check_output_is_not_input(plot, model, *data)
    loaded = load(model)
    found = effects(loaded, open_source_for_model(loaded, data, **written) if data else None)
    if label is not None and not found.classes:
        raise click.UsageError("--class is for models of more than two classes.")
    wanted = None if label is None else class_by_name(label, list(found.classes), "--class")
    marked = None if row is None else row_from_file(loaded, data, row, written)
    if top is not None:
        found = found.shortened(top)
    print_result(found, as_json)
    save_plot(lambda: found.plot(marked, top or DEFAULT_DRAWN, wanted), plot, as_json)
