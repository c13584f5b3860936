"""`weigh path`: the regularisation path of a regression."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    open_source,
)
from weigh.cli.output.text import format_location, print_json, print_text

SECTIONS = {
    "Examples": """
        weigh path homes.csv --label price --set prior=laplace:cv
        weigh path homes.csv --label price --set prior=normal:cv --folds 5
        weigh path homes.csv --label price --set prior=laplace:cv --plot path.svg
        weigh path mails.csv --label spam --learner logistic --set scale=unit
    """,
    "--set, as for weigh fit --learner linear or logistic": """
        prior=laplace:cv     lasso: strong penalties set all weights to zero
        prior=normal:cv      ridge; the scale of the prior does not matter
        prior=penalty:l1=1,l2=1   elastic net with this ratio of penalties
        For the other parameters, such as scale and offset, see weigh fit --help.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@data_argument
@click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it.")
@click.option(
    "--learner",
    type=click.Choice(["linear", "logistic"]),
    default="linear",
    show_default=True,
    help="Type of regression.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="The kind of a column.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--folds", type=click.IntRange(2), metavar="K", help="Cross-validate each strength on K folds.")
@click.option(
    "--n", "n", type=click.IntRange(1), default=100, show_default=True, help="Number of penalty strengths."
)
@click.option("--ratio", type=float, default=1e-3, show_default=True, help="Weakest / strongest penalty.")
@click.option("--plot", metavar="FILE", help="Draw the weights, as .svg, .png or .html.")
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    data: tuple[str, ...],
    label: str | None,
    learner: str,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    folds: int | None,
    n: int,
    ratio: float,
    plot: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Fit a regression for many penalty strengths, the strongest first.

    Each line is a fit: its penalty, the number of features with a weight, and its certified gap.
    With --folds every strength is cross-validated, and the best is marked.
    """
    from weigh import errors
    from weigh.cli.settings import make_task, read_settings
    from weigh.learn.regularisation_path import check_path_parameters, compute_path
    from weigh.learn.sgd import OnlineLogisticTask

    check_plot_path(plot)
    check_output_is_not_input(plot, *data)
    numbers = check_path_parameters(n, ratio, folds)
    source = open_source(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Name the column to predict with --label. The columns are {errors.quote_names(source.names)}."
        )
    task = make_task(learner, source, read_settings(settings, learner), kinds, missing)
    if isinstance(task, OnlineLogisticTask):
        raise errors.Unsupported("A regularisation path needs exact fits. Leave out --set method=online.")
    path = compute_path(task, source, *numbers)
    if plot is not None:
        from weigh.pictures import image

        image(path.plot(), plot)
    if as_json:
        print_json(path.to_dict(), indent=None)
        return
    print_text(path)
    if plot is not None:
        print_text(f"\n{format_location('The picture', plot)}")
