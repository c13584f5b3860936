"""`weigh scorecard`: a logistic regression as whole points."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    json_option,
    model_argument,
    print_result,
    save_plot,
)

SECTIONS = {
    "Examples": """
        weigh scorecard income.weigh
        weigh scorecard income.weigh --points 50 --odds 2
        weigh scorecard income.weigh --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@click.option("--points", type=float, default=20, show_default=True, help="Points that multiply the odds.")
@click.option("--odds", type=float, default=2, show_default=True, help="The factor of the odds.")
@click.option("-o", "--plot", metavar="FILE", help="Draw the points as bars, as .svg, .png or .html.")
@json_option
def command(model: str, points: float, odds: float, plot: str | None, as_json: bool) -> None:
    """Print whole points for every range and level of a logistic regression, which can be added by hand.

    The model must have two classes and no straight lines (weigh fit --learner logistic --set curves=auto).
    The last lines say which total means which probability, and how much rounding changes it.
    """
    from weigh import errors
    from weigh.model.file.loading import load

    check_plot_path(plot)
    check_output_is_not_input(plot, model)
    loaded = load(model)
    if not hasattr(loaded, "scorecard"):
        raise errors.Unsupported("A scorecard needs a logistic regression (weigh fit --learner logistic).")
    card = loaded.scorecard(points, odds)
    print_result(card, as_json)
    save_plot(card.plot, plot, as_json)
