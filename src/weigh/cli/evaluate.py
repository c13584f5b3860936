"""`weigh evaluate`: how well a model does on labelled rows."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
    print_result,
)

PLOT_HELP = {
    "confusion": "who is taken for whom; drawn if nothing else is said",
    "reliability": "do probabilities keep their word?",
    "roc": "recall against the share of other rows taken along",
    "precision_recall": "precision against recall",
    "classes": "precision, recall and F1 with their intervals",
    "predicted": "of a regression: predicted against true numbers; its default",
    "residuals": "of a regression: errors against predictions",
}
TRAINING_ROWS_NOTE = (
    "Note: The model has learned these very rows, which flatters it. Evaluate it on rows that it has not "
    "seen; `weigh audit` judges learned rows, each one forgotten in turn."
)
SECTIONS = {
    "Examples": """
        weigh evaluate income.weigh test.csv
        weigh evaluate income.weigh test.csv --json
        weigh evaluate income.weigh test.csv --plot roc.svg --what roc
        weigh evaluate price.weigh homes.csv
    """,
    "--what": "\n".join(f"        {name:<18}{words}" for name, words in PLOT_HELP.items()),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Measure a model on labelled rows.")
@model_argument
@click.argument("data", metavar="DATA")
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@click.option("--plot", metavar="FILE", help="Draw a picture, as .svg, .png or .html.")
@click.option(
    "--what", type=click.Choice(list(PLOT_HELP)), metavar="PICTURE", help="What --plot draws; see below."
)
@data_file_options
@json_option
def command(
    model: str,
    data: str,
    label: str | None,
    plot: str | None,
    what: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Compare a model's predictions with the labels of a file it was not trained on.

    Prints accuracy, losses, calibration error and the areas under the ROC and precision-recall
    curves with their intervals, the confusion table, and precision and recall of every class; of a
    linear regression R², the sizes of its errors with their intervals, and the rows that were missed
    most.
    """
    from weigh import errors
    from weigh.cli.progress import show_row_progress
    from weigh.judge import evaluate
    from weigh.model import load

    check_plot_path(plot)
    check_output_is_not_input(plot, model, data)
    if what is not None and plot is None:
        raise click.UsageError("--what says what to draw; give --plot FILE too.")
    loaded = load(model)
    name = label or loaded.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    opened = open_source_for_model(loaded, data, name, **written)
    with show_row_progress(opened) as source:
        found = evaluate(loaded, source)
    if plot is not None:
        from weigh.pictures import image

        image(found.plot() if what is None else found.plot(what), plot)
    print_result(found, as_json)
    if plot is not None and not as_json:
        click.echo(f"\nThe picture is in {plot}.")
    if _is_training_data(loaded, opened, found):
        click.echo(f"\n{textwrap.fill(TRAINING_ROWS_NOTE, 80)}", err=True)


def _is_training_data(model: Any, source: Any, found: Any) -> bool:
    """Whether a model is judged on the very rows that it has learned, as counts can tell."""
    from weigh.model.count_model import CountModel

    counted = getattr(model, "uncalibrated", model)
    # Rows of another number are others: only where they agree are they read once more.
    if not isinstance(counted, CountModel) or not counted.has_rows or counted.counts.rows.sum() != found.n:
        return False
    return counted.has_learned(source) is True
