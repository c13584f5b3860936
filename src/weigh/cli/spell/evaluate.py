"""`weigh spell evaluate`: how many errors a speller finds, and how often it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import check_plot_path, json_option, plot_option, print_result, save_plot
from weigh.cli.spell.options import encoding_option, load_speller, model_option, print_skipped_note

if TYPE_CHECKING:
    from weigh.apps.spelling.evaluation.directions import DirectionEvaluation
    from weigh.apps.spelling.evaluation.swaps import SwapEvaluation

SECTIONS = {
    "Examples": """
        weigh spell evaluate another-book.txt
        weigh spell evaluate articles/ -m en.weigh --swap 100 --seed 7
        weigh spell evaluate articles/ --directions --plot recall.svg
    """,
    "What is told": """
        precision   of the suggestions, how many put an error right
        recall      of the errors, how many were put right
        alarms      suggestions in the text as it was, per 10,000 words, beside what
                    the speller has promised
    """,
    "--directions": """
        swaps nothing at random: each occurrence is taken once as it is, and once as
        every other word of its set, and told is how many errors would be found where
        a word is written and another is meant.
    """,
}


@click.command(
    cls=CommandWithExamples, sections=SECTIONS, short_help="Put errors into text, and count what is found."
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@model_option
@click.option(
    "--swap", type=click.IntRange(2), default=200, show_default=True, metavar="N", help="One word in N."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Draws the words.")
@click.option("--directions", "by_direction", is_flag=True, help="Word by word; see below.")
@encoding_option
@plot_option
@json_option
def command(
    files: tuple[str, ...],
    model: str | None,
    swap: int,
    seed: int,
    by_direction: bool,
    encoding: str,
    plot: str | None,
    as_json: bool,
) -> None:
    """Replace words of a text by others of their sets, let the speller check it, and count.

    FILES are text without errors that the speller has not learned: of another author, say. Nothing is
    written to them. All texts are held in memory.
    """
    check_plot_path(plot)
    from weigh.apps.spelling.corrections import read_decoded_file
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.evaluation.directions import evaluate_directions
    from weigh.apps.spelling.evaluation.swaps import evaluate_swaps
    from weigh.cli.spell.progress import show_progress

    speller = load_speller(model)
    skipped: list[str] = []
    with show_progress() as watch:
        found = read_documents(files, encoding=encoding, skipped=skipped)
        if by_direction:
            told: SwapEvaluation | DirectionEvaluation = evaluate_directions(
                speller, watch.track_documents(found)
            )
        else:
            texts = [(each.name, read_decoded_file(each.path, encoding).text) for each in found]
            told = evaluate_swaps(speller, texts, one_in=swap, seed=seed, progress=watch.report_steps)
    print_result(told, as_json)
    save_plot(told.plot, plot, as_json)
    print_skipped_note(skipped)
