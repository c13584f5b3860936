"""`weigh spell curve`: what more text would bring."""

from __future__ import annotations

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.curve import parse_whole_numbers
from weigh.cli.options import json_option
from weigh.cli.spell.options import (
    OTHER_LEARNERS_HELP,
    SPELLER_LEARNERS_HELP,
    ComparisonArguments,
    comparison_options,
)

SECTIONS = {
    "Examples": """
        weigh spell curve novels/ --plot curve.svg
        weigh spell curve novels/ --on articles/ --learner logistic --learner memory
        weigh spell curve novels/ --sets english --sizes 10000,100000,1000000
    """,
    "--learner": SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP.lstrip("\n"),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Accuracy with more and more text.")
@comparison_options("banko-brill")
@click.option("--sizes", metavar="N,N,...", help="Numbers of words. [default: 1, 2, 5 × 10,000, and so on]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Draws the text.")
@json_option
def command(given: ComparisonArguments, sizes: str | None, seed: int) -> None:
    """Learn from more and more text, and count right choices on text held out.

    Prints the mean accuracy over the sets for every learner and size, and by how much it grows with every
    tenfold of the text.
    """
    from weigh.apps.spelling.evaluation.curve import measure_learning_curve

    given.run(measure_learning_curve, sizes=None if sizes is None else _parse_sizes(sizes), seed=seed)


def _parse_sizes(text: str) -> list[int]:
    found = parse_whole_numbers(text)
    if min(found) < 1:
        raise click.BadParameter(f"{text!r} has a number below 1.", param_hint="'--sizes'")
    return found
