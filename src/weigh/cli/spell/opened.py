"""Options that the commands of `weigh spell` share, and the speller that they open."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

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
    "--window", type=click.IntRange(1), default=6, show_default=True, help="How many words to each side."
)


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
    if path is None and not os.path.exists(place):
        raise FileError(
            f"{place}: there is no speller yet. Make one by learning from text of your own: "
            "weigh spell learn FOLDER. Or name one: -m FILE."
        )
    return Speller.load(place)


def tell_skipped(skipped: Sequence[str]) -> None:
    """Tell how much was left out of folders, and of what kind the first few are."""
    if skipped:
        from weigh.apps.spelling.documents import left_out

        note(left_out(skipped))
