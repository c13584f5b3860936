"""Options that the commands of `weigh spell` share, and the speller that they open."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import Command, named
from weigh.cli.told import note

if TYPE_CHECKING:
    from weigh.apps.spelling.speller import Speller

DEFAULT = "$WEIGH_SPELLER, else ~/.local/share/weigh/speller.weigh"
LEARNERS = """
    logistic      online logistic regression
    naive-bayes   multinomial: how often each feature was seen with each word
    bernoulli     naive Bayes that heeds what is absent, too
    perceptron    averaged over five passes
"""
COMPARED = """
    voted         a perceptron whose every mistake votes
    memory        the words before and after as they were seen, else one of them
"""


model_option = click.option(
    "-m", "--model", metavar="FILE", callback=named, help=f"What was learned. [default: {DEFAULT}]"
)
encoding_option = click.option("--encoding", default="utf-8", show_default=True, help="Of the text.")
window_option = click.option(
    "--window", type=click.IntRange(1, 100), default=6, show_default=True, help="How many words to each side."
)
exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=lambda ctx, option, patterns: _patterns(patterns),
    help="Leave out files and folders so named, such as node_modules or 'CHANGELOG*'; repeat it for more.",
)


class Finite(click.FloatRange):
    """A number within bounds, as nan never is and no end is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, and refuse what is no number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def learners(text: str) -> click.Choice[str]:
    """The learners of a section of help."""
    return click.Choice([line.split()[0] for line in text.splitlines() if line.strip()])


def sets_option(default: str) -> Callable[[Command], Command]:
    """The option that names confusion sets."""
    return click.option(
        "--sets",
        default=default,
        show_default=True,
        metavar="NAME|FILE",
        help="Words that are mixed up; see weigh spell sets.",
    )


def default_file() -> str:
    """Where a person's speller is, if nothing else is said."""
    from weigh.apps.places import own_place

    return own_place("WEIGH_SPELLER", "speller.weigh")


def opened(path: str | None) -> Speller:
    """The speller that was asked for; without one, word how to begin."""
    from weigh.apps.spelling.speller import Speller
    from weigh.errors import FileError

    place = path or default_file()
    if not os.path.exists(place):
        output = "" if path is None else f" -o {path}"
        raise FileError(
            f"{place}: there is no speller yet. Make one by learning from text of your own: "
            f"weigh spell learn FOLDER{output}. Or name another: -m FILE, or $WEIGH_SPELLER."
        )
    return Speller.load(place)


def _patterns(given: tuple[str, ...]) -> tuple[str, ...]:
    from weigh.apps.spelling.excluding import Excluded
    from weigh.errors import ParameterError

    try:
        Excluded(given)
    except ParameterError:
        raise click.BadParameter("a pattern is a name, such as venv, or the end of a path.") from None
    return given


def tell_skipped(skipped: Sequence[str]) -> None:
    """Tell how much was left out of folders, and of what kind the first few are."""
    if skipped:
        from weigh.apps.spelling.documents import left_out

        note(left_out(skipped))
