"""`weigh spell learn`: train a speller."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.commands.spell.options import (
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
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_output_path,
    check_path_not_empty,
    check_plot_path,
    json_option,
    plot_option,
    save_plot,
)
from weigh.cli.output.text import format_location, print_json, print_text

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
        is correct text of the kind that will be checked, the more the better. A
        million words, or ten books, are a good start. No labels are needed: every
        'whether' in the text is an example of where 'whether' belongs.
    """,
    "--alarms": """
        is a promise: at most so many false suggestions per 10,000 correct words, with
        95 % confidence. The threshold that keeps it is found on a fifth of the text,
        which is held out. With fewer than 300,000 words 0.5 cannot be promised; the
        output then shows what can be. It also shows the recall at this threshold.
    """,
    "--learner": SPELLER_LEARNERS_HELP,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
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
    help="Largest number of false alarms per 10,000 words; see below.",
)
@window_option
@click.option(
    "--features",
    type=click.IntRange(1),
    default=4000,
    show_default=True,
    metavar="N",
    help="Features to keep per set.",
)
@click.option(
    "--at-least",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="Leave out words with fewer occurrences.",
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
    """Learn from text where each word of a set such as {weather, whether} belongs.

    CORPUS is text files, folders and glob patterns, or - for standard input. It is read once. Hidden files
    and folders, such as .git and .venv, are skipped. A speller cannot be updated: each run trains a new one,
    which replaces the one in the file.
    """
    check_plot_path(plot)
    from weigh.apps.spelling.confusion_sets import ConfusionSets
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.speller_data import SpellerSettings
    from weigh.apps.spelling.training import train_speller
    from weigh.cli.commands.spell.progress import show_progress
    from weigh.errors import LittleText

    target = output or default_speller_file()
    confusion_sets, speller_settings = ConfusionSets.parse(sets), SpellerSettings(**settings)
    check_output_is_not_input(target, *corpus)
    if output is None:
        _make_folder(target)
    _check_target(target)
    is_new = not os.path.exists(target)
    skipped: list[str] = []
    # Each set is trained twice: without the held-out text, and with it.
    with show_progress(2 * len(confusion_sets)) as meter, warnings.catch_warnings():
        # The printed speller has the same message.
        warnings.simplefilter("ignore", LittleText)
        documents = read_documents(corpus, encoding=encoding, exclude=exclude, skipped=skipped)
        speller = train_speller(documents, confusion_sets, speller_settings, progress=meter.report_learning)
    speller.save(target)
    _print_speller(speller, target, is_new, skipped, as_json)
    save_plot(speller.plot, plot, as_json)


def _print_speller(speller: Speller, target: str, is_new: bool, skipped: list[str], as_json: bool) -> None:
    if as_json:
        notes = [speller.promise.shortfall_warning] if speller.promise.shortfall_warning else []
        result = speller.to_dict() | {
            "notes": notes,
            "skipped": skipped,
            "file": target,
            "replaced": not is_new,
        }
        print_json(result)
        return
    replaced = "" if is_new else ", replacing the one that was there"
    print_text(f"{speller}\n\n{format_location('The speller', target, replaced)}")
    print_skipped_note(skipped)


def _check_target(target: str) -> None:
    """Reject an output that cannot be written, before training."""
    check_output_path(target, "-o")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise click.BadParameter(f"{target!r} is not a regular file.", param_hint="'-o'")


def _make_folder(target: str) -> None:
    from weigh.atomic_files import error_reason
    from weigh.errors import FileError

    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    except OSError as cause:
        raise FileError(f"{target} cannot be written: {error_reason(cause)}. Give -o FILE.") from cause
