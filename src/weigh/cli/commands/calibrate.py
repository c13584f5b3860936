"""`weigh calibrate`: calibrate the probabilities of a model on labelled rows."""

from __future__ import annotations

import os
from typing import Any

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
)
from weigh.cli.output.text import format_location, print_json, print_text
from weigh.parameters.learners import CALIBRATION_METHODS

# Reported before and after calibration, if the model has them.
MEASURES = ("accuracy", "log_loss", "brier", "calibration_error")

SECTIONS = {
    "Examples": """
        weigh calibrate income.weigh held-out.csv -o sure.weigh
        weigh calibrate spam.weigh held-out.csv -o sure.weigh --method platt
        weigh fit adult.csv --label income --set calibration=temperature
    """,
    "--method": """
        temperature   divides all scores by one number; predictions stay the same
        platt         also shifts every class; gives perceptrons probabilities
        isotonic      any increasing curve; needs a thousand rows or more
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@click.option("-o", "--output", metavar="OUT", required=True, help="The calibrated model's file.")
@click.option(
    "--method",
    type=click.Choice(CALIBRATION_METHODS),
    default="temperature",
    show_default=True,
    help="See below.",
)
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    output: str,
    method: str,
    label: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Calibrate the probabilities of a model on labelled rows that it was not trained on.

    Prints the losses on these rows before and after; a perceptron has no probabilities before. Without
    held-out rows, fit naive-bayes with --set calibration=temperature instead.
    """
    from weigh import errors
    from weigh.cli.output.progress import show_row_progress
    from weigh.estimators.calibration import calibrate
    from weigh.judge.metrics.evaluation import evaluate
    from weigh.model.file.loading import load

    check_output_is_not_input(output, model, *data)
    loaded = load(model)
    name = label or loaded.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    with show_row_progress(open_source_for_model(loaded, data, name, **written)) as source:
        calibrated = calibrate(loaded, source, method=method)
        before, after = (evaluate(each, source).to_dict() for each in (loaded, calibrated))
    replaced = os.path.exists(output)
    calibrated.save(output)
    facts = {
        "model": output,
        "calibration": calibrated.calibration.to_dict(),
        "rows": after["n"],
        "measures": _compare_measures(before, after),
    }
    if as_json:
        print_json(facts)
        return
    print_text(_format_calibration(facts, str(calibrated.calibration), data, replaced))


def _compare_measures(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the measures before (None if the model had none) and after."""
    earlier, later = ({each["name"]: each["value"] for each in side["measures"]} for side in (before, after))
    return {name: {"before": earlier.get(name), "after": later[name]} for name in MEASURES if name in later}


def _format_calibration(
    facts: dict[str, Any], calibration: str, data: tuple[str, ...], replaced: bool
) -> str:
    from weigh.text import escape_control_characters, format_quantity, text_table

    rows = [["on these rows", "before", "after"]]
    for name, pair in facts["measures"].items():
        rows.append([name.replace("_", " "), *(_format_number(pair[side]) for side in ("before", "after"))])
    place = "standard input" if data == ("-",) else escape_control_characters(", ".join(data))
    return "\n\n".join(
        [
            f"Calibrated on {format_quantity(facts['rows'], 'row')} of {place}: {calibration}.",
            text_table(rows, indent="  "),
            format_location("The model", facts["model"], " (replaced)" * replaced),
        ]
    )


def _format_number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
