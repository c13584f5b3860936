"""`weigh spell evaluate`: precision, recall and false alarms of a speller on text with injected errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.cli.commands.spell.options import encoding_option, load_speller, model_option, print_skipped_note
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import check_plot_path, json_option, plot_option, print_result, save_plot

if TYPE_CHECKING:
    from weigh.apps.spelling.evaluation.directions import DirectionEvaluation
    from weigh.apps.spelling.evaluation.swaps import SwapEvaluation

SECTIONS = {
    "Examples": """
        weigh spell evaluate another-book.txt
        weigh spell evaluate articles/ -m en.weigh --swap 100 --seed 7
        weigh spell evaluate articles/ --directions --plot recall.svg
    """,
    "Results": """
        precision   share of the suggestions that correct an error
        recall      share of the errors that are corrected
        alarms      suggestions for the original text per 10,000 words, next to the
                    rate that the speller promises
    """,
    "--directions": """
        swaps no words at random: each occurrence is checked as it is and as every
        other word of its set. Prints the recall for every pair of written word and
        intended word.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@model_option
@click.option(
    "--swap", type=click.IntRange(2), default=200, show_default=True, metavar="N", help="Swap one word in N."
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random choice of words."
)
@click.option("--directions", "by_direction", is_flag=True, help="Results by pair of words; see below.")
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
    """Swap words of a text with others of their sets, check it, and count the suggestions.

    FILES are texts without errors that the speller was not trained on, for example of another author. They
    are not changed, and must fit in memory.
    """
    check_plot_path(plot)
    from weigh.apps.spelling.corrections import read_decoded_file
    from weigh.apps.spelling.documents import read_documents
    from weigh.apps.spelling.evaluation.directions import evaluate_directions
    from weigh.apps.spelling.evaluation.swaps import evaluate_swaps
    from weigh.cli.commands.spell.progress import show_progress

    speller = load_speller(model)
    skipped: list[str] = []
    with show_progress() as meter:
        documents = read_documents(files, encoding=encoding, skipped=skipped)
        result: SwapEvaluation | DirectionEvaluation
        if by_direction:
            result = evaluate_directions(speller, meter.track_documents(documents))
        else:
            texts = [(one.name, read_decoded_file(one.path, encoding).text) for one in documents]
            result = evaluate_swaps(speller, texts, one_in=swap, seed=seed, progress=meter.report_steps)
    print_result(result, as_json)
    save_plot(result.plot, plot, as_json)
    print_skipped_note(skipped)
