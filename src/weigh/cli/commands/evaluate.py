"""`weigh evaluate`: measure a model on labelled rows."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.notation import write_option
from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    model_argument,
    open_source_for_model,
    predictive_option,
    print_result,
)
from weigh.cli.output.text import format_location, print_text

PLOT_HELP = {
    "confusion": "confusion matrix (default)",
    "reliability": "reliability diagram: predicted against observed probabilities",
    "roc": "true against false positive rate",
    "precision_recall": "precision against recall",
    "classes": "precision, recall and F1 with intervals",
    "predicted": "regression: predicted against true values (default)",
    "residuals": "regression: residuals against predictions",
}
SECTIONS = {
    "Examples": """
        weigh evaluate income.weigh test.csv
        weigh evaluate income.weigh test.csv --json
        weigh evaluate income.weigh test.csv --predictive
        weigh evaluate income.weigh test.csv --plot roc.svg --what roc
        weigh evaluate price.weigh homes.csv
    """,
    "--what": "\n".join(f"        {name:<18}{words}" for name, words in PLOT_HELP.items()),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@click.option("--plot", metavar="FILE", help="Draw a picture, as .svg, .png or .html.")
@click.option(
    "--what", type=click.Choice(list(PLOT_HELP)), metavar="PICTURE", help="What --plot draws; see below."
)
@predictive_option
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    label: str | None,
    plot: str | None,
    what: str | None,
    predictive: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """Compare a model's predictions with the labels of a file it was not trained on.

    Prints accuracy, losses, calibration error and the areas under the ROC and precision-recall curves with
    their intervals, the confusion matrix, and precision and recall of every class; for a linear regression
    R², the errors with their intervals, and the rows with the largest residuals.
    """
    from weigh import errors
    from weigh.cli.output.progress import show_row_progress
    from weigh.judge.metrics.evaluation import Evaluation, evaluate
    from weigh.model.file.loading import load

    check_plot_path(plot)
    check_output_is_not_input(plot, model, *data)
    if what is not None and plot is None:
        raise click.UsageError("--what selects a picture; give --plot FILE too.")
    loaded = load(model)
    if predictive:
        loaded = loaded.predictive()
    name = label or loaded.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    with show_row_progress(open_source_for_model(loaded, data, name, **written)) as source:
        evaluation = evaluate(loaded, source)
    if plot is not None:
        from weigh.pictures import image

        image(evaluation.plot() if what is None else evaluation.plot(what), plot)
    if isinstance(evaluation, Evaluation):
        evaluation = evaluation.with_notation(write_option)
    print_result(evaluation, as_json)
    if plot is not None and not as_json:
        print_text(f"\n{format_location('The picture', plot)}")
