"""Learners that are tried on a file: by their names, and with their settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.options import open_as

if TYPE_CHECKING:
    from weigh.trials.rows import LabelledRows


LEARNERS = """
    naive-bayes, logistic, perceptron, tree, neighbours, joint, threshold
    linear               of numbers
"""

Command = TypeVar("Command", bound=Callable[..., Any])


def trying(command: Command) -> Command:
    """Add the options of commands that try several learners."""
    options = [
        click.argument("data", nargs=-1, required=True, metavar="DATA..."),
        click.option(
            "--label", metavar="COLUMN", help="The column to predict; not needed where the format tells."
        ),
        click.option("--learner", "learners", multiple=True, metavar="NAME", help="One or more; see below."),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="As for weigh fit; one learner."
        ),
        click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column means."),
        click.option(
            "--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'."
        ),
        click.option("--loss", metavar="LOSS", help="What is measured; see below."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the rows."),
        click.option(
            "--jobs", type=int, default=-1, metavar="N", help="Trials at a time. [default: all cores]"
        ),
        click.option("--plot", metavar="FILE", help="Draw a picture, as .svg or .png."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def labelled(data: Sequence[str], label: str | None, missing: Sequence[str], **written: Any) -> LabelledRows:
    """Read files into memory, with the labels of their rows."""
    from weigh import errors
    from weigh.trials.rows import LabelledRows

    source = open_as(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Say which column to predict, with --label. The columns are {errors.listing(source.names)}."
        )
    return LabelledRows.of(source)


def learners_of(
    names: Sequence[str], settings: Sequence[str], kinds: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """Return learners by name; settings are of a single one, kinds of all that know columns."""
    from weigh.trials.learners import named

    found = named(list(names), "--learner")
    if settings:
        if len(names) != 1:
            raise click.UsageError("--set is for a single --learner.")
        found[names[0]].set_params(**_settings(names[0], settings, labels))
    if kinds:
        _set_kinds(found, kinds)
    return found


def _settings(learner: str, settings: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    from weigh.cli.settings import LEARNERS, match_classes, read_settings

    if learner not in LEARNERS:
        raise click.UsageError(f"--set: {learner} has no settings here; use it from Python.")
    found = read_settings(settings, learner)
    return {
        name: match_classes(value, labels) if name.startswith("class_") else value
        for name, value in found.items()
    }


def _set_kinds(learners: dict[str, Any], kinds: Sequence[str]) -> None:
    from weigh.cli.settings import read_kinds

    for name, learner in learners.items():
        if "columns" not in learner.get_params():
            raise click.UsageError(f"--kind: {name} finds the kinds of columns by itself. Leave it out.")
        learner.set_params(columns=read_kinds(kinds))


def tell(found: Any, as_json: bool, plot: str | None, what: str | None = None) -> None:
    """Print a result, and draw it, or what of it, if that was asked for."""
    if plot is not None:
        from weigh.pictures import image

        image(found.plot() if what is None else found.plot(what), plot)
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if as_json else str(found))
    if plot is not None and not as_json:
        click.echo(f"\nThe picture is in {plot}.")
