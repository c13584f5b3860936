"""`weigh verify`: check a model against its training files."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    data_argument,
    data_file_options,
    drop_missing_labels_option,
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


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@drop_missing_labels_option
@data_file_options
@json_option
def command(model: str, data: tuple[str, ...], as_json: bool, **written: Any) -> None:
    """Check a model against the files it was trained on.

    Separate, plain code recomputes every count and every exact sum and compares them to the last digit; the
    model file is compared with its digest, and probabilities must sum to one. For a perceptron it recomputes
    rows, classes, radius and, if the last plane was kept and separates the rows, the margin; for a regression
    the loss, the objective, and a certificate that it is the minimum. The exit code is 1 if anything differs.
    """
    from weigh.cli.output.progress import show_row_progress
    from weigh.judge.verification.verify import verify
    from weigh.model.file.loading import load

    loaded = load(model)
    with show_row_progress(open_source_for_model(loaded, data, loaded.label, **written)) as source:
        verification = verify(model, source)
    print_result(verification, as_json)
    if not verification.ok:
        click.get_current_context().exit(1)
