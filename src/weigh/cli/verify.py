"""`weigh verify`: count the training rows again and compare."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
    print_result,
)

SECTIONS = {
    "Examples": """
        weigh verify income.weigh train.csv
        weigh verify income.weigh part1.csv part2.csv
    """,
}


@click.command(
    cls=CommandWithExamples, sections=SECTIONS, short_help="Count the training rows again and compare."
)
@model_argument
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@data_file_options
@json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **written: Any) -> None:
    """Check a model against the files it was trained on.

    Every count and every exact sum is made again by separate, plain code and compared to the last
    digit; the model file is compared with its digest, and probabilities must sum to one. Of a
    perceptron rows, classes and radius are found again and, if its last plane was kept and separates the
    rows, that it does and by which margin; of a regression its loss, its objective, and that this is the
    minimum. The exit code is 1 if anything differs.
    """
    from weigh.cli.progress import show_row_progress
    from weigh.judge import verify
    from weigh.model import load

    loaded = load(model)
    with show_row_progress(open_source_for_model(loaded, data, loaded.label, **written)) as source:
        found = verify(model, source)
    print_result(found, as_json)
    if not found.ok:
        click.get_current_context().exit(1)
