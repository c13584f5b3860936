"""`weigh spell learn`: which word of a set stands where."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_output_path,
    check_path_not_empty,
    check_plot_path,
    json_option,
    plot_option,
    save_plot,
)
from weigh.cli.spell.options import (
    DEFAULT_FILE_HELP,
    SPELLER_LEARNERS_HELP,
    FiniteFloatRange,
    default_speller_file,
    encoding_option,
    exclude_option,
    learner_choice,
    print_skipped_note,
    sets_option,
    window_option,
)

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
    "--learner": SPELLER_LEARNERS_HELP,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Learn from any text, without labels.")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=check_path_not_empty,
    help=f"The speller. [default: {DEFAULT_FILE_HELP}]",
)
@sets_option("english")
@click.option(
    "--learner",
    type=learner_choice(SPELLER_LEARNERS_HELP),
    default="logistic",
    show_default=True,
    metavar="NAME",
    help="See below.",
)
@click.option(
    "--alarms",
    type=FiniteFloatRange(0, min_open=True),
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
@json_option
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
    check_plot_path(plot)
    from weigh.apps.spelling.confusion_sets import ConfusionSets
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.speller_data import SpellerSettings
    from weigh.apps.spelling.training import train_speller
    from weigh.cli.spell.progress import show_progress
    from weigh.errors import LittleText

    target = output or default_speller_file()
    chosen, asked = ConfusionSets.parse(sets), SpellerSettings(**settings)
    check_output_is_not_input(target, *corpus)
    if output is None:
        _make_folder(target)
    _check_target(target)
    is_new = not os.path.exists(target)
    skipped: list[str] = []
    # Each set is learned twice: without what is held out, and with it.
    with show_progress(2 * len(chosen)) as watch, warnings.catch_warnings():
        # What is printed of the promise says it, too.
        warnings.simplefilter("ignore", LittleText)
        found = read_documents(corpus, encoding=encoding, exclude=exclude, skipped=skipped)
        speller = train_speller(found, chosen, asked, progress=watch.report_learning)
    speller.save(target)
    _print_speller(speller, target, is_new, skipped, as_json)
    save_plot(speller.plot, plot, as_json)


def _print_speller(speller: Speller, target: str, is_new: bool, skipped: list[str], as_json: bool) -> None:
    if as_json:
        notes = [speller.promise.shortfall_warning] if speller.promise.shortfall_warning else []
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
    print_skipped_note(skipped)


def _check_target(target: str) -> None:
    """Refuse what a speller cannot take the place of, before anything is learned."""
    check_output_path(target, "-o")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise click.BadParameter(f"{target!r} is no file. Give the name of one.", param_hint="'-o'")


def _make_folder(target: str) -> None:
    from weigh.atomic_files import error_reason
    from weigh.errors import FileError

    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    except OSError as cause:
        raise FileError(f"{target} cannot be written: {error_reason(cause)}. Give -o FILE.") from cause
