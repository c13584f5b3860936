"""`weigh tune`: try values of a learner's parameters on held-out rows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_output_path,
    check_plot_path,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    open_source,
    plot_option,
    save_plot,
)
from weigh.cli.output.text import format_location, print_json, print_text
from weigh.cli.parameter_help import setting_rows
from weigh.cli.target import prepare_target
from weigh.parameters.learners import LEARNERS

if TYPE_CHECKING:
    from weigh.source.base import Source

SECTIONS = {
    "Examples": """
        weigh tune mails.csv --label spam
        weigh tune mails.csv --label spam --grid prior=0.1,1,10 --scoring zero_one
        weigh tune mails.csv --label spam --learner perceptron --grid margin=0,1 \\
            --grid max_iter=5,20 --set scale=unit -o best.weigh
        weigh tune mails.csv --label spam --grid 'prior=dirichlet:1/2;beta:2,2'
        weigh tune homes.csv --label price --learner linear \\
            --grid prior=normal:1,laplace:1
    """,
    **{
        f"--grid and --set, for {table.name} (with defaults)": setting_rows(table)
        for table in LEARNERS.values()
        if table.settings
    },
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@data_argument
@click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it.")
@click.option(
    "--learner",
    type=click.Choice([name for name, table in LEARNERS.items() if table.settings]),
    default="naive-bayes",
    show_default=True,
    help="Learning method.",
)
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=V1,V2",
    help="Values of a parameter to try, separated by commas or, if they have commas, by semicolons; "
    "without it, some usual values.",
)
@click.option(
    "--scoring",
    default="auto",
    show_default=True,
    metavar="LOSS",
    help="The loss to minimise: log_loss, zero_one, brier, squared; squared_error or absolute_error for "
    "linear. 'auto' is the log loss where there are probabilities.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of all; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="The kind of a column.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default="0.25",
    metavar="SHARE",
    help="Share of the rows to hold out.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of the draw."
)
@click.option("-o", "--output", metavar="MODEL", help="Save the best, trained on all rows.")
@plot_option
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    data: tuple[str, ...],
    label: str | None,
    learner: str,
    grid: tuple[str, ...],
    scoring: str,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    share: float,
    seed: int,
    output: str | None,
    plot: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Train a learner with all combinations of parameters, and score each on held-out rows.

    Prints the combinations with their losses, the smallest first. With -o the best is trained on all rows
    and saved.
    """
    from weigh import errors
    from weigh.cli.output.progress import show_job_progress
    from weigh.trials.tuning import tune

    check_plot_path(plot)
    for path in (output, plot):
        check_output_is_not_input(path, *data)
    if output is not None:
        check_output_path(output, "-o")
    source = open_source(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Name the column to predict with --label. The columns are {errors.quote_names(source.names)}."
        )
    source, kinds = prepare_target(source, kinds, [learner])
    values = _read_grid(grid, learner, source)
    estimator = _make_estimator(learner, settings, kinds, missing, source)
    with show_job_progress("settings") as progress:
        result = tune(
            estimator,
            source,
            grid=values,
            scoring=scoring,
            validation=share,
            random_state=seed,
            progress=progress,
        )
    replaced = output is not None and os.path.exists(output)
    if output is not None:
        result.learner.model_.save(output)
    if as_json:
        print_json(result.to_dict() | ({"model": output} if output else {}))
    else:
        print_text(result)
        if output is not None:
            location = format_location("The best model", output, " (replaced)" * replaced)
            print_text(f"\n{location} It was trained on all rows.")
    save_plot(result.plot, plot, as_json)


def _read_grid(grid: Sequence[str], learner: str, source: Source) -> dict[str, list[Any]] | None:
    """Return the values of each parameter, None without options; several for one parameter add up."""
    if not grid:
        return None
    values: dict[str, list[Any]] = {}
    for text in grid:
        name, _, listed = text.partition("=")
        for value in listed.split(";" if ";" in listed else ","):
            parsed = _read_parameters([f"{name}={value.strip()}"], learner, source, "--grid")
            for key, each in parsed.items():
                values.setdefault(key, []).append(each)
    n_combinations = len(list(itertools.product(*values.values())))
    if n_combinations < 2:
        raise click.UsageError("--grid gives one combination only. Give several values: --grid NAME=V1,V2.")
    return values


def _read_parameters(
    settings: Sequence[str], learner: str, source: Source, option: str = "--set"
) -> dict[str, Any]:
    from weigh.cli.settings import match_classes, read_settings
    from weigh.source.chunk import to_pylist

    parameters = read_settings(settings, learner, option)
    if any(isinstance(value, dict) for value in parameters.values()):
        return match_classes(parameters, dict.fromkeys(to_pylist(source.prefix().labels)))
    return parameters


def _make_estimator(
    learner: str, settings: Sequence[str], kinds: Sequence[str], missing: Sequence[str], source: Source
) -> Any:
    """Return the estimator with the parameters of all combinations."""
    from weigh import estimators
    from weigh.cli.settings import read_kinds

    names = {
        "naive-bayes": "NaiveBayes",
        "joint": "JointBayes",
        "perceptron": "Perceptron",
        "logistic": "LogisticRegression",
        "linear": "LinearRegression",
    }
    parameters = _read_parameters(settings, learner, source)
    columns = read_kinds(kinds) or "auto"
    return getattr(estimators, names[learner])(columns=columns, missing=tuple(missing), **parameters)
