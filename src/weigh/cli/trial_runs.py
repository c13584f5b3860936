"""What commands that try learners share: their options, the rows they read, what they print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.options import as_json, check_picture, echo, keep_apart, open_as, reading

if TYPE_CHECKING:
    from weigh.source import Source

Command = TypeVar("Command", bound=Callable[..., Any])

LEARNERS = """
    naive-bayes, logistic, perceptron, tree, neighbours, joint, threshold
    linear               of numbers
"""


def trying(command: Command) -> Command:
    """Add the options of trials."""
    options = [
        click.argument("data", nargs=-1, required=True, metavar="DATA..."),
        click.option(
            "--label", metavar="COLUMN", help="The column to predict; not needed where the format tells."
        ),
        click.option("--learner", "learners", multiple=True, metavar="NAME", help="One or more; see below."),
        click.option("--loss", metavar="LOSS", help="What is measured; see below."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the rows."),
        click.option(
            "--jobs", type=int, default=-1, metavar="N", help="Trials at a time. [default: all cores]"
        ),
        click.option(
            "--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'."
        ),
        click.option("--plot", metavar="FILE", help="Draw a picture, as .svg or .png."),
        reading,
        as_json,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def labelled(
    data: Sequence[str], label: str | None, missing: Sequence[str], plot: str | None, **written: Any
) -> Source:
    """Open the rows, after a look at what would be written."""
    from weigh import errors

    check_picture(plot)
    keep_apart(plot, *data)
    source = open_as(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Say which column to predict, with --label. The columns are {errors.listing(source.names)}."
        )
    return source


def told(result: Any, chart: Callable[[], Any], plot: str | None, as_json: bool) -> None:
    """Draw the picture if one is asked for, and print the result."""
    if plot is not None:
        from weigh.pictures import image

        image(chart(), plot)
    echo(result, as_json)
    if plot is not None and not as_json:
        click.echo(f"\nThe picture is in {plot}.")
