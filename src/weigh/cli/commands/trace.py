"""`weigh trace`: every step of a perceptron, in exact fractions, or of a logistic regression."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    class_by_name,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    open_output,
    open_source,
    print_result,
)
from weigh.cli.output.text import format_location, print_text
from weigh.cli.parameter_help import setting_rows
from weigh.parameters.learners import LOGISTIC_REGRESSION, PERCEPTRON

SECTIONS = {
    "Examples": """
        weigh trace mails.csv --label spam --set shuffle=false
        weigh trace mails.csv --label spam --set shuffle=false --set max_iter=2
        weigh trace mails.csv --label spam --set keep=last --set margin=0.5 --passes 1
        weigh trace leaves.csv --label tree -o leaves.html
        weigh trace mails.csv --label spam --latex
        weigh trace mails.csv --label spam --positive not-spam --average
        weigh trace mails.csv --label spam --learner logistic --set rate=1 --set prior=none
    """,
    "--set, as for weigh fit --learner perceptron": setting_rows(PERCEPTRON, without=("record",)),
    "--set with --learner logistic, as for weigh fit": setting_rows(
        LOGISTIC_REGRESSION.for_method("online"), without=("method",)
    ),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@data_argument
@click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it.")
@click.option(
    "--learner",
    type=click.Choice(["perceptron", "logistic"]),
    default="perceptron",
    show_default=True,
    help="The learner to trace.",
)
@click.option(
    "--positive", metavar="CLASS", help="The class of positive scores, of two. [default: the second]"
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="The kind of a column.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--passes", type=click.IntRange(1), metavar="N", help="Show only the first N passes.")
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="N",
    help="End after N steps. [default: the whole run; 60 are shown]",
)
@click.option("-o", "--output", metavar="PAGE", help="Write a page; with two features it animates the plane.")
@click.option("--average", is_flag=True, help="Show the accumulator of the average instead of w and b.")
@click.option("--latex", is_flag=True, help="The table as LaTeX.")
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    data: tuple[str, ...],
    label: str | None,
    learner: str,
    positive: str | None,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    passes: int | None,
    most: int | None,
    output: str | None,
    average: bool,
    latex: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """Show every step of a perceptron on a small table in exact fractions, or of a logistic regression.

    Each step is a line: score w·x+b, prediction, error, and the weights after it. The rows are shuffled in
    every pass unless --set shuffle=false. A logistic regression needs a step size, --set rate=1.
    """
    from weigh import errors
    from weigh.explain.perceptron_trace import MAX_PRINTED_STEPS

    if latex and (as_json or output is not None):
        raise click.UsageError(
            "--latex prints the table; redirect it to a file, and leave out --json and -o."
        )
    if passes and (as_json or output is not None):
        raise click.UsageError(
            "--passes shortens the printed table; --json and -o have all passes. --most ends the trace."
        )
    check_output_is_not_input(output, *data)
    source = open_source(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Name the column to predict with --label. The columns are {errors.quote_names(source.names)}."
        )
    if average and (learner != "perceptron" or as_json or output is not None):
        raise click.UsageError(
            "--average is for the printed table of a perceptron; leave it out, or --learner, --json and -o."
        )
    trace = _trace(source, learner, settings, kinds, missing, positive=positive, most=most)
    options = {"average": True} if average else {}
    if output is not None:
        page = trace.to_html()
        with open_output(output) as file:
            file.write(page)
    if as_json:
        print_result(trace, as_json)
    elif latex:
        print_text(trace.table("latex", passes, most, **options))
    elif output is None:
        print_text(trace.table("text", passes, MAX_PRINTED_STEPS if most is None else most, **options))
    elif output != "-":
        print_text(format_location("The page", output))


def _trace(
    source: Any,
    learner: str,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    *,
    positive: str | None,
    most: int | None,
) -> Any:
    from weigh.cli.settings import match_classes, read_kinds, read_settings
    from weigh.explain.exact_perceptron import PerceptronParameters
    from weigh.explain.perceptron_trace import trace
    from weigh.source.chunk import to_pylist

    columns: Any = read_kinds(kinds) or "auto"
    parameters = read_settings(settings, learner)
    # A trace has every hypothesis, whether they are recorded or not.
    parameters.pop("record", None)
    classes = dict.fromkeys(to_pylist(source.prefix().labels))
    parameters = match_classes(parameters, classes)
    parameters |= {"columns": columns, "missing": missing}
    label = None if positive is None else class_by_name(positive, list(classes), "--positive")
    options: dict[str, Any] = {"positive": label, "most": most}
    if learner == "logistic":
        parameters = {"prior": "auto", "rate": "safe", "method": "online"} | parameters
        return trace(parameters, source, **options)
    return trace(PerceptronParameters.from_values(parameters), source, **options)
