"""`weigh spell learn`: which word of a set stands where."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import as_json, check_picture, check_place, draw, keep_apart, named, plot_option
from weigh.cli.spell.opened import (
    DEFAULT,
    LEARNERS,
    Finite,
    default_file,
    encoding_option,
    exclude_option,
    learners,
    sets_option,
    tell_skipped,
    window_option,
)
from weigh.cli.taught import Taught

if TYPE_CHECKING:
    from weigh.apps.spelling.speller import Speller

SECTIONS = {
    "Examples": """
        weigh spell learn ~/Documents
        weigh spell learn novels/ articles.txt.gz -o en.weigh
        weigh spell learn thesis/ --sets my-sets.txt --alarms 1 -o mine.weigh
        git ls-files '*.md' | xargs cat | weigh spell learn - -o project.weigh
    """,
    "What to learn from": """
        is text that is right, and of the kind that will be checked: the more, the
        better. A million words, ten books, is a good beginning. Nothing has to be
        labelled: every 'whether' in it is an example of where a 'whether' stands.
    """,
    "--alarms": """
        is a promise: of 10,000 words that are right, so many at most are called
        wrong. A fifth of the text is held out to find how sure a suggestion must be
        to show that with 95 % confidence; with less than 300,000 words 0.5 cannot be
        promised, and what can be is told, as is the share of errors still found.
    """,
    "--learner": LEARNERS,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Learn from any text, without labels.")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@click.option("-o", "--output", metavar="FILE", callback=named, help=f"The speller. [default: {DEFAULT}]")
@sets_option("english")
@click.option(
    "--learner",
    type=learners(LEARNERS),
    default="logistic",
    show_default=True,
    metavar="NAME",
    help="See below.",
)
@click.option(
    "--alarms",
    type=Finite(0, min_open=True),
    default=0.5,
    show_default=True,
    metavar="RATE",
    help="False alarms per 10,000 words, at most; see below.",
)
@window_option
@click.option(
    "--features",
    type=click.IntRange(1),
    default=4000,
    show_default=True,
    metavar="N",
    help="To keep of each set.",
)
@click.option(
    "--at-least",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="Leave rarer words out.",
)
@exclude_option
@encoding_option
@plot_option
@as_json
def command(
    corpus: tuple[str, ...],
    output: str | None,
    sets: str,
    exclude: tuple[str, ...],
    encoding: str,
    plot: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Learn from text which word of a set such as {weather, whether} stands where.

    CORPUS is files, folders and patterns of text, or - for standard input. All of it is read once. Of
    folders what is hidden, such as .git and .venv, is left out. A speller does not learn more later: each
    time it is learned anew, and takes the place of the one in its file.
    """
    check_picture(plot)
    from weigh.apps.spelling.confusion import ConfusionSets
    from weigh.apps.spelling.documents import documents
    from weigh.apps.spelling.learning import learn
    from weigh.apps.spelling.settings import Settings
    from weigh.cli.spell.watched import watching
    from weigh.errors import LittleText

    target = output or default_file()
    chosen, asked = ConfusionSets.given(sets), Settings(**settings)
    keep_apart(target, *corpus)
    if output is None:
        _make_folder(target)
    _check_file(target)
    is_new = not os.path.exists(target)
    skipped: list[str] = []
    # Each set is learned twice: without what is held out, and with it.
    with watching(2 * len(chosen)) as watch, warnings.catch_warnings():
        # What is printed of the promise says it, too.
        warnings.simplefilter("ignore", LittleText)
        found = documents(corpus, encoding=encoding, exclude=exclude, skipped=skipped)
        speller = learn(found, chosen, asked, progress=watch.learned)
    speller.save(target)
    _tell(speller, target, is_new, skipped, as_json)
    draw(speller.plot, plot, as_json)


def _tell(speller: Speller, target: str, is_new: bool, skipped: list[str], as_json: bool) -> None:
    if as_json:
        notes = [speller.promise.doubt] if speller.promise.doubt else []
        facts = speller.to_dict() | {
            "notes": notes,
            "skipped": skipped,
            "file": target,
            "replaced": not is_new,
        }
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    instead = "" if is_new else ", in place of the one that was there"
    click.echo(f"{speller}\n\nThe speller is in {target}{instead}.")
    tell_skipped(skipped)


def _check_file(target: str) -> None:
    """Refuse what a speller cannot take the place of, before anything is learned."""
    check_place(target, "-o")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise click.BadParameter(f"{target!r} is no file. Give the name of one.", param_hint="'-o'")


def _make_folder(target: str) -> None:
    from weigh.errors import FileError
    from weigh.replacing import reason

    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    except OSError as cause:
        raise FileError(f"{target} cannot be written: {reason(cause)}. Give -o FILE.") from cause
